"""A sentence encoder: tokenizer, transformer, pooling, and a head that training may add."""

import copy
import inspect
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Encoding
from torch import Tensor, nn

from cselab._util.arguments import PositiveInt, Seed, check_argument, check_choice, checked
from cselab._util.progress import Progress
from cselab._util.writing import folder_written_whole
from cselab.data.rows import check_sentences
from cselab.metrics.degenerate import DegenerateEmbeddings

from .adapters import add_adapter
from .checkpoint import CheckpointError, tensors_hash
from .dropout import dropout_places, embedding_masked, set_dropout
from .folder import OPTIONAL, check_folder, is_decoder, load_backbone, load_tokenizer, read_folder, save_folder
from .heads import check_head, check_widths
from .open import BUNDLED_POOLINGS, find_encoder
from .pooling import POOLINGS, Vectors, get_pooling
from .speed import (
    Precision,
    batch_to_device,
    cls_only_last_layer,
    computing_in,
    expand_attention_mask,
    fastest_linear,
    supports_cls_only_last_layer,
)
from .text import (
    ReadingReport,
    TokenizedBatch,
    TokenVectors,
    add_prompt,
    encodings,
    padded,
    position_count,
    prompted,
    read_texts,
    remove_prompt,
    words_of_tokens,
)

Representation = Literal["backbone", "head"]

WINDOW = 16_384  # sentences tokenised at once: about 2.5 KB per short sentence, gigabytes per million


class UntrainedWeightsError(ValueError):
    """Raised when encoding with weights that were neither trained nor loaded."""


class TextWarning(UserWarning):
    """Some sentences cannot be read in full: they are too long, or of unknown tokens."""


class TruncationWarning(TextWarning):
    """Some sentences were longer than the encoder's longest input and lost tokens."""


class UnknownTokensWarning(TextWarning):
    """Most tokens of some sentences are the tokenizer's unknown token: other scripts, emoji, upper case."""


class PoolingWarning(UserWarning):
    """The folder of a decoder does not name a pooling."""


class UntrainedPositionsWarning(UserWarning):
    """Some sentences reach positions without pretraining, whose embeddings are noise."""


@dataclass(frozen=True)
class Truncation:
    """Counts of the last `encode`: its sentences, those that lost tokens, and those with mostly unknown tokens."""

    cut: int
    of: int
    max_length: int
    unknown: int = 0

    def __str__(self) -> str:
        return f"{self.cut} of {self.of} sentences were cut at {self.max_length} tokens"

    def warn(self, stacklevel: int) -> None:
        """Issue a `TruncationWarning` and an `UnknownTokensWarning`, each where it has sentences."""
        if self.cut:
            warnings.warn(str(self), TruncationWarning, stacklevel=stacklevel + 1)
        if self.unknown:
            warnings.warn(
                f"the encoder cannot read {self.unknown} of {self.of} sentences: most of their tokens are unknown to "
                "its tokenizer (a different script, emoji, upper case), so many sentences get similar vectors. Use an "
                "encoder of their language",
                UnknownTokensWarning,
                stacklevel=stacklevel + 1,
            )


