"""The training loop: what it promises about seeds, schedules, the best weights, damage and bad input."""

import json
import math

import numpy as np
import pytest
import torch
from accelerate import PartialState
from tiny import Stopped, differing, make_encoder, make_sentences, short_run, stop_at, write_checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

import cselab.encoders.speed
import cselab.encoders.training_forward
import cselab.training.loop
from cselab.encoders.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.heads import MLPHead
from cselab.losses import Loss, info_nce
from cselab.methods import Setup, SimCSE, WhitenedCSE, create_method
from cselab.training import Run, StopTraining, TrainingDiverged
from cselab.training.run_folder import RunFolder, RunFolderError

CORPUS = make_sentences(60)
CONFIG = {"steps": 6, "eval_every": 2, "seed": 7}
OPTIONS = {"noise": {"variance": 0.1}, "barlow_twins": {"artificial_rows": 5}}


def run_training(method="simcse", encoder=None, corpus=CORPUS, **options):
    """A short run; what differs from CONFIG is an argument."""
    return short_run(method, encoder, corpus, **CONFIG | options)


class Spread:
    """Score: minus the mean cosine, a fact of the encoder's weights; remembers when it was asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, encoder):
        self.calls += 1
        vectors = encoder.encode(CORPUS[:10], normalize_embeddings=True)
        return {"score": -float((vectors @ vectors.T).mean()), "uniformity": np.float32(-1.5)}


class Scripted:
    """Scores from a list, and the weights that were scored."""

    def __init__(self, *scores):
        self.scores, self.seen = list(scores), []

    def __call__(self, encoder):
        self.seen.append({name: value.clone() for name, value in encoder.state_dict().items()})
        return {"score": self.scores[len(self.seen) - 1]}


@pytest.fixture
def equal_views(monkeypatch):
    """Training on two equal views, which is refused otherwise: nothing is drawn, so that it can be followed by hand."""
    monkeypatch.setattr("cselab.training.loop.check_views_differ", lambda *_: None)


# ------------------------------------------------------------------------------------ history


def test_the_history_has_a_row_a_step_with_every_named_term():
    run = run_training("imsimcse", evaluator=Spread())
    assert [row["step"] for row in run.history] == list(range(7))
    for row in run.history[1:]:
        terms = [row["off_dropout_info_nce"], row["dimension_contrastive"]]
        assert row["loss"] == pytest.approx(sum(terms), rel=1e-6) and row["gradient_norm"] > 0
    assert run.history[0].keys() == {"step", "score", "uniformity"}
    assert [row["step"] for row in run.history if "score" in row] == [0, 2, 4, 6]
    assert run.curve("score") == ([0, 2, 4, 6], [run.history[step]["score"] for step in (0, 2, 4, 6)])
    assert run.curve("loss")[0] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match=r"no column 'losss'; it has step, score, uniformity, loss"):
        run.curve("losss")
    frame = run.to_frame()
    assert list(frame.index) == list(range(7)) and frame.loss.dropna().tolist() == run.curve("loss")[1]
    json.dumps(run.history)


@pytest.mark.parametrize("method", ["simcse", "whitenedcse", "noise", "barlow_twins"])
def test_the_same_seed_gives_the_same_history(method):
    """The same seed gives the same history and weights bit for bit."""
    runs = []
    for disturbance in (1, 2):
        torch.manual_seed(disturbance)  # whatever the caller's random numbers are
        runs.append(run_training(create_method(method, **OPTIONS.get(method, {})), evaluator=Spread()))
    assert runs[0].history == runs[1].history
    assert not differing(runs[0].encoder, runs[1].encoder)


def test_the_caller_s_random_numbers_are_not_disturbed():
    torch.manual_seed(11)
    np.random.seed(11)

    def evaluator(encoder):
        torch.rand(3)
        return {"score": 1.0}

    before = torch.get_rng_state()
    numpy_before = np.random.get_state()[1]
    run_training("whitenedcse", evaluator=evaluator)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numpy_before)


def test_a_run_is_one_line_to_read():
    run = run_training("simcse", evaluator=lambda encoder: {"score": 50.0})
    loss = run.history[-1]["loss"]
    assert repr(run).startswith(f"Run(SimCSE(), step 6, loss {loss:.4f}, best dev score 50.00 at step 2, ")
    assert len(repr(run)) < 120


# ------------------------------------------------------------------------------------ batches and schedule


class Seen(SimCSE):
    """SimCSE that notes the sentences of each batch."""

    def __init__(self, log=None, **parameters):
        super().__init__(**parameters)
        self.log = log

    def __deepcopy__(self, memo):
        return self

    def views(self, encode, batch):
        self.log.append(list(batch))
        return super().views(encode, batch)


class Drawn(Seen):
    """Notes a random number that each step draws, and how far dropout moves the views apart."""

    def views(self, encode, batch):
        views = SimCSE.views(self, encode, batch)
        apart = float((views.anchor - views.positive).detach().abs().max())
        self.log.append((float(torch.rand(())), apart))
        return views


def test_each_step_has_dropout_and_random_numbers_of_its_own():
    first, second, other = [], [], []
    run_training(Drawn(first), evaluator=Spread())
    run_training(Drawn(second))
    run_training(Drawn(other), seed=8)
    assert first == second
    assert len({number for number, _ in first + other}) == 12
    assert min(apart for _, apart in first) > 1e-3


def test_an_epoch_is_every_sentence_once_in_a_new_order():
    """An epoch is every sentence once in a new order without the incomplete batch."""
    log = []
    run_training(Seen(log), steps=None, epochs=2, batch_size=8)  # 60 sentences: 7 batches an epoch
    assert [len(batch) for batch in log] == [8] * 14
    epochs = [[sentence for batch in log[start : start + 7] for sentence in batch] for start in (0, 7)]
    for epoch in epochs:
        assert len(set(epoch)) == 56 and set(epoch) <= set(CORPUS)
    assert epochs[0] != epochs[1] and epochs[0] != CORPUS[:56]


@pytest.mark.parametrize("epochs, steps", [(1, 7), (0.5, 4), (0.01, 1), (3, 21)])
def test_epochs_become_steps(epochs, steps):
    assert run_training(steps=None, epochs=epochs, eval_every=100).history[-1]["step"] == steps


def rates(steps, warmup, monkeypatch):
    found = []
    step = torch.optim.AdamW.step

    def spy(optimizer, *arguments):
        found.append(optimizer.param_groups[0]["lr"])
        return step(optimizer, *arguments)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    run_training(steps=steps, lr=0.1, warmup=warmup, eval_every=100)
    return found


@pytest.mark.parametrize("steps, warmup", [(6, 0.0), (10, 0.2), (10, 0.5), (3, 0.9), (1, 0.0), (1, 0.9)])
def test_the_rate_rises_linearly_and_falls_linearly_to_zero(steps, warmup, monkeypatch):
    rising = round(warmup * steps)
    expected = [
        0.1 * ((step + 1) / (rising + 1) if step < rising else (steps - step) / (steps - rising))
        for step in range(steps)
    ]
    found = rates(steps, warmup, monkeypatch)
    assert found == pytest.approx(expected)
    assert max(found) <= 0.1 and min(found) > 0


@pytest.mark.usefixtures("equal_views")
def test_a_step_is_adamw_on_the_clipped_gradient_of_the_loss():
    """One step by hand, dropout off: the loss of the two (equal) views, its gradient cut to length `clip`."""
    log, by_hand = [], make_encoder(layers=1, dropout=0)
    run = run_training(Seen(log), make_encoder(layers=1, dropout=0), steps=1, clip=0.5, weight_decay=0.1)
    by_hand.attach_head(SimCSE().build(Setup(by_hand, log[0], CONFIG["seed"])))
    optimizer = torch.optim.AdamW(by_hand.parameters(), lr=0.01, weight_decay=0.1)
    view = by_hand.head(by_hand.pooled(by_hand.tokenize(log[0])))
    loss = info_nce(view, view, 0.05).total
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(by_hand.parameters(), 0.5)
    optimizer.step()
    assert run.history[1]["loss"] == pytest.approx(loss.item(), rel=1e-5)
    assert run.history[1]["gradient_norm"] == pytest.approx(norm.item(), rel=1e-4) and norm > 0.5
    for name, parameter in by_hand.named_parameters():
        if parameter.grad is not None:
            clear = parameter.grad.abs() > 1e-5  # AdamW's first step is lr * sign: rounding decides near 0
            found = run.encoder.get_parameter(name)
            torch.testing.assert_close(found[clear], parameter[clear], rtol=1e-3, atol=1e-5)


def test_training_sentences_are_cut_at_the_training_length():
    lengths = []
    encoder = make_encoder(layers=1)
    tokenized = encoder.tokenized

    def spy(sentences, max_length):
        features = tokenized(sentences, max_length)
        lengths.append(features["input_ids"].shape[1])
        return features

    encoder.tokenized = spy
    run_training(encoder=encoder, max_length=6)
    assert lengths[-6:] == [6] * 6 and max(lengths) == 6  # before the steps the guard looks at a few rows


# ------------------------------------------------------------------------------------ selection


def test_the_best_weights_are_kept():
    """The best weights are kept and step zero is only looked at."""
    evaluator = Scripted(9.0, 1.0, 3.0, 2.0)  # at steps 0, 2, 4, 6
    run = run_training(evaluator=evaluator)
    assert run.best == run.history[4] and run.best["score"] == 3.0
    assert not differing(run.encoder, evaluator.seen[2])
    assert not run.encoder.training
    assert run_training(evaluator=Scripted(0.0, 1.0, 1.0, 1.0)).best["step"] == 2  # of equal scores the first
    last = run_training(evaluator=Spread(), steps=5, eval_every=3)
    assert last.curve("score")[0] == [0, 3, 5]  # the last step is always evaluated


def test_the_evaluator_sees_the_representation_asked_for():
    """The evaluator sees the representation asked for with dropout off."""
    seen = []

    def evaluator(encoder):
        seen.append((encoder.representation, any(part.training for part in encoder.modules())))
        return {"score": float(encoder.encode(CORPUS[:3]).mean())}

    run = run_training("whitenedcse", evaluator=evaluator, representation="head")
    assert seen == [("head", False)] * 3  # not at step 0: that head is not trained
    assert run.encoder.representation == "head" and run.history[0]["step"] == 1
    seen.clear()
    run_training(evaluator=evaluator)
    assert seen == [("backbone", False)] * 4


@pytest.mark.parametrize(
    "found",
    [{}, {"score": math.nan}, {"score": math.inf}, {"alignment": 1.0}, None, [1.0], "text", {"score": "text"}, 3.0],
)
def test_an_evaluator_without_a_finite_score_is_refused(found):
    numbers = isinstance(found, dict) and found != {"score": "text"}
    kind, said = (ValueError, "a finite number called 'score'") if numbers else (TypeError, "numbers by name")
    with pytest.raises(kind, match=f"the evaluator must return {said}"):
        run_training(evaluator=lambda encoder: found)


def test_callbacks_see_each_row_and_the_current_encoder():
    seen = []

    def note(run, row):
        seen.append((row["step"], run.history[-1] is row, "score" in row, run.encoder.weights_hash()))

    run = run_training(evaluator=Spread(), callbacks=[note])
    assert [entry[:3] for entry in seen] == [(step, True, step % 2 == 0) for step in range(7)]
    assert len({entry[3] for entry in seen}) == 7
    assert isinstance(run, Run)


def test_the_method_that_was_given_is_left_as_it_was():
    method = create_method("focal")
    run = run_training(method)
    assert method.temperature is None and run.method.temperature == 0.07
    method = WhitenedCSE()
    run_training(method)
    assert method.backbone_passes is None


# ------------------------------------------------------------------------------------ divergence


class Exploding(SimCSE):
    """NaN at one step: in the value of a term, or only in the gradient."""

    at: int = 5
    where: str = "value"

    def views(self, encode, batch):
        self.at -= 1
        return super().views(encode, batch)

    def loss(self, v):
        loss = super().loss(v)
        if self.at > 0:
            return loss
        if self.where == "value":
            return loss + Loss({"odd_term": v.anchor.sum() * math.nan})
        zero = (v.anchor - v.anchor).sum()
        return loss + Loss({"odd_term": zero.sqrt()})  # 0, with an infinite slope


in_value_or_gradient = pytest.mark.parametrize(
    "where, message",
    [
        ("value", r"diverged at step 5: the term 'odd_term' of the loss is nan"),
        ("gradient", r"diverged at step 5: the gradient is nan \(the loss is "),
    ],
)


@in_value_or_gradient
def test_nan_stops_with_its_cause(where, message, tmp_path, registered):
    """Nan stops with its cause and the last good checkpoint stays."""
    registered("exploding", "Exploding")(Exploding)
    with pytest.raises(TrainingDiverged, match=message + ".*the last good checkpoint stays in .*run"):
        run_training(Exploding(where=where), output=tmp_path / "run", checkpoint_every=2, evaluator=Spread())
    tensors, info = load_checkpoint(tmp_path / "run" / "checkpoint.safetensors")
    assert info["step"] == 4 and all(value.isfinite().all() for value in tensors.values())
    with pytest.raises(TrainingDiverged, match=message + ".*nothing was saved"):
        run_training(Exploding(where=where))


# ------------------------------------------------------------------------------------ a device with a queue


@pytest.fixture
def queued(monkeypatch):
    """The CPU is treated as a GPU is: its numbers are read late."""
    for module in (cselab.encoders.speed, cselab.encoders.training_forward, cselab.training.loop):
        monkeypatch.setattr(module, "is_asynchronous", lambda device: True)


@pytest.mark.parametrize("method", ["simcse", "whitenedcse", "imsimcse", "focal", "mocose"])
def test_numbers_that_are_read_late_are_the_same_numbers(method, request, tmp_path, monkeypatch):
    monkeypatch.setattr(
        cselab.encoders.training_forward, "bucket_by_length", lambda lengths, _: [slice(0, len(lengths))]
    )  # as a GPU
    options = {"steps": 21, "eval_every": 19, "checkpoint_every": 7}
    at_once = run_training(method, evaluator=Spread(), output=tmp_path / "at once", **options)
    request.getfixturevalue("queued")
    late = run_training(method, evaluator=Spread(), output=tmp_path / "late", **options)
    assert late.history == at_once.history and late.best == at_once.best
    assert not differing(late.encoder, at_once.encoder)
    files = [(folder / "history.jsonl").read_text() for folder in (tmp_path / "late", tmp_path / "at once")]
    assert files[0] == files[1]


def test_late_rows_reach_the_callbacks_in_order(queued):
    """Late rows reach the callbacks in order and evaluated ones with their encoder."""
    seen = []
    evaluator = Scripted(*range(9))

    def note(run, row):
        seen.append((row["step"], "score" in row and torch.equal(first(run.encoder), first(evaluator.seen[-1]))))

    def first(weights):
        return next(iter((weights if isinstance(weights, dict) else weights.state_dict()).values()))

    run_training(evaluator=evaluator, callbacks=[note], steps=30, eval_every=20)
    assert [step for step, _ in seen] == list(range(31))
    assert [step for step, same in seen if same] == [0, 20, 30]


def test_a_callback_stops_a_late_run_where_its_row_is_read(queued):
    run = run_training(
        callbacks=[stop_at(3, StopTraining("enough"))], steps=40, eval_every=40, evaluator=Scripted(1.0, 2.0)
    )
    assert run.stopped == "enough" and [row["step"] for row in run.history] == list(range(17))
    assert run.best["step"] == 16 and run.best["score"] == 2.0


@in_value_or_gradient
def test_a_divergence_that_is_read_late_names_its_step(where, message, queued, registered):
    """A divergence that is read late names its step and no weight takes it."""
    registered("exploding", "Exploding")(Exploding)
    encoder, seen = make_encoder(layers=1), []
    with pytest.raises(TrainingDiverged, match=message):
        run_training(
            Exploding(where=where),
            encoder,
            steps=40,
            eval_every=40,
            callbacks=[lambda run, row: seen.append(row["step"])],
        )
    assert seen == [0, 1, 2, 3, 4] and all(weight.isfinite().all() for weight in encoder.parameters())


def test_an_error_that_follows_from_a_divergence_is_told_as_one(queued, registered):
    class Upset(Exploding):
        def loss(self, v):
            if self.at < 0:
                raise RuntimeError("not a number")
            return super().loss(v)

    registered("upset", "Upset")(Upset)
    with pytest.raises(TrainingDiverged, match="diverged at step 5"):
        run_training(Upset(), steps=40, eval_every=40)


class Waits(TorchDispatchMode):
    """Counts what would wait for a GPU: numbers asked for, and shapes that depend on numbers."""

    OPERATIONS = {
        torch.ops.aten._local_scalar_dense.default,
        torch.ops.aten.nonzero.default,
        torch.ops.aten.masked_select.default,
        torch.ops.aten._unique2.default,
        torch.ops.aten.equal.default,
    }

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, given=(), named=None):
        self.count += function in self.OPERATIONS
        if function is torch.ops.aten.index.Tensor:
            self.count += any(index is not None and index.dtype == torch.bool for index in given[1])
        return function(*given, **(named or {}))


@pytest.mark.parametrize("method", ["simcse", "whitenedcse", "imsimcse", "focal", "noise", "barlow_twins"])
def test_no_step_asks_the_device_for_a_number(method, queued, monkeypatch):
    counts, waits, step = [], Waits(), torch.optim.AdamW.step

    def counted(optimizer):  # what waits between two steps of the optimiser
        counts.append(waits.count)
        waits.count = 0
        return step(optimizer)

    monkeypatch.setattr(torch.optim.AdamW, "step", counted)
    with waits:
        run = run_training(create_method(method, **OPTIONS.get(method, {})), steps=20, eval_every=100)
    assert [row["step"] for row in run.history] == [*range(21)]
    own_check = 3 if method == "whitenedcse" else 0  # of its permutations, which are drawn on the CPU
    assert counts[1:15] == [own_check] * 14 and counts[16:19] == [own_check] * 3


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["simcse", "whitenedcse", "imsimcse", "focal", "noise"])
def test_no_step_on_the_gpu_waits_for_it(method, monkeypatch):
    batch_of_step = cselab.training.loop.batch_of_step

    def watched(corpus, config, step):  # from the batch of step 5 to that of step 8
        torch.cuda.set_sync_debug_mode("error" if step in (5, 6, 7) else "default")
        return batch_of_step(corpus, config, step)

    monkeypatch.setattr(cselab.training.loop, "batch_of_step", watched)
    PartialState._reset_state()
    run = run_training(create_method(method, **OPTIONS.get(method, {})), steps=10, eval_every=100)
    assert run.encoder.device.type == "cuda" and [row["step"] for row in run.history] == [*range(11)]


# ------------------------------------------------------------------------------------ bad input


def test_groups_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(ValueError, match="4 rows are too few to whiten groups of 4 channels, which need 5"):
        run_training(create_method("whitenedcse", num_groups=2), batch_size=4, output=tmp_path)
    # nothing is lost: the folder takes the corrected settings
    run_training(create_method("whitenedcse", num_groups=4), batch_size=4, output=tmp_path)


# ------------------------------------------------------------------------------------ output folders


def test_a_finished_run_is_an_encoder_and_is_read_back(tmp_path):
    evaluator = Spread()
    run = run_training("whitenedcse", evaluator=evaluator, output=tmp_path / "run")
    names = {file.name for file in (tmp_path / "run").iterdir()}
    assert {"run.json", "history.jsonl", "cselab.json", "model.safetensors"} <= names
    assert not {"checkpoint.safetensors", "best.safetensors"} & names
    assert not [name for name in names if name.endswith((".part", ".bin", ".pt", ".pkl"))]
    expected = run.encoder.encode(CORPUS[:5])
    opened = SentenceEncoder.from_pretrained(tmp_path / "run")
    assert np.array_equal(opened.encode(CORPUS[:5]), expected)

    asked = evaluator.calls
    again = run_training("whitenedcse", evaluator=evaluator, output=tmp_path / "run")
    assert evaluator.calls == asked and again.resumed_from == 6
    assert (again.history, again.best, again.seconds) == (run.history, run.best, run.seconds)
    assert np.array_equal(again.encoder.encode(CORPUS[:5]), expected)
    again.encoder.representation = run.encoder.representation = "head"
    np.testing.assert_allclose(again.encoder.encode(CORPUS[:5]), run.encoder.encode(CORPUS[:5]), atol=1e-6)


def test_a_run_without_a_head_is_read_back_without_one(tmp_path):
    fitted = make_encoder(layers=1)
    fitted.attach_head(MLPHead(8, torch.Generator()))  # of an earlier training
    run = run_training(create_method("simcse", head="none"), fitted, output=tmp_path)
    assert run.encoder.head is None
    opened = SentenceEncoder.from_pretrained(tmp_path)
    again = run_training(create_method("simcse", head="none"), make_encoder(layers=1), output=tmp_path)
    assert opened.head is again.encoder.head is None and again.resumed_from == 6
    assert np.array_equal(again.encoder.encode(CORPUS[:5]), run.encoder.encode(CORPUS[:5]))
    with pytest.raises(ValueError, match="representation='head' needs an encoder with a head"):
        run_training(create_method("simcse", head="none"), representation="head")


def test_the_record_says_what_ran_and_with_what(tmp_path):
    run_training("focal", output=tmp_path, evaluator=Spread())
    record = json.loads((tmp_path / "run.json").read_text())
    identity = record["identity"]
    assert identity["method"] == {
        "name": "focal",
        "variant": "default",
        "temperature": 0.07,
        "m": 0.3,
        "detach": False,
        "head": "mlp",
        "representation": "backbone",
    }
    assert identity["config"]["lr"] == 1e-2 and identity["corpus"]["sentences"] == 60
    assert identity["encoder"]["weights"] == make_encoder(layers=1).weights_hash()
    assert record["finished"] and record["steps"] == 6 and record["precision"] == "fp32"
    assert record["versions"]["torch"] == torch.__version__


@pytest.mark.parametrize(
    "change, message",
    [
        ({"method": "imsimcse"}, r"a different method \(name was 'simcse', now 'imsimcse'\)"),
        ({"method": SimCSE(temperature=0.1)}, r"a different method \(temperature was 0.05, now 0.1\)"),
        ({"lr": 1e-3}, r"a different config \(lr was 0.01, now 0.001\)"),
        ({"seed": 8, "lr": 1e-3}, r"a different config \(lr was"),
        ({"corpus": CORPUS[:50]}, r"a different corpus \(sentences was 60, now 50\)"),
        ({"corpus": CORPUS[::-1]}, r"a different corpus \(sha256 was"),
        ({"encoder": "other"}, r"a different encoder \(weights was"),
        ({"encoder": "of another dropout"}, r"a different encoder \(dropout was None, now 0.3\)"),
    ],
)
def test_a_folder_with_other_settings_is_refused_naming(change, message, tmp_path):
    """A folder with other settings is refused naming the first."""
    run_training(output=tmp_path, steps=1)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    if change.get("encoder") == "other":
        change = {"encoder": make_encoder(layers=1, seed=5)}
    elif "encoder" in change:
        change = {"encoder": make_encoder(layers=1)}
        change["encoder"].dropout = 0.3
    with pytest.raises(RunFolderError, match=message + ".*choose a different output, or repeat the settings"):
        run_training(**{"output": tmp_path, "steps": 1, **change})
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before


def test_a_folder_with_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(RunFolderError, match=r"holds something that is not a run \(thesis\.txt\)"):
        run_training(output=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunFolderError, match=f"cannot write to the output folder {output} .*choose a different"):
            run_training(output=output)


def test_a_folder_in_use_is_refused(tmp_path):
    with RunFolder(tmp_path / "run").locked():
        with pytest.raises(RunFolderError, match="is in use by another run: wait, or choose a different"):
            run_training(output=tmp_path / "run")
    run_training(output=tmp_path / "run", steps=1)


def start_and_stop(output, step=5, **options):
    with pytest.raises(Stopped):
        run_training(output=output, callbacks=[stop_at(step)], **options)


def test_a_best_score_is_not_forgotten(tmp_path):
    """A best score is not forgotten where the evaluator would not repeat it."""
    options = {"eval_every": 2, "checkpoint_every": 3}
    first = Scripted(0.0, 1.0, 5.0)
    start_and_stop(tmp_path, step=4, evaluator=first, **options)
    run = run_training(evaluator=Scripted(2.0, 3.0), output=tmp_path, **options)
    assert (run.best["step"], run.best["score"]) == (4, 5.0)
    assert not differing(run.encoder, first.seen[2])


def test_the_seconds_before_a_stop_count(tmp_path):
    start_and_stop(tmp_path)
    tensors, info = load_checkpoint(tmp_path / "checkpoint.safetensors")
    save_checkpoint(tmp_path / "checkpoint.safetensors", tensors, {**info, "seconds": 1000})
    assert run_training(output=tmp_path).seconds > 1000


def test_resume_refuses_missing_best_weights(tmp_path):
    start_and_stop(tmp_path, step=5, evaluator=Spread(), eval_every=2, checkpoint_every=4)
    (tmp_path / "best.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"best\.safetensors is missing, .* restore it, or delete"):
        run_training(output=tmp_path, evaluator=Spread(), eval_every=2, checkpoint_every=4)


def test_resume_tells_rows_with_line_ends_apart(tmp_path):
    """["a\\nb", "c"] and ["a", "b\\nc"] are the same lines; a record of an earlier version has only their hash."""
    one, other = [*CORPUS, "a\nb", "c"], [*CORPUS, "a", "b\nc"]
    start_and_stop(tmp_path, corpus=one)
    with pytest.raises(RunFolderError, match="different corpus"):
        run_training(corpus=other, output=tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    del record["identity"]["corpus"]["rows"]
    (tmp_path / "run.json").write_text(json.dumps(record))
    tensors, info = load_checkpoint(tmp_path / "checkpoint.safetensors")
    del info["identity"]["corpus"]["rows"]
    save_checkpoint(tmp_path / "checkpoint.safetensors", tensors, info)
    assert run_training(corpus=one, output=tmp_path).resumed_from == 4


def test_a_run_stopped_before_its_first_checkpoint(tmp_path):
    """A run stopped before its first checkpoint gives its folder to any other."""
    start_and_stop(tmp_path, step=3, evaluator=Spread(), eval_every=2, checkpoint_every=5)
    assert (tmp_path / "best.safetensors").exists()
    start_and_stop(tmp_path, step=5, seed=8)
    run = run_training(output=tmp_path, seed=8)
    assert run.resumed_from == 4 and run.best is None
    assert not differing(run.encoder, run_training(seed=8).encoder)


@pytest.mark.parametrize("file", ["checkpoint.safetensors", "best.safetensors", "run.json"])
@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_a_damaged_file_of_a_run_is_named(file, damage, tmp_path):
    start_and_stop(tmp_path, evaluator=Spread())
    content = bytearray((tmp_path / file).read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    else:
        content[-30 if file != "run.json" else 3] ^= 4
    (tmp_path / file).write_bytes(content)
    with pytest.raises((CheckpointError, RunFolderError), match=file.replace(".", r"\.")):
        run_training(output=tmp_path, evaluator=Spread())


def test_leftovers_of_a_kill_are_cleared_away(tmp_path):
    (tmp_path / "run.json.part").write_text('{"identi')
    run_training(output=tmp_path, steps=1, callbacks=[lambda *_: (tmp_path / ".tmpX1y2Z3").write_bytes(b"half")])
    assert not list(tmp_path.glob("*.part")) and not list(tmp_path.glob(".tmp*"))


# ------------------------------------------------------------------------------------ precision and progress


@pytest.mark.usefixtures("equal_views")
def test_bf16_runs_and_its_losses_are_float32(registered):
    kinds = []

    class Watched(SimCSE):
        def loss(self, v):
            loss = super().loss(v)
            kinds.append((v.anchor.dtype, loss.total.dtype))
            return loss

    registered("watched", "Watched")(Watched)
    half = run_training("watched", make_encoder(layers=1, dropout=0), steps=2, precision="bf16")
    assert kinds == [(torch.bfloat16, torch.float32)] * 2
    assert {parameter.dtype for parameter in half.encoder.parameters()} == {torch.float32}
    full = run_training("watched", make_encoder(layers=1, dropout=0), steps=2, precision="fp32")
    assert kinds[2:] == [(torch.float32, torch.float32)] * 2
    assert half.history[1]["loss"] == pytest.approx(full.history[1]["loss"], rel=0.05)
    assert half.history[1]["loss"] != full.history[1]["loss"]


def test_a_run_goes_on_in_the_precision_it_began_in(tmp_path, monkeypatch):
    """Which precision is faster is measured, so "auto" may mean another thing when the run goes on."""
    monkeypatch.setattr(cselab.encoders.speed, "faster_in_bf16", lambda: True)
    start_and_stop(tmp_path, precision="auto")
    monkeypatch.setattr(cselab.encoders.speed, "faster_in_bf16", lambda: False)
    run = run_training(output=tmp_path, precision="auto")
    assert run.resumed_from == 4
    assert not differing(run.encoder, run_training(precision="bf16").encoder)


def test_a_plain_checkpoint_without_a_chosen_pooling_is_trained(tmp_path):
    """Mean pooling under a fresh head is nobody's recipe; a pooling that somebody chose is left alone."""
    folder = write_checkpoint(tmp_path / "plain", layers=1)
    plain = SentenceEncoder.from_pretrained(folder)
    assert plain.pooling == "mean" and not plain.pooling_given
    run = run_training(encoder=plain, output=tmp_path / "run")
    assert run.encoder.pooling == "cls" == SentenceEncoder.from_pretrained(tmp_path / "run").pooling
    chosen = SentenceEncoder.from_pretrained(folder, pooling="mean")
    assert run_training(encoder=chosen).encoder.pooling == "mean"
    bare = SentenceEncoder.from_pretrained(folder)
    assert run_training(SimCSE(head="none"), bare).encoder.pooling == "mean"
    assert SentenceEncoder.from_pretrained("micro").pooling_given  # its mean: contrast spoils its [CLS]
    assert not SentenceEncoder.from_pretrained("mini").pooling_given


