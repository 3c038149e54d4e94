"""The recorded numbers of the tour are narrow enough: a defect planted in the package makes its run fail.

The defect is planted where the notebook's kernel starts, by a `sitecustomize.py` on its path.
"""

import os

import pytest
from cselab_lab.headless.notebooks import run_notebooks

pytestmark = pytest.mark.lesson

DEFECTS = {
    "the temperature is ten times too high": """
        from cselab.methods import SimCSE
        SimCSE.temperature = 0.5
    """,
    "the vectors are not normalised": """
        import cselab.losses
        import sys
        sys.modules["cselab.losses.contrast"].unit = lambda vectors, dim=-1: vectors
    """,
    "the positives are those of the next sentence": """
        from cselab.methods import SimCSE, Views
        views = SimCSE.views
        def swapped(self, encode, batch):
            seen = views(self, encode, batch)
            return Views(seen.anchor, seen.positive.roll(1, 0))
        SimCSE.views = swapped
    """,
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_tour_notices_a_planted_defect(defect, tmp_path, monkeypatch):
    lines = DEFECTS[defect].strip().splitlines()
    (tmp_path / "sitecustomize.py").write_text("\n".join(line.removeprefix(" " * 8) for line in lines) + "\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    (result,) = run_notebooks(["00_tour"], "smoke", output=tmp_path / "out")
    assert result.failures == []  # the notebook itself runs: it is the numbers that tell
    assert result.problems != []
