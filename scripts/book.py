"""Build the book from executed notebooks: `python scripts/book.py out build/book`.

`out` is what `cselab notebooks run --output out` wrote. The pages are gathered in `build/book/source`, the site is
`build/book/html/index.html`: open it as a file, from a disk or a USB stick.
"""

import pkgutil
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import nbformat
from cover import write_gallery  # beside this script
from cselab_lab.experiments.plan import RECIPES
from cselab_lab.headless.page import PLOTS, loaded_from_outside, printable
from cselab_widgets import PairExplorer, Sphere, ToyTraining
from cselab_widgets.kit.page_panel import PagePanel
from experiments_page import write_pages
from plotly.offline import get_plotlyjs

import cselab
from cselab._util.writing import write_text
from cselab.evaluators import PairsEvaluator
from cselab.world import World

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = {
    "Encoders and training": ["cselab.encoders", "cselab.training"],
    "Losses, whitening, methods": ["cselab.losses", "cselab.sgw", "cselab.methods", "cselab.augmentations"],
    "Measuring": ["cselab.metrics", "cselab.evaluators", "cselab.transforms"],
    "Sentences": ["cselab.data", "cselab.world"],
    "Panels": ["cselab_widgets"],
    "Notebooks and experiments": ["cselab_lab"],
    "In the tools that you have": ["cselab.integrations"],
}
ACCESSIBLE = {  # what Sphinx and its theme write, and what a screen reader and a keyboard need
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="pages">',
    ' aria-label="Toggle hidden content"': "",
    "</body>": '<script>(onresize = () => { for (const box of document.querySelectorAll("pre, .table-wrapper")) if '
    '(box.scrollWidth > box.clientWidth || box.closest("details:not([open])")) box.tabIndex = 0; })();</script></body>',
}
REGISTRIES = {  # the tables that a package knows its parts by, where they are described
    "cselab.methods": ["cselab.methods.base.METHODS", "cselab.methods.base.FAMILIES"],
    "cselab.evaluators": ["cselab.evaluators.suites.SUITES"],
}
UNLISTED = (".cli", ".checks")  # commands say what they do themselves; a check would give its exercise away


def before_and_after() -> PagePanel:
    """`micro`, and what SimCSE makes of it by its recipe: ten seconds of a core, the same for the same machine."""
    plain, world = cselab.SentenceEncoder("micro"), World()
    corpus = [sentence.text for sentence in world.sentences(2_000, split="train")]
    dev = PairsEvaluator(world.sts(600, split="dev"))
    run = cselab.train(plain.copy(), "simcse", corpus, RECIPES["micro"].config(seed=0), dev)
    return PairExplorer({"micro": plain, "after SimCSE": run}, world.sts(120, split="dev")).in_page()


# panels that compute in the page: the page that shows each
LIVE = {"sphere": Sphere, "training": ToyTraining, "type": before_and_after}


def lessons(executed: Path, target: Path) -> int:
    """The executed notebooks, their figures as HTML that needs plotly.js and nothing else."""
    target.mkdir(parents=True)
    notebooks = sorted(file for file in executed.glob("*.ipynb"))
    for file in notebooks:
        how = '<a href="../readme.html#start">what it needs</a>'
        notebook = printable(nbformat.read(file, as_version=4), file.stem, how)
        for cell in notebook.cells:
            cell.source = with_own_pages(cell.source, is_top=False)
            tags = cell.metadata.setdefault("tags", [])
            if {"parameters", "injected-parameters"} & set(tags) or cell.get("id") in ("colab", "setup"):
                tags.append("remove-input")
            elif cell.metadata.get("jupyter", {}).get("source_hidden"):
                tags.append("hide-input")
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                kept = next((kind for kind in ("text/html", "image/svg+xml", "image/png") if kind in data), None)
                if kept:
                    output["data"] = {kept: data[kept]}
        nbformat.write(notebook, target / file.name)
    return len(notebooks)


def modules_of(name: str) -> list[str]:
    """The modules to describe: one that exports names stands for all beneath it."""
    module = import_module(name)
    if hasattr(module, "__all__") or not hasattr(module, "__path__"):
        return [name]
    inside = pkgutil.iter_modules(module.__path__, f"{name}.")
    public = [one for one in inside if not one.name.rpartition(".")[2].startswith("_")]
    parts = [modules_of(one.name) if one.ispkg else [one.name] for one in public if not one.name.endswith(UNLISTED)]
    return [name, *(module for part in parts for module in part)]


