"""The papers' figures from one's own results, by the planes of the panels: `cselab experiment draw NAME`."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import plotly.graph_objects as go
from cselab_lab.experiments import Results
from plotly.offline import get_plotlyjs

from cselab import SentenceEncoder
from cselab.data import load_clustering
from cselab.evaluators.world import classroom_sts

from ..kit.planes import Plane
from ..kit.theme import INK, NUMERIC_SCALE, OURS, POSITIVE
from ..panels.alignment_uniformity import AlignmentUniformity
from ..panels.embedding_map import EmbeddingMap
from ..panels.training_monitor import TrainingMonitor, column_plane

Figures = Mapping[str, go.Figure]
"""By the ending of the file's name; "" for a single figure."""

TITLES = 1000
"""The titles of Stack Overflow questions on a map, of 20,000."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")


def places(results: Results, _: Path | None) -> Figures:
    """Each row in the plane of uniformity and alignment, a point for each seed: ImSimCSE 1 and survey 3."""
    measures = {"Avg.": "score", "alignment": "alignment", "uniformity": "uniformity"}
    histories = {
        label: [
            [{"step": 0} | {name: of.scores[measure] for measure, name in measures.items() if measure in of.scores}]
            for of in seeds.values()
            if "alignment" in of.scores
        ]
        for label, seeds in results.lines.items()
    }
    histories = {label: runs for label, runs in histories.items() if runs}
    figure = AlignmentUniformity(histories).figure()
    return {"": figure.update_layout(legend_title_text="row, and its Avg. of STS")}


def curves(results: Results, _: Path | None) -> Figures:
    """Alignment and uniformity of each trained row over the steps, mean and range of its seeds: WhitenedCSE 3."""
    histories = {label: list(results.curves(label).values()) for label in results.lines if results.curves(label)}
    state = TrainingMonitor(histories).state
    titles = {measure: f"{measure.capitalize()} (lower is better)" for measure in ("alignment", "uniformity")}
    shown = {measure: column_plane(state, measure, title).figure() for measure, title in titles.items()}
    for figure in shown.values():
        figure.for_each_trace(lambda trace: trace.update(showlegend=trace.name in histories))
    return shown


def maps(results: Results, kept: Path | None) -> Figures:
    """A map of sentences under each encoder, joined in pairs of the same meaning: WhitenedCSE 1."""
    pairs = classroom_sts("dev")
    same = np.flatnonzero(np.asarray(pairs.scores) >= max(pairs.scores) * 0.9)[:80]
    sentences = [text for row in same for text in (pairs.sentences1[row], pairs.sentences2[row])]
    panel = EmbeddingMap(sentences, _encoders(results, kept))
    figures = _each_encoder(panel)
    for name, figure in figures.items():
        points = replace(panel.state, encoder=name).points.reshape(-1, 2, 2)
        x, y = ([end for pair in points[:, :, axis].tolist() for end in (*pair, None)] for axis in (0, 1))
        figure.add_scatter(x=x, y=y, mode="lines", line={"color": INK, "width": 1}, opacity=0.6, hoverinfo="skip")
    return figures


def titles(results: Results, kept: Path | None) -> Figures:
    """t-SNE maps of titles of Stack Overflow questions, coloured by their topic: survey 4."""
    data = load_clustering("StackOverflow")
    drawn = np.random.default_rng(0).permutation(len(data.sentences))[:TITLES]
    topics = {row: data.classes[data.labels[row]] for row in drawn}
    some = sorted(topics, key=lambda row: (len(topics[row]), topics[row]))  # topics have numbers: the legend counts
    sentences, colors = [data.sentences[row] for row in some], [topics[row] for row in some]
    encoders = _encoders(results, kept)
    return _each_encoder(
        EmbeddingMap(sentences, encoders, color=colors, color_title="topic", projection="t-SNE", focus=None)
    )


def _each_encoder(panel: EmbeddingMap) -> Figures:
    return {name: panel.figure(encoder=name) for name in panel.state.encoders}


def _encoders(results: Results, kept: Path | None) -> dict[str, SentenceEncoder]:
    """The untrained encoder, and the first seed of each trained row that was kept.

    Raises:
        ValueError: no folder of kept encoders, or none of the rows' in it.
    """
    backbone, pooling = results.profile.encoders["base"].name, results.profile.pooling
    place = results.profile.files.get(backbone, backbone)
    found = {"plain": SentenceEncoder.from_pretrained(place, pooling=pooling)}
    for label, seeds in results.lines.items():
        folder = kept and kept / next(iter(seeds.values())).hash
        if folder and folder.is_dir():
            found[label] = SentenceEncoder.from_pretrained(folder)
    if len(found) == 1:
        raise ValueError(
            f"{kept or 'no folder'} has no trained encoder of {results.experiment.name}: keep them with "
            f"`cselab experiment run {results.experiment.name} --keep-encoders FOLDER`, and give --encoders FOLDER"
        )
    return found


def rescaling(results: Results | None, _: Path | None) -> Figures:
    """Focal-InfoNCE 1: the cosine of a negative pair, and the value that Focal-InfoNCE has in its place, by m."""
    cosines = np.linspace(0, 1, 81)
    areas = [
        go.Scatter(x=x, y=y, mode="none", fill="toself", fillcolor=color, opacity=0.15, name=name)
        for name, color, x, y in (
            ("up-weighted", POSITIVE, [0, 1, 1, 0], [0, 1, 1.4, 1.4]),
            ("down-weighted", OURS, [0, 1, 1], [0, 1, 0]),
        )
    ]
    lines = [
        go.Scatter(x=cosines, y=cosines * (cosines + m), mode="lines", line_color=color, name=f"m = {m:g}")
        for m, color in zip((0.1, 0.2, 0.3, 0.4), NUMERIC_SCALE[::2] + NUMERIC_SCALE[-1:], strict=True)
    ]
    axes = {"title": {"text": "cosine s of a negative pair"}}, {"title": {"text": "re-scaled: s (s + m)"}}
    title = "Focal-InfoNCE up-weights the negatives with a cosine above 1 - m"
    return {"": Plane(title, [*areas, *lines], *axes).figure()}


Drawing = Callable[[Any, Path | None], Figures]
FIGURES: dict[str, tuple[str, Drawing]] = {
    "whitenedcse-figure1": ("whitenedcse-figure1", maps),
    "whitenedcse-figure3": ("whitenedcse-figure3", curves),
    "imsimcse-figure1": ("imsimcse-figure1", places),
    "survey-figure3": ("survey-figure3", places),
    "survey-figure4": ("survey-table10", titles),
    "focal-figure1": ("focal-table2", rescaling),
}
"""The figures that can be drawn, the experiment behind each, and the function."""


def draw(name: str, results: Results, kept: Path | None) -> Figures:
    """The figures of a name in `FIGURES`; the title of each has the encoder and the corpus.

    Args:
        results: of the experiment behind the figure.
        kept: the folder of `run_experiment(keep_encoders=...)`, for maps of sentences.

    Raises:
        ValueError: nothing was run, or a map without kept encoders.
    """
    if results.nothing:
        raise ValueError(f"{results.nothing}: `cselab experiment run {results.experiment.name}` computes it")
    source = f"{results.profile.encoders['base'].name}, {results.profile.corpus}"
    figures = FIGURES[name][1](results, kept)
    for figure in figures.values():
        title = figure.layout.title.text
        own = "" if title.startswith("Step ") else f"<br>{title}"
        figure.update_layout(title_text=f"{name}: {source}{own}" if name != "focal-figure1" else title)
    return figures


def write_images(figures: Figures, name: str, folder: Path) -> list[Path]:
    """Write each figure as SVG and PNG, by kaleido where it is installed, otherwise by Playwright and a browser.

    Raises:
        ModuleNotFoundError: neither is installed.
    """
    files = []
    folder.mkdir(parents=True, exist_ok=True)
    for ending, figure in figures.items():
        named = sum(bool(trace.showlegend) for trace in figure.data)
        height = max(600, 150 + 21 * named)  # Plotly cuts a legend off that is longer
        figure.update_layout(width=820, height=height, paper_bgcolor="white", plot_bgcolor="white", margin={"t": 90})
        stem = "-".join(filter(None, (name, ending.replace(" ", "-").replace(",", "").replace("/", "-"))))
        files += [(figure, folder / f"{stem}.{kind}") for kind in ("svg", "png")]
    if find_spec("kaleido") is not None:
        for figure, file in files:
            figure.write_image(file)
    elif find_spec("playwright") is not None:
        _by_browser(files)
    else:
        raise ModuleNotFoundError("SVG and PNG need kaleido: pip install kaleido", name="kaleido")
    return [file for _, file in files]


def _by_browser(files: list[tuple[go.Figure, Path]]) -> None:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.add_script_tag(content=get_plotlyjs())
        for figure, file in files:
            kind = file.suffix[1:]
            drawn = "([figure, format]) => Plotly.toImage(figure, {format, width: null, height: null, scale: 2})"
            address = page.evaluate(drawn, [json.loads(figure.to_json()), kind])
            with urlopen(address) as content:  # a data address: the figure is in it
                file.write_bytes(content.read())
        browser.close()
