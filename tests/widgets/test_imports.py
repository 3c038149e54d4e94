import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import cselab_widgets
from cselab_widgets.kit.page_panel import PagePanel
from cselab_widgets.kit.panel import Panel
from small_panels import PANELS

ROOT = Path(cselab_widgets.__file__).parent


def imported(file: Path) -> set[str]:
    """The modules of the package that a file imports, wherever in it: `kit.theme`, ..."""
    here = file.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.add(".".join([*here[: len(here) - node.level + 1], *(node.module or "").split(".")]))
    return found


def test_no_module_imports_itself_round_a_corner():
    """No module imports itself round a corner and the kit no panel."""
    files = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in ROOT.rglob("*.py")}
    graph = {name: imported(file) & files.keys() for name, file in files.items()}
    assert graph["panels.noise_lab"] >= {"kit.panel", "kit.planes"}
    list(TopologicalSorter(graph).static_order())  # raises where there is a cycle
    assert not any(to.startswith("panels") for name, tos in graph.items() if name.startswith("kit") for to in tos)


def test_without_plotly_the_message_has_the_line():
    """Without plotly the message has the line that installs it."""
    code = "import sys; sys.modules['plotly'] = None; import cselab_widgets"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert failed.stderr.rstrip().endswith("the panels need plotly; in a clone: pip install '.[notebooks]'")


def test_every_public_panel_is_listed_tested_and_in_the_gallery():
    panels = {name for name in cselab_widgets.__all__ if isinstance(getattr(cselab_widgets, name), type)}
    panels = {name for name in panels if issubclass(getattr(cselab_widgets, name), Panel | PagePanel)} - {"Panel"}
    listed = {line.split()[0] for line in cselab_widgets.__doc__.splitlines() if re.match(r"    [A-Z]", line)}
    gallery = (ROOT.parents[1] / "notebooks/gallery.ipynb").read_text(encoding="utf-8")
    assert panels == listed and panels - PANELS.keys() == {"Picture", "Sphere", "ToyTraining"}
    assert {name for name in panels if f"{name}(" not in gallery} == {"Picture"}  # it shows one's own plot
