"""Texts of one's own under a profile: their names, hashes and sentences; networks with random weights."""

import lzma

import pytest
from cselab_lab.experiments import get_experiment, with_changes
from cselab_lab.experiments.compute import run_job
from cselab_lab.experiments.corpora import corpus, spread_sample
from cselab_lab.experiments.experiment import DEV
from cselab_lab.experiments.identity import RECORDED_TEXTS, identify_text
from cselab_lab.experiments.plan import expand_rows, jobs
from small_experiment import job_of, tiny_profile

from cselab.data.files import DataError

LINES = ["A cat sleeps on the old sofa.", "No.", "Prices rise in the town again.", "One two three four five."]


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "mine.txt.xz"
    file.write_bytes(lzma.compress("\n".join(LINES * 20).encode()))
    return file


def test_identify_text_names_an_unknown_file_by_its_content(text, monkeypatch):
    """The same file has the same name anywhere; a known content has its known name."""
    found = identify_text(text)
    assert found.name == f"mine-{found.sha256[:8]}" and found.place == text
    monkeypatch.setitem(RECORDED_TEXTS, "known", found.sha256)
    assert identify_text(text).name == "known"
    assert identify_text("wiki1m").sha256 is None


def test_corpus_reads_sentences_of_some_words_from_one_file(text):
    sha256 = identify_text(text).sha256
    assert set(corpus("mine", file=text, sha256=sha256, words=(5, 6))) == {LINES[2], LINES[3]}
    with pytest.raises(DataError, match="is not mine: its SHA-256 begins with"):
        corpus("mine", file=text, sha256="0" * 64)


def test_spread_sample_takes_neighbours_apart():
    assert spread_sample(list(range(100)), 4) == [0, 25, 50, 75]
    assert spread_sample([1, 2], 5) == spread_sample([1, 2], None) == [1, 2]


def test_with_changes_gives_results_a_name_and_hash_of_their_own(text):
    """The hash depends on the content of the file and not on its place."""
    changed = with_changes("wiki", corpus=text, recipe={"lr": 1e-4}, dev_only=True)
    assert changed.name == f"wiki-{identify_text(text).name}-lr=0.0001-dev"
    (elsewhere := text.with_name("copy")).mkdir()
    copy = elsewhere / text.name
    copy.write_bytes(text.read_bytes())
    hashes = [
        {job.hash for job in jobs(get_experiment("wiki"), profile, [0])[0]}
        for profile in (changed, with_changes("wiki", corpus=copy, recipe={"lr": 1e-4}, dev_only=True))
    ]
    assert hashes[0] == hashes[1]
    copy.write_bytes(lzma.compress(b"A different text. It differs.\n"))
    other = with_changes("wiki", corpus=copy, recipe={"lr": 1e-4})
    trained = {job.hash for job in jobs(get_experiment("wiki"), other, [0])[0] if job.spec.corpus}
    assert not trained & hashes[0]
    (simcse,) = (job for job in jobs(get_experiment("wiki"), changed, [0])[0] if job.label == "SimCSE")
    assert simcse.suites == (DEV,) and simcse.spec.recipe["lr"] == 1e-4 and simcse.spec.words == (5, 40)


def test_wiki_trains_the_mean_without_a_head_and_cls_with_one():
    specs = expand_rows(get_experiment("wiki"), with_changes("wiki", corpus="simplewiki-1m"))[0]
    for label, one in specs.items():
        if one.method:
            pooling, head = one.pooling, one.parameters["head"]
            in_the_mean = label.endswith("static and last layer")
            assert (pooling, head) == (("emb_last_mean", "none") if in_the_mean else ("cls", "mlp")), label
            assert one.corpus_sha256 == RECORDED_TEXTS["simplewiki-1m"]


def test_labels_of_a_pattern_are_the_rows_that_match():
    wiki = get_experiment("wiki")
    assert wiki.labels("SimCSE*") == [row.label for row in wiki.rows if row.label.startswith("SimCSE")]
    assert get_experiment("survey-table8").labels("plain, [CLS*") == ["plain, [CLS]"]
    with pytest.raises(ValueError, match=r"no row 'SimCLR\*'"):
        wiki.labels("SimCLR*")


@pytest.mark.slow
def test_run_job_trains_on_the_file_and_counts_its_rows(text):
    profile = with_changes(tiny_profile(1), corpus=text, recipe={"batch_size": 4})
    job = job_of("imsimcse-figure1", "SimCSE", profile, suites=())
    record = run_job(job)
    assert record.corpus_rows == len(LINES) * 20 and record.failure is None


def test_random_weights_depend_on_the_seed_alone():
    hashes = [
        run_job(job_of("wiki", "random weights", tiny_profile(), seed, suites=())).encoder_hash for seed in (0, 0, 1)
    ]
    assert hashes[0] == hashes[1] != hashes[2]
