"""Draw the pictures of the README and of the book's first page: `python scripts/pictures.py NAME FILE`.

    python scripts/pictures.py cosines docs/cosines.png              # trains as the tour does, about a minute
    python scripts/pictures.py motion docs/sphere.svg                # the sphere, as its panel moves it
    python scripts/pictures.py forest docs/forest.svg                # from results/*.study.jsonl
    python scripts/pictures.py cover docs/book/cover.svg             # the sphere, as its panel draws it

Chromium draws them (`make browser`).
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from browser import find_browser
from cselab_lab.experiments import read_results
from cselab_lab.lessons import lesson
from cselab_widgets import Sphere
from cselab_widgets.kit.page_panel import CSS
from playwright.sync_api import Page, sync_playwright
from plotly.subplots import make_subplots
from scipy.stats import spearmanr, ttest_1samp

from cselab import train

COVER = "Eight sentences as pairs of points on a sphere: arrows show how InfoNCE pushes each point."
MOTION = (
    "Eight sentences as points on a sphere start in a narrow cone; InfoNCE pulls pairs together and spreads the rest."
)
FRAMES = 40
INK = "svg { color: #24292f } @media (prefers-color-scheme: dark) { svg { color: #d5dae1 } }"
OURS, THEIRS = "#2f86cc", "#cf6a1c"
FOREST = "Of seven effects our estimate with its interval, and the paper's value: the gains of the papers lie outside."
EFFECTS = (
    ("Focal-InfoNCE", "main-comparison", "Focal-InfoNCE", 1.65),
    ("WhitenedCSE", "main-comparison", "WhitenedCSE, 3 passes", 2.53),
    ("ImSimCSE (paper)", "main-comparison", "ImSimCSE, paper", 1.8),
    ("ImSimCSE (released)", "main-comparison", "ImSimCSE, released", 1.8),
    ("noise on negatives", "imsimcse-table1", "+noise on negatives", -1.72),
    ("noise on positives", "imsimcse-table1", "+noise on positives", -1.0),
    ("Barlow Twins, M = 0", "imsimcse-table2", "Barlow Twins, M = 0", -12.2),
)
"""Label, experiment, row, and the paper's points over SimCSE."""
SVG = 'xmlns="http://www.w3.org/2000/svg" viewBox="-1.15 -1.15 2.3 2.3" role="img"'
ON_THE_COVER = r"\.cselab-(globe|net|point|hold|anchors|positives|arrow|tie|behind)\b"
INTERACTIVE = r' (?:tabindex|role|aria-[a-z]+|style)="[^"]*"'


@contextmanager
def opened(file: Path, width: int, height: int) -> Iterator[Page]:
    """A page of Chromium that shows the file, at one and a half times its pixels."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=1.5)
        page.set_default_timeout(240_000)
        page.goto(file.as_uri())
        yield page
        browser.close()


def save_png(figure: go.Figure, picture: Path) -> None:
    """Write a figure that has a width and a height."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figure.html")
        figure.write_html(file, include_plotlyjs=True)
        with opened(file, figure.layout.width + 16, figure.layout.height + 16) as page:
            page.wait_for_selector(".scatterlayer path, .boxlayer path", state="attached")
            page.locator(".js-plotly-plot").screenshot(path=picture)


def cosines_of_pairs(vectors: np.ndarray, mean: np.ndarray | float = 0.0) -> np.ndarray:
    """Of row i of the first half and row i of the second, after the mean was subtracted."""
    unit = (vectors - mean) / np.linalg.norm(vectors - mean, axis=1, keepdims=True)
    first, second = np.split(unit, 2)
    return (first * second).sum(axis=1)


def cosines(picture: Path) -> None:
    """The cosine of two sentences by their grade: plain, less the mean, and after the tour's 60 steps of SimCSE."""
    lab = lesson.setup("00_tour")
    pairs, encoder = lab.world.sts(1200, "test"), lab.plain
    plain = np.asarray(encoder.encode(pairs.sentences))
    mean = np.asarray(encoder.encode(lab.corpus[:2000])).mean(axis=0)
    boxes = {"plain": cosines_of_pairs(plain), "mean subtracted": cosines_of_pairs(plain, mean)}
    train(encoder, "simcse", lab.corpus, lab.config(), lab.dev)
    boxes[f"SimCSE, {lab.steps} steps"] = cosines_of_pairs(np.asarray(encoder.encode(pairs.sentences)))
    titles = [
        f"<b>{name}</b><br>Spearman {100 * spearmanr(values, pairs.scores).statistic:.1f}"
        for name, values in boxes.items()
    ]
    sheet = make_subplots(1, 3, shared_yaxes=True, subplot_titles=titles, horizontal_spacing=0.03)
    grades, colours = np.round(pairs.scores).astype(int), ("#8c959f", "#bf6a02", "#0969da")
    for column, (values, colour) in enumerate(zip(boxes.values(), colours, strict=True), start=1):
        box = go.Box(x=grades, y=values, marker_color=colour, marker_size=3, line_width=1.5, showlegend=False)
        sheet.add_trace(box, 1, column)
    sheet.update_xaxes(dtick=1)
    sheet.update_xaxes(title_text="grade of the pair (0: nothing in common, 5: the same meaning)", row=1, col=2)
    sheet.update_yaxes(title_text="cosine of its two sentences", row=1, col=1)
    margin = {"t": 70, "r": 20, "b": 60}
    font = {"size": 14, "color": "#24292f"}
    save_png(sheet.update_layout(template="plotly_white", width=1100, height=430, font=font, margin=margin), picture)


