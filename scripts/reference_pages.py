"""Write the generated pages of docs/: methods.md, recipes.md and commands.md; and the table registered.json.

With methods.md, the number of methods in README.md is written, too.

python scripts/reference_pages.py [PAGE]...    # for example methods.md, which needs some minutes
"""

import csv
import json
import re
import sys
from pathlib import Path

import click
from cselab_lab.cli import app
from cselab_lab.experiments import EXPERIMENTS, get_profile, published, registered
from cselab_lab.lessons.pipeline_diff import method_cards
from cselab_lab.tables import table
from torch.utils.flop_counter import FlopCounterMode

from cselab import SentenceEncoder, TrainConfig, train
from cselab.methods import FAMILIES, METHODS, Method, create_method
from cselab.methods.recipe import Recipe
from cselab.world import World

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAPER = get_profile("paper")
WRITTEN = "`python scripts/reference_pages.py` writes this page."
RECIPES = f"""\
# Each method by its paper's recipe

The profile `paper` trains each method with the recipe of its paper. A line below each table names the source of that
recipe. Under `paper-one-recipe`, all methods train with SimCSE's recipe. The remaining profiles have one recipe for all
methods, which we found on dev data for the bundled encoders. The table has the methods of the experiments' rows: the
settings of `paper`, the printed settings, their place, and the differences between text, released code and cselab.

A cell has batch, learning rate and epochs. A cell is empty if the papers print nothing. "Text" means the four papers
whose tables are in cselab. We read the notes about released code in that code. The survey evaluates SimCSE and EASE
every 250 steps, and the rest every 125 (its 5.1.2); `paper` evaluates all of them every 125 steps. {WRITTEN}
"""
METHODS_PAGE = f"""\
# Methods

`cselab methods NAME` prints the equations, the parameters and the changes of each variant. The columns are:

* **paper**: the paper that introduced the method.
* **differences from SimCSE**, by stage of the pipeline (data, view, encoder, head, loss). We find them by observing
  one training step.
* **cost**: the floating-point operations of two training steps, divided by those of SimCSE. `micro` trains on batches
  of 16 rows of the world. The count has matrix products only; time differs by device.
* **variants**: sets of settings next to `default`. `paper` follows the text and `released` follows the released code,
  where these differ.

{WRITTEN}
"""
COMMANDS_PAGE = f"""\
# Command line

Each command prints its help with `-h`. To complete names in your shell, add this line to `~/.bashrc` (for zsh
`zsh_source` in `~/.zshrc`): `eval "$(_CSELAB_COMPLETE=bash_source cselab)"`. {WRITTEN}
"""
ROWS, BATCH = 64, 16
CASED = ("switch_case", "cards")  # need a cased model, and `micro` has none


def methods() -> str:
    """docs/methods.md: paper, stage, cost and variants of each method."""
    unit, parts = operations(METHODS["simcse"]), [METHODS_PAGE]
    cards = {card.name: card for card in method_cards()}
    for family, meaning in FAMILIES.items():
        cells = {
            f"`{name}`": {
                "title": METHODS[name].title,
                "paper": source(METHODS[name]),
                "differences from SimCSE": "; ".join(f"**{stage}** {words}" for stage, words in card.stages.items()),
                "cost": f"{operations(METHODS[name]) / unit:.1f}" if name not in CASED else "",
                "variants": ", ".join(variant for variant in METHODS[name].variants if variant != "default"),
            }
            for name, card in cards.items()
            if card.family == family
        }
        if cells:
            parts.append(f"## {family.capitalize()}: {meaning}\n\n{narrow(table(cells, form='md'))}\n")
    return "\n".join(parts)


def narrow(markdown: str) -> str:
    """A table of Markdown without the spaces that align its columns."""
    return re.sub(r":?-{4,}:?", "---", re.sub(r" {2,}", " ", markdown))


def source(method: type[Method]) -> str:
    """The authors and the year from the docstring of a method's module, or else the place in a paper.

    >>> source(METHODS["focal"]), source(METHODS["mixcse_diffcse"])
    ('Hou and Li 2023', 'survey, Table 8')
    """
    module = (sys.modules[method.__module__].__doc__ or "").split("\n", 1)[0]
    notes = [*re.findall(r"\(([^()]*\d{4}[^()]*)\)", module), *re.findall(r"\(([^()]*Table \d+)", method.__doc__ or "")]
    return notes[0] if notes else re.sub(r" \(.*", "", module.split(":")[0].removeprefix("The "))


