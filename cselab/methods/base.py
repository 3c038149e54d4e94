"""The shape of a method: which views it makes, and how they are contrasted.

The trainer stands between the two: it turns sentences into vectors, gathers them over processes and takes
gradients. A method only says what its paper adds to SimCSE.
"""

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol, get_args, get_origin, overload

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cselab.heads import MLPHead
from cselab.losses import Loss


class Encode(Protocol):
    """What the trainer gives a method to turn a batch into vectors [N, d], N over all processes.

    `times=k` gives k vectors of each sentence with a dropout mask each, from one stacked forward pass;
    `dropout=False` is a pass of its own without dropout, with gradients. The training head is applied to each
    view apart (`head=False` leaves it out, and `encode.head` is the head itself).
    """

    head: nn.Module | None

    @overload
    def __call__(self, batch: Sequence[str], *, dropout: bool = True, head: bool = True) -> Tensor: ...
    @overload
    def __call__(self, batch: Sequence[str], *, times: int, head: bool = True) -> list[Tensor]: ...


class Views:
    """The vectors of a batch: an anchor, its positives, and whatever else a method names.

    >>> views = Views(torch.zeros(2, 3), torch.ones(2, 3), clean=torch.ones(2, 3))
    >>> len(views.positives), views.clean.shape
    (1, torch.Size([2, 3]))
    """

    def __init__(self, anchor: Float[Tensor, "n d"], *positives: Float[Tensor, "n d"], **others: Any):
        self.anchor, self.positives = anchor, positives
        vars(self).update(others)

    @property
    def positive(self) -> Float[Tensor, "n d"]:
        """The first positive."""
        return self.positives[0]


class Method:
    """Base of all methods. A subclass is its parameters, `views` and `loss`; it may have a head of its own.

    Parameters are annotated class attributes with their defaults. `variants` names sets of other values:
    "default" is what the paper means, or what its authors ran where the text does not train; "paper" follows
    the text, "released" the authors' code.

    Every method has `head`: "mlp", Linear + tanh between the sentence vector and the loss, as the papers have it on
    [CLS], or "none". Released SimCSE has no head when it pools by a mean. A fresh head can learn to repair the
    cone itself, and then the vector before it stays as it was.

    Raises:
        ValueError: a parameter, variant or choice that the method does not have; lists those it has.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    variants: ClassVar[dict[str, dict[str, Any]]] = {"paper": {}, "released": {}}
    head: Literal["mlp", "none"] = "mlp"

    def __init_subclass__(cls) -> None:
        keyword = inspect.Parameter.KEYWORD_ONLY
        shown = [inspect.Parameter("variant", keyword, default="default", annotation=str)]
        for name, default in cls.parameters().items():
            shown.append(inspect.Parameter(name, keyword, default=default, annotation=cls._annotation(name)))
        cls.__signature__ = inspect.Signature(shown)

    def __init__(self, *, variant: str = "default", **parameters: Any):
        known = self.parameters()
        if variant not in {"default", *self.variants}:
            raise ValueError(
                f"unknown variant {variant!r} of {self.name}; choose one of default, {', '.join(self.variants)}"
            )
        unknown = sorted(set(parameters) - set(known))
        if unknown:
            raise ValueError(
                f"unknown parameter {unknown[0]!r} of {self.name}; it has variant, {', '.join(known)}"
            )
        self.variant = variant
        for name, value in {**known, **self.variants.get(variant, {}), **parameters}.items():
            note = self._annotation(name)
            if get_origin(note) is Literal and value not in get_args(note):
                raise ValueError(
                    f"{name} of {self.name} is {value!r}; choose one of {', '.join(map(repr, get_args(note)))}"
                )
            setattr(self, name, value)
        self.generator = torch.Generator().manual_seed(0)

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Names and default values of what can be set."""
        own = [part for part in reversed(cls.__mro__) if part is not Method]
        names = [name for part in [*own, Method] for name in _annotated(part)]
        return {name: getattr(cls, name) for name in dict.fromkeys(names)}

    @classmethod
    def _annotation(cls, name: str) -> Any:
        return next(_annotated(part)[name] for part in cls.__mro__ if name in _annotated(part))

    def settings(self) -> dict[str, Any]:
        """The parameters of this instance, JSON-able, as a run records them."""
        return {"variant": self.variant} | {name: getattr(self, name) for name in self.parameters()}

    def seed(self, seed: int) -> None:
        """Seed what the method itself draws (noise, artificial rows)."""
        self.generator.manual_seed(seed)

    def prepare(self, encoder: nn.Module) -> None:
        """Called once before training: resolve what depends on the encoder."""

    def build_head(self, width: int, generator: torch.Generator) -> nn.Module | None:
        """The training head; SimCSE's Linear + tanh, or none, unless a method has its own."""
        return MLPHead(width, generator) if self.head == "mlp" else None

    def views(self, encode: Encode, batch: Sequence[str]) -> Views:
        """The vectors that the loss contrasts."""
        raise NotImplementedError

    def loss(self, v: Views) -> Loss:
        """How they are contrasted."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs to go on as if it had never stopped."""
        return {"generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.generator.set_state(state["generator"])

    def __repr__(self) -> str:
        changed = {"variant": self.variant} if self.variant != "default" else {}
        changed |= {
            n: getattr(self, n) for n, value in self.parameters().items() if getattr(self, n) != value
        }
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def _annotated(part: type) -> dict[str, Any]:
    notes = inspect.get_annotations(part)
    return {name: note for name, note in notes.items() if not str(note).startswith("typing.ClassVar")}


METHODS: dict[str, type[Method]] = {}


def register(name: str, title: str):
    """Class decorator: make a method known by `name` to the command line, the notebooks and the tests."""

    def enter(method: type[Method]) -> type[Method]:
        assert name not in METHODS, f"two methods are called {name}"
        method.name, method.title = name, title
        METHODS[name] = method
        return method

    return enter


def get_method(name: str) -> type[Method]:
    """The class of a registered method.

    Raises:
        ValueError: unknown name; lists the known.
    """
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}")
    return METHODS[name]


def create_method(name: str, **parameters: Any) -> Method:
    """A method by name, with parameters and `variant`.

    >>> create_method("simcse", temperature=0.1)
    SimCSE(temperature=0.1)
    """
    return get_method(name)(**parameters)
