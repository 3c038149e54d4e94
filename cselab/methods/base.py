"""The shape of a method: which views it makes, and how they are contrasted.

The trainer turns sentences into vectors, gathers them over processes and computes gradients. A method only defines its
paper's additions to SimCSE.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cselab._util.arguments import check_argument, check_choice, register_class
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.heads import MLPHead, fresh_linear
from cselab.encoders.pooling import Vectors
from cselab.encoders.speed import to_device
from cselab.encoders.training_forward import Encode
from cselab.losses import Loss
from cselab.losses.contrast import LogWeights, Negatives
from cselab.methods.hyperparameters import without_ranges
from cselab.methods.recipe import Recipe, family

FAMILIES = {
    "baseline": "views by dropout, negatives from the batch",
    "loss": "a different contrast of the vectors",
    "text": "views with different words or tokens",
    "hidden states": "changes of activations or vectors",
    "negatives": "negatives beyond the batch, or weights for those of the batch",
    "momentum": "a slow copy of the encoder, or a queue",
    "extra network": "a second network, or a part of one",
    "extra data": "rows with more than one sentence",
    "own": "your methods",
}
"""The main change of a method, in the order of `cselab methods`."""

Rows = Sequence[Any]
"""Rows of a corpus, or a batch of them: texts, or tuples of the method's `columns`."""

Hyperparameters = dict[str, Any]
"""By their names."""


class Views:
    """The vectors of a batch: an anchor, its positives, and any further vectors that the method names.

    Attributes:
        anchor, positives: `[N, d]`, row i of each of sentence i.
        negatives: `[M, d]`, further negatives of every anchor, or `[N, M, d]`, each anchor's own, or None;
            `with_negatives` adds some.
        log_weights: `[N, N + M]`, added to the logits, or None: see `cselab.losses.info_nce`.

    >>> views = Views(torch.zeros(2, 3), torch.ones(2, 3), clean=torch.ones(2, 3))
    >>> len(views.positives), views.clean.shape
    (1, torch.Size([2, 3]))
    >>> views.with_negatives(torch.ones(5, 3)).negatives.shape
    torch.Size([5, 3])
    >>> views.with_negatives(torch.ones(2, 4, 3)).negatives.shape    # 4 of each anchor's own, after the 5 of both
    torch.Size([2, 9, 3])
    """

    negatives: Negatives | None = None
    log_weights: LogWeights | None = None

    def __init__(self, anchor: Vectors, *positives: Vectors, **others: Any) -> None:
        self.anchor, self.positives = anchor, positives
        vars(self).update(others)

    @property
    def positive(self) -> Vectors:
        """The first positive."""
        return self.positives[0]

    def with_negatives(self, negatives: Negatives, log_weights: Float[Tensor, "n m"] | None = None) -> "Views":
        """These views with further negatives after the existing ones; a cell's weight is 1, or exp(log_weights).

        Args:
            negatives: `[M, d]`, the same for every anchor, or `[N, M, d]`, M of each anchor's own. With shared and
                individual negatives, the shared ones are copied for each anchor.
            log_weights: `[N, M]`.
        """
        seen, rows = len(self.positive) + self._further, len(self.anchor)
        cells = negatives.new_zeros(rows, seen + negatives.shape[-2])
        if self.negatives is not None:
            both = [self.negatives, negatives]
            if negatives.ndim != self.negatives.ndim:
                both = [part.expand(rows, *part.shape[-2:]) for part in both]
            negatives = torch.cat(both, dim=-2)
        self.negatives = negatives
        if self.log_weights is not None:
            cells[:, :seen] = self.log_weights
        if log_weights is not None:
            cells[:, seen:] = log_weights
        given = self.log_weights is not None or log_weights is not None
        self.log_weights = cells if given else None
        return self

    def with_pair_weights(self, log_weights: Float[Tensor, "n n"]) -> "Views":
        """These views with a weight, exp(log_weights), for each pair of sentences of the batch."""
        cells = torch.nn.functional.pad(log_weights, (0, self._further))
        self.log_weights = cells if self.log_weights is None else self.log_weights + cells
        return self

    @property
    def _further(self) -> int:
        """How many further negatives each anchor has."""
        return 0 if self.negatives is None else self.negatives.shape[-2]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"these views have no {name!r}; they have {', '.join(vars(self))}")

    def __setattr__(self, name: str, value: Any) -> None:  # for the type checker: any name may be set
        super().__setattr__(name, value)


