"""Panels on pages without a kernel and without a network, in Chromium and Firefox: what answers, what it costs.

    PYTHONPATH=scripts:tests OMP_NUM_THREADS=1 python benchmarks/panels.py [panel ...]       # as it opens, on `micro`
    PYTHONPATH=scripts:tests OMP_NUM_THREADS=1 python benchmarks/panels.py build/book/html   # each panel of a book

Each control is moved there and back, in a window 1,000 pixels wide. The milliseconds are processor time of the page's
main thread from the event until the picture is drawn, and until the page rests: what takes long is drawn when it is
there. The first round, in which caches fill, is told apart. Beside it stands what `Panel.set` takes with its widget
alive, and whether the page's words are Python's for that value. Linux alone: of Firefox the time is read in /proc, in
steps of ten milliseconds.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import cselab_widgets
import numpy as np
from browser import find_browser, find_firefox
from cselab_widgets.kit.carried import controls_of
from cselab_widgets.kit.page import whole_page
from cselab_widgets.kit.panel import Panel
from firefox import running
from playwright.sync_api import sync_playwright

from cselab import SentenceEncoder

ROUNDS = 3


def history(name: str) -> list[dict]:
    draw = np.random.default_rng(len(name))
    return [
        {"step": s, "loss": 3 / (s + 1), "alignment": 0.2 + s / 400, "uniformity": -1 - s / 30 - draw.normal() / 9,
         "score": 50 + s / 4, "effective_rank": 20.0 + s, "gradient_norm": 1.0}
        for s in range(0, 41, 2)
    ]  # fmt: skip


GIVEN: dict[str, tuple] = {  # what the panels need that do not open by themselves
    "AlignmentUniformity": ({name: history(name) for name in ("SimCSE", "WhitenedCSE")},),
    "GainMap": ("main-comparison",),
    "SentenceCosines": ({"micro": SentenceEncoder("micro")},),
    "TrainingMonitor": ({"SimCSE": [history("a"), history("bb")]},),
}

PANELS = [
    name
    for name in cselab_widgets.__all__
    if hasattr(made := getattr(cselab_widgets, name), "_html") and made not in (Panel, cselab_widgets.Picture)
]

IN_PAGE = """(() => {
  const rest = () => new Promise((done) => setTimeout(done, 500));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const panels = () => [...document.querySelectorAll(".cselab-panel")];
  const kinds = ".cselab-hands input[type=range], .cselab-hands input[type=checkbox], .cselab-hands select";
  const all = (panel, kinds) => [...panels()[panel].querySelectorAll(kinds)];
  const hands = (panel) => [...all(panel, `${kinds}, textarea`), ...all(panel, ".cselab-hands button")];
  const written = (hand) => (hand.closest("label")?.querySelector("span") ?? hand).textContent;
  const nameOf = (hand) => hand.getAttribute("aria-label") ?? written(hand);
  const shown = (panel) => {
    const copy = panels()[panel].cloneNode(true);
    for (const one of copy.querySelectorAll(".cselab-hands, textarea, .cselab-film")) one.remove();
    return copy.innerHTML;
  };
  const valueOf = (hand) =>
    hand.type === "checkbox" ? ["no", "yes"][Number(hand.checked)] :
    hand.type === "range" ? hand.getAttribute("aria-valuetext") : hand.selectedOptions?.[0]?.value ?? hand.value;
  let before = "";
  window.bench = {
    async open() {
      document.querySelectorAll(".cselab-folded").forEach((one) => one.classList.remove("cselab-folded"));
      for (const panel of panels()) { panel.scrollIntoView(); await rest(); }
      return panels().length;
    },
    names: (panel) => (panels()[panel].scrollIntoView(), hands(panel).map((hand) => [nameOf(hand), hand.localName])),
    async move(panel, number, back) {
      before ||= shown(panel);
      const hand = hands(panel)[number];
      const old = [hand.selectedIndex, hand.value];
      if (hand.type === "checkbox" || hand.localName === "button") hand.click();
      else if (hand.localName === "textarea") {
        hand.value = back ?? "A child sings a song.\\nNobody sings.";
      } else if (hand.localName === "select") {
        const last = hand.options.length - 1;
        hand.selectedIndex = (back ?? -1) > -1 ? back : hand.selectedIndex === last ? 0 : last;
      } else hand.value = back ?? (hand.value === hand.max ? hand.min : hand.max);
      if (hand.type !== "checkbox" && hand.localName !== "button")
        for (const kind of ["input", "change"]) hand.dispatchEvent(new Event(kind, { bubbles: true }));
      await frame();
      await frame();
      return { back: hand.localName === "select" ? old[0] : old[1], value: valueOf(hand) };
    },
    async rest(panel) {
      const unfinished = (html) => html.includes("computing") || html.includes("...");
      for (let times = 0, last = ""; times < 20; times++) {
        await rest();
        if (last === (last = shown(panel)) && !unfinished(last)) return;
      }
    },
    words: (panel) => [
      panels()[panel].querySelector("[role=img]")?.getAttribute("aria-label") ?? "",
      panels()[panel].querySelector("[role=status]")?.textContent ?? "",
    ],
    changed(panel) {
      const was = before;
      before = "";  // a training panel's controls are settings of its next run: nothing is drawn before that
      return shown(panel) !== was || Boolean(panels()[panel].querySelector(".cselab-toy"));
    },
  };
})()"""


@dataclass
class Reader:
    """A browser: how it opens a file, computes an expression, and how long its page's main thread has worked, in ms."""

    name: str
    open: Callable[[Path], Any]
    evaluate: Callable[[str], Any]
    busy: Callable[[], float]


