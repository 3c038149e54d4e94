"""Tokens and masks are those of a call of transformers' tokenizer, on every side and of every length."""

import pytest
import torch
from families import FAMILIES, make_tokenizer

from cselab import SentenceEncoder
from cselab.encoders.text import CHARACTERS, encodings, padded, prompted

TEXTS = ["the cat sees a dog", "a", "the dog " * 40, "not a known w0rd, [MASK] the cat [SEP]", "  ", "Ünïcode 日本"]


def called(tokenizer, texts, max_length):
    """What transformers makes of them."""
    return dict(tokenizer(texts, padding=True, truncation=True, max_length=max_length, return_tensors="pt"))


def assert_same(features, expected):
    assert list(features) == list(expected)
    for name, tensor in expected.items():
        assert features[name].dtype == tensor.dtype
        assert torch.equal(features[name], tensor), name


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_are_those_of_a_call_of_the_tokenizer(family, side):
    tokenizer = make_tokenizer(family)
    tokenizer.padding_side = side
    for longest in (4, 30):
        assert_same(
            padded(tokenizer, encodings(tokenizer, TEXTS, longest)), called(make_like(tokenizer), TEXTS, longest)
        )


def make_like(tokenizer):
    """A tokenizer with no setting of the other's left in it."""
    other = type(tokenizer)(tokenizer_object=tokenizer.backend_tokenizer.from_str(tokenizer.backend_tokenizer.to_str()))
    other.padding_side, other.model_input_names = tokenizer.padding_side, tokenizer.model_input_names
    other.add_special_tokens(tokenizer.special_tokens_map)
    return other


def test_types_of_tokens_are_there_where_the_model_takes_them():
    tokenizer = SentenceEncoder.from_pretrained("mini").tokenizer
    features = padded(tokenizer, encodings(tokenizer, TEXTS, 30))
    assert_same(features, called(tokenizer, TEXTS, 30))
    assert list(features) == ["input_ids", "token_type_ids", "attention_mask"]
    tokenizer._pad_token_type_id = 3
    assert padded(tokenizer, encodings(tokenizer, TEXTS, 30))["token_type_ids"].max() == 3
    assert_same(padded(tokenizer, encodings(tokenizer, TEXTS, 30)), called(tokenizer, TEXTS, 30))


def test_a_prompt_and_the_side_that_is_cut_are_the_tokenizers():
    tokenizer = SentenceEncoder.from_pretrained("micro").tokenizer
    tokenizer.truncation_side = "left"
    with prompted(tokenizer, 'This sentence: "{sentence}" means [MASK].'):
        assert_same(padded(tokenizer, encodings(tokenizer, TEXTS, 20)), called(tokenizer, TEXTS, 20))
    assert_same(padded(tokenizer, encodings(tokenizer, TEXTS, 20)), called(tokenizer, TEXTS, 20))


def test_special_tokens_in_a_text_are_read_as_the_tokenizer_says():
    tokenizer = SentenceEncoder.from_pretrained("micro").tokenizer
    known = padded(tokenizer, encodings(tokenizer, ["[MASK]"], 30))
    tokenizer.split_special_tokens = True
    split = padded(tokenizer, encodings(tokenizer, ["[MASK]"], 30))
    assert_same(split, called(tokenizer, ["[MASK]"], 30))
    assert known["input_ids"].shape == (1, 3) and split["input_ids"].shape[1] > 3


def test_of_a_text_without_end_the_beginning_is_read():
    tokenizer = SentenceEncoder.from_pretrained("micro").tokenizer
    [short] = encodings(tokenizer, ["a " * 10**6], 8)
    assert len(short) == 8 and sum(map(len, short.overflowing)) < CHARACTERS * 8


def test_setting_a_length_leaves_no_padding_behind():
    tokenizer = SentenceEncoder.from_pretrained("micro").tokenizer
    called(tokenizer, TEXTS, 30)
    assert [len(one) for one in encodings(tokenizer, ["a", "the cat"], 30)] == [3, 4]