def sphere_style() -> str:
    """The rules of the panel's style sheet that draw the sphere, in the colours of a light and of a dark page."""
    rules = [line.strip() for line in CSS.splitlines() if re.search(ON_THE_COVER, line)]
    return "\n".join(rule for rule in rules if "focus" not in rule and "@" not in rule)


def drawn_on(page: Page) -> str:
    """The inside of the sphere's SVG, without what only a panel needs."""
    inside = page.locator(".cselab-sphere svg").first.evaluate("svg => svg.innerHTML")
    return re.sub(r"-?\d+\.\d{3,}", lambda digits: f"{float(digits[0]):.3g}", re.sub(INTERACTIVE, "", inside))


def cover(picture: Path) -> None:
    """The sphere as an SVG for inside a page: its lines have the colour of the page's text, light or dark."""
    with tempfile.TemporaryDirectory() as folder:
        file = Sphere(8, 3, seed=5, noise=0.1).to_html(Path(folder) / "sphere.html")
        with opened(file, 1200, 900) as page:
            inside = drawn_on(page)
    head = f'<svg class="cselab-cover" {SVG} aria-label="{COVER}">'
    picture.write_text(f"{head}\n<style>\n{sphere_style()}\n</style>\n{inside}\n</svg>\n", encoding="utf-8")


def motion(picture: Path) -> None:
    """InfoNCE opens a narrow cone: the sphere as an animated SVG, light or dark as the reader's system."""
    with tempfile.TemporaryDirectory() as folder:
        file = Sphere(8, 3, seed=5, noise=0.1).to_html(Path(folder) / "sphere.html")
        with opened(file, 1200, 900) as page:
            page.get_by_label("start from").select_option("a narrow cone")
            frames = [drawn_on(page)] * 6
            page.get_by_role("button", name="let go").click()
            for _ in range(FRAMES):
                page.wait_for_timeout(120)
                frames.append(drawn_on(page))
    frames += frames[-1:] * 10
    share = 100 / len(frames)
    style = sphere_style() + (
        f"\n{INK}"
        f"\n.frame {{ visibility: hidden; animation: shown {len(frames) * 0.15:.1f}s step-end infinite }}"
        f"\n@keyframes shown {{ 0% {{ visibility: visible }} {share:.3f}% {{ visibility: hidden }} }}"
    )
    shown = [
        f'<g class="frame" style="animation-delay: {at * 0.15:.2f}s">{frame}</g>' for at, frame in enumerate(frames)
    ]
    head, inside = f'<svg {SVG} width="420" aria-label="{MOTION}">', "\n".join(shown)
    picture.write_text(f"{head}\n<style>\n{style}\n</style>\n{inside}\n</svg>\n", encoding="utf-8")


def forest(picture: Path) -> None:
    """Each of the papers' effects on one line: our mean with its 95 % interval, and the paper's value."""
    rows, bottom = [], 40 + 40 * len(EFFECTS)

    def x(gain: float) -> float:
        return 460 + 24 * gain

    for y, (label, name, row, paper) in zip(range(40, bottom, 40), EFFECTS, strict=True):
        gains = list(read_results(name, "study").over(row, "SimCSE", "Avg.").values())
        low, high = ttest_1samp(gains, 0).confidence_interval()
        rows += [
            f'<text x="0" y="{y + 5}">{label}</text>',
            f'<path d="M{x(low):.1f} {y}H{x(high):.1f}" stroke="{OURS}" stroke-width="4"/>',
            f'<circle cx="{x(np.mean(gains)):.1f}" cy="{y}" r="6" fill="{OURS}"/>',
            f'<path d="M{x(paper):.1f} {y - 7}l7 7 -7 7 -7 -7z" fill="{THEIRS}"/>',
        ]
    for tick in range(-12, 4, 3):
        strength = 0.15 if tick else 0.6
        rows.append(f'<path d="M{x(tick)} 22V{bottom}" stroke="currentColor" stroke-opacity="{strength}"/>')
        rows.append(f'<text x="{x(tick)}" y="{bottom + 18}" text-anchor="middle">{tick}</text>')
    rows += [
        f'<text x="540" y="{bottom + 40}" text-anchor="end">points over SimCSE, mean of the seven STS sets</text>',
        f'<text x="0" y="14" style="fill:{OURS}">● ours, 95 % interval</text>',
        f'<text x="170" y="14" style="fill:{THEIRS}">◆ paper</text>',
    ]
    size = f'viewBox="-8 -6 560 {bottom + 56}" width="700"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{FOREST}">\n<style>{INK}'
    letters = "text { font: 13px system-ui, sans-serif; fill: currentColor }</style>"
    picture.write_text("\n".join([head, letters, *rows, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    {"cosines": cosines, "motion": motion, "forest": forest, "cover": cover}[sys.argv[1]](Path(sys.argv[2]))
