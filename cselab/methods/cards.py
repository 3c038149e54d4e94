"""CARDS (Wang et al. 2022): switched cases in the positive, negatives retrieved from the corpus."""

from cselab.methods import register
from cselab.methods.recipe import CARDS_RECIPES
from cselab.methods.retrieved_negatives import RetrievedNegatives
from cselab.methods.switch_case import SwitchCase


@register("cards", "CARDS")
class CARDS(RetrievedNegatives, SwitchCase):
    """Both parts of the paper: sub-words that change with a letter's case, and negatives that look alike.

        l_i = -log( e^{s(x_i, switch(x_i))} / ( sum_j e^{s(x_i, switch(x_j))} + sum_j e^{s(x_i, near(x_j))} ) )

    s: cosine / temperature, of vectors with dropout. near(x_j) is one of the `nearest` sentences to x_j, as it stands,
    and left out where it is x_i.
    The bundled encoders do not tell cases apart: there `retrieved_negatives` is the part that can be trained.

    Raises:
        ValueError: an encoder whose tokenizer does not tell cases apart.

    See also: `SwitchCase` and `RetrievedNegatives`, each part alone.
    """

    family = "negatives"

    recipes = CARDS_RECIPES