def operations(kind: type[Method]) -> float:
    """Floating-point operations of the second and third step of a method; the first run also times libraries."""
    rows, counts = World(0).rows(kind.columns, ROWS), []
    for steps in (1, 1, 3):
        given = kind.small if kind.name == "noise" else {}  # its defaults are plain SimCSE
        method = create_method(kind.name, **given)
        with FlopCounterMode(display=False) as counter:
            config = TrainConfig(steps=steps, batch_size=BATCH)
            train(SentenceEncoder.from_pretrained("micro"), method, rows, config, show_progress_bar=False)
        counts.append(counter.get_total_flops())
    return counts[2] - counts[1]


def commands() -> str:
    """docs/commands.md: the help of each command."""
    context = click.Context(app, info_name="cselab", **app.context_settings)
    return "\n".join([COMMANDS_PAGE, *described(app, context)])


def described(command: click.Command, context: click.Context) -> list[str]:
    """The help of a command and of the commands below it."""
    formatter = click.HelpFormatter(width=100)
    command.format_help(context, formatter)
    parts = [f"## {context.command_path}\n\n```text\n{formatter.getvalue().strip()}\n```\n"]
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        assert inner is not None
        parts += described(inner, click.Context(inner, info_name=name, parent=context, **inner.context_settings))
    return parts


def printed() -> dict[tuple[str, str], dict[str, str]]:
    """The settings that the papers print, by method and family of encoder."""
    path = Path(published.__file__).parent / "recipes.csv"
    with open(path, encoding="utf-8", newline="") as file:
        return {(line["method"], line["encoder"]): line for line in csv.DictReader(file)}


def trained() -> list[tuple[str, str]]:
    """The methods of the papers' tables, each with the families of encoder for which it has a recipe."""
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


def recipes() -> str:
    """docs/recipes.md: how the profile `paper` trains each method, next to the printed settings."""
    texts = printed()
    cells = {}
    for method, family in trained():
        own, text = METHODS[method].recipes[family], texts[method, family]
        cells[f"{METHODS[method].title}, {family}"] = {
            "`paper`": _settings(own.batch_size, own.lr, own.epochs) + _beyond(own),
            "printed": _settings(text["batch_size"], text["lr"], text["epochs"]),
            "where": text["source"],
            "text, code, here": text["differs"],
        }
    return RECIPES + "\n" + table(cells, form="md") + "\n"


def _settings(batch_size: int | str, lr: float | str, epochs: float | str) -> str:
    given = [f"{float(number):g}" if number != "" else "" for number in (batch_size, lr, epochs)]
    return ", ".join(filter(None, given[:2])) + (f"{'; ' if given[0] else ''}{_epochs(given[2])}" if given[2] else "")


def _epochs(number: str) -> str:
    return f"{number} epoch" + "s" * (number != "1")


def _beyond(own: Recipe) -> str:
    """The settings of a recipe that SimCSE's recipe does not have."""
    usual = Recipe(lr=own.lr)
    beyond = [f"{own.max_length} tokens"] if own.max_length != usual.max_length else []
    beyond += [f"pooling {own.pooling}"] if own.pooling != usual.pooling else []
    return "".join(f"; {setting}" for setting in beyond)


def registered_names() -> str:
    """The table of names that the command line reads instead of the registries."""
    return json.dumps(registered.of_the_classes(), indent=1) + "\n"


PAGES = {"recipes.md": recipes, "commands.md": commands, "methods.md": methods, "registered.json": registered_names}
ELSEWHERE = {"registered.json": registered.FILE}
README = DOCS.parent / "README.md"

if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        ELSEWHERE.get(name, DOCS / name).write_text(PAGES[name](), encoding="utf-8")
        if name == "methods.md":
            counted = re.sub(
                r"\d+ published methods", f"{len(METHODS)} published methods", README.read_text(encoding="utf-8")
            )
            README.write_text(counted, encoding="utf-8")
