"""DCPCSE, also called PromCSE (Jiang et al. 2022): the encoder is frozen, a deep prefix learns."""

from cselab.encoders.adapters import DeepPrefix
from cselab.methods import Contrastive, Head, Recipe, Setup, register
from cselab.methods.hyperparameters import PositiveInt


@register("dcpcse", "DCPCSE")
class DCPCSE(Contrastive):
    """SimCSE that trains only the head and `length` key and value vectors in each layer.

        l_i = InfoNCE( f_P(x_i), f_P(x_i) ),   f frozen, P the prefix            survey section 3.2.4

    The prefix is saved and opened with the encoder (`SentenceEncoder.prefix`), and
    sentence-transformers refuses the folder, since it cannot apply it. An encoder that has a prefix already keeps and
    trains that one. Few parameters are trained, so the rate is large, 3e-2. Its supervised form is not here.

    See also: `cselab.encoders.adapters.DeepPrefix`; `PromptBERT`, whose prompt is words.
    """

    family = "extra network"
    small = {"length": 3}
    length: PositiveInt = 16

    recipes = {"bert-base": Recipe(lr=3e-2, batch_size=256)}

    def build(self, setup: Setup) -> Head:
        encoder = setup.encoder
        encoder.backbone.requires_grad_(False)
        if encoder.prefix is None:
            encoder.prefix = DeepPrefix.fresh(encoder.backbone, self.length, setup.generator).to(encoder.device)
        return super().build(setup)
