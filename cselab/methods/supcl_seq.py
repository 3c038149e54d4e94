"""SupCL-Seq (Sedghamiz et al. 2021): views under several dropout rates; sentences of a class attract each other."""

from collections.abc import Sequence

import torch

from cselab.encoders.dropout import dropout_at
from cselab.losses import Loss, sup_con
from cselab.methods import Encode, Head, Method, Rows, Setup, Views, register
from cselab.methods.hyperparameters import PositiveFloat, UnitInterval


@register("supcl_seq", "SupCL-Seq")
class SupCLSeq(Method):
    """SupCon over three views of each sentence, one under each dropout rate.

        l_i = -1/|P(i)| sum_{p in P(i)} log( e^{s_ip} / sum_{a != i} e^{s_ia} ),   i = 1 ... 3N

    s: cosines over the temperature; P(i): all further views of sentences of i's class. The rates 0, 0.05 and 0.2 and
    the temperature are those of the released code.

    Rows: sentence, topic; in the paper the labelled sets of GLUE.

    See also: `cselab.losses.sup_con`; `SupervisedSimCSE`, which needs triples and no labels.
    """

    family = "extra data"
    columns = ("sentence", "topic")
    temperature: PositiveFloat = 0.05
    low: UnitInterval = 0.0
    middle: UnitInterval = 0.05
    high: UnitInterval = 0.2

    def build(self, setup: Setup) -> Head:
        self.classes: Sequence[str] = sorted(set(self.column(setup.rows, "topic")))
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        views = []
        for rate in (self.low, self.middle, self.high):
            with dropout_at(encode.encoder.backbone, rate):
                views.append(encode(self.column(batch, "sentence")))
        labels = [self.classes.index(topic) for topic in self.column(batch, "topic")]
        return Views(*views, labels=torch.tensor(labels, device=views[0].device))

    def loss(self, v: Views) -> Loss:
        return sup_con(v.anchor, list(v.positives), v.labels, self.temperature)
