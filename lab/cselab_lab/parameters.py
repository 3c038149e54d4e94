"""The parameters of a notebook, read by papermill: the assignments in the one cell tagged `parameters`."""

import ast
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode


def parameters_of(notebook: "NotebookNode", name: str) -> dict[str, object]:
    """The parameters and their defaults, in the order of the cell.

    Raises:
        ValueError: not exactly one cell tagged `parameters`, or a default that is not a plain value
            (bool, int, float, str, None, or a list of these).
    """
    if (before := notebook.metadata.get("orig_nbformat", 4)) < 4:
        raise ValueError(
            f"{name} is a notebook of format {before}: convert it with "
            f"jupyter nbconvert --to notebook --inplace {shlex.quote(name)}.ipynb"
        )
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise ValueError(
            f"{name}: a notebook needs exactly one cell tagged 'parameters'; this one has {len(tagged)}. "
            "In JupyterLab: select the cell, open the property inspector (the gears), add the tag."
        )
    from papermill.translators import PythonTranslator

    parameters = PythonTranslator.inspect(tagged[0])
    return {parameter.name: _default(name, parameter.name, parameter.default) for parameter in parameters}


def typed_parameters(name: str, defaults: Mapping[str, object], overrides: Mapping[str, object]) -> dict[str, object]:
    """The overrides, each as the type of its default: `"200"` becomes 200 where the default is an int.

    A list is written `a,b,c` or `[a, b, c]`. A parameter with default None accepts each plain value.

    Raises:
        ValueError: an unknown parameter, or a value of a type that differs from the default.
    """
    unknown = [parameter for parameter in overrides if parameter not in defaults]
    if unknown:
        raise ValueError(
            f"{name}: unknown parameter {', '.join(map(repr, unknown))}. "
            f"It has: {', '.join(defaults) or 'none at all'}."
        )
    values = {}
    for parameter, value in overrides.items():
        default = defaults[parameter]
        try:
            values[parameter] = _as_type_of(default, value)
        except ValueError:
            raise ValueError(
                f"{name}: parameter {parameter!r} needs {_kind(default)} (its default is {default!r}); got {value!r}."
            ) from None
    return values


def _default(name: str, parameter: str, expression: str) -> object:
    value = _literal(expression, otherwise=...)
    items = value if isinstance(value, list) else [value]
    if not all(item is None or isinstance(item, bool | int | float | str) for item in items):
        raise ValueError(
            f"{name}: the default of parameter {parameter!r} must be written as a plain value "
            f"(bool, int, float, str, None, or a list of these); it is {expression}."
        )
    return value


def _literal(text: str, otherwise: object) -> Any:
    """The value of a Python literal."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return otherwise


def _kind(default: object) -> str:
    if isinstance(default, list):
        return f"a list of {_kind(_typical(default)).split()[-1]}"
    return {bool: "true or false", int: "an int", float: "a float", str: "a str"}.get(type(default), "a value")


def _typical(items: list) -> object:
    """The item with the type of the list: a float if ints and floats are mixed."""
    return next((item for item in items if isinstance(item, float)), items[0] if items else "")


def _as_type_of(default: object, value: Any) -> object:
    if isinstance(value, str) and not isinstance(default, str):
        text = value.strip()
        value = _literal(text.capitalize() if text.lower() in ("true", "false") else text, otherwise=text)
    if isinstance(default, list):
        items = [item.strip() for item in value.strip("[]").split(",")] if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            items = [items]
        return [_as_type_of(_typical(default), item) for item in items]
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if default is not None and type(value) is not type(default):
        raise ValueError
    return value