Head = nn.Module | None
"""A training head, or none."""


@dataclass(eq=False)
class Setup:
    """The arguments of `Method.build`: the encoder, the corpus, and the generator of fresh weights.

    Attributes:
        encoder: the encoder to train.
        rows: the whole corpus.
        seed: the seed of the `generator`, from which fresh weights come.
    """

    encoder: SentenceEncoder
    rows: Rows
    seed: int = 0

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(self.seed)

    @property
    def width(self) -> int:
        """The width of the sentence vectors before a head."""
        return self.encoder.hidden_size

    def linear(self, width: int, out: int, bias: bool = True) -> nn.Linear:
        """A fresh linear layer."""
        return fresh_linear(width, out, self.generator, bias)


class Method(nn.Module):
    """Base of all methods. A subclass needs hyper-parameters, `views` and `loss`; everything else is optional.

    Hyper-parameters are annotated class attributes with their defaults; the annotation gives the allowed values
    (`cselab.methods.hyperparameters`). `variants` names sets of other values: "default" is the paper's intended
    method, or the authors' version if the text does not train. "paper" follows the text and "released" follows the
    authors' code, if that runs and differs.

    A method is an `nn.Module`. Modules, parameters and buffers that `build` assigns (a queue, a momentum encoder, a
    discriminator, a table of entities) are moved to the device, saved and resumed with the run, and trained if they
    require gradients. Random numbers come from `self.generator`, which is saved, too.

    Every method has `head`: "mlp", Linear + tanh between the sentence vector and the loss, as the papers have it on
    [CLS], or "none". Released SimCSE has no head when it pools by a mean. A fresh head can learn to repair the cone
    itself, and then the vector before the head does not change. `representation` is the vector that is evaluated:
    before the head ("backbone"), as SimCSE and most followers do, or after it ("head").

    Attributes:
        family: the part that the method changes, one of `FAMILIES`; "own" for your methods.
        columns: the columns of a row of the corpus. One column: rows are texts. Several: rows are tuples of texts.
        recipes: the settings that the paper prints, by family of encoder; see `cselab.methods.recipe`.
        positives_by_dropout: whether anchor and positive are one text under two dropout masks.
        negatives_in_batch: whether the negatives of a sentence are the other sentences of its batch.
        needs_capitals: whether the method needs a tokenizer that tells upper from lower case.
        small: hyper-parameters for a trial on a dozen rows and narrow vectors: a short queue, a narrow projection.

    Raises:
        ValueError: a hyper-parameter, variant or choice that the method does not have; lists those it has.
    """

    __signature__: ClassVar[inspect.Signature]
    name: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str] = "own"
    columns: ClassVar[tuple[str, ...]] = ("sentence",)
    variants: ClassVar[dict[str, Hyperparameters]] = {"paper": {}}
    recipes: ClassVar[dict[str, Recipe]] = {}
    positives_by_dropout: ClassVar[bool] = False
    negatives_in_batch: ClassVar[bool] = True
    needs_capitals: ClassVar[bool] = False
    small: ClassVar[Hyperparameters] = {}
    head: Literal["mlp", "none"] = "mlp"
    representation: Literal["backbone", "head"] = "backbone"

    def __init_subclass__(cls) -> None:
        keyword = inspect.Parameter.KEYWORD_ONLY
        shown = [inspect.Parameter("variant", keyword, default="default", annotation=str)]
        for name, default in cls.hyperparameters().items():
            note = without_ranges(cls._annotation(name))
            shown.append(inspect.Parameter(name, keyword, default=default, annotation=note))
        cls.__signature__ = inspect.Signature(shown)  # shown by help() and editors

    def __init__(self, *, variant: str = "default", **hyperparameters: Any) -> None:
        super().__init__()
        known, own = self.hyperparameters(), getattr(self, "name", type(self).__name__)
        check_choice(f"variant of {own}", variant, ("default", *self.variants))
        for name in hyperparameters:
            check_choice(f"hyper-parameter of {own}", name, ("variant", *known))
        self.variant = variant
        for name, value in {**known, **self.variants.get(variant, {}), **hyperparameters}.items():
            setattr(self, name, check_argument(f"{name} of {own}", value, self._annotation(name)))
        self.generator = torch.Generator().manual_seed(0)

    @classmethod
    def hyperparameters(cls) -> Hyperparameters:
        """Names and default values of the hyper-parameters."""
        own = [part for part in reversed(cls.__mro__) if issubclass(part, Method) and part is not Method]
        names = [name for part in [*own, Method] for name in _annotated(part)]
        return {name: getattr(cls, name) for name in dict.fromkeys(names)}

    @classmethod
    def _annotation(cls, name: str) -> Any:
        return next(_annotated(part)[name] for part in cls.__mro__ if name in _annotated(part))

    def settings(self) -> Hyperparameters:
        """The hyper-parameters of this instance, JSON-able, as a run records them."""
        return {"variant": self.variant} | {name: getattr(self, name) for name in self.hyperparameters()}

    @classmethod
    def resolved(cls, config: Any, **given: Any) -> Hyperparameters:
        """The settings that a run has on an encoder with this config of transformers, where these are `given`."""
        method = cls(**given)
        method.resolve_defaults(config)
        return method.settings()

    @classmethod
    def changes(cls, variant: str, config: Any) -> Hyperparameters:
        """The changes of a variant for an encoder with this config, as a run resolves them.

        >>> from transformers import BertConfig
        >>> get_method("focal").changes("printed", BertConfig())
        {'temperature': 0.7}
        """
        default = cls.resolved(config)
        return {
            name: value
            for name, value in cls.resolved(config, variant=variant).items()
            if name != "variant" and value != default[name]
        }

    @classmethod
    def recipe(cls, encoder: SentenceEncoder) -> Recipe:
        """The paper's settings for encoders of this family: BERT or RoBERTa, base or large.

        If the paper prints nothing for the family, the first of `recipes` applies, and `cselab train` reports that.

        Raises:
            ValueError: the paper prints none.
        """
        if not cls.recipes:
            raise ValueError(f"{cls.name} has no recipe: its paper prints no settings")
        return cls.recipes.get(family(encoder), next(iter(cls.recipes.values())))

    def pooling(self, encoder: SentenceEncoder) -> str:
        """The pooling of a plain checkpoint if none is given: [CLS] under a head, as in the paper; otherwise
        unchanged.
        """
        if self.head == "none":
            return encoder.pooling
        return self.recipe(encoder).pooling if self.recipes else "cls"

    def seed(self, seed: int) -> None:
        """Seed the random draws of the method (noise, artificial rows)."""
        self.generator.manual_seed(seed)

    def resolve_defaults(self, config: Any) -> None:
        """Give the hyper-parameters that depend on the kind of encoder their values; `config` is its backbone's."""

    def prepare(self, encoder: SentenceEncoder) -> None:
        """Called once before training: `resolve_defaults`, and look at the encoder.

        Raises:
            ValueError: hyper-parameters that do not go together, or with this encoder.
        """
        self.resolve_defaults(encoder.backbone.config)
        lower, upper = (encoder.tokenizer(word)["input_ids"] for word in ("paris", "Paris"))
        if self.needs_capitals and lower == upper:
            raise ValueError(
                f"{self.name} needs a model with upper and lower case, and the tokenizer of "
                f"{encoder.name or 'this encoder'} reads 'Paris' as 'paris': use a cased model (RoBERTa, "
                "bert-base-cased), or a different method, such as esimcse"
            )

    def build(self, setup: Setup) -> Head:
        """The training head; SimCSE's Linear + tanh, or none, unless a method has its own.

        Called once, after `prepare`. Further trained or remembered parts become submodules or buffers of the method
        here.
        """
        return MLPHead(setup.width, setup.generator) if self.head == "mlp" else None

    def groups(self, encoder: SentenceEncoder) -> list[dict[str, Any]]:
        """The optimiser's parameter groups; a group may have its own "lr" or "weight_decay".

        Here: all weights of encoder and method that require gradients, in one. A method that freezes weights of the
        encoder in `build` finds them thawed again after the run.
        """
        weights = dict.fromkeys((*encoder.parameters(), *self.parameters()))  # each once: some are shared
        return [{"params": [weight for weight in weights if weight.requires_grad]}]

    def column(self, batch: Rows, name: str) -> list[str]:
        """The texts that the rows of a batch have in one of the method's `columns`."""
        if len(self.columns) == 1:
            return list(batch)
        return [row[self.columns.index(name)] for row in batch]

    def gaussian(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Standard normal numbers from the method's generator, with the other tensor's type and device."""
        return to_device(torch.randn(shape, generator=self.generator), like.device).to(like)

    def views(self, encode: Encode, batch: Rows) -> Views:
        """The vectors that the loss contrasts. The rows of `batch` are texts, or tuples of the `columns`."""
        raise NotImplementedError

    def loss(self, v: Views) -> Loss:
        """The loss of the views."""
        raise NotImplementedError

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """As in torch, but a buffer that grew since `build`, for example a queue, gets its saved size."""
        for name, buffer in self.named_buffers():
            if name in state_dict and state_dict[name].shape != buffer.shape:
                buffer.resize_(state_dict[name].shape)
        return super().load_state_dict(state_dict, strict, assign)

    def get_extra_state(self) -> Tensor:
        return self.generator.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        self.generator.set_state(state.cpu())

    def __repr__(self) -> str:
        usual = {"variant": "default"} | self.hyperparameters()
        changed = [f"{name}={getattr(self, name)!r}" for name in usual if getattr(self, name) != usual[name]]
        return f"{type(self).__name__}({', '.join(changed)})"


@cache
def _annotated(part: type) -> dict[str, Any]:
    notes = inspect.get_annotations(part, eval_str=True)  # a file may import annotations from __future__
    return {
        name: note
        for name, note in notes.items()
        if issubclass(part, Method) and not str(note).startswith("typing.ClassVar") and name in vars(part)
    }


def at_head_lr(method: Any, encoder: SentenceEncoder) -> list[dict[str, Any]]:
    """`Method.groups` of a method whose head and own weights learn at the rate `head_lr`."""
    fresh = [*encoder.head.parameters(), *method.parameters()]
    return [{"params": list(encoder.backbone.parameters())}, {"params": fresh, "lr": method.head_lr}]


METHODS: dict[str, type[Method]] = {}
"""The methods by name, where `create_method`, the command line and the tables find them; `register` adds one."""


def register(name: str, title: str) -> Callable[[type[Method]], type[Method]]:
    """Class decorator: make a method known by `name` to the command line, the notebooks and the tests.

    A second definition of the class, for example when a notebook cell runs again, replaces the first.

    Raises:
        ValueError: a different method has that name, or the method's `family` is not in `FAMILIES`.
    """

    def enter(method: type[Method]) -> type[Method]:
        check_choice(f"family of {name}", method.family, FAMILIES)
        register_class(METHODS, "method", name, method)
        method.name, method.title = name, title
        return method

    return enter


def get_method(name: str) -> type[Method]:
    """The class of a registered method.

    Raises:
        ValueError: unknown name; the message lists the known ones.
    """
    check_choice("method", name, METHODS)
    return METHODS[name]


def create_method(name: str, **hyperparameters: Any) -> Method:
    """A method by name, with hyper-parameters and `variant`.

    >>> create_method("simcse", temperature=0.1)
    SimCSE(temperature=0.1)
    """
    return get_method(name)(**hyperparameters)
