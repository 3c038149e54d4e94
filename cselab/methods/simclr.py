"""SimCLR (Chen et al. 2020): two views, a projection, and all 2N vectors of the batch as anchors."""

from cselab.encoders.heads import ProjectionHead
from cselab.losses import Loss, nt_xent
from cselab.methods import SURVEY_RECIPES, Contrastive, Head, Setup, Views, register
from cselab.methods.hyperparameters import PositiveFloat, PositiveInt


@register("simclr", "SimCLR")
class SimCLR(Contrastive):
    """NT-Xent over the 2N projected views of N sentences.

        l_i = -log( e^{cos(z_i, z_j) / t} / sum_{k != i} e^{cos(z_i, z_k) / t} ),   i = 1 ... 2N                 Eq. 1
        z = W2 relu(W1 h),   h the sentence's vector, j the second view of i's sentence

    The views are two dropout masks of one sentence, which replace the crops and colours of images; h, before
    the projection, is evaluated, as in the paper. The survey names SimCLR as one of its two frameworks (section 2.1.1,
    Fig. 2), which most of its methods share.

    The paper trains ResNets with batches of 4,096 and LARS, and prints nothing for sentences: the recipe is the
    survey's. `temperature` 0.1 is its best for images, `width` its 128.

    See also: `SimCSE`, one direction and N - 1 negatives; `ConSERT`, `CLEAR`, `DeCLUTR` and `VaSCL`, NT-Xent with
        different views; `MoCo`, the second framework; `cselab.losses.nt_xent`.
    """

    family = "loss"
    temperature: PositiveFloat = 0.1
    width: PositiveInt = 128

    recipes = SURVEY_RECIPES

    def build(self, setup: Setup) -> Head:
        return ProjectionHead(setup.width, self.width, setup.generator) if self.head == "mlp" else None

    def loss(self, v: Views) -> Loss:
        return nt_xent(v.anchor, v.positive, self.temperature)
