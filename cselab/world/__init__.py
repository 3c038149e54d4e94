"""The bundled world: a small grammar with a broad vocabulary whose sentences carry their meaning."""

from cselab.world.meaning import Meaning, Sentence, Thing
from cselab.world.world import World

__all__ = ["Meaning", "Sentence", "Thing", "World"]
