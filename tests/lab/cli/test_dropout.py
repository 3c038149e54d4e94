"""`cselab train --dropout`: the rate of the encoder in all places, and what is said where there is none."""

import json

import pytest
from click.testing import CliRunner
from cselab_lab.cli.training import train
from tiny import make_sentences, write_checkpoint


@pytest.mark.parametrize("rate", [0, 0.2])
def test_the_rate_is_the_encoders_and_none_is_refused(rate, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(make_sentences(16)), encoding="utf-8")
    encoder = write_checkpoint(tmp_path / "encoder", layers=1)
    options = {"encoder": encoder, "corpus": tmp_path / "corpus.txt", "output": tmp_path / "run", "dev": "none"}
    options |= {"steps": 1, "batch-size": 8, "dropout": rate}
    arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    result = CliRunner().invoke(train, ["simcse", *arguments])
    if rate == 0:
        assert "--dropout 0.1" in str(result.exception) + result.output
    else:
        config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
        assert config["hidden_dropout_prob"] == config["attention_probs_dropout_prob"] == rate
