"""CARDS (Wang et al. 2022): switched cases in the positive, negatives retrieved from the corpus."""

from cselab.methods import CARDS_RECIPES, register
from cselab.methods.retrieved_negatives import RetrievedNegatives
from cselab.methods.switch_case import SwitchCase


@register("cards", "CARDS")
class CARDS(RetrievedNegatives, SwitchCase):
    """The paper's two parts: views with changed letter case, and retrieved similar negatives.

        l_i = -log( e^{s(x_i, switch(x_i))} / ( sum_j e^{s(x_i, switch(x_j))} + sum_j e^{s(x_i, near(x_j))} ) )

    s: cosine / temperature, of vectors with dropout. near(x_j) is one of the `nearest` sentences to x_j, unchanged,
    and omitted if it is x_i.
    The bundled encoders ignore case, so only the part `retrieved_negatives` can train them.

    Raises:
        ValueError: an encoder whose tokenizer ignores case.

    See also: `SwitchCase` and `RetrievedNegatives`, the separate parts.
    """

    family = "negatives"

    recipes = CARDS_RECIPES