@contextmanager
def readers() -> Iterator[list[Reader]]:
    with (
        tempfile.TemporaryDirectory() as profile,
        sync_playwright() as playwright,
        running(find_firefox() or "firefox", Path(profile)) as firefox,
    ):
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=arguments)
        page = chromium.new_context(offline=True, viewport={"width": 1016, "height": 1000}).new_page()
        page.set_default_timeout(120_000)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        firefox.size(1016, 1000)

        def busy() -> float:
            metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            return 1000 * metrics["TaskDuration"]

        yield [
            Reader("Chromium", lambda file: page.goto(file.as_uri()), page.evaluate, busy),
            Reader("Firefox", firefox.open, firefox.evaluate, content_processes),
        ]
        chromium.close()


def ancestors(process: str) -> Iterator[int]:
    while process != "0":
        process = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
        yield int(process)


def content_processes() -> float:
    """Milliseconds that the main threads of this program's Firefox pages have worked."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"-contentproc" in (process / "cmdline").read_bytes() and os.getpid() in ancestors(process.name):
                told = (process / "task" / process.name / "stat").read_text().rpartition(")")[2].split()
                ticks += int(told[11]) + int(told[12])
        except OSError:  # it ended meanwhile
            continue
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


@dataclass
class Moved:
    """A control of a panel in a browser: milliseconds of each event, whether the picture changed, and its words."""

    name: str
    drawn: list[float] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)
    answered: bool = False
    said: dict[str, list[str]] = field(default_factory=dict)

    @property
    def later(self) -> tuple[float, float]:
        return float(np.mean(self.drawn[2:] or self.drawn)), float(np.mean(self.taken[2:] or self.taken))


def drive(reader: Reader, file: Path, rounds: int) -> list[list[Moved]]:
    """Move each control of each panel of a page."""
    reader.open(file)
    reader.evaluate(IN_PAGE)
    moves: list[list[Moved]] = []
    for panel in range(reader.evaluate("bench.open()")):
        moves.append([])
        for number, (name, kind) in enumerate(reader.evaluate(f"bench.names({panel})")):
            moved = Moved(name)
            back: Any = None
            for event in range(1 if kind == "button" else 2 * rounds):
                before = reader.busy()
                told = reader.evaluate(f"bench.move({panel}, {number}, {json.dumps(back)})")
                moved.drawn.append(reader.busy() - before)
                reader.evaluate(f"bench.rest({panel})")
                moved.taken.append(reader.busy() - before)
                back = None if event % 2 else told["back"]
                if event == 0:
                    blank = back == -1  # a list that cannot go back to what it opened with
                    moved.answered = reader.evaluate(f"bench.changed({panel})")
                moved.said[told["value"]] = reader.evaluate(f"bench.words({panel})")
            moves[-1].append(moved)
            if blank:
                reader.open(file)
                reader.evaluate(IN_PAGE)
                reader.evaluate("bench.open()")
    return moves


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


def as_python(page: str, python: str) -> bool:
    """The same words, and numbers that differ in the last digit at most."""
    if NUMBER.sub("#", page) != NUMBER.sub("#", python):
        return False
    pairs = zip(NUMBER.findall(page), NUMBER.findall(python), strict=True)
    return all(np.isclose(float(one), float(other), rtol=2e-3, atol=2e-3) for one, other in pairs)


def same_as(panel: Panel, moved: Moved) -> str:
    """Whether the page said what Python says of the values that were shown; of a panel that was not changed yet."""
    control = next((one for one in controls_of(panel) if one.label == moved.name), None)
    values = dict(control.options) if control else {}
    told = [
        bool(status) or as_python(words, panel.describe(panel._changed({control.name: values[label]})))
        for label, (words, status) in moved.said.items()
        if control and label in values  # a list is blank while something else is shown than it offers
    ]
    return "" if not told else "yes" if all(told) else "NO"


def in_python(panel: Panel, moved: Moved) -> str:
    """Milliseconds of `set` for the values that were shown."""
    control = next((one for one in controls_of(panel) if one.label == moved.name), None)
    if control is None:
        return ""
    values, taken = dict(control.options), []
    for _ in range(2):
        for label in moved.said.keys() & values.keys():
            start = process_time()
            panel.set(**{control.name: values[label]})
            taken.append(1000 * (process_time() - start))
    return f"{np.mean(taken[len(taken) // 2 :]):.0f}"


def heads(*names: str) -> None:
    print(f"| {' | '.join(names)} |\n{'|---' * len(names)}|")


def opened(names: list[str]) -> None:
    browsers = [f"{name}{what}" for name in ("Chromium", "Firefox") for what in (", first", ", drawn", ", at rest")]
    heads("panel, its page", "control", "Python", *browsers, "as Python")
    with tempfile.TemporaryDirectory() as folder, readers() as both:
        for name in names:
            panel = getattr(cselab_widgets, name)(*GIVEN.get(name, ()))
            file = Path(folder) / f"{name}.html"
            answering = panel._html(answering=True) if isinstance(panel, Panel) else panel._html()
            file.write_text(whole_page(answering, name), encoding="utf-8")
            if isinstance(panel, Panel):
                _ = panel.widget
            chromium, firefox = (drive(reader, file, ROUNDS)[0] for reader in both)
            print(f"| **{name}** {len(answering) / 1e6:.2f} MB {'| ' * 9}|", flush=True)
            alike = [same_as(panel, moved) if isinstance(panel, Panel) else "" for moved in chromium]
            for one, other, same in zip(chromium, firefox, alike, strict=True):
                python = in_python(panel, one) if isinstance(panel, Panel) else ""
                dead = "".join(f" DEAD in {r.name}" for r, m in zip(both, (one, other), strict=True) if not m.answered)
                times = " | ".join(f"{t:.0f}" for m in (one, other) for t in (m.drawn[0], *m.later))
                print(f"| | {one.name}{dead} | {python} | {times} | {same} |", flush=True)


def book(site: Path) -> None:
    """Every page of a built book that has panels."""
    heads("page", "MB", "panels", "controls", "dead", "worst, Chromium", "Firefox")
    with readers() as both:
        for file in sorted(site.rglob("*.html")):
            if '<div class="cselab-panel"' not in file.read_text(encoding="utf-8"):
                continue
            driven = [[moved for panel in drive(reader, file, 1) for moved in panel] for reader in both]
            named = zip(both, driven, strict=True)
            dead = [f"{m.name} ({reader.name})" for reader, each in named for m in each if not m.answered]
            panels = both[0].evaluate("document.querySelectorAll('.cselab-panel').length")
            worst = [max(each, key=lambda m: m.drawn[-1], default=None) for each in driven]
            told = " | ".join(f"{m.drawn[-1]:.0f} ms, {m.name}" if m else "" for m in worst)
            size = file.stat().st_size / 1e6
            row = [str(file.relative_to(site)), f"{size:.2f}", str(panels), str(len(driven[0])), ", ".join(dead), told]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    if given and Path(given[0]).is_dir():
        book(Path(given[0]))
    else:
        opened(given or PANELS)
