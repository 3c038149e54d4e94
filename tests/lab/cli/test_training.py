"""`cselab train --dropout` and `--lora`: what they change of the encoder, and what is said where there is none."""

import json
from importlib.util import find_spec

import pytest
from click.testing import CliRunner
from cselab_lab.cli.training import train
from safetensors.numpy import load_file
from tiny import make_sentences, write_checkpoint


def train_with(tmp_path, **given):
    (tmp_path / "corpus.txt").write_text("\n".join(make_sentences(16)), encoding="utf-8")
    encoder = write_checkpoint(tmp_path / "encoder", layers=1)
    options = {"encoder": encoder, "corpus": tmp_path / "corpus.txt", "output": tmp_path / "run", "dev": "none"}
    options |= {"steps": 1, "batch-size": 8, "lr": 0.1, **given}
    arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    return CliRunner().invoke(train, ["simcse", *arguments])


@pytest.mark.parametrize("rate", [0, 0.2])
def test_the_rate_is_the_encoders_and_none_is_refused(rate, tmp_path):
    result = train_with(tmp_path, dropout=rate)
    if rate == 0:
        assert "--dropout 0.1" in str(result.exception) + result.output
    else:
        config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
        assert config["hidden_dropout_prob"] == config["attention_probs_dropout_prob"] == rate


@pytest.mark.skipif(find_spec("peft") is None, reason="adapters are made by peft")
def test_adapters_of_that_rank_are_trained_and_merged(tmp_path):
    result = train_with(tmp_path, lora=3)
    assert result.exit_code == 0, result.output
    before, after = (load_file(tmp_path / name / "model.safetensors") for name in ("encoder", "run"))
    adapters = load_file(tmp_path / "run" / "adapter" / "adapter_model.safetensors")
    assert {min(weights.shape) for weights in adapters.values()} == {3}
    changed = {name for name in after if not (after[name] == before[name]).all()}
    assert changed and all(f"{name.removesuffix('.weight')}.lora_A.weight" in " ".join(adapters) for name in changed)