class SentenceEncoder(nn.Module):
    """Sentences in, vectors out.

    Open one with `SentenceEncoder("micro")`, which is `SentenceEncoder.from_pretrained("micro")`: a bundled name, a
    folder, or a name of the hub; or make one of a model and its tokenizer. The vector of a sentence is the pooled
    output of the transformer ("backbone", the default, as in SimCSE and most later papers), or that vector after the
    training head (`representation="head"`, as in the text of WhitenedCSE).

    Args:
        backbone: a BERT- or RoBERTa-like transformers model; or a name or folder for `from_pretrained`, with its
            options.
        tokenizer: the model's fast tokenizer.
        pooling: a name in `cselab.encoders.pooling.POOLINGS`; of a model default "mean".
        representation: "backbone" or "head"; of a model default "backbone".
        head: the layers after pooling in training, or None.
        max_length: longest input in tokens, [CLS] and [SEP] included; by default the model's limit.
        normalize: whether `encode` returns vectors of length one.
        template: the prompt of `mask` pooling, with {sentence} where the sentence goes.
        name: the encoder's source, shown in results.
        prefix: keys and values that each layer attends to before the sentence's (`cselab.encoders.adapters`), or None.
        precision: the precision of `encode`: "fp32", "bf16" (about two digits of a vector; faster if the processor
            supports bfloat16), or "auto": the faster of these. May be set later; it is not saved.

    `prompts` (texts to put before a sentence, by name), `default_prompt_name` and `truncate_dim` come from the folder,
    can be set and are saved. They have the meaning of sentence-transformers: see `encode`.

    Raises:
        ValueError: unknown pooling or representation; a longest input that does not fit the model; `mask`
            pooling without a usable template.
        UntrainedWeightsError: a pooling or representation without trained weights.
    """

    def __init__(
        self,
        backbone: Any,
        tokenizer: Any = None,
        pooling: str | None = None,
        representation: Representation | None = None,
        head: nn.Module | None = None,
        max_length: int | None = None,
        normalize: bool = False,
        template: str | None = None,
        name: str = "",
        prefix: nn.Module | None = None,
        precision: Precision = "fp32",
        *,
        prompts: Mapping[str, str] | None = None,
        default_prompt_name: str | None = None,
        truncate_dim: int | None = None,
    ) -> None:
        super().__init__()
        if isinstance(backbone, str | Path):
            if any(part is not None for part in (tokenizer, head, prefix)) or normalize:
                raise TypeError(
                    f"SentenceEncoder({str(backbone)!r}) brings its tokenizer, head and prefix: leave them out"
                )
            asked = {"pooling": pooling, "representation": representation, "max_length": max_length}
            self._open(backbone, None, asked | {"template": template}, precision)
            return
        if tokenizer is None:
            raise TypeError(
                "a model needs its tokenizer: SentenceEncoder(backbone, tokenizer), or only a name or folder"
            )
        self.name = name
        self.backbone: Any = backbone  # a transformer; its type in torch is Module
        self.tokenizer = tokenizer
        self.head: Any = head
        self.prefix: Any = prefix
        self.untrained: set[str] = set()
        self.template = template
        self.pooling = pooling or "mean"
        self.representation = representation or "backbone"
        self.normalize = normalize
        self.precision = precision
        self.last_truncation: Truncation | None = None
        self.prompts = dict(prompts or {})
        self.default_prompt_name = default_prompt_name
        self.truncate_dim = truncate_dim
        known = inspect.signature(backbone.forward).parameters  # some tokenizers give types of tokens to all models
        tokenizer.model_input_names = [name for name in tokenizer.model_input_names if name in known]
        self.dropout_given: float | None = None  # None: the rates are those of the backbone's config
        self.pooling_given = True  # False: a plain checkpoint, opened without a pooling, is pooled by the mean
        if template is not None:
            add_prompt(tokenizer, template)
        most = min(position_count(backbone), tokenizer.model_max_length)
        self.max_length = most if max_length is None else max_length

    # ---------------------------------------------------------------------------- opening and saving

    @classmethod
    @checked
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        *,
        pooling: str | None = None,
        representation: Representation | None = None,
        max_length: int | None = None,
        template: str | None = None,
        precision: Precision = "fp32",
        device: str | torch.device | None = None,
        revision: str | None = None,
    ) -> "SentenceEncoder":
        """Open a bundled encoder ("micro", "mini"), a folder, or a model of the Hugging Face hub.

        A folder may be one that `save_pretrained` wrote, a sentence-transformers model, or a plain transformers
        checkpoint. The folder's pooling applies unless you pass an argument. A plain checkpoint uses mean pooling, as
        in sentence-transformers, until a method trains it (`pooling_given` is False: `train` then uses the pooling of
        the method's paper, [CLS]). "micro" keeps its mean. A decoder (Llama, Qwen, Gemma) uses its last token, with a
        `PoolingWarning` if the folder names no pooling. Weights are read from safetensors, in float32. Only a hub name
        reaches the network.

        Raises:
            CheckpointError: damaged, incomplete or missing files; the message names them.
            ValueError: unknown names; a pooling that these weights do not have.
        """
        asked = {"pooling": pooling, "representation": representation, "max_length": max_length, "template": template}
        encoder = cls.__new__(cls)
        encoder._open(name_or_path, revision, asked, precision)
        return encoder.to(device) if device is not None else encoder

    def _open(
        self, name_or_path: str | Path, revision: str | None, asked: Mapping[str, Any], precision: Precision
    ) -> None:
        """Make this encoder of the parts that a folder has."""
        parts = open_parts(name_or_path, revision, asked)
        type(self).__init__(self, **parts, precision=precision)
        self.pooling_given = "pooling" in parts
        self.eval()

    @checked
    def save_pretrained(self, path: str | Path) -> None:
        """Write a folder that cselab, transformers and `sentence_transformers.SentenceTransformer` open.

        The head is written too, if it was trained; sentence-transformers uses it when the representation is
        "head". Only cselab opens an encoder with a prefix; sentence-transformers refuses its folder.
        Adapters are merged into the weights, so that the folder opens anywhere, without peft and without the model
        that they were trained on; the folder `adapter` inside has only the adapters, for `PeftModel.from_pretrained`.

        Raises:
            UntrainedWeightsError: the representation is that of a head that was never trained.
            OSError: the folder cannot be written; its previous content remains.
        """
        self._check_trained()
        saved = ("pooling", "representation", "max_length", "normalize", "template", *OPTIONAL)
        settings = {name: getattr(self, name) for name in saved}
        trained = self.head is not None and "head" not in self.untrained
        head = list(self.head.dense_layers()) if trained else []
        with folder_written_whole(Path(path), last="config.json") as aside:
            save_folder(aside, self.backbone, self.tokenizer, settings, head, self.prefix)

    # ---------------------------------------------------------------------------- vectors

    @property
    def pooling(self) -> str:
        """The name of the pooling; you can set a different pooling that these weights support."""
        return self._pooling

    @pooling.setter
    def pooling(self, name: str) -> None:
        pooling = get_pooling(name)
        if pooling.pooler and getattr(self.backbone, "pooler", None) is None:
            raise UntrainedWeightsError(
                f"the pooler of {self.name or 'this encoder'} was neither trained nor loaded, so its vectors "
                f"would be noise: choose a pooling other than {name!r}"
            )
        if (pooling.counts == "mask") != (self.template is not None):
            raise ValueError(
                "the pooling 'mask' and a template belong together: open the encoder with "
                f"pooling='mask' and a template, or a different pooling and none (given: {name!r} with the "
                f"template {self.template!r})"
            )
        self._pooling = name

    @property
    def max_length(self) -> int:
        """The longest input in tokens, [CLS] and [SEP] included; you can set a length that fits the model."""
        return self._max_length

    @max_length.setter
    def max_length(self, tokens: int) -> None:
        self.check_max_length(tokens)
        self._max_length = tokens

    @property
    def representation(self) -> Representation:
        """Which vector is evaluated and saved: before ("backbone") or after the head ("head")."""
        return self._representation

    @representation.setter
    def representation(self, which: Representation) -> None:
        check_choice("representation", which, ("backbone", "head"))
        if which == "head" and self.head is None:
            raise UntrainedWeightsError(
                "representation='head' needs an encoder with a head; this one has none: train one, or use 'backbone'"
            )
        self._representation = which

    @property
    def dropout(self) -> float:
        """The highest rate at which the backbone drops out numbers in training; 0: two passes give the same vectors.

        May be set: then it is the rate of every place (`cselab.encoders.dropout`), and saved with the encoder.
        """
        return max(dropout_places(self.backbone).values(), default=0.0)

    @dropout.setter
    def dropout(self, p: float) -> None:
        set_dropout(self.backbone, p)
        self.dropout_given = p

    @property
    def has_adapters(self) -> bool:
        """Whether adapters were added to the transformer; a method trains only these and the head."""
        return bool(getattr(self.backbone, "peft_config", None))

    @property
    def device(self) -> torch.device:
        return next(self.backbone.parameters()).device

    @property
    def hidden_size(self) -> int:
        """Width of the transformer and of the vector before a head: the input size for layers and queues that a method
        adds.
        """
        return self.backbone.config.hidden_size

    @property
    def embedding_dimension(self) -> int:
        """Width of the vectors that `encode` returns."""
        return self._width if self.truncate_dim is None else min(self._width, self.truncate_dim)

    @property
    def _width(self) -> int:
        """Width of the representation."""
        if self.representation == "head" and self.head is not None:
            return list(self.head.dense_layers())[-1][0].out_features
        return self.hidden_size

    @property
    def trained_positions(self) -> int | None:
        """The length of the pretraining rows in tokens, if the model's config.json has it (micro, mini: 64)."""
        return getattr(self.backbone.config, "trained_positions", None)

    def __repr__(self) -> str:
        """One line: name, pooling, width, layers and millions of parameters (`print(encoder.backbone)` for all)."""
        millions = sum(parameter.numel() for parameter in self.backbone.parameters()) / 1e6
        head = "" if self.head is None else f", head={type(self.head).__name__}"
        return (
            f"SentenceEncoder({self.name!r}, pooling={self.pooling!r}{head}, width={self.embedding_dimension}, "
            f"layers={self.backbone.config.num_hidden_layers}, parameters={millions:.1f}M)"
        )

    def get_embedding_dimension(self) -> int:
        """The same as `embedding_dimension`, by sentence-transformers' name."""
        return self.embedding_dimension

    @checked
    def use_prompt(self, template: str) -> None:
        """Put every sentence into this prompt from now on, and use the vector of its [MASK].

        Raises:
            ValueError: a template without {sentence} and the mask token, once each.
        """
        add_prompt(self.tokenizer, template)
        self.template, self._pooling = template, "mask"

    def attach_head(self, head: nn.Module | None) -> None:
        """Put a fresh head on the encoder, or none; until it is trained its vectors may not be evaluated.

        Raises:
            TypeError: a head that could not be saved; the message names the missing part.
        """
        if head is not None:
            check_head(head)
        self.head = head
        self.untrained.discard("head")
        if head is not None:
            head.to(self.device)
            self.untrained.add("head")

    @checked
    def add_adapter(self, adapter: Any, seed: Seed = 42) -> None:
        """Freeze the transformer and train adapters in its layers from now on: LoRA, with any method.

        Adapters change no vector until they are trained. `save_pretrained` writes the transformer with the adapters
        merged into its weights, and the adapters in a folder inside.

        Args:
            adapter: a config of peft, as in `SentenceTransformer.add_adapter`: `LoraConfig(r=8)`; or a rank, which is
                LoRA on all linear layers of the transformer with `lora_alpha` twice the rank.
            seed: the seed of the adapters' first weights.

        Raises:
            ModuleNotFoundError: peft is not installed.
            ValueError: a rank below 1; an encoder that already has adapters; a config that fits no layer.
        """
        if self.has_adapters:
            raise ValueError("this encoder has adapters already: open the encoder again, or train its adapters")
        add_adapter(self.backbone, adapter, seed)

    def check_max_length(self, tokens: int) -> None:
        """Raise ValueError unless inputs of this length fit the model and leave room for the sentence."""
        least, most = self.tokenizer.num_special_tokens_to_add() + 1, position_count(self.backbone)
        check_argument("max_length", tokens, int)
        if not least <= tokens <= most:
            raise ValueError(f"max_length must be between {least} and {most} for this model, got {tokens}")

    def weights_hash(self) -> str:
        """SHA-256 of the weights that make the representation; equal hashes give equal vectors."""
        parts = {"backbone": self.backbone, "prefix": self.prefix}
        if self.representation == "head":
            parts["head"] = self.head
        states = {part: module.state_dict() for part, module in parts.items() if module is not None}
        return tensors_hash(
            {f"{part}.{name}": value for part, state in states.items() for name, value in state.items()}
        )

    @checked
    def tokenize(
        self, sentences: Sequence[str], max_length: int | None = None, template: str | None = None
    ) -> dict[str, Tensor]:
        """Token ids and masks of a batch, padded to its longest row, on the encoder's device.

        `template` replaces the encoder's template for this call: a prompt with {sentence} as the place of the
        sentence. A long sentence is cut, the prompt never.
        """
        max_length = max_length or self.max_length
        with nullcontext() if template is None else prompted(self.tokenizer, template):
            return self.tokenized(sentences, max_length)

    def tokenized(self, sentences: Sequence[str], max_length: int) -> dict[str, Tensor]:
        """As `tokenize`, with unchecked arguments."""
        device = self.device
        return batch_to_device(padded(self.tokenizer, encodings(self.tokenizer, sentences, max_length)), device)

    def pooled(self, features: TokenizedBatch, apart: bool = False) -> Vectors:
        """The sentence vectors before the head, with gradients: one forward pass of the backbone.

        With `apart` the vectors of the tokens that a mean pooling averages, those of the first sentence first.
        """
        pooling = POOLINGS[self._pooling]
        ready = expand_attention_mask if self.prefix is None else self.prefix.before
        reads_first = pooling.counts == "first" and self.tokenizer.padding_side == "right"
        alone = reads_first and supports_cls_only_last_layer(self.backbone)
        shortened = cls_only_last_layer(self.backbone) if alone else nullcontext()
        masked = embedding_masked(self.backbone, features) if "embedding_mask" in features else nullcontext(features)
        with shortened, masked as unmasked:
            output = self.backbone(**ready(unmasked, self.backbone), output_hidden_states=len(pooling.layers) > 1)
        layers = output.hidden_states or [output.last_hidden_state]
        counted = features["attention_mask"][:, :1] if alone else features["attention_mask"]
        if pooling.counts == "mask":
            counted = (features["input_ids"] == self.tokenizer.mask_token_id).long()
        if pooling.pooler:
            return self.backbone.pooler(layers[-1])
        if apart:  # each token as a sentence of its own
            layers = [layer[counted.bool()][:, None] for layer in layers]
            counted = counted.new_ones(len(layers[-1]), 1)
        return pooling(layers, counted)

    def forward(self, features: TokenizedBatch) -> Vectors:
        """The representation of a batch, with gradients."""
        vectors = self.pooled(features)
        return self.head(vectors) if self.representation == "head" else vectors

    @torch.no_grad()
    @checked
    def encode(
        self,
        sentences: str | Iterable[str],
        batch_size: PositiveInt = 64,
        show_progress_bar: bool | None = None,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = False,
        *,
        prompt_name: str | None = None,
        prompt: str | None = None,
    ) -> np.ndarray | Tensor:
        """Vectors of sentences, in their order: [n, d] float32; of a single string: [d].

        Runs without dropout. Each distinct sequence of tokens is encoded once, short ones together. Sentences with the
        same tokens ("A dog", "a DOG") get the same vector. `last_truncation` counts the truncated sentences and those
        of unknown tokens; a `TruncationWarning` and an `UnknownTokensWarning` report the counts.

        Args:
            sentences: a list of non-empty strings, or one string.
            batch_size: sentences per forward pass.
            show_progress_bar: None shows progress for more than 100 batches.
            convert_to_tensor: return a tensor on the encoder's device instead of a numpy array.
            normalize_embeddings: scale each vector to length one.
            prompt_name: the key of `prompts` whose text is put before each sentence; default `default_prompt_name`.
            prompt: that text itself.

        Raises:
            TypeError, ValueError: something that is not a string, an empty string (its index is named), an
                empty list; a `prompt_name` that is not among `prompts`.
            UntrainedWeightsError: the head was never trained or loaded.
            DegenerateEmbeddings: vectors that are not finite; names the weights that are not.
        """
        single = isinstance(sentences, str)
        sentences = check_sentences([sentences] if single else sentences)
        if before := self._prompt(prompt_name, prompt):
            sentences = [before + sentence for sentence in sentences]
        self._check_trained()
        distinct = list(dict.fromkeys(sentences))
        vectors, row_of, report = self._encode_distinct(distinct, batch_size, show_progress_bar)
        cut, unknown = (sum(text in found for text in sentences) for found in (report.cut, report.unknown))
        self._warn(Truncation(cut, len(sentences), self.max_length, unknown), report.beyond, len(distinct))
        self._check_finite(vectors)
        if self.normalize:
            vectors = F.normalize(vectors, dim=1)
        vectors = vectors[:, : self.truncate_dim]
        if normalize_embeddings:
            vectors = F.normalize(vectors, dim=1)
        vectors = vectors[row_of[sentences[0]] if single else [row_of[text] for text in sentences]]
        return vectors if convert_to_tensor else vectors.cpu().numpy()

    @torch.no_grad()
    @checked
    def token_vectors(self, sentence: str) -> TokenVectors | None:
        """Vectors of the tokens whose mean is `encode(sentence)`.

        None if no token vectors add up to the vector, because the pooling reads one token or a head follows.
        """
        if get_pooling(self.pooling).counts != "all" or self.representation == "head":
            return None
        text = self._prompt(None, None) + sentence
        with exclusive(self), eval_mode(self), computing_in(self.precision, self.device):
            vectors = self.pooled(self.tokenize([text]), apart=True).float()
            words, firsts = words_of_tokens(text, self.tokenizer.backend_tokenizer.encode(text))
        self._check_finite(vectors)
        if self.normalize:
            vectors = vectors / vectors.mean(dim=0).norm()
        return TokenVectors(words, firsts, vectors[:, : self.truncate_dim].cpu().numpy())

    def _encode_distinct(
        self, texts: list[str], batch_size: int, show: bool | None
    ) -> tuple[Vectors, dict[str, int], ReadingReport]:
        """Vectors of different texts, the row of each text in them, and what could not be read.

        Window by window, each sequence of tokens is encoded once, and those of similar length together.
        """
        if len(texts) > WINDOW:
            texts = sorted(texts, key=len)
        windows = [texts[start : start + WINDOW] for start in range(0, len(texts), WINDOW)]
        passes = sum(math.ceil(len(window) / batch_size) for window in windows)
        show = passes > 100 if show is None else show
        vectors, device = torch.empty(len(texts), self._width, device=self.device), self.device
        row_of_tokens, row_of_text = dict[bytes, int](), dict[str, int]()
        report, max_length = ReadingReport(self.trained_positions), self.max_length
        arithmetic, fastest = computing_in(self.precision, device), fastest_linear()
        with exclusive(self), eval_mode(self), arithmetic, Progress(passes, "encode", show=show) as progress:
            for window in windows:
                start, new = len(row_of_tokens), list[Encoding]()
                tokens = read_texts(self.tokenizer, window, max_length, report)
                for text, own in zip(window, tokens, strict=True):
                    key = np.array(own.ids, dtype=np.int32).tobytes()
                    if key not in row_of_tokens:
                        row_of_tokens[key] = len(row_of_tokens)
                        new.append(own)
                    row_of_text[text] = row_of_tokens[key]
                order = sorted(range(len(new)), key=lambda row: len(new[row]))
                for first in range(0, len(order), batch_size):
                    rows = order[first : first + batch_size]
                    batch = padded(self.tokenizer, [new[row] for row in rows])
                    batch |= {"rows": torch.tensor(rows) + start}
                    batch = batch_to_device(batch, device)
                    places = batch.pop("rows")
                    with fastest:
                        vectors[places] = self.forward(batch).float()
                    progress.update()
        return vectors[: len(row_of_tokens)], row_of_text, report

    @staticmethod
    def similarity(a: np.ndarray | Tensor, b: np.ndarray | Tensor) -> Tensor:
        """Cosine similarity of each row of `a` with each row of `b`: [n, m], in [-1, 1]."""
        a, b = (F.normalize(torch.as_tensor(x, dtype=torch.float32), dim=-1) for x in (a, b))
        return a @ b.mT

    def copy(self) -> "SentenceEncoder":
        """An independent copy; training it does not change this encoder."""
        return copy.deepcopy(self)

    def _prompt(self, name: str | None, text: str | None) -> str:
        """The text before each sentence."""
        name = self.default_prompt_name if name is None else name
        if text is not None or name is None:
            return text or ""
        if name not in self.prompts:
            raise ValueError(f"unknown prompt {name!r}; {self.name or 'this encoder'} has {list(self.prompts)}")
        return self.prompts[name]

    def _warn(self, truncation: Truncation, beyond: int, distinct: int) -> None:
        """Warn of texts that were cut or cannot be read, and of tokens at positions that were never trained."""
        self.last_truncation = truncation
        truncation.warn(stacklevel=5)  # no_grad and checked add frames
        if beyond:
            warnings.warn(
                f"{beyond} of {distinct} different sentences are longer than the {self.trained_positions} tokens that "
                f"{self.name or 'this encoder'} was pretrained on: the positions after them were never trained. "
                f"max_length={self.trained_positions} truncates them",
                UntrainedPositionsWarning,
                stacklevel=5,
            )

    def _check_finite(self, vectors: Tensor) -> None:
        broken = int((~vectors.isfinite().all(dim=1)).sum())
        if broken:
            names = [name for name, weights in self.named_parameters() if not bool(weights.isfinite().all())]
            why = f"contain such numbers ({names[0]})" if names else "are finite, but too large"
            raise DegenerateEmbeddings(
                f"{broken} of {len(vectors)} embeddings are not finite (NaN or Inf): the weights of "
                f"{self.name or 'this encoder'} {why}"
            )

    def _check_trained(self) -> None:
        if self.representation == "head" and "head" in self.untrained:
            raise UntrainedWeightsError(
                f"the head of {self.name or 'this encoder'} was neither trained nor loaded, so its vectors would be "
                "noise: train it first, or use representation='backbone'"
            )


