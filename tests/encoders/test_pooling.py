"""Every pooling against a plain loop over sentences and tokens."""

import pytest
import torch
from tiny import make_backbone, make_tokenizer

from cselab.encoders.pooling import POOLINGS, first_token, get_pooling, last_token, mean_tokens

LENGTHS = [5, 2, 4]


@pytest.fixture
def layers():
    """Hidden states of three sentences after no, one, two and three layers: [n, t, d]."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(3, 5, 4, generator=generator, dtype=torch.float64) for _ in range(4)]


@pytest.fixture
def attention():
    return torch.tensor([[int(token < length) for token in range(5)] for length in LENGTHS])


def loop_mean(layer, row, tokens):
    total = [0.0] * layer.shape[2]
    for token in tokens:
        for dimension in range(layer.shape[2]):
            total[dimension] += float(layer[row, token, dimension])
    return torch.tensor([value / len(tokens) for value in total], dtype=torch.float64)


BY_LOOP = {
    "cls": lambda layers, row, length: layers[3][row, 0],
    "cls_pooler": lambda layers, row, length: layers[3][row, 0],
    "mean": lambda layers, row, length: loop_mean(layers[3], row, range(length)),
    "last_token": lambda layers, row, length: layers[3][row, length - 1],
    "emb_last_mean": lambda layers, row, length: (
        (loop_mean(layers[0], row, range(length)) + loop_mean(layers[3], row, range(length))) / 2
    ),
    "layer1_last_mean": lambda layers, row, length: (
        (loop_mean(layers[1], row, range(length)) + loop_mean(layers[3], row, range(length))) / 2
    ),
    "last2_mean": lambda layers, row, length: (
        (loop_mean(layers[2], row, range(length)) + loop_mean(layers[3], row, range(length))) / 2
    ),
    "mask": lambda layers, row, length: layers[3][row, length - 1],
}


@pytest.mark.parametrize("name", POOLINGS)
def test_a_pooling_does_what_its_loop_does(name, layers, attention):
    pooling = get_pooling(name)
    counted = attention
    if pooling.counts == "mask":  # one [MASK] a sentence, here its last token
        counted = torch.nn.functional.one_hot(torch.tensor(LENGTHS) - 1, 5)
    expected = torch.stack([BY_LOOP[name](layers, row, length) for row, length in enumerate(LENGTHS)])
    torch.testing.assert_close(pooling(layers, counted), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", POOLINGS)
def test_what_stands_in_the_padding_does_not_matter(name, layers, attention):
    pooling = get_pooling(name)
    padded = [layer.masked_fill(attention[..., None] == 0, 1e6) for layer in layers]
    assert torch.equal(pooling(padded, attention), pooling(layers, attention))


def test_the_two_first_last_averages_are_different_things(layers, attention):
    static, first = (get_pooling(name)(layers, attention) for name in ("emb_last_mean", "layer1_last_mean"))
    assert (static - first).abs().max() > 0.1


def test_the_layers_are_those_of_a_real_transformer():
    """`layers[0]` are the static embeddings and `layers[-1]` the last layer, as transformers counts them."""
    backbone, tokenizer = make_backbone(layers=2), make_tokenizer()
    features = tokenizer(["the cat sees a dog"], return_tensors="pt")
    with torch.no_grad():
        output = backbone(**features, output_hidden_states=True)
        static = backbone.embeddings(features["input_ids"], token_type_ids=features["token_type_ids"])
        first = backbone.encoder.layer[0](static)
    found = get_pooling("emb_last_mean")(output.hidden_states, features["attention_mask"])
    torch.testing.assert_close(found, (static.mean(1) + output.last_hidden_state.mean(1)) / 2)
    found = get_pooling("layer1_last_mean")(output.hidden_states, features["attention_mask"])
    torch.testing.assert_close(found, (first.mean(1) + output.last_hidden_state.mean(1)) / 2)


def test_a_row_that_counts_nothing_gives_zeros(layers):
    assert torch.equal(mean_tokens(layers[0], torch.zeros(3, 5, dtype=torch.long)), torch.zeros(3, 4).double())


def test_first_and_last_token_are_those_that_are_no_padding(layers):
    layer = layers[1][:3]
    length = layer.shape[1]
    whole, right, left = [1] * length, [1] * (length - 2) + [0, 0], [0, 0, 0] + [1] * (length - 3)
    counted = torch.tensor([whole, right, left])
    assert torch.equal(first_token(layer, counted), torch.stack([layer[0, 0], layer[1, 0], layer[2, 3]]))
    assert torch.equal(last_token(layer, counted), torch.stack([layer[0, -1], layer[1, -3], layer[2, -1]]))


def test_half_precision_stays_half_and_is_close(layers, attention):
    halves = [layer.bfloat16() for layer in layers]
    pooled = get_pooling("mean")(halves, attention)
    assert pooled.dtype == torch.bfloat16
    torch.testing.assert_close(pooled.double(), get_pooling("mean")(layers, attention), atol=0.02, rtol=0.02)


def test_an_unknown_pooling_lists_the_known_and_explains_first_last():
    with pytest.raises(ValueError, match=r"unknown pooling 'max'. Choose one of " + ", ".join(POOLINGS)):
        get_pooling("max")
    with pytest.raises(ValueError, match=r"'first-last average' means emb_last_mean in most papers"):
        get_pooling("avg_first_last")