def without_others(name: str) -> list[str]:
    """The option that leaves out what a package exports of another, which is described there."""
    module = sys.modules.get(name)  # one that modules_of had no need to import exports nothing of others
    exported = {part: getattr(module, part) for part in getattr(module, "__all__", [])}
    others = [part for part, one in exported.items() if not getattr(one, "__module__", name).startswith(name)]
    return [f"   :exclude-members: {', '.join(others)}"] if others else []


def page_of_modules(title: str, names: list[str]) -> str:
    """A page of the reference: each module with its members."""
    parts = [f"# {title}\n"]
    for module in (module for name in names for module in modules_of(name)):
        tables = [f".. autodata:: {table}\n   :no-value:\n" for table in REGISTRIES.get(module, [])]
        described = "\n".join([f".. automodule:: {module}", *without_others(module), "", *tables])
        parts.append(f"## {module}\n\n```{{eval-rst}}\n{described}```\n")
    return "\n".join(parts)


def with_own_pages(text: str, is_top: bool) -> str:
    """Links to the files of docs/play lead to the book's pages of the same panels."""
    for file, page in {"index": "training", "sphere": "sphere"}.items():
        text = re.sub(rf"\]\((\.\./)?(docs/)?play/{file}\.html\)", f"]({'' if is_top else '../'}{page}.md)", text)
    return text


def gather(executed: Path, source: Path) -> None:
    """All pages of the book beneath one folder, as Sphinx wants them."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "book", source)
    (source / "_static" / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    shutil.copy(PLOTS, source / "_static")
    for name, panel in LIVE.items():
        (source / f"{name}.html").write_text(panel()._html(), encoding="utf-8")
    if not lessons(executed, source / "lessons"):
        sys.exit(f"no executed notebooks in {executed}: cselab notebooks run --output {executed}")
    (source / "gallery.html").write_text(write_gallery(executed, source / "_static/cover"), encoding="utf-8")
    (source / "results").mkdir()
    for file in sorted((ROOT / "results").glob("*.md")):
        shutil.copy(file, source / "results")
    write_pages(source / "results")
    shutil.copy(ROOT / "notebooks" / "README.md", source / "teachers.md")
    shutil.copy(ROOT / "CONTRIBUTING.md", source / "contributing.md")
    readme = (ROOT / "README.md").read_text(encoding="utf-8").removeprefix("# cselab\n")
    readme = re.sub(r'<a href="docs/[^"]*">|</a>', "", readme)  # Sphinx links a picture to itself
    (source / "readme.md").write_text(f"# Installing and using it\n{readme}", encoding="utf-8")
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("book", "*.html"))
    for file in (source / "readme.md", *(source / "docs").glob("*.md")):
        file.write_text(with_own_pages(file.read_text(encoding="utf-8"), file.parent == source), encoding="utf-8")

    (source / "reference").mkdir()
    pages = []
    for number, (title, names) in enumerate(REFERENCE.items(), start=1):
        pages.append(f"reference/{number}")
        page = page_of_modules(title, names)
        (source / "reference" / f"{number}.md").write_text(page, encoding="utf-8")
    toc = "\n".join(["```{toctree}", ":maxdepth: 1", "", *pages, "```", ""])
    (source / "reference.md").write_text(f"# Reference\n\nVersion {cselab.__version__}.\n\n{toc}", encoding="utf-8")


def main(executed: Path, folder: Path) -> None:
    from sphinx.cmd.build import build_main

    source, site = folder / "source", folder / "html"
    gather(executed, source)
    if failed := build_main(["-q", "-b", "html", "-d", str(folder / "doctrees"), str(source), str(site)]):
        sys.exit(failed)
    shutil.copytree(ROOT / "docs" / "play", site / "docs" / "play", dirs_exist_ok=True)
    outside = set()
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        outside |= set(loaded_from_outside(text))
        for old, new in ACCESSIBLE.items():
            text = text.replace(old, new)
        write_text(page, text)
    if outside:
        sys.exit(f"the book cannot be read offline: it loads {', '.join(sorted(outside))}")
    print(f"ready: {site / 'index.html'}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:] or ("out", "build/book")))
