import pytest
import torch
from tiny import make_encoder, make_sentences, seeded

from cselab.augmentations import inner_tokens, mask_spans, mask_tokens

ENCODER = make_encoder(layers=1)
MASK = ENCODER.tokenizer.mask_token_id


@pytest.fixture
def tokens():
    return ENCODER.tokenize(make_sentences(60))


def test_longer_spans_hold_the_shorter_and_each_is_contiguous(tokens):
    inner = inner_tokens(tokens)
    less, more = mask_spans(tokens, (0.2, 0.4), seeded(), MASK)
    hidden = [view["input_ids"] == MASK for view in (less, more)]
    assert (hidden[0] & ~hidden[1]).sum() == 0 and not (hidden[1] & ~inner).any()
    for masked, share in zip(hidden, (0.2, 0.4), strict=True):
        wanted = (share * inner.sum(1)).round().clamp(min=1)
        assert torch.equal(masked.sum(1).float(), wanted)
        starts = (masked[:, 1:] & ~masked[:, :-1]).sum(1)
        assert (starts == 1).all()
    assert torch.equal(less["input_ids"][~hidden[0]], tokens["input_ids"][~hidden[0]])
    assert len(hidden[1].float().argmax(1).unique()) > 3


def test_of_fifteen_percent_most_are_masked_some_random_some(tokens):
    """Of fifteen percent most are masked some random some left."""
    ids, inner = tokens["input_ids"], inner_tokens(tokens)
    chosen_count = masked = same = 0
    for seed in range(40):
        generator = seeded(seed)
        changed, chosen = mask_tokens(tokens, 0.15, generator, MASK, len(ENCODER.tokenizer))
        assert torch.equal(chosen.sum(1), (0.15 * inner.sum(1)).ceil().long()) and not (chosen & ~inner).any()
        assert torch.equal(changed["input_ids"][~chosen], ids[~chosen])
        chosen_count += int(chosen.sum())
        masked += int((changed["input_ids"][chosen] == MASK).sum())
        same += int((changed["input_ids"][chosen] == ids[chosen]).sum())
    assert 0.77 < masked / chosen_count < 0.84
    assert 0.08 < same / chosen_count < 0.14
