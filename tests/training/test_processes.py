"""Two processes contrast over the union of their batches, with the gradient of one process that has it all."""

import json
import os
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from tiny import Stopped, differing, make_encoder, make_rows, make_sentences, short_run, stop_at
from two_processes import launch

from cselab.encoders.checkpoint import load_checkpoint, save_checkpoint
from cselab.encoders.encoder import SentenceEncoder
from cselab.methods import create_method

CORPUS = make_sentences(40)
CONFIG = {"steps": 6, "seed": 3, "eval_every": 2, "checkpoint_every": 2, "weight_decay": 0.1}
RUNS = {"simcse": "simcse", "whitenedcse": "whitenedcse", "resumed": "imsimcse", "finished": "whitenedcse"}
RUNS |= {name: name for name in ("esimcse", "promptbert", "pt_bert", "cert", "dcpcse", "declutr")}
RUNS |= {name: name for name in ("adcse", "mocose", "diffcse", "ease", "dclr", "sncse", "retrieved_negatives")}
RUNS |= {name: name for name in ("ct", "supervised_simcse", "vascl")}
ALONE = [name for name in RUNS if name != "finished"]


class Watched:
    """Scores 0, 1, 3, 2 at steps 0, 2, 4, 6: the best weights are not the last. Counts how often it is asked."""

    def __init__(self, already=0):
        self.already, self.evaluations, self.callbacks = already, 0, 0
        self.drawn = []

    def __call__(self, encoder):
        score = [0.0, 1.0, 3.0, 2.0][self.already + self.evaluations]
        self.evaluations += 1
        return {"score": score, "mean": float(encoder.encode(CORPUS[:4]).mean())}

    def callback(self, run, row):
        self.callbacks += 1

    def draw_before(self, views):
        """`views`, and four numbers drawn as a mask of dropout would be."""

        def draw(method, encode, batch):
            with torch.random.fork_rng():
                self.drawn.append(torch.rand(4).tolist())
            return views(method, encode, batch)

        return draw


def plain_descent(parameters, lr, weight_decay, fused):
    """In AdamW's place, which makes a whole step of the rounding error of a gradient that is 0."""
    return torch.optim.SGD(parameters, lr=lr, momentum=0.9, weight_decay=weight_decay)


def run_training(method, output=None, watched=None, callbacks=()):
    """Without dropout, so that there is nothing to draw in which processes could differ."""
    watched = watched or Watched()
    method = create_method(method)
    drawing = patch.object(type(method), "views", watched.draw_before(type(method).views))
    unguarded = patch("cselab.training.loop.check_views_differ")
    with patch("torch.optim.AdamW", plain_descent), unguarded, drawing:
        encoder, rows = make_encoder(layers=1, dropout=0), make_rows(method.columns, 40)
        return short_run(method, encoder, rows, watched, [watched.callback, *callbacks], output, **CONFIG)


def main(folder):
    """What each of the two processes does; writes what it saw."""
    rank = int(os.environ["RANK"])
    for name, method in RUNS.items():
        watched = Watched(already=3 if name == "resumed" else 0)
        output = folder / ("whitenedcse" if name == "finished" else name)
        run = run_training(method, output, watched)
        info = {
            "history": run.history,
            "best": run.best,
            "resumed_from": run.resumed_from,
            "evaluations": watched.evaluations,
            "callbacks": watched.callbacks,
            "drawn": watched.drawn,
            "processes": torch.distributed.get_world_size(),
        }
        save_checkpoint(folder / f"{name}-{rank}.safetensors", run.encoder.state_dict(), info)
    torch.distributed.destroy_process_group()


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """The folder in which two processes trained; one of the runs was begun by a single process."""
    folder = tmp_path_factory.mktemp("together")
    with pytest.raises(Stopped):
        run_training(RUNS["resumed"], folder / "resumed", callbacks=[stop_at(5)])
    done = launch(__file__, folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def seen(folder, name):
    return [load_checkpoint(folder / f"{name}-{rank}.safetensors") for rank in (0, 1)]


@pytest.mark.parametrize("name", ALONE)
def test_two_processes_give_the_losses_and_weights_of_one(name, together):
    alone = run_training(RUNS[name])
    for weights, info in seen(together, name):
        assert info["processes"] == 2
        assert len(info["history"]) == len(alone.history) >= 6
        for row, expected in zip(info["history"], alone.history, strict=True):
            assert row == pytest.approx(expected, rel=1e-5, abs=1e-5)
        assert info["best"] == pytest.approx(alone.best, rel=1e-5, abs=1e-5)
        for key, value in alone.encoder.state_dict().items():
            torch.testing.assert_close(weights[key], value, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", RUNS)
def test_both_processes_end_with_the_same_run_bit_for_bit(name, together):
    (first, first_info), (second, second_info) = seen(together, name)
    assert not differing(first, second)
    for what in ("history", "best", "resumed_from"):
        assert first_info[what] == second_info[what]


def test_only_the_main_process_evaluates_and_calls_back(together):
    for name, evaluations, callbacks in [("simcse", 4, 7), ("resumed", 1, 2), ("finished", 0, 0)]:
        main_info, other_info = (info for _, info in seen(together, name))
        assert (main_info["evaluations"], main_info["callbacks"]) == (evaluations, callbacks)
        assert (other_info["evaluations"], other_info["callbacks"]) == (0, 0)


def test_each_process_draws_other_masks_at_each_step(together):
    first, second = (info["drawn"] for _, info in seen(together, "simcse"))
    assert len({tuple(drawn) for drawn in first + second}) == 2 * 6


def test_the_folder_is_written_once_and_is_an_encoder(together):
    (weights, info), _ = seen(together, "whitenedcse")
    lines = (together / "whitenedcse" / "history.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == info["history"]
    saved = SentenceEncoder.from_pretrained(together / "whitenedcse").state_dict()
    assert all(torch.equal(weights[key], value) for key, value in saved.items() if key.startswith("backbone."))


def test_a_stopped_run_goes_on_and_a_finished_one_is_read_back(together):
    """A stopped run goes on and a finished one is read back by both."""
    assert [info["resumed_from"] for _, info in seen(together, "resumed")] == [4, 4]
    (_, finished), _ = seen(together, "finished")
    (_, trained), _ = seen(together, "whitenedcse")
    assert finished["resumed_from"] == 6 and finished["history"] == trained["history"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
