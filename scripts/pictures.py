"""Draw the pictures of the README and of the book's first page: `python scripts/pictures.py NAME FILE`.

    python scripts/pictures.py learn docs/play/learn.png             # saved by the page, light and dark
    python scripts/pictures.py motion docs/sphere.svg                # the sphere, as its panel moves it
    python scripts/pictures.py forest docs/forest.svg                # from results/*.study.jsonl
    python scripts/pictures.py joint docs/joint.svg                  # figure 1 of ImSimCSE
    python scripts/pictures.py steps docs/steps.svg                  # figure 3 of WhitenedCSE
    python scripts/pictures.py cover docs/book/cover.svg             # the sphere, as its panel draws it

Chromium draws them (`make browser`).
"""

import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from browser import find_browser
from cselab_lab.experiments import read_results
from cselab_lab.experiments.published import published_table
from cselab_widgets import Sphere
from cselab_widgets.kit.page_panel import CSS
from cselab_widgets.kit.theme import AFTER, BEFORE, OURS, PUBLISHED
from playwright.sync_api import Page, sync_playwright
from scipy.stats import ttest_1samp

Placed = Callable[[float, float], tuple[float, float]]
REPOSITORY = Path(__file__).parents[1]
COVER = "Eight sentences as pairs of points on a sphere: arrows show how InfoNCE pushes each point."
MOTION = (
    "Eight sentences as points on a sphere start in a narrow cone; InfoNCE pulls pairs together and spreads the rest."
)
FRAMES = 40
INK = "svg { color: #24292f } @media (prefers-color-scheme: dark) { svg { color: #d5dae1 } }"
STILL = (
    "@media (prefers-reduced-motion: reduce) { .frame { animation: none } .frame:last-child { visibility: visible } }"
)
THEIRS, SIMCSE = PUBLISHED, "#3A8FBF"
FOREST = "Of nine effects our estimate with its interval, and the paper's value: the gains of the papers lie outside."
EFFECTS = (
    ("Focal-InfoNCE", "main-comparison", "Focal-InfoNCE", "focal", 2, "SimCSE-BERT_base + Focal-InfoNCE"),
    ("WhitenedCSE", "main-comparison", "WhitenedCSE, 3 passes", "whitenedcse", 1, "WhitenedCSE-BERT_base"),
    ("ImSimCSE (paper)", "main-comparison", "ImSimCSE, paper", "imsimcse", 3, "ImSimCSE-BERT_base"),
    ("ImSimCSE (released)", "main-comparison", "ImSimCSE, released", "imsimcse", 3, "ImSimCSE-BERT_base"),
    ("noise on negatives", "imsimcse-table1", "+noise on negatives", "imsimcse", 1, "Neg. +Noise"),
    ("noise on positives", "imsimcse-table1", "+noise on positives", "imsimcse", 1, "Pos. +Noise"),
    ("less noise on negatives", "imsimcse-table1", "-noise on negatives", "imsimcse", 1, "Neg. -Noise"),
    ("less noise on positives", "imsimcse-table1", "-noise on positives", "imsimcse", 1, "Pos. -Noise"),
    ("Barlow Twins, M = 0", "imsimcse-table2", "Barlow Twins, M = 0", "imsimcse", 2, "+BarlowTwins (D =768)"),
)
"""Label, our experiment and row; the paper, its table and row."""
JOINT = "Alignment against uniformity: contrast moves a plain encoder in the direction of subtracting the mean."
PLACES = (
    ("plain", "imsimcse-figure1", "plain", -6),
    ("plain, mean subtracted", "imsimcse-figure1", "plain, mean subtracted", 5),
    ("SimCSE, dimension-wise term alone", "imsimcse-figure1", "SimCSE", -4),
    ("off-dropout alone, ImSimCSE (released)", "imsimcse-figure1", "only off-dropout", 12),
    ("ImSimCSE (paper)", "imsimcse-figure1", "ImSimCSE, paper", 14),
    ("WhitenedCSE, before the head", "whitenedcse-figure3", "WhitenedCSE, 3 passes", 5),
    ("WhitenedCSE (paper), after the head", "whitenedcse-figure3", "WhitenedCSE, paper", 5),
)
"""Label, experiment, row, and how far the label stands below its point."""
STEPS = "Uniformity and alignment over 200 steps of SimCSE and of WhitenedCSE, by its vector before and after the head."
CURVES = (
    ("SimCSE", "SimCSE", SIMCSE),
    ("before", "WhitenedCSE, 3 passes", BEFORE),
    ("after", "WhitenedCSE, paper", AFTER),
)
SVG = 'xmlns="http://www.w3.org/2000/svg" viewBox="-1.15 -1.15 2.3 2.3" role="img"'
ON_THE_COVER = r"\.cselab-(globe|net|point|hold|anchors|positives|arrow|tie|behind)\b"
INTERACTIVE = r' (?:tabindex|role|aria-[a-z]+|style)="[^"]*"'


