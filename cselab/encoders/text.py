"""From texts to token ids and masks, in prompts, at positions.

A call of transformers' tokenizer makes lists of Python numbers of every text, and pads them one by one. Here the same
tokenizer's own results are kept, and their numbers are read once, when a batch is laid out: a third of the time.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from tokenizers import Encoding
from torch import Tensor
from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils import PaddingStrategy

CHARACTERS = 100
"""The number of characters read per token of the longest input: a line of 50 MB is cut before tokenisation."""

TOKEN_FIELDS = ("input_ids", "token_type_ids", "attention_mask")
"""The inputs of models, in the order of `padded`."""


TokenizedBatch = Mapping[str, Tensor]
"""The inputs of a transformer: `attention_mask` [n, t] with `input_ids` [n, t] or `inputs_embeds` [n, t, d], and
more.
"""


def encodings(tokenizer: Any, texts: Sequence[str], max_length: int) -> list[Encoding]:
    """The tokens of each text, special tokens among them, cut at `max_length`; not padded."""
    tokenizer.set_truncation_and_padding(
        PaddingStrategy.DO_NOT_PAD, TruncationStrategy.LONGEST_FIRST, max_length, 0, None, None
    )
    tokenizer.backend_tokenizer.encode_special_tokens = tokenizer.split_special_tokens
    try:
        return tokenizer.backend_tokenizer.encode_batch_fast([text[: CHARACTERS * max_length] for text in texts])
    except Exception as error:  # the tokenizers library raises nothing more particular
        raise ValueError(
            f"the tokenizer of {tokenizer.name_or_path} cannot read these texts ({error}): restore its tokenizer.json"
        ) from None


def mostly_unknown(tokenizer: Any, texts: Sequence[str], tokens: Sequence[Encoding]) -> set[str]:
    """The texts with more unknown tokens than others, those that the tokenizer adds not counted."""
    unknown, added = tokenizer.unk_token_id, tokenizer.num_special_tokens_to_add()
    return {text for text, own in zip(texts, tokens, strict=True) if 2 * own.ids.count(unknown) > len(own) - added}


@dataclass
class ReadingReport:
    """The texts that lost tokens, those of mostly unknown tokens, and how many are longer than `trained` positions."""

    trained: int | None = None
    cut: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    beyond: int = 0


def read_texts(tokenizer: Any, texts: Sequence[str], max_length: int, report: ReadingReport) -> list[Encoding]:
    """The tokens of each text, as `encodings`; the report notes the texts that are not read in full."""
    tokens = encodings(tokenizer, texts, max_length)
    longest = CHARACTERS * max_length
    report.cut |= {text for text, own in zip(texts, tokens, strict=True) if own.overflowing or len(text) > longest}
    report.unknown |= mostly_unknown(tokenizer, texts, tokens)
    report.beyond += sum(len(own) > (report.trained or len(own)) for own in tokens)
    return tokens


def padded(tokenizer: Any, batch: Sequence[Encoding]) -> dict[str, Tensor]:
    """The model's inputs for a batch, each [n, t]: padded to the longest row, on the tokenizer's side."""
    fillings = {"ids": tokenizer.pad_token_id, "type_ids": tokenizer.pad_token_type_id, "attention_mask": 0}
    longest = max(map(len, batch))
    features = {}
    for name, (numbers, filling) in zip(TOKEN_FIELDS, fillings.items(), strict=True):
        if name in tokenizer.model_input_names:
            rows = np.full((len(batch), longest), filling)
            for row, one in zip(rows, batch, strict=True):
                own = slice(longest - len(one), None) if tokenizer.padding_side == "left" else slice(len(one))
                row[own] = getattr(one, numbers)
            features[name] = torch.from_numpy(rows)
    return features


WORD_OR_CHARACTER = re.compile(r"[\u3040-\u9fff]|[^\W\u3040-\u9fff]+|[^\w\s]")
"""A word, a punctuation mark, or a Chinese or Japanese character, because these languages have no spaces."""


class TokenVectors(NamedTuple):
    """The tokens of a sentence: its words and special tokens, the first token of each, one vector per token [t, d]."""

    words: list[str]
    firsts: list[int]
    vectors: Float[np.ndarray, "t d"]


def words_of_tokens(text: str, tokens: Encoding) -> tuple[list[str], list[int]]:
    """The words of a text with its special tokens, and the number of the first token of each.

    `tokens` are those of `Tokenizer.encode`, which has their places in the text.
    """
    places = list(WORD_OR_CHARACTER.finditer(text))
    own = [bisect_left(places, end, key=re.Match.start) for _, end in tokens.offsets]  # 0: a special token
    firsts = [number for number in range(len(own)) if number == 0 or own[number] != own[number - 1]]
    return [places[own[n] - 1].group() if own[n] else tokens.tokens[n] for n in firsts], firsts


def add_prompt(tokenizer: Any, template: str) -> None:
    """Put every sentence that is tokenised from now on into the prompt.

    Raises:
        ValueError: a template without {sentence} and the mask token, once each; a tokenizer without a mask token.
    """
    if tokenizer.mask_token is None:
        raise ValueError("the pooling 'mask' and its template need a mask token, but this model's tokenizer has none")
    if template.count(tokenizer.mask_token) != 1:
        raise ValueError(_template_wanted(tokenizer, template))
    _wrap(tokenizer, *_around(tokenizer, template))


def remove_prompt(tokenizer: Any) -> None:
    """[CLS] and [SEP] around every sentence again, and nothing else."""
    _wrap(tokenizer, [tokenizer.cls_token_id], [tokenizer.sep_token_id])


@contextmanager
def prompted(tokenizer: Any, template: str) -> Iterator[None]:
    """A context with this prompt; afterwards the earlier prompt applies.

    Raises:
        ValueError: a template without {sentence}, or with several.
    """
    before = tokenizer.backend_tokenizer.post_processor
    _wrap(tokenizer, *_around(tokenizer, template))
    try:
        yield
    finally:
        tokenizer.backend_tokenizer.post_processor = before


def _around(tokenizer: Any, template: str) -> tuple[list[int], list[int]]:
    """The tokens before and after the sentence, [CLS] and [SEP] among them."""
    if template.count("{sentence}") != 1:
        raise ValueError(_template_wanted(tokenizer, template))
    before, after = (tokenizer(part, add_special_tokens=False)["input_ids"] for part in template.split("{sentence}"))
    return [tokenizer.cls_token_id, *before], [*after, tokenizer.sep_token_id]


def _template_wanted(tokenizer: Any, template: str) -> str:
    return (
        f"a template has {{sentence}} and {tokenizer.mask_token} once each, for example "
        f"'This sentence : \"{{sentence}}\" means {tokenizer.mask_token}.'; got {template!r}"
    )


def _wrap(tokenizer: Any, before: list[int], after: list[int]) -> None:
    """Let the tokenizer put these tokens around each sentence, instead of the default ones."""
    from tokenizers.processors import TemplateProcessing

    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<before> $A <after>",
        special_tokens=[
            {"id": name, "ids": ids, "tokens": tokenizer.convert_ids_to_tokens(ids)}
            for name, ids in {"<before>": before, "<after>": after}.items()
        ],
    )


WITHOUT_POSITIONS = 2**20
"""The longest input of a model that adds distances to its attention (T5): memory ends before it."""


def first_position(backbone: Any) -> int:
    """The position of the first token: 0, or the one after padding if the model has a padding position (RoBERTa: 2)."""
    table = getattr(getattr(backbone, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return 0 if padding is None else padding + 1


def position_count(backbone: Any) -> int:
    """The number of positions of the model."""
    count = getattr(backbone.config, "max_position_embeddings", None) or WITHOUT_POSITIONS
    return count - first_position(backbone)
