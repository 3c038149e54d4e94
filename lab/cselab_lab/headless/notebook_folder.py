"""Notebooks as files: bundled notebooks, folders of notebooks, and copies to work in."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cselab._util.arguments import did_you_mean
from cselab._util.reading import NOT_FETCHED, is_pointer, read_json
from cselab._util.writing import make_folder, write_text
from cselab.encoders.open import reason_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

DOCUMENT = re.compile(r"\]\(\.\./((?:docs/(?:play/)?)?[\w-]+\.(?:md|html))\)")  # a link to a document or a page
EXAM = "exam"  # a folder that students do not get
COPIED = ".copied.json"  # in a folder of copies: the fingerprint of each at the time of copying


def bundled_notebooks() -> Path:
    """The folder of the bundled notebooks: in the package of a wheel, or next to the package in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "notebooks"
    return inside if inside.is_dir() else package.parents[1] / "notebooks"


def find_notebooks(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """The notebooks of a folder, by name or number, in the given order; without names, all.

    Raises:
        FileNotFoundError: a missing or empty folder.
        ValueError: a name of no or several notebooks; the message lists the known names.
    """
    known = sorted(folder.glob("*.ipynb"))
    if not known:
        raise FileNotFoundError(f"no notebooks in {folder}: pass the folder that holds some (--folder).")
    chosen = []
    for name in names:
        stem = name.removesuffix(".ipynb")
        fitting = [path for path in known if path.stem == stem or path.stem.split("_")[0] == stem]
        if len(fitting) != 1:
            trouble = "several notebooks are numbered" if fitting else "unknown notebook"
            hint = "" if fitting else did_you_mean(stem, [path.stem for path in known])
            raise ValueError(f"{trouble} {name!r}.{hint} Known: {', '.join(path.stem for path in known)}.")
        chosen += [path for path in fitting if path not in chosen]
    return chosen or known


def read_notebook(path: Path) -> "NotebookNode":
    """A notebook from its file.

    Raises:
        ValueError: a damaged file; the message names the file.
    """
    import nbformat

    if is_pointer(path):
        raise ValueError(f"{path} {NOT_FETCHED}")
    try:
        notebook = nbformat.read(str(path), as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # a damaged file raises whatever nbformat meets first
        raise ValueError(f"{path} is not a complete notebook ({reason_of(error)[:100]}): restore the file") from None
    return notebook


def tags_of(cell: "NotebookNode") -> list[str]:
    """The tags of a cell."""
    return cell.metadata.get("tags", [])


def code_cells(notebook: "NotebookNode") -> list["NotebookNode"]:
    """The cells that hold code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def output_data(cells: Iterable["NotebookNode"], kind: str) -> list[dict[str, Any]]:
    """The data of each output of these cells that has some of this kind."""
    return [output.data for cell in cells for output in cell.get("outputs", []) if kind in output.get("data", {})]


def copy_notebooks(source: Path, target: Path) -> dict[str, str]:
    """Copy a folder of notebooks with its subfolders but `exam`, without overwriting a user's work.

    A document that a notebook links to, `../docs/errata.md`, is copied to `docs` in the target; a page, with the pages
    next to it.

    A second call copies new versions. Edited copies do not change. A copy that was only run is replaced, with its
    outputs, if the notebook changed.

    Returns:
        The result for each notebook, by file name: `"copied"`, `"updated"`, `"unchanged"`, or `"yours kept"`.

    Raises:
        ValueError: the target is the folder itself.
        FileNotFoundError: no notebooks in the source.
    """
    if os.path.realpath(target) == os.path.realpath(source):
        raise ValueError(f"{target} is the notebooks' own folder: copy to a different folder.")
    notebooks = find_notebooks(source)
    make_folder(target)
    memory = target / COPIED
    held = _copied(memory)
    done = {}
    named: set[str] = set()
    for path in notebooks:
        notebook, copy = read_notebook(path), target / path.name
        for cell in notebook.cells:
            named |= set(DOCUMENT.findall(cell.source))
            cell.source = DOCUMENT.sub(_in_docs, cell.source)
        new = fingerprint(notebook)
        now = fingerprint(read_notebook(copy)) if copy.exists() else None
        if now == new:
            done[path.name] = "unchanged"
        elif now is None or now == held.get(path.name):
            write_text(copy, DOCUMENT.sub(_in_docs, path.read_text(encoding="utf-8")))
            done[path.name] = "copied" if now is None else "updated"
        else:
            done[path.name] = "yours kept"
            continue
        held[path.name] = new
    for beside in source.iterdir():
        if beside.is_dir() and not beside.name.startswith((".", "__")) and beside.name != EXAM:
            shutil.copytree(beside, target / beside.name, dirs_exist_ok=True)
    for name in named:
        document = source.parent / name
        copy = target / "docs" / name.removeprefix("docs/")
        for file in document.parent.glob("*.html" if document.suffix == ".html" else document.name):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy.with_name(file.name))
    write_text(memory, json.dumps(held, indent=2) + "\n")
    return done


def _in_docs(link: re.Match[str]) -> str:
    return f"](docs/{link[1].removeprefix('docs/')})"


def _copied(memory: Path) -> dict[str, str]:
    """The fingerprints of the copies; none if the file is missing or damaged, so that every edited copy is kept."""
    try:
        held = read_json(memory)
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def fingerprint(notebook: "NotebookNode") -> str:
    """SHA-256 of the cells without their outputs: unchanged by a run, changed by an edit."""
    cells = [[cell.cell_type, cell.source] for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def title_of(notebook: "NotebookNode", otherwise: str) -> str:
    """The first heading in the text of a notebook."""
    for cell in notebook.cells:
        heading = re.search(r"^#+ +(.+?) *#*$", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and heading:
            return heading[1]
    return otherwise
