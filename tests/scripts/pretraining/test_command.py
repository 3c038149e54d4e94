import json

import pretrain
import pytest
from click.testing import CliRunner
from pretraining import pretrain as pretraining
from tiny import make_sentences

from cselab import SentenceEncoder

CORPUS = make_sentences(64)


def run(*arguments, ok=True):
    result = CliRunner().invoke(pretrain.app, [str(argument) for argument in arguments])
    assert (result.exit_code == 0) == ok, result.output
    return result.output


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    """The same arithmetic whatever machine this is, and lines of progress even where another test loaded a kernel."""
    monkeypatch.setenv("CSELAB_HEADLESS", "1")
    monkeypatch.setattr(pretraining, "faster_in_bf16", lambda: False)


@pytest.fixture
def corpus(tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(CORPUS))
    return file


SHAPE = [
    *("--set", "layers=1", "--set", "width=16", "--set", "vocabulary=160", "--set", "length=32"),
    *("--set", "steps=3", "--set", "batch_size=4"),
]


def test_pretrain_makes_a_plain_encoder_of_text_files(corpus, tmp_path):
    output = tmp_path / "plain"
    said = run(output, "--neighbours", corpus, "--corpus", corpus, *SHAPE)
    assert "pretrain: 3/3" in said and f"plain encoder in {output}" in said and "model shards" not in said
    rows = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    assert rows[-1]["step"] == 3
    encoder = SentenceEncoder.from_pretrained(output, pooling="cls_pooler")
    assert encoder.encode(CORPUS).shape == (64, 16)
    said = run(output, "--neighbours", corpus, "--corpus", corpus, *SHAPE, "--set", "lr=1", ok=False)
    assert "another config (lr was 0.002, now 1.0)" in said


@pytest.mark.parametrize(
    "options, said",
    [
        ([], "no corpus: give at least one"),
        (["--corpus", "none.txt"], "none.txt: no such file"),
        (["--set", "depth=3"], "pretrain: unknown parameter 'depth'. It has: layers, width"),
        (["--set", "steps=3.5"], "'steps' takes an int (its default is 6000); got '3.5'"),
        (["--set", "heads=3"], "width must be a multiple of heads (3), got 128"),
    ],
)
def test_a_pretraining_that_cannot_be_is_refused_before_anything_is_made(options, said, tmp_path):
    assert said in run(tmp_path / "plain", *options, ok=False)
    assert not (tmp_path / "plain").exists()