@contextmanager
def opened(address: str, width: int, height: int) -> Iterator[Page]:
    """A page of Chromium that shows the address, at one and a half times its pixels."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=1.5)
        page.set_default_timeout(240_000)
        page.goto(address)
        yield page
        browser.close()


def learn(picture: Path) -> None:
    """The picture that the page of `docs/play` saves after a training, for a light and a dark page."""
    page_file = REPOSITORY / "docs/play/index.html"
    for name, scheme in (("", "light"), ("-dark", "dark")):
        with opened(page_file.as_uri(), 1200, 900) as page:
            page.emulate_media(color_scheme=scheme)
            page.get_by_role("button", name="Train").click()
            page.get_by_role("button", name="Train again").wait_for()
            with page.expect_download() as saved:
                page.get_by_role("button", name="Save picture").click()
            saved.value.save_as(picture.with_stem(picture.stem + name))


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
        with opened(file.as_uri(), 1200, 900) as page:
            inside = drawn_on(page)
    head = f'<svg class="cselab-cover" {SVG} aria-label="{COVER}">'
    picture.write_text(f"{head}\n<style>\n{sphere_style()}\n</style>\n{inside}\n</svg>\n", encoding="utf-8")


def motion(picture: Path) -> None:
    """InfoNCE opens a narrow cone: the sphere as an animated SVG, light or dark as the reader's system."""
    with tempfile.TemporaryDirectory() as folder:
        file = Sphere(8, 3, seed=5, noise=0.1).to_html(Path(folder) / "sphere.html")
        with opened(file.as_uri(), 1200, 900) as page:
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
        f"\n{STILL}"
    )
    shown = [
        f'<g class="frame" style="animation-delay: {at * 0.15:.2f}s">{frame}</g>' for at, frame in enumerate(frames)
    ]
    head, inside = f'<svg {SVG} width="420" aria-label="{MOTION}">', "\n".join(shown)
    picture.write_text(f"{head}\n<style>\n{style}\n</style>\n{inside}\n</svg>\n", encoding="utf-8")


def gains_of(name: str, row: str, paper: str, table: int, printed: str) -> tuple[float, float, float, float]:
    """Points over SimCSE on the seven STS sets: our mean, its 95 % interval, and the paper's value."""
    gains = list(read_results(name, "study").over(row, "SimCSE", "Avg.").values())
    low, high = ttest_1samp(gains, 0).confidence_interval()
    theirs = {
        row: cell.value for (row, column), cell in published_table(paper, table).by_place.items() if column == "Avg."
    }
    simcse = theirs["SimCSE" if "SimCSE" in theirs else "SimCSE-BERT_base"]
    return np.mean(gains), low, high, theirs[printed] - simcse


def forest(picture: Path) -> None:
    """Each of the papers' effects on one line: our mean with its 95 % interval, and the paper's value."""
    rows, bottom = [], 40 + 30 * len(EFFECTS)

    def x(gain: float) -> float:
        return 362 + 15 * gain

    for y, (label, *of) in zip(range(40, bottom, 30), EFFECTS, strict=True):
        ours, low, high, paper = gains_of(*of)
        rows += [
            f'<text x="0" y="{y + 5}">{label}</text>',
            f'<path d="M{x(low):.1f} {y}H{x(high):.1f}" stroke="{OURS}" stroke-width="4"/>',
            f'<circle cx="{x(ours):.1f}" cy="{y}" r="6" fill="{OURS}"/>',
            f'<path d="M{x(paper):.1f} {y - 7}l7 7 -7 7 -7 -7z" fill="{THEIRS}"/>',
        ]
    for tick in range(-12, 4, 3):
        strength = 0.15 if tick else 0.6
        rows.append(f'<path d="M{x(tick)} 22V{bottom}" stroke="currentColor" stroke-opacity="{strength}"/>')
        rows.append(f'<text x="{x(tick)}" y="{bottom + 18}" text-anchor="middle">{tick}</text>')
    rows += [
        f'<text x="414" y="{bottom + 40}" text-anchor="end">points over SimCSE, mean of the seven STS sets</text>',
        f'<text x="0" y="14"><tspan style="fill:{OURS}">●</tspan> ours, 95 % interval</text>',
        f'<text x="170" y="14"><tspan style="fill:{THEIRS}">◆</tspan> paper</text>',
    ]
    save(picture, rows, bottom + 56, FOREST, 430)


