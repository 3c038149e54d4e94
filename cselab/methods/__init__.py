"""One file a method: how its views are made, how they are contrasted. `METHODS` knows them by name."""

from cselab.encoding import Encode
from cselab.methods.barlow_twins import BarlowTwins
from cselab.methods.base import FAMILIES, METHODS, Method, Views, create_method, get_method, register
from cselab.methods.contrastive import Contrastive
from cselab.methods.focal import Focal
from cselab.methods.imsimcse import ImSimCSE
from cselab.methods.noise import Noise
from cselab.methods.recipe import Recipe
from cselab.methods.simcse import SimCSE
from cselab.methods.whitenedcse import WhitenedCSE

__all__ = [
    "FAMILIES",
    "METHODS",
    "BarlowTwins",
    "Contrastive",
    "Encode",
    "Focal",
    "ImSimCSE",
    "Method",
    "Noise",
    "Recipe",
    "SimCSE",
    "Views",
    "WhitenedCSE",
    "create_method",
    "get_method",
    "register",
]
