"""Two processes share the sentences out: the vectors, files and scores are those of one that has them all."""

import json
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from cselab_lab.cli import app
from numpy.testing import assert_allclose
from tiny import make_encoder, make_sentences, write_checkpoint
from two_processes import launch

from cselab import encode_to_file, evaluate
from cselab.data import Pairs
from cselab.encoders.distributed import DistributedEncoder
from cselab.encoders.encoder import TruncationWarning
from cselab.evaluators import STS, RandomEncoder
from cselab.evaluators.task import Collected

SENTENCES = make_sentences(37) + make_sentences(9) + ["the cat sees a dog " * 30] * 3  # an odd number, with repeats
PAIRS = Pairs(
    make_sentences(40, seed=1), make_sentences(40, seed=2), [float(row % 6) for row in range(40)], "pairs", "test"
)


@dataclass(frozen=True)
class Three:
    """A suite of three tasks: an odd number for two processes."""

    name: ClassVar[str] = "three"
    tasks: ClassVar[tuple[str, ...]] = ("first", "second", "third")

    def collect(self, data, tasks):
        return Collected([STS().task(PAIRS.rows(range(at, 40)), name) for at, name in enumerate(self.tasks)], {})


class Broken:
    """Fails at one of the sentences, which one process alone sees."""

    def encode(self, sentences):
        if SENTENCES[5] in sentences:
            raise ValueError("this sentence cannot be encoded")
        return RandomEncoder(4).encode(sentences)


def main(folder):
    """What each of the two processes does; writes what it saw."""
    rank = int(os.environ["RANK"])
    encoder = DistributedEncoder(make_encoder(layers=1))
    shares = []
    encode = encoder.encoder.encode
    encoder.encoder.encode = lambda sentences, *given, **options: (
        shares.append(len(sentences)) or encode(sentences, *given, **options)
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.save(folder / f"vectors-{rank}.npy", encoder.encode(SENTENCES))
    seen = {"share": shares.pop(), "truncated": str(encoder.last_truncation)}
    seen["told"] = [str(one.message) for one in told if one.category is TruncationWarning]
    seen["fewer than processes"] = encoder.encode(["a cat"]).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        in_file = encode_to_file(encoder, iter(SENTENCES), folder / "vectors.npy", show_progress_bar=False)
    seen["rows in the file"] = len(in_file)
    seen["scores"] = evaluate(encoder, PAIRS, cache=folder / "cache").scores
    seen["suites"] = evaluate(DistributedEncoder(RandomEncoder(8)), Three()).scores
    try:
        DistributedEncoder(Broken()).encode(SENTENCES)
    except ValueError as error:
        seen["failure"] = str(error)
    seen["exit codes"] = [code_of(line.split()) for line in COMMANDS]
    (folder / f"seen-{rank}.json").write_text(json.dumps(seen))


COMMANDS = (
    "encode tiny corpus.txt --output v.npy",
    "evaluate tiny --suite pairs.tsv --json scores.json --pooling mean",
)


def code_of(line):
    """What a command ends with that is given to both processes."""
    try:
        app(line)
    except SystemExit as ended:
        return ended.code


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """The folder in which two processes encoded and scored."""
    folder = tmp_path_factory.mktemp("together")
    write_checkpoint(folder / "tiny")
    (folder / "corpus.txt").write_text("\n".join(SENTENCES[:30]) + "\n")
    rows = zip(PAIRS.sentences1, PAIRS.sentences2, PAIRS.scores, strict=True)
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\t{score}\n" for one, other, score in rows))
    done = launch(__file__, folder)
    assert done.returncode == 0, done.stderr[-3000:]
    (folder / "said.txt").write_text(done.stdout)
    return folder


@pytest.fixture
def seen(together):
    return [json.loads((together / f"seen-{rank}.json").read_text()) for rank in (0, 1)]


def test_each_process_encodes_its_share(together, seen):
    """Each process encodes its share and both have the vectors of one."""
    with pytest.warns(TruncationWarning):
        alone = make_encoder(layers=1).encode(SENTENCES)
    for rank in (0, 1):
        assert_allclose(np.load(together / f"vectors-{rank}.npy"), alone, atol=1e-6)
    shares = [each["share"] for each in seen]
    assert sum(shares) == len(SENTENCES) and max(shares) < 0.7 * len(SENTENCES)


def test_cut_sentences_are_counted_over_all_and_told_once(seen):
    """Sentences that were cut are counted over all and told once."""
    assert [each["truncated"] for each in seen] == [f"3 of {len(SENTENCES)} sentences were cut at 48 tokens"] * 2
    assert [each["told"] for each in seen] == [[seen[0]["truncated"]], []]


def test_one_sentence_or_fewer_than_processes_are_encoded(seen):
    """One sentence or fewer than processes are encoded by each."""
    expected = make_encoder(layers=1).encode(["a cat"])
    for each in seen:
        assert_allclose(each["fewer than processes"], expected, atol=1e-6)


def test_one_process_writes_the_file_and_both_read_it(together, seen):
    vectors = np.load(together / "vectors.npy")
    assert_allclose(vectors, np.load(together / "vectors-0.npy"), atol=1e-6)
    assert [each["rows in the file"] for each in seen] == [len(SENTENCES)] * 2
    assert len(list((together / "cache").iterdir())) == 1


def test_both_processes_have_the_scores_of_one(seen):
    alone = evaluate(make_encoder(layers=1), PAIRS).scores
    suites = evaluate(RandomEncoder(8), Three()).scores
    for each in seen:
        assert each["scores"] == pytest.approx(alone, abs=1e-3)
        assert list(each["suites"]) == list(suites)
        assert each["suites"] == pytest.approx(suites, abs=1e-6)


def test_what_fails_in_one_process_is_raised_in_both(seen):
    assert [each["failure"] for each in seen] == ["this sentence cannot be encoded"] * 2


def test_alone_it_is_the_encoder_itself():
    encoder = make_encoder(layers=1)
    shared = DistributedEncoder(encoder)
    few = SENTENCES[:20]
    assert (shared.encode(few) == encoder.encode(few)).all()
    assert shared.name == "tiny" and shared.is_main_process and shared.weights_hash() == encoder.weights_hash()
    assert evaluate(shared, PAIRS).scores == evaluate(encoder, PAIRS).scores
    with pytest.raises(AttributeError):
        getattr(shared, "no_such_thing")  # noqa: B009


def test_the_commands_share_the_work_and_one_process_speaks(together, seen):
    assert [each["exit codes"] for each in seen] == [[0, 0]] * 2
    alone = make_encoder(layers=2)
    assert_allclose(np.load(together / "v.npy"), alone.encode(SENTENCES[:30]), atol=1e-6)
    records = json.loads((together / "scores.json").read_text())["records"]
    (score,) = (record["value"] for record in records if record["key"])
    assert score == pytest.approx(evaluate(alone, PAIRS).scores["pairs"], abs=1e-2)
    said = (together / "said.txt").read_text()
    assert said.count("30 vectors of width 8") == 1 and said.count("spearman") == 1


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    main(Path(sys.argv[1]))
