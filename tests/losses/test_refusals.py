"""Losses refuse what they cannot compute: the message names the argument, what was given and what is expected."""

from refusals import check_refused, refusals

NAMES, each_refusal = refusals("losses/refusals.md")


@each_refusal
def test_losses_refuse_what_they_cannot_compute(kind, words, call, unchecked_annotations):
    check_refused(kind, words, call, NAMES)
