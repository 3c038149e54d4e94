"""Losses refuse what they cannot compute: the message names the argument, what was given and what is expected."""

import math

import pytest
import torch

from cselab import losses
from cselab.losses import Loss

ROWS = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
WITH_NEGATIVES = (
    lambda *more: losses.info_nce(ROWS, ROWS, 0.3, *more),
    lambda *more: losses.focal_info_nce(ROWS, ROWS, 0.3, 0.8, False, *more),
    lambda *more: losses.decoupled_info_nce((ROWS, ROWS), (ROWS, ROWS), 0.3, 0.8, "negatives", *more),
    lambda *more: losses.off_dropout_info_nce(ROWS, ROWS, ROWS, 0.3, 0.8, "negatives", *more),
)
VALUES = [
    (lambda: Loss({}), "at least one term"),
    (lambda: Loss({"pull": torch.ones(3)}), r"'pull'.*\[3\].*scalar"),
    *((lambda m=m: losses.arc_con(ROWS, ROWS, 0.05, m), "margin is .*pi") for m in (-0.1, math.pi)),
    (lambda: losses.barlow_twins(ROWS, ROWS, -1.0), "weight is -1"),
    (lambda: losses.barlow_twins(ROWS, ROWS, None), "weight is None.*number of at least 0"),
    (lambda: losses.barlow_twins(ROWS, ROWS, 0.1, torch.ones(3, 4)), r"extra_rows .*\[M, 5\]"),
    (lambda: losses.barlow_twins(ROWS, ROWS, 0.1, (ROWS[:3], ROWS[:2])), r"\[3, 5\] and \[2, 5\].*same M"),
    (lambda: losses.dimension_contrastive(ROWS[:, :1], ROWS[:, :1], 5.0), "single dimension"),
    (lambda: losses.dimension_contrastive(ROWS, ROWS, 5.0, reduction="code"), "reduction is 'code'.*'mean', 'sum'"),
    (lambda: losses.focal_info_nce(ROWS, ROWS, 1.0, print), "m is <built-in"),
    *(
        (lambda w=w: losses.matryoshka_info_nce(ROWS, ROWS, 0.1, w), "widths .*from 1 to 5")
        for w in ((), (6,), (0, 5), (3, 3))
    ),
    (lambda: losses.matryoshka_info_nce(ROWS, ROWS, 1.0, 5), "widths is 5"),
    (lambda: losses.multi_positive_info_nce(ROWS, [], 0.05), "positives is empty"),
    (
        lambda: losses.multi_positive_info_nce(ROWS, [ROWS], 0.05, reduction="mean"),
        "reduction is 'mean'.*'outside', 'inside', 'inside_printed'",
    ),
    (
        lambda: losses.mutual_information(torch.zeros(3, 2, 4), torch.ones(3, 2).bool(), torch.zeros(2, 4)),
        r"whole has shape \[2, 4\].*\[3, 4\]",
    ),
    *((lambda m=m: losses.off_dropout_info_nce(ROWS, ROWS, ROWS, 0.05, m), f"m is {m}") for m in (0.0, -1.0)),
    (
        lambda: losses.off_dropout_info_nce(ROWS, ROWS, ROWS, 0.05, 0.9, m_on="both"),
        "m_on is 'both'.*'negatives', 'positive'",
    ),
    (lambda: losses.spread_out(ROWS, -1), "mean_weight is -1.*number of at least 0"),
    (lambda: losses.spread_out(ROWS, torch.ones(2)), "mean_weight is a Tensor"),
    (lambda: losses.sup_con(ROWS, ROWS, torch.arange(2), 0.1), r"labels has shape \[2\].*\[6\]"),
    (lambda: losses.triplet(ROWS, ROWS, ROWS, -1), "margin is -1.*number of at least 0"),
    (lambda: losses.triplet(ROWS, ROWS, ROWS, math.inf), "margin is inf"),
    (lambda: losses.arc_con(ROWS, ROWS, 0.05, math.nan), "margin is nan"),
    *(
        (lambda f=f: f(torch.ones(4, 3)), r"negatives has shape \[4, 3\].*\[M, 5\].*\[6, M, 5\]")
        for f in WITH_NEGATIVES
    ),
    *((lambda f=f: f(torch.ones(4, 2, 5)), r"negatives has shape \[4, 2, 5\].*\[6, M, 5\]") for f in WITH_NEGATIVES),
    *(
        (lambda f=f: f(torch.ones(2, 5), torch.zeros(6, 6)), r"log_weights has shape \[6, 6\].*\[6, 8\]")
        for f in WITH_NEGATIVES
    ),
    (lambda: losses.info_nce(ROWS, ROWS, 1.0, log_weights=print), r"log_weights is <built-in.*tensor"),
]


@pytest.mark.parametrize(("call", "said"), VALUES)
def test_losses_refuse_values_they_cannot_compute(call, said, unchecked_annotations):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize("call", WITH_NEGATIVES)
def test_losses_refuse_negatives_that_are_no_tensor(call, unchecked_annotations):
    with pytest.raises(TypeError, match=r"negatives is \[1.0\].*tensor"):
        call([1.0])
