"""An executed notebook as one HTML page without external files: the page contains plots, formulas and images.

nbconvert renders the cells. Its pages load MathJax and require.js from the network and drop plotly figures. Our page
contains plotly.js once, and formulas are MathML, which browsers draw natively.
"""

import copy
import json
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from cselab._util.writing import write_text

from .notebook_folder import output_data, tags_of, title_of
from .record import GUESS_TYPE, NO_GUESS
from .record import MIME_TYPE as RECORD_TYPE

PLOTLY_FIGURE = "application/vnd.plotly.v1+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
OWN_FIGURE = "data-cselab-figure"
PANEL = re.compile(r'<div class="cselab-panel">.*(?=<script>)', re.DOTALL)
NOTE = re.compile(r'<p class="cselab-note">(.*?)(?: Click [^.]*\.)?</p>')  # a click does nothing in the main picture
PLOTS = Path(__file__).parent / "page_template" / "plots.js"
LINK = re.compile(r'<a href="(\w+)\.ipynb">(.*?)</a>')  # to a notebook
NAME = r"(?<!<msub>)<mi>(log|ln|exp|cos|max|min)</mi>(?!<mo[^>]*>&#x00028;)"  # of a function without a bracket
IMPROVED = {  # in MathML: wide formulas scroll by keys; space around function names, none inside bars; high primes
    '<math ([^>]*display="block")': r'<math tabindex="0" \1',
    rf"(</(?:mi|mn|msub|msup|msubsup)>){NAME}": r'\1<mo lspace="0.17em" rspace="0.17em">\2</mo>',
    NAME: r'<mo lspace="0" rspace="0.17em">\1</mo>',
    r'<mo stretchy="false">&#x0007C;': '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;',
    r"<msubsup>(<mi>.</mi>)((?:(?!msubsup).)*?)<mi>&#x02032;</mi></msubsup>": (
        r'<msub><mrow>\1<mo lspace="0" rspace="0">&#x02032;</mo></mrow>\2</msub>'
    ),
}
GLUED = re.compile(r'([^\s<>]*)(<math [^>]*display="inline".*?</math>)([^\s<>]*)', re.DOTALL)  # with adjacent text
INTERACTIVE_ONLY = '<p class="aside">An interactive control: open the notebook in JupyterLab.</p>'
ELSEWHERE = """\
<blockquote>To solve this exercise, get the notebook: <code>make lab</code>, or <code>cselab notebooks copy work</code>
and <code>jupyter lab work</code>, then open <code>{name}.ipynb</code>{how}. The notebook checks your answer.
</blockquote>"""


def write_page(notebook: NotebookNode, path: Path, pictures: Path) -> list[str]:
    """Write the page of an executed notebook; return the external addresses in the page, which should be none.

    The main picture and the recorded numbers come first (`results_first`). A plotly figure is drawn
    from its data. A widget with a `text/html` fallback shows that (a script in it finds plotly.js as `window.Plotly`);
    other widgets leave a note. Pictures in the text are loaded from the folder `pictures`.
    """
    from plotly.offline import get_plotlyjs

    ready = printable(notebook, path.stem)
    _without_set_up(ready)
    results_first(ready)
    outputs = _html_of(ready.cells)
    has_figures = '<div class="figure"' in outputs
    resources = {
        "title": title_of(notebook, path.stem),
        "code_colours": _code_colours(),
        "scripts": PLOTS.read_text(encoding="utf-8") if has_figures else "",
        "metadata": {"path": str(pictures)},
    }
    page, _ = _exporter().from_notebook_node(ready, resources)
    plotly_js = get_plotlyjs()
    page = page.replace(plotly_js, "")  # a figure saved with its own copy
    outside = loaded_from_outside(page)
    if has_figures or "Plotly." in outputs:
        quiet = "Plotly.setPlotConfig({displaylogo: false, showSendToCloud: false});"
        page = page.replace("<!-- plotly.js -->", f"<script>{plotly_js}</script><script>{quiet}</script>", 1)
    write_text(path, page)
    return outside


def link_pages(pages: Iterable[Path]) -> None:
    """Let links to notebooks lead to the pages next to a page; a link without such a page becomes text."""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for whole, name, words in {found.group(0, 1, 2) for found in LINK.finditer(text)}:
            is_there = (page.parent / f"{name}.html").is_file()
            text = text.replace(whole, f'<a href="{name}.html">{words}</a>' if is_there else f"{words} (make lab)")
        write_text(page, text)


