import pytest
import torch

from cselab.methods import SNCSEDropout, Views


def views(*cosines):
    """A pair of sentences whose positive has cosine 1 and whose denial has the given."""
    anchor = torch.eye(2, 3)
    denial = torch.stack(
        [c * anchor[i] + (1 - c * c) ** 0.5 * torch.tensor([0.0, 0, 1]) for i, c in enumerate(cosines)]
    )
    return Views(anchor, anchor, denial=denial.requires_grad_())


@pytest.mark.parametrize("cosine, margin", [(0.95, 0.05), (0.9, 0), (0.8, 0), (0.7, 0), (0.5, 0.2), (-0.2, 0.9)])
def test_a_denial_may_be_a_little_less_similar_than_the_positive(cosine, margin):
    """A denial may be a little less similar than the positive and no more."""
    loss = SNCSEDropout(weight=2.0).loss(views(cosine, cosine)).floats()
    assert loss["bidirectional_margin"] == pytest.approx(2 * margin, abs=1e-5)


def test_denials_are_encoded_and_are_no_negatives(trainer):
    method = SNCSEDropout()
    encode, encoder = trainer(method, dropout=0)
    rows = [("the cat sees a dog", "the cat never sees a dog"), ("a bird", "not a bird")]
    v = method.views(encode, rows)
    with torch.no_grad():
        denials = encoder.head(encoder.encode([row[1] for row in rows], convert_to_tensor=True))
    torch.testing.assert_close(v.denial, denials, atol=1e-6, rtol=1e-5)
    assert v.negatives is None
