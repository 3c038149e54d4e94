"""The common parts of most methods, so that each method only has its paper's additions, and methods can be combined."""

from cselab.encoders.training_forward import Encode
from cselab.losses import Loss, info_nce
from cselab.methods.base import Method, Rows, Views
from cselab.methods.hyperparameters import PositiveFloat


class Contrastive(Method):
    """InfoNCE over two dropout views of a sentence; the base class of methods that extend this loss.

    A subclass adds to what `super().views` and `super().loss` return: negatives (`Views.with_negatives`), a term.
    Two methods that do so make a third, without a line of code:

        class MixDiffCSE(DiffCSE, MixCSE): ...

    has DiffCSE's second network and MixCSE's negatives; `class FocalDCLR(DCLR, Focal)` measures DCLR's negatives with
    Focal's loss. The first class adds to the result of the second; a class with a loss other than InfoNCE is last.
    `temperature` and other hyper-parameters of one name are shared; `variants` and `recipes` are those of the first
    that has any.
    """

    positives_by_dropout = True

    temperature: PositiveFloat = 0.05

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        return Views(*encode(sentences, sentences))

    def loss(self, v: Views) -> Loss:
        return info_nce(v.anchor, v.positive, self.temperature, v.negatives, v.log_weights)
