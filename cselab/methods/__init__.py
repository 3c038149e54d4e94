"""One file per method: how its views are made, how they are contrasted. `METHODS` has them by name.

Every file of this folder is imported, so a method is registered once its file is here; its class is, for example,
`cselab.methods.SimCSE`.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.training_forward import Encode, TokenizedBatch, Vectors, ViewInput
from cselab.methods.base import FAMILIES, METHODS, Head, Method, Rows, Setup, Views, create_method, get_method, register
from cselab.methods.contrastive import Contrastive
from cselab.methods.recipe import CARDS_RECIPES, IMSIMCSE_RECIPES, SIMCSE_RECIPES, SURVEY_RECIPES, Recipe

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

CLASSES = {method.__name__: method for method in METHODS.values()}

__all__ = [
    "CARDS_RECIPES",
    "FAMILIES",
    "IMSIMCSE_RECIPES",
    "METHODS",
    "SIMCSE_RECIPES",
    "SURVEY_RECIPES",
    "Contrastive",
    "Encode",
    "Head",
    "Method",
    "Recipe",
    "Rows",
    "SentenceEncoder",
    "Setup",
    "TokenizedBatch",
    "Vectors",
    "ViewInput",
    "Views",
    "create_method",
    "get_method",
    "register",
    *CLASSES,
]


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return CLASSES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
