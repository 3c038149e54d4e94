"""SR-BERT (Xu et al. 2023, the survey's own): a word changes place with a synonym."""

from cselab.methods import SURVEY_RECIPES, Contrastive, Encode, Head, Rows, Setup, Views, register
from cselab.methods.components import synonyms
from cselab.methods.hyperparameters import UnitInterval


@register("sr_bert", "SR-BERT")
class SRBERT(Contrastive):
    """The views are the sentence and a copy with some words replaced by synonyms, each with dropout.

        l_i = InfoNCE( f(x_i), f(synonyms(x_i)) )                              survey section 3.2.2 and Eq. 1

    `share` of the words are replaced, at least one where the table has any. The survey does not print its share;
    10 % is the habit of easy data augmentation. The survey used WordNet; in cselab the world's synonyms are the
    default, and `table` is a tab-separated file with the columns word and synonym.

    See also: `BTBERT`, whose second view is a whole new sentence; `SimCSE`, which the survey's SR-BERT falls below.
    """

    family = "text"
    positives_by_dropout = False
    share: UnitInterval = 0.1
    table: str | None = None

    recipes = SURVEY_RECIPES

    def build(self, setup: Setup) -> Head:
        self.synonyms = synonyms(self.table)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        return Views(*encode(list(batch), self.synonyms(batch, self.share, self.generator)))
