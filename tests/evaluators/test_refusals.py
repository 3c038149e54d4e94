"""Evaluators refuse what cannot be scored before anything is encoded: the message names it, and what is allowed."""

from refusals import check_refused, refusals

NAMES, each_refusal = refusals("evaluators/refusals.md")


@each_refusal
def test_evaluators_refuse_before_they_encode(kind, words, call, angles, sts_folder):
    check_refused(kind, words, call, NAMES, one=angles, sts=sts_folder)
    assert angles.calls == []