def save(picture: Path, rows: list[str], height: int, description: str, wide: int = 560) -> None:
    """An SVG of so many units, whose ink follows a light or a dark page."""
    size = f'viewBox="-8 -6 {wide} {height}" width="{1.25 * wide:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{description}">\n<style>{INK}'
    letters = "text { font: 13px system-ui, sans-serif; fill: currentColor }</style>"
    picture.write_text("\n".join([head, letters, *rows, "</svg>", ""]), encoding="utf-8")


def plane(left: int, right: int, ticks: Mapping[str, Sequence[float]]) -> tuple[Placed, list[str]]:
    """Axes of 240 units height, named and marked by `ticks`, x first; the place of a point, and their drawing."""
    (across, columns), (up, lines) = ticks.items()

    def at(x: float, y: float) -> tuple[float, float]:
        ends = [lines[0], lines[-1]]
        return np.interp(x, [columns[0], columns[-1]], [left, right]), np.interp(y, ends, [270, 30])

    rows = [f'<text x="{left}" y="12">{up}</text>', f'<text x="{right}" y="308" text-anchor="end">{across}</text>']
    for tick in lines:
        rows.append(f'<path d="M{left} {at(0, tick)[1]:.1f}H{right}" stroke="currentColor" stroke-opacity="0.15"/>')
        rows.append(f'<text x="{left - 6}" y="{at(0, tick)[1] + 5:.1f}" text-anchor="end">{tick:g}</text>')
    rows += [f'<text x="{at(tick, 0)[0]:.1f}" y="288" text-anchor="middle">{tick:g}</text>' for tick in columns]
    return at, rows


def joint(picture: Path) -> None:
    """Each method as a point: its alignment and its uniformity, means over the seeds."""
    at, rows = plane(
        40, 530, {"alignment": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], "uniformity": [-3.5, -3, -2.5, -2, -1.5]}
    )
    for label, name, row, dy in PLACES:
        found = read_results(name, "study")
        x, y = at(found.mean(row, "alignment"), found.mean(row, "uniformity"))
        color = "currentColor" if row.startswith("plain") else SIMCSE if row == "SimCSE" else OURS
        rows.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{color}"/>')
        rows.append(f'<text x="{x + 10:.1f}" y="{y + dy:.1f}">{label}</text>')
    save(picture, rows, 318, JOINT)


def steps(picture: Path) -> None:
    """Alignment and uniformity over the steps of training, means over the seeds."""
    found, rows = read_results("whitenedcse-figure3", "study"), []
    for left, measure, ticks in ((40, "uniformity", [-4, -3, -2, -1]), (320, "alignment", [0, 0.25, 0.5, 0.75, 1])):
        at, axes = plane(left, left + 150, {"step": [0, 100, 200], measure: ticks})
        rows += axes
        for label, row, color in CURVES:
            runs = found.curves(row).values()
            points = [at(same[0]["step"], np.mean([one[measure] for one in same])) for same in zip(*runs, strict=True)]
            way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            rows.append(f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="3"/>')
            x, y = points[-1]
            rows.append(f'<text x="{x + 6:.1f}" y="{y + 5:.1f}" style="fill:{color}">{label}</text>')
    save(picture, rows, 318, STEPS)


PICTURES = {"learn": learn, "motion": motion, "forest": forest, "joint": joint, "steps": steps, "cover": cover}

if __name__ == "__main__":
    PICTURES[sys.argv[1]](Path(sys.argv[2]))
