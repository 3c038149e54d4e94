"""Names of a package that are imported when they are first used (as in PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attach(
    package: str, attributes: Mapping[str, str], submodules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package.

    Args:
        package: its `__name__`.
        attributes: the module that defines them -> names, separated by spaces; ".name" is a module of the package.
        submodules: modules of the package that are names themselves.

    >>> __getattr__, __dir__, __all__ = attach("cselab.data", {".files": "read_lines"})
    >>> __getattr__("read_lines").__module__, __all__
    ('cselab.data.files', ['read_lines'])
    """
    modules = {name: module for module, names in attributes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name], package), name)
        if name in submodules:
            return import_module(f".{name}", package)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    names = sorted([*modules, *submodules])
    return get, lambda: names, names
