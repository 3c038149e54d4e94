"""`cselab diagnose`, `explain-score` and `ties` as people call them."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from cselab_lab.cli import app
from tiny import make_sentences, write_checkpoint

CLOUD = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)


def run(*arguments):
    """Exit code and output; an error is one line, never a traceback."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, result.output


def test_a_sound_file_of_vectors_ends_with_0_and_a_collapsed_one_with_1_and_a_page(tmp_path):
    np.save(tmp_path / "sound.npy", CLOUD)
    np.save(tmp_path / "collapsed.npy", 1 + 0.001 * CLOUD)
    code, told = run("diagnose", tmp_path / "sound.npy")
    assert code == 0 and "nothing found" in told
    code, told = run("diagnose", tmp_path / "collapsed.npy", "--page", tmp_path / "page.html", "--format", "json")
    assert code == 1 and [one["name"] for one in json.loads(told)["findings"]] == ["complete collapse"]
    assert (tmp_path / "page.html").stat().st_size > 1e6  # plotly.js stands in it


def test_an_encoder_is_diagnosed_on_texts_and_a_corpus_of_ones_own(tmp_path):
    encoder = write_checkpoint(tmp_path / "tiny")
    (tmp_path / "texts.txt").write_text("\n".join(make_sentences(40)))
    (tmp_path / "corpus.txt").write_text("\n".join(make_sentences(20) * 3))
    code, told = run("diagnose", encoder, "--texts", tmp_path / "texts.txt", "--corpus", tmp_path / "corpus.txt")
    assert code == 1 and "DUPLICATES IN THE CORPUS" in told


def test_a_score_is_explained_by_the_pooling(tmp_path):
    encoder, texts = write_checkpoint(tmp_path / "tiny"), make_sentences(60)
    rows = [f"{a}\t{b}\t{n % 6}" for n, (a, b) in enumerate(zip(texts[:30], texts[30:], strict=True))]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows))
    (found,) = json.loads(
        run("evaluate", encoder, "--pooling", "cls", "--suite", tmp_path / "pairs.tsv", "--format", "json")[1]
    )["scores"].values()
    asked = ("explain-score", encoder, "--task", tmp_path / "pairs.tsv", "--changes", 1, "--expected")
    code, told = run(*asked, f"{found:.4f}")
    assert code == 0 and "pooling cls" in told
    assert run(*asked, "99.99")[0] == 1


def test_ties_are_told_in_each_form(tmp_path):
    (tmp_path / "scores.csv").write_text("model,a,b,c\nsmall,60,61,59\nmiddle,60.2,60.9,59.3\nlarge,80,81.1,79\n")
    code, told = run("ties", tmp_path / "scores.csv")
    assert code == 0 and told.splitlines()[1].startswith("large") and "1 of 2 neighbours" in told
    rows = json.loads(run("ties", tmp_path / "scores.csv", "--format", "json")[1])
    assert [row["system"] for row in rows] == ["large", "middle", "small"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("diagnose", "micra"), "Did you mean"),
        (("explain-score", "micro", "--task", "STS21", "--expected", "60"), "unknown task"),
        (("ties", "none.csv"), "none.csv"),
    ],
)
def test_slips_are_answered_in_one_line(arguments, said):
    code, told = run(*arguments)
    assert code != 0 and said in told and len(told.strip().splitlines()) == 1
