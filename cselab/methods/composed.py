"""Two methods in one: the survey's MixCSE-DiffCSE, and ImSimCSE and Focal on top of DiffCSE and DCLR.

Each is no more than the names of its parts: see `Contrastive`. All three papers are of 2023.
"""

from cselab.methods import SURVEY_RECIPES, Recipe, register
from cselab.methods.dclr import DCLR
from cselab.methods.diffcse import DiffCSE
from cselab.methods.focal import Focal
from cselab.methods.imsimcse import ImSimCSE
from cselab.methods.mixcse import MixCSE


@register("mixcse_diffcse", "MixCSE-DiffCSE")
class MixDiffCSE(DiffCSE, MixCSE):
    """MixCSE's negatives and DiffCSE's second network (survey, Table 8); trained at 3e-5, not DiffCSE's 7e-6.

    See also: `MixCSE`, `DiffCSE`.
    """

    variants = {"paper": {}, "released": MixCSE.variants["released"] | DiffCSE.variants["released"]}
    recipes = SURVEY_RECIPES


@register("imsimcse_diffcse", "DiffCSE + ImSimCSE")
class ImSimDiffCSE(DiffCSE, ImSimCSE):
    """DiffCSE's second network with ImSimCSE's loss (ImSimCSE, Table 4).

    See also: `DiffCSE`, `ImSimCSE`.
    """

    variants = {"paper": {}}
    recipes = {"bert-base": Recipe(lr=7e-6, epochs=2)}


@register("focal_diffcse", "DiffCSE + Focal-InfoNCE")
class FocalDiffCSE(DiffCSE, Focal):
    """DiffCSE's second network with Focal's loss (Focal-InfoNCE, Table 3).

    See also: `DiffCSE`, `Focal`.
    """

    variants = {"paper": {}}


@register("imsimcse_dclr", "DCLR + ImSimCSE")
class ImSimDCLR(DCLR, ImSimCSE):
    """DCLR's noise and its weights for false negatives in ImSimCSE's loss, all measured against clean vectors.

    See also: `DCLR`, `ImSimCSE`.
    """

    variants = {"paper": {}}


@register("focal_dclr", "DCLR + Focal-InfoNCE")
class FocalDCLR(DCLR, Focal):
    """DCLR's noise and its weights for false negatives in Focal's loss.

    See also: `DCLR`, `Focal`.
    """

    variants = {"paper": {}}