LOADING = (
    r"""<[a-z]+\s(?:[^<>]*\s)?(?:src|srcset|poster|data)=["']?((?:https?:)?//[^"'\s>]+)""",
    r"""<(?:link|image|use)\s(?:[^<>]*\s)?href=["']?((?:https?:)?//[^"'\s>]+)""",
    r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s;]+)""",
    r"""(?:import(?<![@\w]import)|from(?<!\wfrom)|\.src\s*=)\s*\(?\s*["']((?:https?:)?//[^"']+)""",
)
"""Elements with a file, links to styles and pictures, addresses in styles, and scripts that load.

The last pattern begins with letters, and looks back afterwards: `re` finds those much faster.
"""


def loaded_from_outside(page: str) -> list[str]:
    """The addresses that a browser would fetch to show a page: scripts, styles, images, frames; not links.

    >>> loaded_from_outside('<a href="https://a.org">a</a> <script src="https://b.org/b.js"></script>')
    ['https://b.org/b.js']
    """
    return [address for pattern in LOADING for address in re.findall(pattern, page)]


def main_picture(notebook: NotebookNode) -> dict:
    """The output with a plotly figure of the cell tagged `main-picture`, or else of the last cell that has one."""
    tagged = [cell for cell in notebook.cells if "main-picture" in tags_of(cell)]
    found = output_data(tagged, PLOTLY_FIGURE) or output_data(notebook.cells, PLOTLY_FIGURE)
    return found[-1] if found else {}


def results_first(notebook: NotebookNode) -> None:
    """Put the outputs of cells tagged `main-result`, the main picture and the recorded numbers below the title."""
    data = main_picture(notebook)
    headline = _html_of(cell for cell in notebook.cells if "main-result" in tags_of(cell))
    note = "".join(f'<p class="aside">{note}</p>' for note in NOTE.findall(data.get("text/html", "")) if note)
    own = PANEL.search(data.get("text/html", ""))  # drawn by the script below it, once more, and stacked on a phone
    drawn = own[0] if own else _drawn(data[PLOTLY_FIGURE], "main-picture") if data else ""
    picture = f'<div class="scroll">{drawn}{"" if own else note}</div>' if drawn else ""
    recorded = (held[RECORD_TYPE] for held in output_data(notebook.cells, RECORD_TYPE))
    rows = "".join(f"<tr><td>{escape(one['name'])}</td><td>{_short(one['value'])}</td></tr>" for one in recorded)
    # folded, because it has the answers of the guesses below
    table = f"<details><summary>measured in this run</summary><table>{rows}</table></details>" if rows else ""
    if headline or picture or table:
        html = f'{headline}<section class="results">{picture}{table}</section>'
        shown = new_output("display_data", {"text/html": html})
        results = new_code_cell("", id="page-results", outputs=[shown], metadata={"tags": ["no-code"]})
        first = notebook.cells[0] if notebook.cells else results
        if first.cell_type == "markdown" and first.source.startswith("# "):
            title, _, first.source = first.source.partition("\n")
            notebook.cells.insert(0, new_markdown_cell(title, id="page-title"))
        notebook.cells.insert(first is not notebook.cells[0], results)


def _short(value: Any) -> str:
    """A recorded value with three significant digits."""
    if not isinstance(value, float):
        return escape(str(value))
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _without_set_up(notebook: NotebookNode) -> None:
    """Remove the code of parameters and folded cells; fold the code of guesses."""
    for cell in notebook.cells:
        tags = cell.metadata.setdefault("tags", [])
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
        if hidden or {"parameters", "injected-parameters"} & set(tags):
            tags.append("no-code")
        elif cell.cell_type == "code" and re.search(r"\bguess\(", cell.source):
            tags.append("guess")


def printable(notebook: NotebookNode, name: str, how: str = "") -> NotebookNode:
    """A copy whose outputs need no kernel and no front end.

    The comparison of a guess shows the answer, and an unsolved exercise names its notebook.

    Args:
        how: HTML that leads to the installation.
    """
    notebook = copy.deepcopy(notebook)
    notebook.metadata.pop("widgets", None)
    figures = 0
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if "check" in tags_of(cell) and "not solved yet" in json.dumps(cell.outputs):
            html = ELSEWHERE.format(name=escape(name), how=f" ({how})" if how else "")
            cell.outputs = [new_output("display_data", {"text/html": html})]
        cell.outputs = [output for output in cell.outputs if output.get("data", {}).get("text/plain") != NO_GUESS]
        for output in cell.outputs:
            data = output.get("data", {})
            if OWN_FIGURE in data.get("text/html", ""):
                continue  # a panel draws itself
            if GUESS_TYPE in data and not data[GUESS_TYPE]["made"]:
                told = data[GUESS_TYPE].get("sentence")
                answers = map(_answer, data[GUESS_TYPE]["found"])
                data["text/html"] = f"<p>{escape(told)}</p>" if told else "".join(answers)
            elif PLOTLY_FIGURE in data:
                figures += 1
                data["text/html"] = _drawn(data[PLOTLY_FIGURE], f"figure-{figures}")
            elif WIDGET_VIEW in data and not {"text/html", "image/png", "image/svg+xml"} & data.keys():
                data["text/html"] = INTERACTIVE_ONLY
            elif "text/html" in data:  # the corner of a table of pandas is no header
                data["text/html"] = data["text/html"].replace("<th></th>", "<td></td>")
    return notebook


def _answer(found: dict[str, Any]) -> str:
    """The answer of a guess that nobody made."""
    return f"<div>{escape(found['name'].replace('_', ' '))}: it is {escape(found['words'])}</div>"


def _html_of(cells: Iterable[NotebookNode]) -> str:
    return "".join(data["text/html"] for data in output_data(cells, "text/html"))


def _drawn(figure: dict, name: str) -> str:
    """An element in which plots.js draws a figure."""
    from plotly.utils import PlotlyJSONEncoder

    parts = {part: figure[part] for part in ("data", "layout", "frames") if part in figure}
    data = json.dumps(parts, separators=(",", ":"), cls=PlotlyJSONEncoder).replace("<", "\\u003c")
    height = parts.get("layout", {}).get("height") or 450  # Plotly's own
    return (
        f'<div class="figure" id="{name}" style="min-height: {height}px">'
        f'<script type="application/json">{data}</script></div>'
    )


def _exporter() -> Any:
    from jinja2 import pass_context
    from nbconvert.exporters import HTMLExporter
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    class Renderer(IPythonRenderer):
        def inline_math(self, body: str) -> str:
            return mathml(body, "inline")

        def block_math(self, body: str) -> str:
            parts = [part for part in body.split(r"\qquad") if part.strip()]
            if len(parts) < 2 or any(part.count("{") != part.count("}") for part in parts):
                return mathml(body, "block")
            return f'<span class="formulas">{"".join(mathml(part, "block") for part in parts)}</span>'

        def block_html(self, html: str) -> str:
            return html  # nbconvert would look for pictures in it and close an open <details>

        def inline_html(self, html: str) -> str:
            return html

        def latex_environment(self, name: str, body: str) -> str:
            return mathml(rf"\begin{{{name}}}{body}\end{{{name}}}", "block")

    class PageExporter(HTMLExporter):
        @pass_context
        def markdown2html(self, context: Any, source: Any) -> Any:
            renderer = Renderer(
                escape=False,
                attachments=context.get("cell", {}).get("attachments", {}),
                embed_images=True,
                path=context["resources"]["metadata"]["path"],
                anchor_link_text="#",
            )
            html = MarkdownWithMath(renderer=renderer).render(source)
            return GLUED.sub(r'<span class="glued">\1\2\3</span>', html)

    exporter = PageExporter(extra_template_basedirs=[str(Path(__file__).parent)], template_name="page_template")
    exporter.config.NbConvertBase.display_data_priority = [
        "text/html", "text/markdown", "image/svg+xml", "text/latex", "image/png", "image/jpeg", "text/plain"
    ]  # fmt: skip
    return exporter


def mathml(latex: str, display: str) -> str:
    """A formula as MathML; one that cannot be converted stays LaTeX, as code.

    >>> mathml(r"x^2", "inline").startswith("<math")
    True
    """
    from latex2mathml.converter import convert

    try:
        converted = convert(latex.replace("{aligned}", "{split}"), display=display)  # the library supports only {split}
    except Exception:  # the library's errors have no common class
        converted = "\\"
    if "\\" in converted:  # an unsupported command remains in the text
        return f"<code>{escape(latex.strip())}</code>"
    for written, shown in IMPROVED.items():
        converted = re.sub(written, shown, converted)
    return converted


def _code_colours() -> str:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="xcode").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n.highlight {{ background: none; }}"
