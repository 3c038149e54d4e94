import pytest
from cselab_lab.experiments import dev
from cselab_lab.experiments.dev import dev_evaluator
from stsb import write_stsb
from tiny import make_encoder, make_sentences

from cselab.data import DataError, MissingFile, Pairs
from cselab.evaluators import PairsEvaluator, UnlabelledEvaluator

CORPUS = make_sentences(400)


def write_made_up_stsb(folder):
    return write_stsb(folder, lambda _, row: (str(row % 51 / 10), f"first {row}", f"second {row}"))


@pytest.fixture
def world(monkeypatch):
    """The world's dev pairs, without the world."""
    pairs = Pairs(["a cat", "a dog"], ["the cat", "a train"], [5.0, 0.0], name="world", split="dev")
    monkeypatch.setattr(dev, "world_sts", {"dev": pairs}.__getitem__)
    return pairs


@pytest.fixture
def no_data(monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")


def test_none_keeps_the_last_step_and_world_is_the_bundled_dev_pairs(world):
    assert dev_evaluator("none", CORPUS) == (None, CORPUS, "none")
    evaluator, rest, description = dev_evaluator("world", CORPUS)
    assert isinstance(evaluator, PairsEvaluator) and evaluator.pairs is world
    assert rest == CORPUS and description == "the world's dev pairs"


def test_corpus_holds_the_last_sentences_out_and_trains_on_none_of_them():
    evaluator, rest, description = dev_evaluator("corpus", [CORPUS[-1], *CORPUS])
    assert isinstance(evaluator, UnlabelledEvaluator)
    assert evaluator.sentences == CORPUS[-40:] and description == "40 held-out sentences"
    assert rest == CORPUS[:-40]
    assert evaluator(make_encoder()).keys() >= {"score", "uniformity"}
    evaluator, rest, _ = dev_evaluator("corpus", [f"sentence {number}" for number in range(20_000)])
    assert len(evaluator.sentences) == 500 and len(rest) == 19_500
    with pytest.raises(ValueError, match=r"sentences in the corpus: 199, too few to hold some out: use --dev world"):
        dev_evaluator("corpus", CORPUS[:199])


@pytest.mark.parametrize("choice", ["auto", "sts-b"])
def test_sts_b_dev_comes_from_the_folder(choice, tmp_path, world):
    evaluator, rest, said = dev_evaluator(choice, CORPUS, write_made_up_stsb(tmp_path))
    assert (evaluator.pairs.name, evaluator.pairs.split, len(evaluator.pairs)) == ("STS-B", "dev", 1500)
    assert rest == CORPUS and said == "STS-B dev (not the published text)"


def test_auto_finds_the_folder_that_the_environment_names(tmp_path, monkeypatch, world):
    monkeypatch.setenv("CSELAB_DATA", str(write_made_up_stsb(tmp_path)))
    assert dev_evaluator("auto", CORPUS)[2] == "STS-B dev (not the published text)"


def test_without_data_auto_takes_the_world_and_sts_b_is_an_error(no_data, world, tmp_path):
    assert dev_evaluator("auto", CORPUS)[0].pairs is world
    with pytest.raises(MissingFile, match="CSELAB_DATA"):
        dev_evaluator("sts-b", CORPUS)
    with pytest.raises(MissingFile):
        dev_evaluator("auto", CORPUS, tmp_path)


def test_a_wrong_or_damaged_data_folder_is_never_passed_over(tmp_path, monkeypatch, world):
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path / "none"))
    with pytest.raises(MissingFile, match="which is not a folder"):
        dev_evaluator("auto", CORPUS)
    cut = write_made_up_stsb(tmp_path / "cut")
    file = cut / "STS" / "STSBenchmark" / "sts-dev.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    monkeypatch.setenv("CSELAB_DATA", str(cut))
    with pytest.raises(DataError, match=r"sts-dev\.csv: 1499 rows found, 1500 expected"):
        dev_evaluator("auto", CORPUS)


def test_an_unknown_choice_lists_the_allowed():
    with pytest.raises(ValueError, match=r"unknown dev 'stsb'.* Choose one of auto, sts-b, classroom-sts, world"):
        dev_evaluator("stsb", CORPUS)
