"""A SentEval folder of made-up sentences with the layout, the row counts and the traps of the real one."""

import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

from cselab.data.published import published_parts
from cselab.data.sts import SUBSETS

# rows without a gold score stand between the others, as in STS15 and STS16
UNSCORED_EVERY = {"STS15": 3, "STS16": 5}
SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"


def made_up_pair(part: str, row: int) -> tuple[str, str, str]:
    """Two sentences with what trips quote parsers and line splitters, and a score of 0 to 5."""
    first = f'the {part} café says " row {row} : naïve , and goes on'
    second = f"row {row} of {part} says so \u2028 too"
    return first, second, f"{row % 51 / 10:.3f}"


def write_senteval(folder: Path) -> Path:
    """All seven STS sets beneath `folder`."""
    for part, known in published_parts("sts").items():
        task, name = part.split("/")
        pairs = [made_up_pair(part, row) for row in range(known["rows"])]
        if task in SUBSETS:
            _write_two_files(folder / "STS" / f"{task}-en-test", name, pairs, UNSCORED_EVERY.get(task))
        elif task == "STS-B":
            lines = [f"genre\tfile\t2017\t{row:04}\t{c}\t{a}\t{b}" for row, (a, b, c) in enumerate(pairs)]
            _write(folder / "STS/STSBenchmark" / f"sts-{name}.csv", lines)
        else:
            file = {"dev": "trial", "test": "test_annotated"}.get(name, name)
            lines = [f"{row}\t{a}\t{b}\t{c}\tNEUTRAL" for row, (a, b, c) in enumerate(pairs)]
            end = "\r\n" if name == "test" else "\n"
            _write(folder / "SICK" / f"SICK_{file}.txt", [SICK_HEADER, *lines], end)
    return folder


def _write_two_files(folder: Path, subset: str, pairs: list, unscored_every: int | None) -> None:
    sentences, scores = [], []
    for row, (first, second, score) in enumerate(pairs):
        if unscored_every and row % unscored_every == 0:
            sentences.append("an unscored\tpair")
            scores.append("")
        sentences.append(f"{first}\t{second}")
        scores.append(score)
    _write(folder / f"STS.input.{subset}.txt", sentences)
    _write(folder / f"STS.gs.{subset}.txt", scores)


def _write(path: Path, lines: list[str], end: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for line in lines).encode())


@pytest.fixture(scope="session")
def written_senteval(tmp_path_factory):
    return write_senteval(tmp_path_factory.mktemp("written") / "senteval")


@pytest.fixture
def senteval(written_senteval, tmp_path):
    """The made-up folder, whole; the test may damage it."""
    return Path(shutil.copytree(written_senteval, tmp_path / "senteval"))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Nothing is there at first, and there is no network; called with a file, it publishes that."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    def publish(repository, revision, name, content):
        repository = f"datasets--{repository.replace('/', '--')}"
        file = tmp_path / "hub" / repository / "snapshots" / revision / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    return publish
