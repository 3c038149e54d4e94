"""A run ends as the one that was never stopped, however often it stops and wherever."""

from functools import cache
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tiny import Stopped, differing, make_sentences, short_run, stop_at

from cselab.training.run_folder import RunFolderError

STEPS = 6


def spread(encoder):
    vectors = encoder.encode(make_sentences(8), normalize_embeddings=True)
    return {"score": -float((vectors @ vectors.T).mean())}


def run(method, every, output=None, callbacks=(), save=None, seed=3):
    options = {"steps": STEPS, "batch_size": 6, "seed": seed, "eval_every": every, "checkpoint_every": save}
    return short_run(method, None, make_sentences(20), spread, callbacks, output, **options)


whole = cache(run)


class Interrupted(RuleBasedStateMachine):
    """One folder, in which a run is begun, stopped and continued; `kept` is the step of its last checkpoint."""

    @initialize(method=st.sampled_from(["simcse", "mocose"]), every=st.integers(1, 4), save=st.integers(1, 4))
    def begin(self, method, every, save):
        self.method, self.every, self.save, self.kept = method, every, save, 0
        self.folder = TemporaryDirectory()

    @rule(more=st.integers(1, STEPS))
    def stop(self, more):
        """The callbacks of a step see it before its checkpoint is written."""
        step = min(self.kept + more, STEPS)
        if self.kept < STEPS:
            with pytest.raises(Stopped):
                run(self.method, self.every, self.folder.name, [stop_at(step)], self.save)
            self.kept = max(self.kept, (step - 1) // self.save * self.save)

    @precondition(lambda self: self.kept)
    @rule()
    def refuse_another_seed(self):
        with pytest.raises(RunFolderError, match="seed was 3, now 4"):
            run(self.method, self.every, self.folder.name, (), self.save, seed=4)

    @rule()
    def finish(self):
        found, expected = run(self.method, self.every, self.folder.name, (), self.save), whole(self.method, self.every)
        assert (found.resumed_from or 0, found.history, found.best) == (self.kept, expected.history, expected.best)
        assert not differing(found.encoder.backbone, expected.encoder.backbone)
        self.kept = STEPS

    def teardown(self):
        if hasattr(self, "folder"):
            self.finish()
            self.folder.cleanup()


TestInterrupted = Interrupted.TestCase
TestInterrupted.settings = settings(max_examples=12, stateful_step_count=4, phases=set(Phase) - {Phase.shrink})
