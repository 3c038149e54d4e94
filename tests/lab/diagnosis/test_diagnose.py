"""The doctor: each fault that is planted is named, with its number; what is sound has none of them."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from cselab_lab.diagnosis import SIGNS, diagnose
from cselab_lab.diagnosis.encoders import looks_fresh
from cselab_lab.diagnosis.evidence import Evidence, Training
from safetensors.torch import save_file
from tiny import make_encoder, make_sentences
from torch import nn

from cselab import TrainConfig, train
from cselab.methods import create_method

DRAW = np.random.default_rng(0)
TEXTS = make_sentences(60)
CLOUD = DRAW.normal(size=(60, 16)).astype(np.float32)


def names(found):
    return [finding.name for finding in found.findings]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three seeds of a short run, and a copy of the first under the name of a fourth."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1, 2):
        config = TrainConfig(steps=3, batch_size=16, lr=1e-3, seed=seed, precision="fp32")
        encoder = make_encoder(name="unknown")
        train(encoder, "simcse", TEXTS, config, output=folder / f"seed-{seed}", show_progress_bar=False)
    return folder


VECTORS = {
    "complete collapse": 1 + 0.01 * CLOUD,
    "cone": 2 + 0.6 * CLOUD,
    "dimensional collapse": CLOUD[:, :1] * CLOUD[:1] + 1e-3 * CLOUD,
    "norms that depend on length": CLOUD * np.array([[len(text.split())] for text in TEXTS], dtype=np.float32),
}


@pytest.mark.parametrize("fault", VECTORS)
def test_vectors_with_a_fault_get_its_name_and_sound_ones_none(fault):
    found = diagnose(VECTORS[fault], TEXTS)
    assert names(found) == [fault]
    assert f"{found.findings[0].value:.3g}" in str(found) and found.findings[0].advice in str(found)
    assert names(diagnose(CLOUD, TEXTS)) == []


def test_constant_vectors_are_collapsed_and_not_an_error():
    assert names(diagnose(np.ones((20, 4)))) == ["complete collapse"]


BROKEN = {
    "zero": (0.0, "zero: row 7"),
    "NaN": (np.nan, "NaN: row 7"),
    "infinite": (np.inf, "infinite: row 7"),
    "minus infinite": (-np.inf, "infinite: row 7"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("texts", [TEXTS, ()])
def test_one_broken_row_is_named_and_the_others_are_judged(case, texts):
    value, said = BROKEN[case]
    for name in ("none", "cone", "complete collapse"):
        rows, faults = (CLOUD, []) if name == "none" else (VECTORS[name], [name])
        spoilt = rows.copy()
        spoilt[7] = value
        found = diagnose(spoilt, texts)
        assert names(found) == ["vectors without a direction", *faults] and said in str(found)
        whole = diagnose(np.delete(rows, 7, axis=0), [text for row, text in enumerate(texts) if row != 7])
        assert {**found.metrics, "vectors without a direction": 0} == whole.metrics


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e20, 1e30])
def test_the_scale_of_vectors_is_no_fault(scale):
    small = diagnose(scale * CLOUD, TEXTS)
    assert names(small) == [] and small.metrics == pytest.approx(diagnose(CLOUD, TEXTS).metrics, rel=1e-4)


def test_many_kinds_of_broken_rows_are_counted():
    rows = CLOUD.copy()
    rows[:8], rows[8], rows[9, 3] = 0, np.nan, -np.inf
    found = diagnose(rows)
    assert found.findings[0].value == 10
    assert "zero: row 0, 1, 2, 3, 4 and 3 more" in str(found) and "NaN: row 8; infinite: row 9" in str(found)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_vectors_that_are_all_broken_are_no_collapse(value):
    found = diagnose(np.full((30, 4), value))
    assert names(found) == ["vectors without a direction"] and "complete collapse" in found.unseen


def save_as(kind, rows, file):
    """The vectors in a file as a program wrote them, and their values there."""
    if kind == "bfloat16":
        save_file({"v": torch.from_numpy(rows).bfloat16()}, file.with_suffix(".safetensors"))
        return file.with_suffix(".safetensors"), torch.from_numpy(rows).bfloat16().float().numpy()
    rows = (20 * rows).round().astype(kind) if kind.endswith(("i2", "i8")) else rows.astype(kind)
    np.save(file, np.asfortranarray(rows))
    return file.with_suffix(".npy"), rows.astype(np.float32)


@pytest.mark.parametrize("kind", ["bfloat16", ">f4", ">f8", "<f2", ">f2", ">i2", "<i8", "longdouble"])
def test_vectors_of_any_type_of_number_are_read(kind, tmp_path):
    file, same = save_as(kind, CLOUD, tmp_path / "vectors")
    assert diagnose(file, TEXTS).metrics == pytest.approx(diagnose(same, TEXTS).metrics, rel=1e-4)


NOT_VECTORS = {
    "pointer.npy": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "pointer.safetensors": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "annex.npy": (b"/annex/objects/SHA256E-s1--0.npy\n", "git annex get"),
    "cut.npy": (b"\x93NUMPY", "not a complete .npy file"),
    "empty.safetensors": (b"", "not a complete .safetensors file"),
}


@pytest.mark.parametrize("name", NOT_VECTORS)
def test_a_file_in_the_place_of_vectors_is_named_as_what_it_is(name, tmp_path):
    content, said = NOT_VECTORS[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}.*{said}"):
        diagnose(tmp_path / name)


def test_python_objects_and_archives_are_no_vectors(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([[1.0], "x"], dtype=object))
    with open(tmp_path / "archive.npy", "wb") as file:
        np.savez(file, a=CLOUD)
    for name, said in (("objects", "a pickle.*np.save"), ("archive", "an archive")):
        with pytest.raises(ValueError, match=rf"{name}\.npy.*{said}"):
            diagnose(tmp_path / f"{name}.npy")


def history(losses):
    return [{"step": step, "loss": loss, "info_nce": loss} for step, loss in enumerate(losses, start=1)]


def read(name, losses=(), encoder=None, corpus=(), **settings):
    """The reading of one sign of a made-up run."""
    config = TrainConfig(batch_size=16, max_length=32)
    training = Training(create_method("simcse", **settings), config, history(losses))
    seen = Evidence(encoder, TEXTS, corpus=corpus or TEXTS, training=training)
    value = SIGNS[name].measure(seen)
    return SIGNS[name].is_met(value), value


LOG_N = np.log(16)


@pytest.mark.parametrize(
    "name, ill, sound",
    [
        ("loss at log N", [LOG_N] * 20, [LOG_N, *[0.5] * 19]),
        ("loss at 0 from the start", [1e-5] * 20, [1.0, *[1e-5] * 19]),
    ],
)
def test_a_loss_is_read_as_a_share_of_log_n(name, ill, sound):
    assert read(name, ill)[0] and not read(name, sound)[0]
    assert read("loss at log N", [LOG_N] * 20)[1] == pytest.approx(1)


def test_the_temperature_is_read_from_where_the_gradient_goes():
    encoder = make_encoder()
    cold, hot = ({"temperature": value} for value in (1e-4, 100.0))
    assert read("temperature too low", encoder=encoder, **cold)[0]
    met, share = read("temperature too high", encoder=encoder, **hot)
    assert met and share == pytest.approx(1, abs=0.1)  # all negatives weigh the same
    assert not read("temperature too low", encoder=encoder, **hot)[0]
    assert not read("temperature too high", encoder=encoder, **cold)[0]


def test_missing_dropout_is_read_from_the_views():
    assert read("dropout missing", encoder=make_encoder(dropout=1e-6))[0]
    assert not read("dropout missing", encoder=make_encoder(dropout=0.3))[0]


def test_copies_are_counted_as_meetings_in_a_batch():
    met, value = read("duplicates in the corpus", corpus=["One.", "one. ", "ONE. ", *TEXTS[:30]])
    assert met and value == pytest.approx(6 / (33 * 32) * 15)
    assert read("duplicates in the corpus", corpus=TEXTS) == (False, 0)
    near = [f"the old teacher {n} likes the small red house today {end}" for n in range(9) for end in ("now", "never")]
    assert read("false negatives", corpus=near)[0] and not read("false negatives", corpus=TEXTS)[0]


def test_test_pairs_are_found_in_the_corpus_in_either_order():
    test = [("A dog runs.", "A dog  sleeps.", 3), ("a cat", "A dog runs.", 1), ("new", "newer", 2)]
    rows = [("a dog sleeps.", "a DOG runs."), ("a cow", "a horse")]
    for corpus in (
        rows,
        [text for row in rows for text in row],
        [{"anchor": one, "positive": two} for one, two in rows],
    ):
        found = diagnose(CLOUD, TEXTS, corpus, test=test)
        assert found.metrics["test pairs in the corpus"] == pytest.approx(1 / 3)
        assert "test pairs in the corpus" in names(found)
    assert "test pairs in the corpus" not in names(diagnose(CLOUD, TEXTS, TEXTS, test=test))
    assert "test pairs in the corpus" in diagnose(CLOUD, TEXTS, TEXTS).unseen


def test_cut_texts_are_counted_in_tokens():
    encoder = make_encoder()
    lengths = Evidence(encoder, TEXTS).tokens(TEXTS)
    encoder.max_length = 6
    met, value = read("truncated sentences", encoder=encoder)
    assert met and value == pytest.approx(sum(max(0, n - 6) for n in lengths) / sum(lengths))


@pytest.mark.parametrize("kind", ["torch", "bert", "trained"])
def test_a_layer_as_it_was_drawn_is_told_from_one_that_learnt(kind):
    layer = nn.Linear(128, 128)
    if kind == "bert":
        nn.init.normal_(layer.weight, std=0.02)
        nn.init.zeros_(layer.bias)
    if kind == "trained":
        nn.init.normal_(layer.weight, mean=0.01, std=0.2)
    assert looks_fresh(layer) == (kind != "trained")


class Leaking:
    """A mean over all positions of a batch."""

    def encode(self, sentences):
        longest = max(map(len, sentences))
        letters = [[float(ord(letter)) for letter in text] + [0.0] * (longest - len(text)) for text in sentences]
        rows = np.array(letters)
        return np.stack([rows.mean(1), (rows**2).mean(1)], axis=1)


def test_padding_that_leaks_is_seen_in_any_encoder():
    assert "padding that leaks" in names(diagnose(Leaking(), TEXTS))
    assert diagnose(make_encoder(), TEXTS).metrics["padding that leaks"] < 1e-4


def test_a_pooler_without_training_is_named():
    encoder = make_encoder()
    encoder.pooling = "cls_pooler"
    nn.init.zeros_(encoder.backbone.pooler.dense.bias)
    assert "untrained head or pooler" in names(diagnose(encoder, TEXTS))


def test_a_run_is_read_from_its_folder_as_from_memory(runs):
    found = diagnose(runs / "seed-0", TEXTS, TEXTS)
    assert {"loss at log N", "temperature too low", "dropout missing"} <= found.metrics.keys()
    assert "seeds with the same result" in found.unseen


def test_a_run_that_did_not_move_is_frozen(runs, tmp_path):
    config = TrainConfig(steps=2, batch_size=16, lr=0.0, precision="fp32")
    train(make_encoder(name="unknown"), "simcse", TEXTS, config, output=tmp_path / "run", show_progress_bar=False)
    assert "frozen encoder" in names(diagnose(tmp_path / "run", TEXTS))
    assert "frozen encoder" in diagnose(runs / "seed-0", TEXTS).unseen


def test_seeds_that_are_copies_are_named_and_others_are_not(runs, tmp_path):
    assert diagnose(runs, TEXTS).metrics["seeds with the same result"] > 1e-3
    for number in range(2):
        np.save(tmp_path / f"seed-{number}.npy", CLOUD)
    assert "seeds with the same result" in names(diagnose(tmp_path, TEXTS))


def test_a_diagnosis_is_written_as_json():
    found = diagnose(VECTORS["cone"], TEXTS)
    assert json.loads(json.dumps(found.to_dict()))["findings"][0]["name"] == "cone"


def test_every_sign_says_what_is_measured_and_what_to_do():
    assert len(SIGNS) == 20
    for name, one in SIGNS.items():
        assert one.measured[0].islower() and one.advice.endswith(".") and one.measure.__doc__, name
        assert replace(one, above=not one.above).is_met(one.threshold + 1) != one.is_met(one.threshold + 1)


@pytest.mark.parametrize(
    "subject, texts, said",
    [(np.ones(4), (), "vectors"), (np.ones((3, 2)), ["a"], "1 texts for 3"), (np.array([["a"]] * 3), (), "numbers")],
)
def test_what_cannot_be_looked_at_is_refused(subject, texts, said):
    with pytest.raises(ValueError, match=said):
        diagnose(subject, texts)


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no run, no encoder and no vectors"):
        diagnose(tmp_path)
