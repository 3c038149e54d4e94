"""The book: the executed notebooks, the teachers' pages, the tables of the experiments, the reference.

`scripts/book.py` gathers the pages beside this file and runs Sphinx. Nothing is loaded from a network: formulas are
MathML, figures are drawn by the plotly.js that lies in `_static`.
"""

from cselab_lab.headless.page import mathml

from cselab import __version__

project = "cselab"
author = "the cselab authors"
version = release = __version__
html_title = "cselab"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {}  # not navigation_with_keys: arrow keys move points and values
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_math_renderer = "mathml"

nb_execution_mode = "off"
nb_render_markdown_format = "myst"
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "text/html", 0)]
myst_enable_extensions = ["dollarmath", "amsmath", "html_image"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # links of the gathered pages that lead to files of the repository
    "myst.header",
    "mystnb.unknown_mime_type",  # recorded numbers, which have a text beside them
]

default_role = "code"  # docstrings write names between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
autodoc_mock_imports = ["sentence_transformers"]  # the only library that a documented module needs and the book has not
napoleon_use_rtype = False


def mathml_of(kind, place):
    def visit(translator, node):
        from docutils import nodes

        translator.body.append(place.format(mathml(node.astext(), kind)))
        raise nodes.SkipNode

    return visit


def without_substitutions(app, what, name, obj, options, lines):
    """In a docstring |x| is an absolute value, never the name of a replacement."""
    lines[:] = [line if line.lstrip().startswith(">>>") else line.replace("|", r"\|") for line in lines]


def with_scripts(app, pagename, templatename, context, doctree):
    """What the lessons need of scripts, after their text: plotly.js and their figures."""
    if doctree is not None and pagename.startswith("lessons/"):
        for name in ("plotly.min.js", "plots.js"):
            app.add_js_file(name, loading_method="defer")


def setup(app):
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(mathml_of("inline", "{}"), None),
        block_renderers=(mathml_of("block", '<div class="math">{}</div>'), None),
    )
    app.connect("autodoc-process-docstring", without_substitutions)
    app.connect("html-page-context", with_scripts)
    return {"parallel_read_safe": True}
