"""A panel that computes in the page: it answers in a notebook, in the book and in a file that is sent by mail.

A page panel is a JavaScript module with a function `mount(place, state, told)`, which shows a state and lets a hand
change it, and a class that names both:

    class Sphere(PagePanel):
        modules = (*COMPUTING, HERE / "sphere.js")                            # imported modules first
        mount = "mountSphere"
        state_class = SphereState                                         # a frozen dataclass of JSON's values
        alt_text = staticmethod(summary)                                      # of a state, in words

`told(state)` is to be called when a hand lets go; `mount` returns `update(state)` and `stop()`. Constants,
such as the weights of an encoder, is `carried`: a fourth argument, JSON but for bytes, which are base64 in a page.
"""

import hashlib
import html
import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import anywidget
import traitlets

from cselab._util.writing import write_text

from .cell_registry import replace_earlier
from .fields import changed
from .page import bare_page, heading
from .scripts import KIT, LISTEN_JS, inlined
from .theme import style_sheet

CSS = style_sheet("panel", "page_panel")
COMPUTING = tuple(KIT / f"{name}.js" for name in ("linear", "autograd", "losses", "geometry", "draws", "page_controls"))
WIDGET_JS = (KIT / "page_panel.js").read_text(encoding="utf-8")

_PIECE = """\
<style>{css}</style>
<div class="cselab-panel">
<div class="cselab-page" data-cselab-page="{digest}">
<pre>{summary}</pre>
</div>
</div>
<script>(function () {{
{script}
document.querySelectorAll('[data-cselab-page="{digest}"]').forEach(function (div) {{
  if (div.dataset.drawn) return;
  div.dataset.drawn = "yes";
  div.textContent = "";
  {mount}(div, {state}, function () {{}}, {carried});
}});
}})();</script>"""


class PagePanel(anywidget.AnyWidget):
    """A state, and a front end that shows it and computes its consequences.

    Attributes:
        state: the state shown now, also after a hand changed it; a frozen dataclass. Change it by `set`.
    """

    modules: ClassVar[Sequence[Path]] = ()
    mount: ClassVar[str] = ""
    state_class: ClassVar[type]
    alt_text: Callable[[Any], str]

    _css = CSS
    shown = traitlets.Dict().tag(sync=True)
    carried = traitlets.Dict().tag(sync=True)
    own_id = traitlets.Unicode().tag(sync=True)
    state = traitlets.Any()

    def __init_subclass__(cls, **options: Any) -> None:
        if "modules" in cls.__dict__:  # not the class that adding traits makes of it
            cls._script = inlined(cls.modules)
            cls._esm = f"{LISTEN_JS}{cls._script}const mount = {cls.mount};\n{WIDGET_JS}"
        super().__init_subclass__(**options)

    def __init__(self, state: Any, key: str | None = None, carried: Mapping[str, Any] | None = None) -> None:
        own_id = uuid4().hex
        self._key = key
        carried = dict(carried or {})
        super().__init__(state=state, shown=asdict(state), carried=carried, own_id=own_id, model_id=own_id)

    def set(self, **changes: Any) -> None:
        """Change fields of the state; the screen follows.

        Raises:
            TypeError: a name is not a field of the state.
            ValueError: the state rejects a value.
        """
        self.state = changed(self, changes)
        self.shown = asdict(self.state)

    @traitlets.observe("shown")
    def _hand_let_go(self, change: Any) -> None:
        if change["new"] != asdict(self.state):
            self.state = self.state_class(**change["new"])

    def summary(self) -> str:
        """The current state in words."""
        return self.alt_text(self.state)

    def to_html(self, path: str | Path) -> Path:
        """Write one file that opens in a browser, without a kernel and without a network; returns its path."""
        path = Path(path)
        write_text(path, bare_page(self._html(), heading(self)))
        return path

    def _html(self) -> str:
        state, carried = _json(asdict(self.state)), _json(self.carried)
        named = f"{type(self).__name__} {state} {carried}".encode()
        return _PIECE.format(
            css=CSS,
            digest=hashlib.sha256(named).hexdigest()[:16],
            summary=html.escape(self.summary()),
            script=self._script,
            mount=self.mount,
            state=state,
            carried=carried,
        )

    def _in_output(self) -> str:
        """The part of a cell's output for a page without a kernel."""
        return self._html()

    def __repr__(self) -> str:
        return self.summary()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> Any:
        """The live widget; on a page without a kernel the same front end; in words."""
        replace_earlier(self, self._key)
        live = super()._repr_mimebundle_() or ({}, {})
        return {**live[0], "text/html": self._in_output(), "text/plain": self.summary()}, live[1]


def _json(given: Any) -> str:
    text = json.dumps(given, separators=(",", ":"), default=lambda raw: b64encode(raw).decode())
    return text.replace("<", "\\u003c")
