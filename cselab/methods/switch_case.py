"""The case switch of CARDS (Wang et al. 2022): different sub-words for the same words."""

from dataclasses import replace

from cselab.augmentations import switch_case
from cselab.methods import CARDS_RECIPES, Contrastive, Encode, Rows, Views, register
from cselab.methods.hyperparameters import UnitInterval


@register("switch_case", "CARDS, case switch")
class SwitchCase(Contrastive):
    """The first letter of some words changes its case in the second view; each view has dropout.

        l_i = InfoNCE( f(x_i), f(switch(x_i)) )                                survey section 3.2.1 and Table 3

    This works against the bias of frequent sub-words: a cased model splits the changed word differently. An
    uncased model cannot be trained in this way.

    `share` is the probability for each word ("v2" of the released code): 0.05 for RoBERTa-base. RoBERTa-large has 0.1,
    and in the released code "v1", which switches that share of each sentence's words, rounded, and one at least.

    Raises:
        ValueError: an encoder whose tokenizer ignores case.

    See also: `CARDS`, which adds retrieved negatives; `ESimCSE`, which repeats sub-words.
    """

    family = "text"
    positives_by_dropout = False
    needs_capitals = True
    share: UnitInterval = 0.05

    recipes = CARDS_RECIPES | {"roberta-large": replace(CARDS_RECIPES["roberta-large"], hyperparameters={"share": 0.1})}

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        return Views(*encode(sentences, switch_case(sentences, self.share, self.generator)))
