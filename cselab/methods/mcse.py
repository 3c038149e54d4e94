"""MCSE (Zhang et al. 2022): a sentence is pulled towards its picture."""

import torch

from cselab.losses import Loss, info_nce
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat, PositiveInt


@register("mcse", "MCSE")
class MCSE(Contrastive):
    """SimCSE, and a contrast between sentences and pictures in a separate space.

        l = InfoNCE + weight * mean over the views z of InfoNCE( u(z_i), v(y_i) )
        u = tanh(A x + a),  v = tanh(B y + b),  of `width` numbers each; x before the head, y the picture's features

    Rows: sentence, scene: numbers separated by blanks, as many in each row. The world's scenes describe the content of
    a picture (`World.scene_vector`); the paper's are ResNet features of Flickr30k or COCO (2,048 numbers). The paper's
    script mixes some batches of captions into batches of text, with `weight` 0.01; if every row has a picture, as in
    cselab, the code has 0.05.

    See also: `EASE`, with an entity instead of the picture.
    """

    family = "extra data"
    columns = ("sentence", "scene")
    weight: NonNegativeFloat = 0.01
    scene_temperature: PositiveFloat = 0.05
    width_of_space: PositiveInt = 256

    recipes = {"bert-base": Recipe(lr=3e-5, epochs=3)}

    def build(self, setup: Setup) -> Head:
        seen = len(_numbers(setup.rows[0][1]))
        for index, (_, scene) in enumerate(setup.rows):
            if len(_numbers(scene)) != seen:
                raise ValueError(
                    f"scene of corpus[{index}] is {scene!r:.40}; expected numbers separated by blanks, {seen} as in "
                    "corpus[0]"
                )
        self.from_text = setup.linear(setup.width, self.width_of_space)
        self.from_scene = setup.linear(seen, self.width_of_space)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        vectors = encode(sentences, sentences, head=False)
        v = Views(*(z if encode.head is None else encode.head(z) for z in vectors))
        scenes = torch.tensor([_numbers(scene) for scene in self.column(batch, "scene")])
        v.grounded = [torch.tanh(self.from_text(z)) for z in vectors]
        v.scene = torch.tanh(self.from_scene(scenes.to(v.anchor)))
        return v

    def loss(self, v: Views) -> Loss:
        first, second = (info_nce(u, v.scene, self.scene_temperature).total for u in v.grounded)
        return super().loss(v) + self.weight * Loss({"scene": (first + second) / 2})


def _numbers(scene: str) -> list[float]:
    try:
        return [float(number) for number in scene.split()]
    except ValueError:
        return []
