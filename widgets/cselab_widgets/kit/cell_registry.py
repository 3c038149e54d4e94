"""Which panel is open where, so that running a cell again closes the cell's earlier panel."""

from typing import Any

from IPython import get_ipython

# Place -> (the run of the cell that showed them, what it showed).
_open: dict[str, tuple[str | None, list[Any]]] = {}


def replace_earlier(panel: Any, key: str | None) -> None:
    """Replace the panel that an earlier run showed in the running cell (or in the cell of `key`) with `panel`."""
    place, run = (f"key {key}", None) if key is not None else _running_cell()
    if place is None:
        return
    earlier_run, panels = _open.get(place, (None, []))
    if key is not None or run != earlier_run:
        for earlier in panels:
            if earlier is not panel:
                earlier.close()
        panels = []
    _open[place] = (run, [*panels, panel])


def _running_cell() -> tuple[str | None, str | None]:
    """The id of the cell being run and of this run of it, as a notebook tells them; else None."""
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = parent.get("metadata", {}).get("cellId")
    return (f"cell {cell}", parent["header"]["msg_id"]) if cell else (None, None)