def test_patience_ends_a_run_that_gets_no_better(tmp_path):
    """Scores 1, 3, 2, 2, 2 at steps 0, 1, 2, 3, 4: after two evaluations without a better one it is over."""
    scores = (1.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0)
    run = run_training(evaluator=Scripted(*scores), output=tmp_path, eval_every=1, patience=2)
    assert run.history[-1]["step"] == 3 and run.best["step"] == 1
    assert run.stopped == "no better dev score in 2 evaluations, step 3"
    again = run_training(evaluator=Scripted(*scores), output=tmp_path, eval_every=1, patience=2)
    assert again.stopped == run.stopped and again.resumed_from == 3 and again.history == run.history
    assert not differing(again.encoder, run.encoder)
    whole = run_training(evaluator=Scripted(*scores), eval_every=1)
    assert whole.stopped is None and whole.history[-1]["step"] == 6
    assert not differing(whole.encoder, run.encoder)  # both kept step 1


def test_a_callback_may_stop_the_run_which_is_returned(tmp_path):
    """A callback may stop the run which is returned with its best weights."""
    enough = [stop_at(3, StopTraining("seen enough"))]
    run = run_training(evaluator=Scripted(1.0, 2.0, 5.0, 4.0), callbacks=enough, output=tmp_path, eval_every=1)
    assert (run.stopped, run.history[-1]["step"], run.best["step"]) == ("seen enough", 3, 2)
    assert (SentenceEncoder.from_pretrained(tmp_path).encode(CORPUS[:3]) == run.encoder.encode(CORPUS[:3])).all()


