"""WhitenedCSE (Zhuo et al. 2023): shuffled group whitening makes several views of a sentence."""

from typing import Any, Literal

from torch import nn

from cselab.encoders.heads import WhitenedHead, each_view
from cselab.losses import Loss, multi_positive_info_nce
from cselab.methods import Encode, Head, Method, Rows, SentenceEncoder, Setup, Views, register
from cselab.methods.hyperparameters import Momentum, PositiveFloat, PositiveInt, UnitInterval, ViewCount
from cselab.methods.recipe import WHITENEDCSE_RECIPES, default_groups
from cselab.sgw import ShuffledGroupWhitening


@register("whitenedcse", "WhitenedCSE")
class WhitenedCSE(Method):
    """Whiten the channels in shuffled groups, and contrast an anchor with several positives.

        view_p = tanh(Linear(SGW_p(x))),  p = 1 ... num_views            Eq. 6, one permutation per view
        l_i    = weight * sum_p InfoNCE(view_1, view_p)_i                Eq. 7, p = 2 ... num_views

    `num_views` counts the anchor: the paper's m = 3 is two positives. `num_groups` is the paper's k (384 at width
    768, 256 for RoBERTa); None is 256 for RoBERTa where that divides the width, else half the width, two channels a
    group. (The paper's 384 for BERT-large is impossible: it does not divide 1,024.)

    `kind` selects the ablations of Table 3: "shuffled" groups, "group" (no shuffle), "zca" and "pca" of all
    channels at once, "none". 64 rows cannot whiten 768 channels: give those `running=True`, which whitens a batch by
    the running estimates of Eq. 13, or `shrinkage`. Section 3.2.1 calls the input "normalized" and leaves open
    how; here it is only centred, as in the code.

    `backbone_passes=num_views`, the default, gives each view a dropout mask too, as in the code, and as Tables 3 and 4
    need: without the shuffle, views of one pass would be identical. `backbone_passes=1` whitens one vector of each
    sentence `num_views` times, as section 1 describes. This gives next to no gradient: at the first step of `study`
    (seeds 0 to 2) its norm is 0.008 to 0.032, and that of SimCSE 16 to 24.

    `variant="paper"` evaluates the vector after the MLP, as in section 4.1; the remaining variants evaluate the
    backbone's vector, as in the released code. `variant="released"` computes the same as the parts of that code (its
    HEAD does not run): 128 groups if they divide the width, no eps, and `layout="contiguous_thirds"`: rows are in order
    of sentences, but contiguous blocks are whitened as if they were views. So the views of one sentence share a
    permutation, and the negatives differ by theirs.

    See also: `SimCSE`, which with `num_views=3` is this without whitening.
    """

    family = "hidden states"
    temperature: PositiveFloat = 0.05
    num_views: ViewCount = 3
    backbone_passes: PositiveInt | None = None
    kind: Literal["shuffled", "group", "zca", "pca", "none"] = "shuffled"
    num_groups: PositiveInt | None = None
    running: bool = False
    layout: Literal["per_view", "contiguous_thirds"] = "per_view"
    eps: UnitInterval = 1e-6
    shrinkage: UnitInterval = 0.0
    divisor: Literal["n", "n-1"] = "n"
    gradient_through_matrix: bool = False
    momentum: Momentum = 0.99
    reduction: Literal["outside", "inside", "inside_printed"] = "outside"
    weight: PositiveFloat = 1.0

    variants = {"paper": {"representation": "head"}, "released": {"layout": "contiguous_thirds", "eps": 0.0}}
    recipes = WHITENEDCSE_RECIPES

    def resolve_defaults(self, config: Any) -> None:
        self.backbone_passes = self.backbone_passes or self.num_views
        self.num_groups = self.num_groups or default_groups(config, released=self.variant == "released")

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if self.backbone_passes not in (1, self.num_views):
            raise ValueError(f"backbone_passes must be 1 or num_views, got {self.backbone_passes}")
        if self.backbone_passes == 1 and self.kind != "shuffled":
            raise ValueError(
                f"one backbone pass and kind={self.kind!r} make {self.num_views} identical views, from which "
                f"the encoder learns nothing: set backbone_passes={self.num_views}, or kind='shuffled'"
            )

    def build(self, setup: Setup) -> Head:
        mlp = super().build(setup)
        if self.kind == "none":
            return mlp
        names = ("eps", "shrinkage", "divisor", "gradient_through_matrix", "momentum")
        options = {name: getattr(self, name) for name in names} | {"seed": setup.seed}
        width, groups = setup.width, self.num_groups or 1
        return WhitenedHead(ShuffledGroupWhitening.of_kind(self.kind, width, groups, self.running, **options), mlp)

    def views(self, encode: Encode, batch: Rows) -> Views:
        vectors = encode(*[batch] * (self.backbone_passes or self.num_views), head=False)
        views = [vectors] * self.num_views if self.backbone_passes == 1 else vectors
        return Views(*each_view(encode.head or nn.Identity(), views, self.layout))

    def loss(self, v: Views) -> Loss:
        return multi_positive_info_nce(v.anchor, list(v.positives), self.temperature, self.reduction, self.weight)
