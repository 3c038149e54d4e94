"""Drawings that stand before a formula: what is done to what, without a number that was measured.

    from cselab_widgets import sketches
    sketches.batch_matrix()

    dropout_passes   one sentence through the encoder twice, with another mask each time
    batch_matrix     the N x N cosines of a batch, its diagonal, and one row as a choice
    group_whitening  channels shuffled, whitened group by group, and put back
    several_positives  three views of a sentence, from one pass through the encoder and from three
    noisy_cells      which cells of the N x N cosines change when one kind of pair gets other noise
    off_dropout      positives with noise, negatives without
    queue            keys of earlier batches as further negatives; the oldest leaves
    circle           alignment and uniformity of unit vectors
    correlation      two views of a batch, and the D x D table of their dimensions
    artificial_rows  the same rows of random numbers beneath both views
    columns          rows in contrast, and columns in contrast
    focal            all negatives alike, and negatives that count by how near they are
    cone             vectors with a common direction, and the same with their mean subtracted
    averaging        tokens that are slightly alike, and their means, which are very much alike
    whitening        a long, tilted cloud off centre, and the same cloud whitened
    neighbours       the nearest of a sentence in full width, the nearest in a map, and which are in both
    rankings         two rankings of the same pairs, joined by lines: few that cross, and many
    hard_negatives   negatives that count once each, and negatives that count for more the nearer they are
    pipeline         from a row of the corpus to the loss: SimCSE, and a method that changes two of its stages
    sentence_vector  a sentence as tokens, the layers above them, and one vector: of [CLS], or the mean
    adam             the last gradients of three weights, and Adam's step for each of them
    interval         paired differences, their mean, and an interval that holds 0 or does not
    shrinkage        two views with a common part and noise of their own: the more noise, the lower their cosine

Lines and letters take the colour of the text around them, so a drawing follows a light or a dark page. Its panes stand
side by side where there is room, else below each other. Where no picture is shown, `str(sketch)` says it in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean, stdev

__all__ = [
    "Sketch",
    "adam",
    "artificial_rows",
    "averaging",
    "batch_matrix",
    "circle",
    "columns",
    "cone",
    "correlation",
    "dropout_passes",
    "focal",
    "group_whitening",
    "hard_negatives",
    "interval",
    "neighbours",
    "noisy_cells",
    "off_dropout",
    "pipeline",
    "queue",
    "rankings",
    "sentence_vector",
    "several_positives",
    "shrinkage",
    "whitening",
]

BLUE, ORANGE = "#2f86cc", "#cf6a1c"  # both can be seen on white and on black
OF_COLOR = 75  # percent of it in letters, the rest the colour of the text: so they can be read on both
WIDTH, LETTERS = 300, 14  # of a pane, in units of its view box; the height of letters


@dataclass(frozen=True)
class Sketch:
    """Panes of SVG, and the same in words.

    Args:
        words: what the drawing shows, for who does not see it.
        panes: inner SVG and height of each pane.
    """

    words: str
    panes: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return self.words

    __repr__ = __str__

    def _repr_html_(self) -> str:
        drawn = "".join(_svg(inside, height) for inside, height in self.panes)
        flow = "display: flex; flex-wrap: wrap; gap: 1em; margin: 0.5em 0"
        return f'<div role="img" aria-label="{escape(self.words)}" style="{flow}">{drawn}</div>'


def sentence_vector() -> Sketch:
    """Tokens, the layers above them, and the one vector that is taken for the sentence: of [CLS], or the mean."""
    tokens = ("[CLS]", "dogs", "bite", "men")

    def one(title: str, taken: int, color: str) -> tuple[str, int]:
        drawn = _text(150, 16, title, color) + _box(126, 26, 48, 20, color)
        drawn += _box(14, 112, 272, 26, "none") + _text(150, 130, "layers")
        for at, token in enumerate(tokens):
            middle = 48 + 68 * at
            shade = color if at < taken else "none"
            drawn += _box(middle - 24, 78, 48, 20, shade) + _text(middle, 184, token) + _arrow(middle, 168, middle, 142)
            drawn += _arrow(middle, 76, 150, 50) if at < taken else ""
        return drawn, 194

    words = (
        "A sentence of three words goes in as tokens, [CLS] before them. The layers mix them, and each token leaves "
        "with a vector. Left, that of [CLS] is taken for the whole sentence; right, the mean of all of them."
    )
    return Sketch(words, (one("the vector of [CLS]", 1, BLUE), one("the mean of all tokens", 4, ORANGE)))


def dropout_passes() -> Sketch:
    """One sentence, two passes, two masks: its two views."""

    def one(name: str, off: Sequence[int], color: str) -> tuple[str, int]:
        units = _cells([color if at not in off else "none" for at in range(8)], 30, 90)
        crosses = "".join(_cross(30 + 30 * at + 15, 105) for at in off)
        text = _text(150, 20, "The dog bit the man.") + _arrow(150, 30, 150, 78)
        end = _arrow(150, 132, 150, 172) + _text(150, 192, name, color)
        return text + units + crosses + end + _text(162, 60, "encoder", start=True), 204

    panes = one("first view", (1, 4), BLUE), one("second view", (2, 7), ORANGE)
    words = (
        "The same sentence passes through the encoder twice. Each pass switches off other units (crossed out), "
        "so two vectors come out that differ a little: the first and the second view."
    )
    return Sketch(words, panes)


def batch_matrix(size: int = 6, row: int = 2) -> Sketch:
    """The cosines of all first with all second views of a batch; the positives stand on the diagonal.

    Args:
        size: sentences drawn.
        row: the row that is drawn as a choice.
    """
    side, left, top = 30, 75, 45
    grid = "".join(
        _box(left + side * j, top + side * i, side, side, BLUE if i == j else "none")
        for i in range(size)
        for j in range(size)
    )
    names = _text(left + side * size / 2, 16, "second views") + "".join(
        _text(left + side * (j + 0.5), 38, str(j + 1)) + _text(left - 14, top + side * (j + 0.7), str(j + 1))
        for j in range(size)
    )
    turned = f'<g transform="rotate(-90 30 {top + side * size / 2})">'
    names += turned + _text(30, top + side * size / 2, "first views") + "</g>"
    frame = _box(left, top + side * row, side * size, side, "none", edge=ORANGE, thick=3)
    bottom = top + side * size + 24
    matrix = grid + frame + names, bottom
    shown = _box(10, 30, 20, 20, BLUE) + _text(40, 46, "its own: positive", start=True)
    shown += _box(10, 70, 20, 20, "none") + _text(40, 86, "all others: negatives", start=True)
    shown += _box(10, 110, 20, 20, "none", edge=ORANGE, thick=3)
    shown += _text(40, 120, f"row {row + 1} is a choice: which", start=True)
    shown += _text(40, 138, f"of {size} views is its own?", start=True)
    words = (
        f"A table of {size} rows, the first views, and {size} columns, the second views; each cell is a cosine. On the "
        f"diagonal a sentence meets its own second view, the positive; all other cells are negatives. Row {row + 1} is "
        f"framed: it is a choice among {size} columns, and column {row + 1} is right."
    )
    return Sketch(words, (matrix, (shown, 150)))


def group_whitening() -> Sketch:
    """Channels are shuffled, cut into groups, each group is whitened alone, and the order is restored."""
    order = (4, 1, 6, 3, 0, 7, 2, 5)

    def row(y: int, places: Sequence[int], grouped: bool) -> str:
        boxes = ""
        for at, channel in enumerate(places):
            x = 18 + 32 * at + (8 * (at // 4) if grouped else 0)
            boxes += _box(x, y, 30, 30, BLUE if channel < 4 else ORANGE) + _text(x + 15, y + 20, str(channel + 1))
        return boxes

    first = row(30, range(8), False) + _text(150, 18, "channels of a vector") + _arrow(150, 66, 150, 96)
    first += _text(162, 86, "shuffle", start=True) + row(102, order, True) + _text(150, 156, "two groups")
    frames = "".join(_box(12 + 136 * at, 24, 134, 42, "none", thick=2) for at in (0, 1))
    second = frames + row(30, order, True) + _text(150, 14, "whiten each group alone") + _arrow(150, 72, 150, 98)
    second += _text(162, 90, "back in order", start=True) + row(102, range(8), False)
    words = (
        "Eight channels are shuffled and cut into two groups of four. Each group is whitened alone: within it nothing "
        "is correlated any more, across groups much is. Then the channels go back to their places. Another shuffle "
        "gives another view."
    )
    return Sketch(words, ((first, 168), (second, 168)))


def several_positives() -> Sketch:
    """Three views of a sentence, from one pass and from three; the anchor meets each of its positives."""
    places, side = (55, 150, 245), 14

    def cells(x: float, y: float, color: str) -> str:
        return _cells([color] * 4, x - 2 * side, y, side)

    def pane(title: str, tops: Sequence[int]) -> tuple[str, int]:
        drawn = _text(150, 18, title) + _text(150, 42, "a sentence")
        drawn += _text(4, 62, "encoder", start=True) + _text(4, 122, "whiten", start=True)
        for at, x in enumerate(tops):
            drawn += _arrow(150, 48, x, 76) + cells(x, 78, "none") + _cross(x + side * (at - 1.5), 78 + side / 2, 5)
        for at, x in enumerate(places):
            drawn += _arrow(tops[at % len(tops)], 94, x, 142) + cells(x, 144, ORANGE if at else BLUE)
            drawn += _text(x, 204, "positive" if at else "anchor", ORANGE if at else BLUE)
            drawn += _bow(places[0], x, 162, 10 + 10 * at) if at else ""
        return drawn + _text(150, 228, "anchor against each positive"), 238

    words = (
        "A sentence becomes three views, an anchor and two positives, and the anchor is joined to each positive. Left, "
        "one pass: the encoder makes one vector, with one dropout mask, and it is whitened three times, each time "
        "with another shuffle. Right, three passes: the encoder makes three vectors, each with a mask of its own, and "
        "each of them is whitened with a shuffle of its own."
    )
    return Sketch(words, (pane("one pass", (150,)), pane("three passes", places)))


def noisy_cells(size: int = 6) -> Sketch:
    """Other noise on one kind of pair: the diagonal of the cosines changes, or all cells but the diagonal.

    Args:
        size: sentences drawn.
    """
    side, left, top = 30, 75, 50

    def pane(title: str, changes: Callable[[int, int], bool]) -> tuple[str, int]:
        cells = _table(left, top, size, size, lambda i, j: ORANGE if changes(i, j) else BLUE, side)
        middle = top + side * size / 2
        turned = f'<g transform="rotate(-90 60 {middle:g})">{_text(60, middle, "first views")}</g>'
        return _text(150, 18, title) + _text(150, 38, "second views") + cells + turned, top + side * size + 12

    words = (
        f"The table of cosines of a batch twice, {size} rows and {size} columns. Left, other noise on the positives: "
        "the cells of the diagonal, where a sentence meets itself, are orange and change; all others are blue. "
        "Right, other noise on the negatives: all cells but the diagonal are orange and change, the diagonal stays."
    )
    of_positives = pane("other noise on the positives", lambda i, j: i == j)
    return Sketch(words, (of_positives, pane("other noise on the negatives", lambda i, j: i != j)))


def off_dropout() -> Sketch:
    """The positive keeps its noise, the negatives are encoded without dropout."""

    def cloud(x: int, y: int, color: str) -> str:
        return f'<circle cx="{x}" cy="{y}" r="26" fill="{color}" fill-opacity="0.25"/>'

    def dots(color: str, *places: tuple[int, int]) -> str:
        return "".join(_dot(x, y, color) for x, y in places)

    views, negative = dots(BLUE, (97, 93), (66, 118)), dots(ORANGE, (215, 60), (215, 150))
    with_noise = cloud(80, 105, BLUE) + cloud(215, 60, ORANGE) + cloud(215, 150, ORANGE) + views + negative
    with_noise += _arrow(104, 92, 184, 66) + _arrow(104, 98, 184, 140)
    title = _text(150, 18, "SimCSE: noise everywhere") + _text(80, 152, "both views")
    clean = cloud(80, 105, BLUE) + views + negative + dots(ORANGE, (80, 105))
    clean += _arrow(88, 103, 204, 64) + _arrow(88, 109, 204, 146)
    other = _text(150, 18, "off-dropout: clean negatives") + _text(80, 152, "both views")
    negatives = _text(245, 108, "negatives", ORANGE)
    words = (
        "Left, SimCSE: the two views of a sentence lie in the cloud that dropout makes of it, and so do the negatives. "
        "Right, off-dropout: the two views still have noise, but for the negatives all sentences, the own one too, are "
        "encoded without dropout and are points."
    )
    return Sketch(words, ((with_noise + title + negatives, 180), (clean + other + negatives, 180)))


def queue() -> Sketch:
    """Keys of earlier batches wait in a queue and are further negatives; the newest come in, the oldest leave."""
    boxes = "".join(_box(62 + 44 * at, 60, 40, 36, ORANGE, strength=0.9 - 0.18 * at) for at in range(4))
    line = boxes + _arrow(8, 78, 56, 78) + _arrow(240, 78, 290, 78)
    line += _text(4, 50, "new keys", start=True) + _text(296, 50, "oldest leave", end=True)
    line += _text(150, 20, "keys of earlier batches") + _text(150, 122, "newest first")
    use = _box(10, 60, 60, 36, BLUE) + _text(40, 50, "query") + _arrow(74, 78, 122, 64) + _arrow(74, 82, 122, 104)
    use += _box(126, 46, 36, 28, BLUE) + _text(170, 66, "own key: pulled", start=True)
    use += "".join(_box(126 + 28 * at, 94, 26, 26, ORANGE, strength=0.9 - 0.18 * at) for at in range(4))
    use += _text(182, 138, "the queue: pushed", ORANGE)
    words = (
        "A queue of keys. Those of the newest batch come in on the left, the oldest leave on the right. A query is "
        "compared with its own key, the positive, and with all keys in the queue, which are negatives: more of "
        "them than a batch holds. They come from an encoder that follows the trained one slowly."
    )
    return Sketch(words, ((line, 148), (use, 148)))


def circle() -> Sketch:
    """Alignment draws the two views of a sentence together, uniformity spreads all sentences over the circle."""

    def ring(title: str) -> str:
        return f'<circle cx="150" cy="105" r="70" fill="none" stroke="currentColor"/>{_text(150, 18, title)}'

    def at(angle: float, color: str) -> str:
        return _dot(150 + 70 * math.cos(math.radians(angle)), 105 - 70 * math.sin(math.radians(angle)), color)

    aligned = ring("alignment: views near") + "".join(
        at(angle - 6, BLUE) + at(angle + 6, ORANGE) for angle in (20, 50, 80, 110)
    )
    spread = ring("uniformity: all apart") + "".join(at(15 + 45 * place, BLUE) for place in range(8))
    words = (
        "Two circles of unit vectors. Left, alignment: the two views of each sentence, a blue and an orange point, lie "
        "close together; all may still crowd on one side. Right, uniformity: the sentences are spread evenly over "
        "the whole circle, wherever their second views are."
    )
    return Sketch(words, ((aligned, 190), (spread, 190)))


def correlation(rows: int = 3, dimensions: int = 7, c: int = 1, d: int = 4) -> Sketch:
    """A column of the first view and one of the second make one entry of the D x D table.

    Args:
        rows, dimensions: sentences and dimensions drawn.
        c, d: which column of the first view, and which of the second.
    """
    views = _text(139, 18, f"D dimensions (here {dimensions})")

    def column(at: int, color: str) -> Callable[[int, int], str]:
        return lambda i, j: color if j == at else "none"

    for top, name, at, color in ((30, "first view", c, BLUE), (130, "second view", d, ORANGE)):
        views += _table(55, top, rows, dimensions, column(at, color))
        views += _text(28, top + 30, "N") + _text(139, top + 24 * rows + 18, name, color)
    side, left, top = 24, 66, 44
    table = _table(left, top, dimensions, dimensions, lambda i, j: BLUE if (i, j) == (c, d) else "none", side)
    table += _text(150, 18, "C: D rows, D columns") + _text(left + side * (d + 0.5), 38, "d", ORANGE)
    table += _text(left - 14, top + side * (c + 0.7), "c", BLUE)
    words = (
        f"Two tables, the views of a batch: {rows} rows are sentences, {dimensions} columns are dimensions. Column c "
        "of the first view and column d of the second are compared over the sentences; that gives one entry, row c and "
        "column d, of a third table, which has as many rows and columns as there are dimensions."
    )
    return Sketch(words, ((views, 232), (table, top + side * dimensions + 12)))


def artificial_rows(rows: int = 3, more: int = 4, dimensions: int = 7) -> Sketch:
    """Rows of random numbers beneath both views, the same beneath each.

    Args:
        rows, more, dimensions: sentences, artificial rows and dimensions drawn.
    """

    def view(name: str) -> tuple[str, int]:
        table = _table(66, 30, rows, dimensions, lambda i, j: BLUE)
        table += _table(66, 34 + 24 * rows, more, dimensions, lambda i, j: ORANGE)
        sides = _text(38, 30 + 12 * rows, "N", BLUE) + _text(38, 34 + 24 * rows + 12 * more, "M", ORANGE)
        return _text(150, 18, name) + table + sides, 34 + 24 * (rows + more) + 14

    words = (
        f"Two tables, the views of a batch. On top {rows} rows, the sentences, which differ a little between the "
        f"views; beneath them {more} rows of random numbers, and these are the same in both."
    )
    return Sketch(words, (view("first view"), view("second view")))


def columns(rows: int = 4, dimensions: int = 7) -> Sketch:
    """InfoNCE compares the rows of a batch, the dimension-wise contrast its columns.

    Args:
        rows, dimensions: sentences and dimensions drawn.
    """
    low = 30 + 24 * rows + 20

    def pane(title: str, chosen: Callable[[int, int], bool], said: str) -> tuple[str, int]:
        table = _table(66, 30, rows, dimensions, lambda i, j: BLUE if chosen(i, j) else "none")
        return _text(150, 18, title) + table + _text(38, 30 + 12 * rows, "N") + _text(150, low, said), low + 12

    words = (
        f"A batch twice, {rows} rows of {dimensions} numbers. Left, InfoNCE: a row, the vector of one sentence, is "
        "compared with all other rows. Right, the contrast between dimensions: a column, one dimension over all "
        "sentences, is compared with all other columns."
    )
    by_row = pane("InfoNCE", lambda i, j: i == 1, "a sentence among N")
    by_column = pane("between dimensions", lambda i, j: j == 2, "a dimension among D")
    return Sketch(words, (by_row, by_column))


def focal() -> Sketch:
    """All negatives on one scale, and negatives that count for more the nearer they are."""
    words = (
        "A sentence and three negatives, one near, one farther, one far, joined by lines. Left, InfoNCE: the three "
        "lines are equally thick, each cosine is divided by the same number. Right, Focal-InfoNCE: the nearer "
        "the negative, the thicker its line, because its cosine is multiplied by a factor that grows with it."
    )
    alike = _negatives("InfoNCE", (3, 3, 3), "each cosine over one number")
    return Sketch(words, (alike, _negatives("Focal-InfoNCE", (8, 3, 1), "a factor that grows with the cosine")))


def cone() -> Sketch:
    """Vectors that share a direction, their mean, and what is left of each when the mean is subtracted."""
    parts = [(20 + 45 * at, 42 + 14 * (at % 3)) for at in range(8)]  # angle and length of what is a vector's own

    def vectors(x: float, y: float, common: float) -> str:
        ends = [
            (math.cos(math.radians(angle)) * length, math.sin(math.radians(angle)) * length) for angle, length in parts
        ]
        own = "".join(_arrow(x, y, x + common + along, y - up, BLUE) for along, up in ends)
        return own + _circle(x, y, 3)

    before = _text(150, 18, "one common direction") + vectors(28, 112, 180) + _arrow(28, 112, 208, 112, ORANGE, 3)
    before += _text(244, 116, "mean", ORANGE)
    after = _text(150, 18, "the mean subtracted") + vectors(150, 112, 0)
    words = (
        "Left, vectors from one point, all to the right: they differ by little beside the direction that they share, "
        "the orange mean, so the cosine of any two is high. Right, the same vectors with the mean subtracted: what "
        "told them apart is unchanged, and they point in all directions."
    )
    return Sketch(words, ((before, 214), (after, 214)))


def averaging() -> Sketch:
    """Tokens that share a slight direction; in their means it is most of what is left."""
    tokens = [(140, 66), (95, 72), (48, 78), (5, 84), (-40, 78), (-88, 72), (-130, 66), (22, 80)]
    means = [(16, 62), (7, 66), (-4, 60), (-13, 64)]

    def fan(x: float, ends: Sequence[tuple[float, float]], color: str) -> str:
        turned = [(math.radians(angle), length) for angle, length in ends]
        return _circle(x, 112, 3) + "".join(
            _arrow(x, 112, x + length * math.cos(angle), 112 - length * math.sin(angle), color)
            for angle, length in turned
        )

    left = _text(150, 18, "tokens: slightly alike") + fan(140, tokens, BLUE)
    right = _text(150, 18, "means of many: a cone") + fan(110, means, ORANGE)
    words = (
        "Left, token vectors point nearly everywhere, a few more of them to the right than to the left. Right, means "
        "of many such tokens: what points to opposite sides cancels, what is common stays, so all means point to the "
        "right."
    )
    return Sketch(words, ((left, 206), (right, 206)))


def whitening() -> Sketch:
    """A cloud that is long, tilted and off centre; whitened it is round and lies about 0."""
    spots = [(0.3 + 1.7 * (at / 26) ** 0.5, 2.4 * at) for at in range(26)]  # radius and angle: an even, round cloud
    cloud = [(radius * math.cos(angle), radius * math.sin(angle)) for radius, angle in spots]

    def axes(x: float, y: float) -> str:
        lines = f"M{x - 110:g} {y:g}L{x + 110:g} {y:g}M{x:g} {y - 85:g}L{x:g} {y + 85:g}"
        return f'<path d="{lines}" stroke="currentColor" stroke-opacity="0.4"/>'

    turn = math.radians(35)
    wide, narrow = (math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))

    def place(a: float, b: float) -> tuple[float, float]:
        long, short = 34 * a, 9 * b
        return 185 + long * wide[0] + short * narrow[0], 92 - long * wide[1] - short * narrow[1]

    left = _text(150, 18, "a cloud of vectors") + axes(130, 120)
    left += "".join(_dot(*place(a, b), BLUE) for a, b in cloud)
    left += _arrow(*place(0, 0), *place(2.3, 0), ORANGE, 3) + _arrow(*place(0, 0), *place(0, 4.2), ORANGE, 3)
    right = _text(150, 18, "whitened") + axes(150, 120)
    right += "".join(_dot(150 + 34 * a, 120 - 34 * b, BLUE) for a, b in cloud)
    words = (
        "Left, a cloud of vectors: long, tilted and off centre, its two axes in orange. Right, the same cloud "
        "whitened: its centre is 0, and it is equally wide in every direction."
    )
    return Sketch(words, ((left, 212), (right, 212)))


def pipeline() -> Sketch:
    """The five stages from a row of the corpus to the loss, for SimCSE and for a method that differs at two of them."""
    simcse = {
        "data": "a sentence",
        "view": "as it is, twice",
        "encoder": "one network, dropout",
        "head": "Linear + tanh",
        "loss": "InfoNCE",
    }
    other = simcse | {"view": "some words repeated", "loss": "InfoNCE and a queue"}

    def stages(title: str, what: dict[str, str]) -> tuple[str, int]:
        drawn = _text(150, 16, title)
        for at, (stage, words) in enumerate(what.items()):
            y = 30 + 46 * at
            color = "currentColor" if simcse[stage] == words else ORANGE
            drawn += _box(24, y, 84, 28, BLUE if color == "currentColor" else ORANGE) + _text(66, y + 19, stage)
            drawn += _text(122, y + 19, words, color, start=True)
            drawn += _arrow(66, y + 28, 66, y + 46) if at < 4 else ""
        return drawn, 250

    words = (
        "Five stages, one below the other: data, view, encoder, head, loss. Left, SimCSE: a row is a sentence; it "
        "goes in twice as it is; one network with dropout; Linear and tanh; InfoNCE. Right, a method that differs at "
        "two stages, in orange: some words of the second view are repeated, and the loss has a queue of further "
        "negatives."
    )
    return Sketch(words, (stages("SimCSE", simcse), stages("another method", other)))


def neighbours() -> Sketch:
    """The nearest five of a sentence in full width and in a map; those that the map keeps are in both."""
    near = [(-34, -26), (30, -30), (38, 16), (-12, 38), (-46, 14)]
    far = [(-90, -40), (92, -30), (84, 58), (-96, 52)]

    def pane(title: str, order: Sequence[int], kept: Sequence[int]) -> tuple[str, int]:
        drawn = _text(150, 18, title)
        drawn += '<circle cx="150" cy="112" r="66" fill="none" stroke="currentColor" stroke-dasharray="5 5"/>'
        for name, (x, y) in zip(order, near + far, strict=True):
            drawn += _circle(150 + x, 112 + y, 13, ORANGE if name in kept else "none", edge="currentColor")
            drawn += _text(150 + x, 117 + y, str(name))
        return drawn + _dot(150, 112, BLUE) + _text(150, 206, "orange: in both", ORANGE), 216

    words = (
        "Twice the same sentence, a blue dot, and nine others with numbers. Left, in full width, the five nearest are "
        "1 to 5. Right, in the map, they are 1, 6, 3, 8 and 9. Only 1 and 3, in orange, are among both: the map keeps "
        "two of five neighbours."
    )
    full = pane("in full width: its 5 nearest", (1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 3))
    return Sketch(words, (full, pane("in the map: its 5 nearest", (6, 1, 9, 3, 8, 2, 4, 7, 5), (1, 3))))


def rankings() -> Sketch:
    """The same pairs ranked by grade and by cosine, each joined with itself."""

    def pane(title: str, by_cosine: Sequence[int]) -> tuple[str, int]:
        drawn = _text(150, 18, title) + _text(60, 46, "by grade", BLUE) + _text(240, 46, "by cosine", ORANGE)
        for rank, other in enumerate(by_cosine):
            left, right = 68 + 26 * rank, 68 + 26 * other
            drawn += _line(60, left, 240, right, 2) + _dot(60, left, BLUE) + _dot(240, right, ORANGE)
        return drawn, 68 + 26 * len(by_cosine)

    words = (
        "Six pairs, ranked by grade on the left and by cosine on the right of each drawing; a line joins the two "
        "places of a pair. Left, hardly any lines cross: the correlation of the ranks is near 1. Right, many cross: it "
        "is near 0."
    )
    return Sketch(
        words, (pane("near 1: few lines cross", (0, 2, 1, 3, 4, 5)), pane("near 0: many", (3, 0, 5, 1, 4, 2)))
    )


def hard_negatives() -> Sketch:
    """Negatives that count once each, and negatives that count for more the nearer they are."""
    words = (
        "A sentence and three negatives, one near, one farther, one far, joined by lines. Left, SimCSE: the three "
        "lines are equally thick, each negative is counted once. Right: the nearer the negative, the thicker its line; "
        "the hard ones are counted several times."
    )
    alike = _negatives("SimCSE", (3, 3, 3), "each counts once")
    return Sketch(words, (alike, _negatives("hard negatives weigh more", (8, 3, 1), "the nearer, the more often")))


def _negatives(title: str, thick: Sequence[float], said: str) -> tuple[str, int]:
    inside = _text(150, 18, title) + _text(40, 116, "sentence", BLUE)
    for (x, y), width in zip(((110, 50), (185, 132), (270, 76)), thick, strict=True):
        inside += _line(40, 90, x, y, width) + _dot(x, y, ORANGE)
    inside += _dot(40, 90, BLUE)
    return inside + _text(110, 38, "near") + _text(268, 64, "far") + _text(150, 166, said), 178


def adam() -> Sketch:
    """The last gradients of three weights, and the steps that Adam takes: their mean over their root mean square."""
    weights = {"large": (56, 64, 60, 62), "small": (13, 15, 13, 14), "to and fro": (62, -42, 58, -38)}
    base = 112
    before, after = _text(150, 18, "the last gradients"), _text(150, 18, "Adam's steps")
    for at, (name, gradients) in enumerate(weights.items()):
        middle = 50 + 100 * at
        for place, gradient in enumerate(gradients):
            x = middle - 30 + 20 * place
            before += _arrow(x, base, x, base - gradient, BLUE, 2)
        size = math.sqrt(fmean(gradient**2 for gradient in gradients))
        after += _arrow(middle, base, middle, base - 60 * fmean(gradients) / size, ORANGE, 2)
        before, after = (drawn + _text(middle, 178, name) for drawn in (before, after))
    line = f'<path d="M10 {base}L290 {base}" stroke="currentColor" stroke-opacity="0.4"/>'
    words = (
        "Left, the last four gradients of three weights as arrows: of the first they are large, of the second small, "
        "of the third large, up and down by turns. Right, the step that Adam takes for each weight, the mean of its "
        "gradients over their own size: the first two steps are equally long, and the third is short."
    )
    return Sketch(words, ((line + before, 188), (line + after, 188)))


def interval() -> Sketch:
    """Five paired differences on a line, their mean and its interval: away from 0, and with 0 in it."""

    def pane(title: str, differences: Sequence[float], said: str) -> tuple[str, int]:
        middle, half = fmean(differences), 2.776 * stdev(differences) / math.sqrt(len(differences))
        zero, low, at, high = (110 + 60 * value for value in (0, middle - half, middle, middle + half))
        line = f"M10 92L290 92M{zero:g} 44L{zero:g} 150"
        drawn = _text(150, 18, title) + f'<path d="{line}" stroke="currentColor" stroke-opacity="0.4"/>'
        drawn += _text(zero, 168, "0") + "".join(_dot(110 + 60 * one, 72, BLUE) for one in differences)
        drawn += _box(low, 98, high - low, 12, ORANGE, edge="none") + _circle(at, 104, 6, ORANGE)
        return drawn + _text(at, 134, "mean") + _text(150, 192, said, ORANGE), 202

    words = (
        "Twice five differences, one a seed, as blue dots above a line with 0; below it their mean, and in orange an "
        "interval around it. Both means are equal. Left, the dots lie close together: the interval is short, and all "
        "of it is above 0. Right, they lie far apart: the interval is long, and 0 is in it."
    )
    near = pane("five differences, close together", (0.9, 1.4, 1.1, 1.2, 0.4), "0 is outside: decided")
    return Sketch(words, (near, pane("the same mean, far apart", (2.3, -0.7, 1.9, 0, 1.5), "0 is inside: undecided")))


def shrinkage(little: float = 0.2, much: float = 1.0) -> Sketch:
    """Two views: what they share, and noise of their own at right angles to it and to each other.

    Args:
        little, much: the variance of the noise in each pane, where the common part has 1.
    """

    def pane(title: str, variance: float) -> tuple[str, int]:
        x, y, long, noise = 104, 128, 84, 84 * math.sqrt(variance)
        one, other = (x + long, y - noise), (x + long - 0.45 * noise, y + 0.6 * noise)
        drawn = (
            _text(150, 18, title) + _arrow(x, y, x + long, y, thick=3) + _text(x - 8, y + 5, "common part", end=True)
        )
        for to_x, to_y in (one, other):
            drawn += _arrow(x + long, y, to_x, to_y, ORANGE, 2) + _arrow(x, y, to_x, to_y, BLUE, 2)
        drawn += _text(one[0] + 8, one[1] + 5, "a view", BLUE, start=True)
        drawn += _text(other[0], other[1] + 18, "the other", BLUE)
        drawn += _text(x + long + 8, y + 5, "noise", ORANGE, start=True)
        return drawn + _text(150, 222, f"cosine 1 / (1 + {variance:g}) = {1 / (1 + variance):.2f}"), 232

    words = (
        "Twice two views, blue arrows from one point. They share a common part, the arrow to the right; at its end "
        "each has noise of its own, an orange arrow at right angles to the common part and to the other's noise. Left, "
        "the noise is short, and the views point nearly the same way; right, it is as long as the common part, and "
        "they point far apart. The common part is the same in both."
    )
    return Sketch(words, (pane("little noise", little), pane("as much noise as is common", much)))


def _svg(inside: str, height: int) -> str:
    look = f"flex: 1 1 240px; max-width: {1.2 * WIDTH:.0f}px; height: auto; min-width: 0"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" aria-hidden="true" '
        f'fill="currentColor" font-size="{LETTERS}" font-family="system-ui, sans-serif" style="{look}">{inside}</svg>'
    )


def _text(
    x: float, y: float, words: str, color: str = "currentColor", *, start: bool = False, end: bool = False
) -> str:
    anchor = "start" if start else "end" if end else "middle"
    if color != "currentColor":
        color = f"color-mix(in srgb, {color} {OF_COLOR}%, currentColor)"
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}">{escape(words)}</text>'


def _box(
    x: float, y: float, width: float, height: float, color: str, *, edge: str = "currentColor", thick: float = 1,
    strength: float = 0.55,
) -> str:  # fmt: skip
    fill = f'fill="{color}" fill-opacity="{strength:g}" stroke="{edge}" stroke-width="{thick:g}"'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {fill}/>'


def _table(
    x: float, y: float, rows: int, width: int, color: Callable[[int, int], str], side: float = 24
) -> str:  # fmt: skip
    return "".join(_box(x + side * j, y + side * i, side, side, color(i, j)) for i in range(rows) for j in range(width))


def _line(x: float, y: float, to_x: float, to_y: float, thick: float) -> str:
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="currentColor" stroke-width="{thick:g}" opacity="0.5"/>'


def _bow(x: float, to_x: float, y: float, depth: float) -> str:
    path = f"M{x:g} {y:g}Q{(x + to_x) / 2:g} {y + 2 * depth:g} {to_x:g} {y:g}"
    return f'<path d="{path}" fill="none" stroke="currentColor"/>'


def _cells(colors: Sequence[str], x: float, y: float, side: float = 30) -> str:
    return "".join(_box(x + side * at, y, side, side, color) for at, color in enumerate(colors))


def _dot(x: float, y: float, color: str) -> str:
    return _circle(x, y, 5, color)


def _circle(x: float, y: float, radius: float, color: str = "currentColor", edge: str = "none") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{color}" stroke="{edge}"/>'


def _cross(x: float, y: float, size: float = 8) -> str:
    path = f"M{x - size:g} {y - size:g}L{x + size:g} {y + size:g}M{x - size:g} {y + size:g}L{x + size:g} {y - size:g}"
    return f'<path d="{path}" stroke="currentColor" stroke-width="2"/>'


def _arrow(x: float, y: float, to_x: float, to_y: float, color: str = "currentColor", thick: float = 1) -> str:
    turn = math.atan2(to_y - y, to_x - x)
    tips = [(to_x - 9 * math.cos(turn + side), to_y - 9 * math.sin(turn + side)) for side in (0.45, -0.45)]
    head = " ".join(f"{a:.1f},{b:.1f}" for a, b in ((to_x, to_y), *tips))
    line = f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="{color}" stroke-width="{thick:g}"/>'
    return f'{line}<polygon points="{head}" fill="{color}"/>'