def test_each_terms_pull_is_measured_at_evaluated_steps():
    run = run_training("imsimcse", make_encoder(layers=1), steps=4, eval_every=2, clip=1e9)
    rows = [row for row in run.history if "gradient_norm/dimension_contrastive" in row]
    assert [row["step"] for row in rows] == [2, 4]
    for row in rows:
        parts = [row[f"gradient_norm/{name}"] for name in ("off_dropout_info_nce", "dimension_contrastive")]
        assert min(parts) > 0 and abs(parts[0] - parts[1]) <= row["gradient_norm"] <= sum(parts) * 1.0001
    alone = run_training("simcse", make_encoder(layers=1), steps=4, eval_every=2)
    assert not any(key.startswith("gradient_norm/") for row in alone.history for key in row)


def test_a_run_stopped_before_its_first_evaluation_is_scored(tmp_path):
    """A run stopped before its first evaluation is scored where it stops."""
    enough = [stop_at(1, StopTraining("enough"))]
    run = run_training(evaluator=Scripted(1.0, 2.0), callbacks=enough, output=tmp_path / "run", eval_every=5)
    assert run.stopped == "enough" and run.best["step"] == 1 and run.best["score"] == 2.0
    lines = (tmp_path / "run" / "history.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["score"] == 2.0
    assert run_training(evaluator=Scripted(), output=tmp_path / "run", eval_every=5).best == run.best


@pytest.mark.usefixtures("equal_views")
@pytest.mark.gpu
@pytest.mark.parametrize("method", ["simcse", "whitenedcse"])
def test_a_step_on_the_gpu_is_that_on_the_cpu(method):
    runs = []
    for cpu in (True, False):
        PartialState._reset_state()
        PartialState(cpu=cpu)
        runs.append(run_training(method, make_encoder(layers=1, dropout=0), steps=3))
    PartialState._reset_state()
    assert runs[1].encoder.device.type == "cuda"
    for name in ("loss", "gradient_norm"):  # not the weights: where a gradient is 0 but for rounding, Adam steps by it
        assert runs[1].curve(name)[1] == pytest.approx(runs[0].curve(name)[1], rel=1e-3)


@pytest.mark.usefixtures("equal_views")
@pytest.mark.parametrize("method", ["simcse", "whitenedcse", "imsimcse", "mocose"])
def test_a_batch_in_parts_gives_the_history_of_the_whole_batch(method):
    histories = [
        run_training(method, make_encoder(layers=1, dropout=0.0), mini_batch_size=size, lr=1e-3).history
        for size in (None, 3)
    ]
    for whole, parts in zip(*histories, strict=True):
        assert parts == pytest.approx(whole, rel=1e-5, abs=1e-4)
