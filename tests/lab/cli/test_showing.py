"""`cselab methods NAME` prints what is resolved, for every method and variant."""

import re

import pytest
from click.testing import CliRunner
from cselab_lab.cli.showing import methods
from transformers import BertConfig, RobertaConfig

from cselab.methods import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_the_listing_of_a_variant_is_what_it_trains_with(name):
    printed = CliRunner().invoke(methods, [name]).output
    for variant in METHODS[name].variants:
        (line,) = re.findall(rf"^  variant={variant}: (.*)$", printed, flags=re.MULTILINE)
        bert, roberta = (METHODS[name].changes(variant, config) for config in (BertConfig(), RobertaConfig()))
        for key, value in bert.items():
            assert f"{key}={value!r}" in line
        for key, value in roberta.items():
            assert f"{value!r}" in line and (bert.get(key) == value or f"{value!r} (RoBERTa-base)" in line)
        assert (line == "as default") == (not bert and not roberta)


def test_the_printed_temperatures_of_focal_are_shown():
    line = "variant=printed: temperature=0.7 (BERT-base), 0.5 (RoBERTa-base)"
    assert line in CliRunner().invoke(methods, ["focal"]).output
