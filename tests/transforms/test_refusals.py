"""Transforms refuse what they cannot be fitted on: the message says what was given and what is expected."""

from refusals import check_refused, refusals

NAMES, each_refusal = refusals("transforms/refusals.md")


@each_refusal
def test_transforms_refuse_what_they_cannot_fit(kind, words, call):
    check_refused(kind, words, call, NAMES)
