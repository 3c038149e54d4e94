"""The scripts of this package as a page gets them: without the comments and the indentation that people need."""

import re
from collections.abc import Iterable
from pathlib import Path

KIT = Path(__file__).parent


def lean(source: str) -> str:
    """A script or a style sheet without comments and indentation."""
    source = re.sub(r"/\*\*.*?\*/", "", source, flags=re.DOTALL)
    lines = map(str.strip, source.splitlines())
    code = (re.sub(r"(?<=[;{,)]) // .*", "", line) for line in lines if not line.startswith("//"))
    return "\n".join(line for line in code if line) + "\n"


def inlined(modules: Iterable[Path]) -> str:
    """Modules as one script, imported modules first: no bundler, so that no two may declare the same name.

    >>> print(inlined([KIT / "autograd.js", KIT / "losses.js"]).splitlines()[0])
    let made = 0;
    """
    sources = (module.read_text(encoding="utf-8") for module in modules)
    imports = re.compile(r"^import\s.*?;\n", re.DOTALL | re.MULTILINE)
    return "".join(re.sub(r"^export ", "", lean(imports.sub("", source)), flags=re.MULTILINE) for source in sources)


FIGURE_JS = inlined([KIT / "figure.js"])
LISTEN_JS = inlined([KIT / "listen.js"])
_page = inlined([KIT / "page_controls.js", KIT / "page_figure.js"])
PAGE_JS = f"const cselabPage = (() => {{\n{_page}return cselabPage;\n}})();\n"
PLOT_JS = LISTEN_JS + lean((KIT / "plot.js").read_text(encoding="utf-8"))
