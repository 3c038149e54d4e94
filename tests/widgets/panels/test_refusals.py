"""Panels refuse what they cannot show: the message names the argument, what was given and what is expected."""

from refusals import check_refused, refusals

NAMES, each_refusal = refusals("widgets/refusals.md")


@each_refusal
def test_panels_refuse_what_they_cannot_show(kind, words, call):
    check_refused(kind, words, call, NAMES)
