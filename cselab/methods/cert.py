"""CERT (Fang et al. 2020): MoCo on back-translations."""

from cselab.methods import Recipe, register
from cselab.methods.hyperparameters import PositiveInt
from cselab.methods.moco import MoCo


@register("cert", "CERT")
class CERT(MoCo):
    """MoCo, where the key is the paraphrase's: q = f(sentence), k = f'(paraphrase).

    CERT's two views are back-translations from German and from Chinese, and its fine-tuning on GLUE is not here: give a
    file whose columns sentence and paraphrase hold the two, or take the world's paraphrases. The queue of 6,720 should
    be smaller than the corpus.

    The recipe is the released code's. Its optimiser is not here: SGD with momentum 0.9, whose rate falls by a cosine,
    where all methods here have AdamW and a linear decay. The same rate of 4e-5 makes other steps there.

    See also: `MoCo`; `BTBERT`, the same rows without a queue.
    """

    family = "extra data"
    columns = ("sentence", "paraphrase")
    queue: PositiveInt = 6720

    recipes = {"bert-base": Recipe(lr=4e-5, batch_size=32, epochs=50, max_length=64)}
