"""A loop of one's own over `Batches` is the run of `cselab.train`."""

import pytest
from cselab_lab.lessons.batches import Batches

from cselab import SentenceEncoder, TrainConfig, train
from cselab.methods import SimCSE, Views
from cselab.world import World


class Kept(SimCSE):
    """SimCSE that remembers its batches."""

    def views(self, encode, batch):
        seen.append(batch)
        return Views(*encode(batch, batch))


seen: list = []


@pytest.mark.parametrize("steps", [3, None])
def test_the_sentences_are_those_of_train_in_the_same_order(steps):
    encoder, corpus = SentenceEncoder.from_pretrained("micro"), [s.text for s in World().sentences(24)]
    config = TrainConfig(steps=steps, batch_size=8, seed=3, precision="fp32")
    seen.clear()
    train(encoder.copy(), Kept(), corpus, config, show_progress_bar=False)
    batches = Batches(encoder, corpus, config)
    assert list(batches) == seen and len(batches) == len(seen)


def test_it_evaluates_before_the_first_and_after_the_last_step():
    encoder, corpus, watched = SentenceEncoder.from_pretrained("micro"), list("abcd"), []
    config = TrainConfig(steps=5, batch_size=2, eval_every=2)
    batches = Batches(encoder, corpus, config, lambda e: {"score": 1.0}, lambda run, row: watched.append(row["step"]))
    for _ in batches:
        assert encoder.training
    assert [row["step"] for row in batches.history] == [0, 2, 4, 5]
    assert watched == [0, 1, 2, 3, 4, 5]
