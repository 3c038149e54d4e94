"""Small fakes whose scores are known, and a made-up data folder."""

import hashlib

import numpy as np
import pytest
from stsb import write_stsb

from cselab.data import Pairs


class Angles:
    """An encoder that reads an angle in degrees from the sentence: "30 degrees" points there in the plane."""

    name, pooling, representation = "angles", "none", "backbone"

    def __init__(self):
        self.calls: list[list[str]] = []

    def encode(self, sentences):
        self.calls.append(list(sentences))
        angle = np.radians([float(sentence.split()[0]) for sentence in sentences])
        return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)

    def weights_hash(self):
        return hashlib.sha256(b"angles").hexdigest()


@pytest.fixture
def angles():
    return Angles()


def angle_pairs(differences, scores=None, **options) -> Pairs:
    """Pairs of sentences that lie these many degrees apart; by default the gold score falls with the angle."""
    first = [f"{10 * row} degrees" for row in range(len(differences))]
    second = [f"{10 * row + difference} degrees" for row, difference in enumerate(differences)]
    scores = [5 - difference / 36 for difference in differences] if scores is None else list(scores)
    return Pairs(first, second, scores, **{"name": "angles", "split": "dev", **options})


@pytest.fixture
def pairs():
    """Twenty pairs that the angle encoder ranks perfectly."""
    return angle_pairs([8.5 * row for row in range(20)])


@pytest.fixture
def sts_folder(tmp_path):
    """A SentEval folder with STS-B alone: pairs of angles, right row counts."""

    def graded(split, row):
        apart = row * 7 % 180
        return f"{5 - apart / 36:.3f}", f"{row} degrees {split}", f"{row + apart} degrees {split}"

    return write_stsb(tmp_path / "data", graded)
