"""From an event to the picture: processor time of each panel, in Python and in the page.

    PYTHONPATH=scripts OMP_NUM_THREADS=1 python benchmarks/panels.py [panel ...]

Each panel stands as a reader meets it, on the bundled encoders, in a Chromium 1,000 pixels wide. A control is moved
there and back; the first round, in which caches fill, is told apart. Python is `Panel.set` with the widget alive; the
page is the main thread of the browser until it rests. Milliseconds, mean of the later rounds.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import cselab_widgets as panels
import numpy as np
from browser import find_browser
from cselab_widgets.kit.page import FIGURE_JS
from cselab_widgets.kit.plot import as_json
from playwright.sync_api import Page, sync_playwright
from plotly.offline import get_plotlyjs

ROUNDS = 4


def history(name: str) -> list[dict]:
    draw = np.random.default_rng(len(name))
    return [
        {"step": s, "loss": 3 / (s + 1), "alignment": 0.2 + s / 400, "uniformity": -1 - s / 30 - draw.normal() / 9,
         "score": 50 + s / 4, "effective_rank": 20.0 + s, "gradient_norm": 1.0}
        for s in range(0, 41, 2)
    ]  # fmt: skip


PANELS: dict[str, tuple[Callable, list[dict]]] = {
    "AlignmentUniformity": (
        lambda: panels.AlignmentUniformity({name: history(name) for name in ("SimCSE", "WhitenedCSE")}),
        [{"step": 10}, {"step": 40}, {"color": "dev score"}, {"color": "method"}],
    ),
    "EmbeddingMap": (
        panels.EmbeddingMap,
        [{"find": "weather"}, {"find": ""}, {"focus": 3}, {"focus": 5}, {"projection": "PCA without component 1"},
         {"projection": "PCA"}],
    ),
    "GainMap": (lambda: panels.GainMap("main-comparison"), [{"sort": "STS12"}, {"sort": "as declared"}]),
    "LossLab": (
        panels.LossLab,
        [{"step": 4}, {"step": 16}, {"loss": "ArcCon"}, {"loss": "InfoNCE"}, {"temperature": 0.1},
         {"temperature": 0.05}, {"pair": "negative"}, {"pair": "positive"}, {"focal_m": 0.5}, {"focal_m": 0.3}],
    ),
    "MethodMap": (panels.MethodMap, [{"selection": (3,)}, {"selection": (5,)}, {"family": "loss"}, {"family": "all"}]),
    "NoiseLab": (
        panels.NoiseLab,
        [{"sentence": 3}, {"sentence": 0}, {"variance": 0.5}, {"variance": 0.1}, {"mean_of": 4}, {"mean_of": 10}],
    ),
    "PairExplorer": (
        panels.PairExplorer,
        [{"first": "A man is asleep."}, {"first": "A cook is peeling an onion."}, {"removed": 1}, {"removed": 0},
         {"by": "kind"}, {"by": "grade"}],
    ),
    "PaperBesideHere": (
        panels.PaperBesideHere,
        [{"sort": "published"}, {"sort": "as published"}, {"selection": (1,)}, {"selection": ()}],
    ),
    "RankLab": (
        panels.RankLab,
        [{"batch_size": 32}, {"batch_size": 64}, {"dimensions": 128}, {"dimensions": 256}, {"artificial_rows": 64},
         {"artificial_rows": 0}],
    ),
    "TrainingMonitor": (
        lambda: panels.TrainingMonitor({"SimCSE": [history("a"), history("bb")]}),
        [{"rows": tuple(history("a"))}, {"rows": tuple(history("a")[:9])}],
    ),
    "WhiteningLab": (
        panels.WhiteningLab,
        [{"stage": 2}, {"stage": 4}, {"num_groups": 8}, {"num_groups": 128}, {"batch_size": 100}, {"batch_size": 64},
         {"strategy": "ZCA"}, {"strategy": "shuffled group"}],
    ),
}  # fmt: skip

PAGE = """<!DOCTYPE html><meta charset="utf-8"><body><div id="place" class="cselab-figure"></div>
<script>{plotly}</script><script>{figure_js}
var shown; const rest = () => new Promise((done) => setTimeout(done, 700));
async function open(figure) {{
  shown = cselabFigure(Plotly, document.getElementById("place"), figure, "");
  await rest();
}}
async function next(figure) {{
  shown.update(figure, "");
  await rest();
}}
</script>"""


def busy(session) -> float:
    """Milliseconds that the page's main thread has worked."""
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return 1000 * metrics["TaskDuration"]


def measure(page: Page, make: Callable, events: list[dict]) -> None:
    start = process_time()
    panel = make()
    _ = panel.widget
    opening = 1000 * (process_time() - start)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = busy(session)
    page.evaluate("(figure) => open(figure)", as_json(panel.figure()))
    print(f"{type(panel).__name__}: opens in {opening:.0f} + {busy(session) - before:.0f} ms", flush=True)
    taken: dict[str, list[tuple[float, float]]] = {}
    for _ in range(ROUNDS):
        for event in events:
            start = process_time()
            panel.set(**event)
            in_python = 1000 * (process_time() - start)
            figure, before = as_json(panel.figure()), busy(session)
            page.evaluate("(figure) => next(figure)", figure)
            (name,) = event
            taken.setdefault(name, []).append((in_python, busy(session) - before))
    for name, rows in taken.items():
        first, later = rows[0], np.mean(rows[len(rows) // ROUNDS :], axis=0)
        print(f"  {name:16} python {later[0]:6.0f} (first {first[0]:6.0f})  page {later[1]:6.0f}", flush=True)


def main(names: list[str]) -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        file = Path(folder) / "page.html"
        file.write_text(PAGE.format(plotly=get_plotlyjs(), figure_js=FIGURE_JS), encoding="utf-8")
        for name in names or PANELS:
            page = browser.new_page(viewport={"width": 1016, "height": 1200})
            page.goto(file.as_uri())
            measure(page, *PANELS[name])
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
