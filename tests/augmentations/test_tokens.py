"""What each change of tokens changes, and what it leaves."""

import pytest
import torch
from tiny import make_encoder, seeded
from torch.testing import assert_close

from cselab.augmentations import cut_features, cut_tokens, inner_tokens, repeat_subwords, shuffle_positions
from cselab.encoders.text import first_position

TEXTS = ["the old dog sees a small red bird", "a cat sees the quiet house today", "the cat"]


@pytest.fixture
def tokens():
    return make_encoder(layers=1).tokenize(TEXTS)


def test_inner_tokens_are_all_but_the_ends_and_padding(tokens):
    """The sentences own tokens are all but the ends and padding."""
    inner = inner_tokens(tokens)
    assert inner.sum(1).tolist() == [8, 7, 2]
    special = torch.tensor(make_encoder(layers=1).tokenizer.all_special_ids)
    assert not torch.isin(tokens["input_ids"][inner], special).any()
    assert torch.isin(tokens["input_ids"][~inner], special).all()


def test_shuffled_positions_are_a_permutation(tokens):
    """Shuffled positions are a permutation of the sentences own."""
    inner, places = inner_tokens(tokens), torch.arange(tokens["input_ids"].shape[1])
    shuffled = shuffle_positions(tokens, seeded())
    assert torch.equal(shuffled["input_ids"], tokens["input_ids"])
    for row, own in zip(shuffled["position_ids"], inner, strict=True):
        assert sorted(row[own].tolist()) == places[own].tolist()
        assert row[~own].tolist() == places[~own].tolist()
    assert not torch.equal(shuffled["position_ids"][0], places)
    again = shuffle_positions(tokens, seeded(), first=2)["position_ids"]
    assert torch.equal(again, shuffled["position_ids"] + 2)


def test_all_orders_of_three_tokens_come_up():
    tokens = {"attention_mask": torch.ones(400, 5, dtype=torch.long)}
    orders = shuffle_positions(tokens, seeded())["position_ids"][:, 1:4]
    counts = orders.unique(dim=0, return_counts=True)[1]
    assert len(counts) == 6 and counts.min() > 400 / 6 / 2


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_positions_that_are_not_shuffled_are_the_models_own(family):
    encoder = make_encoder(family, layers=1)
    tokens = encoder.tokenize(["the cat sees a dog", "a bird sees the old house"])
    still = {**tokens, "attention_mask": tokens["attention_mask"]}
    rows, length = tokens["input_ids"].shape
    still["position_ids"] = first_position(encoder.backbone) + torch.arange(length).expand(rows, length)
    assert_close(encoder.pooled(still), encoder.pooled(tokens))


def test_shuffled_tokens_give_the_vector():
    """Shuffled tokens give the vector of the shuffled sentence."""
    encoder = make_encoder(layers=2, pooling="cls")
    tokens = encoder.tokenize(["the cat sees a dog"])
    shuffled = shuffle_positions(tokens, seeded(3))
    order = shuffled["position_ids"].argsort(1)
    reordered = {**tokens, "input_ids": tokens["input_ids"].gather(1, order)}
    assert not torch.equal(reordered["input_ids"], tokens["input_ids"])
    assert_close(encoder.pooled(shuffled), encoder.pooled(reordered))


def test_feature_cutoff_cuts_the_same_dimensions_of_all_tokens():
    """Feature cutoff cuts the same dimensions of all tokens of a sentence."""
    tokens = {"attention_mask": torch.ones(50, 7)}
    cut = cut_features(tokens, 14, 0.2, seeded())["embedding_mask"] == 0
    assert cut.shape == (50, 7, 14) and (cut.sum(2) == 2).all()
    assert (cut == cut[:, :1]).all() and len(cut[:, 0].unique(dim=0)) > 20
    assert (cut_features(tokens, 14, 0.0, seeded())["embedding_mask"] == 1).all()


def test_token_cutoff_cuts_that_share_of_the_inner_tokens(tokens):
    inner = inner_tokens(tokens)
    cut = cut_tokens(tokens, 0.3, seeded())["embedding_mask"][..., 0] == 0
    assert not (cut & ~inner).any()
    assert cut.sum(1).tolist() == [2, 2, 0]


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_what_is_cut_off_is_0_behind_the_embedding_layer(family):
    """What is cut off is 0 behind the embedding layer for this call alone."""
    encoder = make_encoder(family, layers=1).eval()
    tokens = encoder.tokenize(["the cat sees a dog", "a dog"])
    plain, seen = encoder.pooled(tokens), {}
    cut = cut_features(tokens, encoder.hidden_size, 0.5, seeded())
    with torch.no_grad():
        hook = encoder.backbone.encoder.register_forward_pre_hook(
            lambda module, given, named: seen.update(states=given[0] if given else named["hidden_states"]),
            with_kwargs=True,
        )
        changed = encoder.pooled(cut)
        hook.remove()
    assert torch.equal(seen["states"] == 0, cut["embedding_mask"] == 0)
    assert not torch.allclose(changed, plain, atol=1e-2)
    assert_close(encoder.pooled(tokens), plain)


def test_repetition_doubles_some_inner_tokens(tokens):
    """Repetition doubles some inner tokens and keeps everything else in order."""
    longest = torch.tensor([8, 3, 0])
    lengths = set()
    for seed in range(40):
        repeated = repeat_subwords(tokens, longest, seeded(seed), padding=0)
        for row, mask, old, old_mask, most in zip(
            repeated["input_ids"], repeated["attention_mask"], tokens["input_ids"], tokens["attention_mask"],
            longest.tolist(), strict=True,
        ):  # fmt: skip
            new, old = row[mask.bool()].tolist(), old[old_mask.bool()].tolist()
            assert len(old) <= len(new) <= len(old) + most
            assert (new[0], new[-1]) == (old[0], old[-1]) and new.count(old[-1]) == 1
            assert list(dict.fromkeys(new)) == list(dict.fromkeys(old))
            assert (row[~mask.bool()] == 0).all()
        lengths.add(int(repeated["attention_mask"][0].sum()))
    assert lengths == set(range(10, 19))  # 8 tokens and the ends: none to all of them doubled


def test_the_same_generator_makes_the_same_change(tokens):
    most = torch.full((3,), 2)
    for change in (
        lambda generator: shuffle_positions(tokens, generator)["position_ids"],
        lambda generator: repeat_subwords(tokens, most, generator)["input_ids"],
        lambda generator: cut_tokens(tokens, 0.5, generator)["embedding_mask"],
    ):
        assert torch.equal(change(seeded(4)), change(seeded(4)))
