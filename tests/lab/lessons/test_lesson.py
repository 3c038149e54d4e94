"""One call sets a lesson up; the seed is that of training alone."""

import json

import pytest
from cselab_lab.lessons import lesson
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from cselab import SentenceEncoder


def test_a_profile_says_everything_and_a_value_that_is_given_goes_first():
    lab = lesson.setup("00_tour", "smoke", steps=3, lr=None)
    assert (lab.encoder, lab.pooling, lab.steps, lab.lr) == ("micro", "mean", 3, 5e-4)
    config = lab.config(lr=1e-3)
    assert (config.steps, config.lr, config.seed, config.batch_size) == (3, 1e-3, 0, 64)


def test_an_encoder_of_another_profile_brings_pooling_and_rate():
    bert = lesson.setup("00_tour", "classroom", encoder="bert-base-uncased")
    assert (bert.pooling, bert.lr, bert.steps) == ("cls", 3e-5, 60)
    assert lesson.setup("00_tour", "classroom", encoder="micro").pooling == "mean"
    assert lesson.setup("00_tour", "classroom", encoder="micro", pooling="cls").pooling == "cls"


def test_the_seed_changes_training_and_not_the_world():
    first, second = (lesson.setup("00_tour", "smoke", seed=seed, sentences=20) for seed in (0, 1))
    assert (first.config().seed, second.config().seed) == (0, 1)
    assert first.corpus == second.corpus and len(first.corpus) == 20
    assert lesson.setup("00_tour", "smoke", world_seed=1, sentences=20).corpus != first.corpus


def test_what_is_loaded_works_together_and_is_loaded_once():
    lab = lesson.setup("00_tour", "smoke", device="cpu", sentences=10)
    assert lab.plain is lab.plain
    assert lab.plain.encode(lab.corpus[:2]).shape == (2, 128)
    assert len(lab.dev.pairs.scores) == 600


def test_a_corpus_may_be_a_file(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("One sentence.\nAnother sentence.\nA third.\n")
    lab = lesson.setup("00_tour", "smoke", corpus=str(file), sentences=2)
    assert lab.corpus == ["One sentence.", "Another sentence."]
    assert str(file) in repr(lab)


def test_a_setting_may_be_written_as_a_text():
    lab = lesson.setup("00_tour", "smoke", steps="60", lr="1e-4", device="cpu")
    assert (lab.config().steps, lab.config().lr) == (60, 1e-4)
    assert lesson.setup("00_tour", "smoke", seed="1", device="cpu").config().seed == 1


def test_a_seed_that_is_left_open_is_the_profiles():
    lab = lesson.setup("00_tour", "smoke", seed=None, world_seed=None, device="cpu")
    assert (lab.config().seed, lab.world_seed) == (0, 0)


def test_it_shows_what_was_chosen_and_with_which_versions():
    said = repr(lesson.setup("00_tour", "smoke", device="cpu"))
    assert "profile smoke, on cpu: the text describes mini; here micro (mean) trains for 20 steps" in said
    assert "encoder micro (mean)" in said and "torch 2." in said
    assert "describes" not in repr(lesson.setup("00_tour", device="cpu"))


def test_a_cell_that_runs_after_a_restart_names_the_cells_to_run_first(capsys):
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.extension_manager.load_extension("cselab_lab.lessons.restarted")
    shell.run_cell("nothing_known")
    assert "Run the first two cells" not in capsys.readouterr().out
    assert not shell.run_cell("mine = lesson.guess(found=...)").success
    assert "NameError" in (said := capsys.readouterr().out) and "Run the first two cells" in said
    shell.user_ns["lab"] = lesson.setup("00_tour", "smoke", device="cpu")
    shell.run_cell("found")
    assert "`found` comes from a cell above" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (dict(profile="tiny"), "unknown profile 'tiny'. Choose one of smoke, classroom, paper"),
        (dict(step=3), r"unknown setting 'step'. Did you mean 'steps'\? Choose one of encoder"),
        (dict(steps="sixty"), "00_tour: parameter 'steps' needs an int"),
        (dict(seed=1.5), "00_tour: parameter 'seed' needs an int"),
    ],
)
def test_what_is_not_known_is_refused_with_what_is(arguments, said):
    with pytest.raises(ValueError, match=said):
        lesson.setup("00_tour", **arguments)


def test_a_name_is_a_seed_of_its_own():
    ada, ben = (lesson.setup("00_tour", "smoke", name).seed for name in ("Ada ", "ben"))
    assert ada != ben and ada == lesson.setup("00_tour", "smoke", "ada").seed
    assert lesson.setup("00_tour", "smoke", "3").seed == 3


def test_a_number_is_shown_beside_what_was_recorded_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [{"name": "gain", "value": 1.5, "tolerance": 1, "seeds": {"0": 1.5, "1": 2.0, "2": 1.25}}]
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "mine.smoke.json").write_text(json.dumps({"records": records}))
    lab = lesson.setup("mine", "smoke")
    lab.record("gain", 1.75, tolerance=1)
    lab.record("new", 3)
    assert lab.recorded("gain") == "recorded: 1.25 to 2 over 3 seeds"
    assert lesson.setup("another", "smoke").recorded("gain") == ""


@pytest.mark.slow
def test_a_trained_encoder_is_compared_and_kept_under_a_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lab = lesson.setup("02_simcse", "smoke", sentences=100)
    lab.keep(lab.plain, None)
    assert "with its mean subtracted\n  World-STS: " in capsys.readouterr().out and not any(tmp_path.iterdir())
    lab.keep(lab.plain, "../ada")
    kept = SentenceEncoder.from_pretrained("encoders/ada")
    assert (kept.encode(["A dog."]) == lab.plain.encode(["A dog."])).all()
