"""Write docs/recipes.md: how the profile `paper` trains each method, beside what the papers print.

python scripts/recipes_page.py
"""

import csv
from pathlib import Path

from cselab_lab.experiments import EXPERIMENTS, get_profile, published
from cselab_lab.tables import table

from cselab.methods import METHODS
from cselab.methods.recipe import Recipe

PAGE = Path(__file__).resolve().parents[1] / "docs" / "recipes.md"
PAPER = get_profile("paper")
OPENING = """\
# Each method by its paper's recipe

The profile `paper` trains each method as its own paper does, and says below each table whose recipe that is;
`--one-recipe` trains all by SimCSE's. The other profiles have one recipe for all methods, found on dev data for the
bundled encoders. Below are the methods of the experiments' rows: what `paper` takes, what is printed, where, and where
text, released code and cselab differ.

In cells: batch, learning rate, epochs. An empty cell: the texts at hand print nothing. Texts are the four papers whose
tables are here; what is said of released code was read in it. `python scripts/recipes_page.py` writes this page.
"""


def printed() -> dict[tuple[str, str], dict[str, str]]:
    """What the papers print, by method and family of encoder."""
    path = Path(published.__file__).parent / "recipes.csv"
    with open(path, encoding="utf-8", newline="") as file:
        return {(line["method"], line["encoder"]): line for line in csv.DictReader(file)}


def trained() -> list[tuple[str, str]]:
    """The methods of the papers' tables, each with the families of encoder for which it has a recipe of its own."""
    tables = [experiment for name, experiment in EXPERIMENTS.items() if name != "every-method"]
    rows = [row for experiment in tables for row in experiment.all_rows if row.method]
    used = {(row.method, PAPER.encoders[row.encoder].family) for row in rows}
    families = dict.fromkeys(backbone.family for backbone in PAPER.encoders.values())
    return [
        (method, family)
        for method in METHODS
        for family in families
        if (method, family) in used and family in METHODS[method].recipes
    ]


def page() -> str:
    """The page."""
    told = printed()
    cells = {}
    for method, family in trained():
        own, text = METHODS[method].recipes[family], told[method, family]
        cells[f"{METHODS[method].title}, {family}"] = {
            "`paper`": _said(own.batch_size, own.lr, own.epochs) + _beyond(own),
            "printed": _said(text["batch_size"], text["lr"], text["epochs"]),
            "where": text["source"],
            "text, code, here": text["differs"],
        }
    return OPENING + "\n" + table(cells, form="md") + "\n"


def _said(batch_size: int | str, lr: float | str, epochs: float | str) -> str:
    said = [f"{float(number):g}" if number != "" else "" for number in (batch_size, lr, epochs)]
    return ", ".join(filter(None, said[:2])) + (f"{'; ' if said[0] else ''}{_epochs(said[2])}" if said[2] else "")


def _epochs(number: str) -> str:
    return f"{number} epoch" + "s" * (number != "1")


def _beyond(own: Recipe) -> str:
    """What else a recipe has that SimCSE's has not."""
    usual = Recipe(lr=own.lr)
    beyond = [f"{own.max_length} tokens"] if own.max_length != usual.max_length else []
    beyond += [f"pooling {own.pooling}"] if own.pooling != usual.pooling else []
    return "".join(f"; {said}" for said in beyond)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
