"""A record's name stands for one content: weights and texts by their SHA-256, one's own under names of their own."""

import shutil
from dataclasses import replace

import pytest
import torch
from cselab_lab.experiments import JobsFailed, get_experiment, read_results, run_experiment, with_changes
from cselab_lab.experiments import identity as module
from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.experiment import with_rows
from cselab_lab.experiments.identity import WEIGHTS, encoder_folder, identify_encoder, statement, weights_sha256
from cselab_lab.experiments.plan import expand_rows, jobs
from cselab_lab.experiments.run import _with_text_hashes
from small_experiment import DEV, SMALL, job_of, tiny_profile
from tiny import make_encoder

from cselab._util.checksums import CheckpointError
from cselab.data.files import DataError


@pytest.fixture
def folder(tmp_path):
    """A random network in a folder that has the name of published weights."""
    made = tmp_path / "bert-base-uncased"
    make_encoder().save_pretrained(made)
    return made


def test_identify_encoder_gives_published_names_to_published_weights_only(folder, monkeypatch):
    found = identify_encoder(folder)
    assert found.name == f"bert-base-uncased-{weights_sha256(folder)[:8]}" and found.place == folder
    monkeypatch.setattr(module, "WEIGHTS", {"bert-base-uncased": weights_sha256(folder)})
    assert identify_encoder(folder).name == "bert-base-uncased"
    assert identify_encoder("micro").place is None


def test_encoder_folder_refuses_other_weights_and_a_folder_with_a_hub_name(folder, monkeypatch):
    with pytest.raises(CheckpointError, match="has not the weights of bert-base-uncased"):
        encoder_folder("bert-base-uncased", WEIGHTS["bert-base-uncased"][:16], folder)
    assert encoder_folder("mine", weights_sha256(folder)[:16], folder) == folder
    monkeypatch.chdir(folder.parent)
    with pytest.raises(CheckpointError, match=r"--encoder \./bert-base-uncased"):
        encoder_folder("bert-base-uncased", None, None)


def test_jobs_of_an_encoder_are_those_of_its_weights(folder, tmp_path):
    """A copy elsewhere has the same jobs; the published encoder and different weights have none of them."""
    copy = tmp_path / "elsewhere" / "bert-base-uncased"
    shutil.copytree(folder, copy)
    profiles = [with_changes("paper", encoder=place) for place in (folder, copy)]
    changed = make_encoder()
    with torch.no_grad():
        next(changed.parameters()).add_(1)
    changed.save_pretrained(copy)
    profiles += [with_changes("paper", encoder=copy), "paper"]
    hashes = [job_of("focal-table2", "SimCSE", profile).hash for profile in profiles]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3
    assert len({with_changes(profile).name for profile in profiles}) == 3
    spec = expand_rows(get_experiment("focal-table2"), with_changes("paper"))[0]["SimCSE"]
    assert spec.weights == WEIGHTS["bert-base-uncased"][:16]


def test_weights_of_bundled_encoders_and_their_corpora_add_nothing_to_settings():
    settings = job_of("focal-table2", "SimCSE", "study").spec.to_json()
    assert not {"corpus_sha256", "words"} & settings.keys() and settings["weights"] == "68f1de2abd903c86"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*cut at 48 tokens")
def test_a_table_with_ones_own_encoder_text_and_method_names_all_three(folder, tmp_path, monkeypatch):
    """The file, the column and the header of the table name the encoder; nothing is read as the published one."""
    text = tmp_path / "mine.txt"
    text.write_text("".join(f"The number {n} is here in this place.\n" for n in range(40)))
    profile = with_changes(tiny_profile(1), folder, text)
    experiment = with_rows(SMALL, "focal:m=0.3")
    results = run_experiment(experiment, profile, [0], folder=tmp_path / "results", show_progress_bar=False)
    assert results.values("added: focal, m = 0.3", DEV).keys() == {0}
    (file,) = (tmp_path / "results").glob("*.jsonl")
    name = identify_encoder(folder).name
    assert file.name.startswith("small+focal-m=0.3.tiny-bert-base-uncased-") and name in file.name
    assert str(tmp_path) not in file.read_text(encoding="utf-8")
    assert f"Classroom-STS dev, {name}" in results.shown() and f"Classroom-STS dev, {name}" in results.shown(form="csv")
    assert len(results.identities()) == 2 and "40 rows" in results.identities()[1]
    assert read_results(SMALL, tiny_profile(1), tmp_path / "results").lines == {}
    text.write_text("A text that changed since. It differs.\n")
    corpus.cache_clear()
    stale = replace(profile, recipe={**profile.recipe, "lr": 1e-4})
    with pytest.raises(JobsFailed, match=r"is not mine-.*its SHA-256 begins with"):
        run_experiment(SMALL, stale, [0], folder=tmp_path / "more", show_progress_bar=False)


def test_a_text_of_the_data_folder_is_part_of_a_job_by_its_hash(tmp_path, monkeypatch):
    """Without a published SHA-256 the record's own is read back; a file with too few rows is refused."""
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    (tmp_path / "wiki1m.txt").write_text("One two three four five six.\n" * 20)
    profile = _with_text_hashes(get_experiment("wiki"), with_changes("wiki"))
    found, _ = jobs(get_experiment("wiki"), profile, [0])
    assert {len(job.spec.corpus_sha256) for job in found if job.spec.corpus} == {64}
    with pytest.raises(DataError, match="has 20 rows, not the 1,000,000 of wiki1m"):
        corpus("wiki1m")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("encoder", "mini", "a" * 64), ()),
        (("encoder", "bert-base-uncased", WEIGHTS["bert-base-uncased"]), ("published weights", "68d45e234eb4a928")),
        (("encoder", "mine-12345678", "b" * 64), ("is not a published file of weights", "b" * 16)),
        (("encoder", "roberta-base", None), ("not verified",)),
        (("corpus", "wiki1m", "c" * 64, 1_000_000), ("not verified", "c" * 16, "1,000,000 rows")),
        (("corpus", "world:20000", None), ()),
    ],
)
def test_statement_tells_published_contents_from_others(call, words):
    text = statement(*call)
    assert bool(text) == bool(words) and all(word in text for word in words)


def test_with_rows_refuses_a_method_or_hyper_parameter_that_does_not_exist():
    for added, message in (("simcsee", "unknown method"), ("simcse:m=1", "unknown parameter 'm'")):
        with pytest.raises(ValueError, match=message):
            with_rows("imsimcse-table1", added)
    table = with_rows("imsimcse-table1", "focal")
    assert table.published == get_experiment("imsimcse-table1").published and table.name != "imsimcse-table1"
