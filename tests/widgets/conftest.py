"""Small inputs with a known geometry."""

import numpy as np
import pytest
from accessible import accessibility_faults
from tiny import make_encoder, make_sentences

from cselab.encoders.encoder import SentenceEncoder


@pytest.fixture
def histories() -> dict[str, list[dict]]:
    """Two methods that leave one point; rows of plain training steps stand between the measured ones."""
    return {
        "SimCSE": [
            {"step": 0, "alignment": 0.2, "uniformity": -1.0, "score": 49.0},
            {"step": 5, "loss": 1.0},
            {"step": 10, "loss": 0.5, "alignment": 0.25, "uniformity": -1.8, "score": 58.25},
            {"step": 20, "loss": 0.4, "alignment": 0.22, "uniformity": -2.2, "score": 61.5},
        ],
        "WhitenedCSE": [
            {"step": 0, "alignment": 0.2, "uniformity": -1.0, "score": 49.0},
            {"step": 20, "alignment": 0.3, "uniformity": -2.6},
        ],
    }


@pytest.fixture
def sentences() -> list[str]:
    return ["A cat sleeps.", "A dog barks & runs.", "Rain falls.", "Snow falls.", "If a < b then stop."]


@pytest.fixture
def embeddings() -> np.ndarray:
    """Five rows of width four, of different lengths."""
    return np.random.default_rng(0).normal(size=(5, 4)) * [[1.0], [2.0], [3.0], [4.0], [5.0]]


@pytest.fixture
def tiny_encoder() -> tuple[SentenceEncoder, list[str]]:
    """An encoder of width 8 with dropout, and 14 sentences it knows the words of."""
    return make_encoder(), make_sentences(14)


@pytest.fixture
def offline(browser):
    """Opens a file without a network; the page must be accessible, have no fault, ask for nothing, fit every width."""
    browser.set_offline(True)
    page, faults, asked = browser.new_page(), [], []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))

    def opened(file):
        page.goto(file.as_uri())
        return page

    yield opened
    for width in (1400, 900, 400):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert accessibility_faults(page) == set()
    page.close()
    browser.set_offline(False)
    assert faults == [] and [address for address in asked if not address.startswith(("file:", "data:"))] == []
