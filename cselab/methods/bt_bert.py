"""BT-BERT (Xu et al. 2023, the survey's own): a sentence and its back-translation."""

from cselab.methods import SURVEY_RECIPES, Contrastive, Encode, Rows, Views, register


@register("bt_bert", "BT-BERT")
class BTBERT(Contrastive):
    """The sentence and a paraphrase, each with dropout.

        l_i = InfoNCE( f(x_i), f(paraphrase_i) )                               survey section 3.2.2 and Eq. 1

    The survey translated its corpus into a second language, which it does not name, and back. Here each row has its
    paraphrase: true ones from the world, or translations in your file.

    See also: `SRBERT`, which changes single words; `CERT`, which contrasts such views with a queue.
    """

    family = "extra data"
    positives_by_dropout = False
    columns = ("sentence", "paraphrase")

    recipes = SURVEY_RECIPES

    def views(self, encode: Encode, batch: Rows) -> Views:
        return Views(*encode(self.column(batch, "sentence"), self.column(batch, "paraphrase")))
