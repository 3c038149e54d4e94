"""The bundled world: a small grammar with a broad vocabulary whose sentences carry their meaning."""

from .meaning import Meaning, Sentence, Thing
from .world import World

__all__ = ["Meaning", "Sentence", "Thing", "World"]