def open_parts(name_or_path: str | Path, revision: str | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a saved encoder: keyword arguments of `SentenceEncoder`; no "pooling" if nothing names one.

    Args:
        name_or_path: as in `SentenceEncoder.from_pretrained`, also `revision`.
        asked: pooling, representation, max_length and template; None leaves the folder's.
    """
    folder, name = find_encoder(name_or_path, revision)
    settings = read_folder(folder)
    backbone, tokenizer = load_backbone(folder), load_tokenizer(folder)
    if len(tokenizer) > backbone.config.vocab_size:
        raise CheckpointError(
            f"the tokenizer of {folder} has {len(tokenizer)} tokens, its model {backbone.config.vocab_size}: "
            "its files belong to different models"
        )
    check_folder(folder)
    if (head := settings.get("head")) is not None:
        check_widths(head, backbone.config.hidden_size, folder)
    if settings.get("max_length") is not None:
        settings["max_length"] = min(settings["max_length"], position_count(backbone))
    if asked["pooling"] not in (None, "mask") and settings.pop("template", None) is not None:
        remove_prompt(tokenizer)
    settings |= {key: value for key, value in asked.items() if value is not None}
    if "pooling" not in settings and str(name_or_path) in BUNDLED_POOLINGS:
        settings["pooling"] = BUNDLED_POOLINGS[str(name_or_path)]
    if "pooling" not in settings and is_decoder(backbone):
        settings["pooling"] = "last_token"
        warnings.warn(
            f"{name} is a decoder, and its folder names no pooling: using the last token, which "
            "sees the whole sentence. Choose pooling='last_token' or pooling='mean' to silence this",
            PoolingWarning,
            stacklevel=5,  # `_open`, `from_pretrained` and `checked` add frames
        )
    return {"backbone": backbone, "tokenizer": tokenizer, "name": name} | settings


_LOCKS: WeakKeyDictionary[nn.Module, Any] = WeakKeyDictionary()
_NEW_LOCK = Lock()


@contextmanager
def exclusive(encoder: nn.Module) -> Iterator[None]:
    """Allow only one thread at a time to encode with a module or train it, because each sets its mode and tokenizer."""
    with _NEW_LOCK:
        lock = _LOCKS.setdefault(encoder, RLock())
    with lock:
        yield


@contextmanager
def eval_mode(module: nn.Module) -> Iterator[None]:
    """A context without dropout; afterwards each submodule has its earlier mode."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode
