"""Prompts around sentences, put there by the tokenizer itself: a long sentence is cut, the prompt never."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def add_prompt(tokenizer: Any, template: str) -> None:
    """Put every sentence that is tokenised from now on into the prompt.

    Raises:
        ValueError: a template without {sentence} and the mask token, once each; a tokenizer without a mask token.
    """
    if tokenizer.mask_token is None:
        raise ValueError("the pooling 'mask' and its template need a mask token, which this model's tokenizer has not")
    if template.count(tokenizer.mask_token) != 1:
        raise ValueError(_template_wanted(tokenizer, template))
    _wrap(tokenizer, *_around(tokenizer, template))


def remove_prompt(tokenizer: Any) -> None:
    """[CLS] and [SEP] around every sentence again, and nothing else."""
    _wrap(tokenizer, [tokenizer.cls_token_id], [tokenizer.sep_token_id])


@contextmanager
def prompted(tokenizer: Any, template: str) -> Iterator[None]:
    """The prompt inside, what was there before afterwards.

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
        f"a template has {{sentence}} and {tokenizer.mask_token} once each, for instance "
        f"'This sentence : \"{{sentence}}\" means {tokenizer.mask_token}.'; got {template!r}"
    )


def _wrap(tokenizer: Any, before: list[int], after: list[int]) -> None:
    """Let the tokenizer put these tokens around each sentence, in place of what it put there."""
    from tokenizers.processors import TemplateProcessing

    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<before> $A <after>",
        special_tokens=[
            {"id": name, "ids": ids, "tokens": tokenizer.convert_ids_to_tokens(ids)}
            for name, ids in {"<before>": before, "<after>": after}.items()
        ],
    )
