"""CERT (Fang et al. 2020): MoCo on back-translations."""

from cselab.methods import Recipe, register
from cselab.methods.hyperparameters import PositiveInt
from cselab.methods.moco import MoCo


@register("cert", "CERT")
class CERT(MoCo):
    """MoCo with the paraphrase as the key: q = f(sentence), k = f'(paraphrase).

    CERT's two views are back-translations from German and from Chinese, and cselab has no fine-tuning on GLUE. Use a
    file with these texts in the columns sentence and paraphrase, or the world's paraphrases. The queue of 6,720 should
    be smaller than the corpus.

    The recipe is that of the released code, apart from its optimiser, SGD with momentum 0.9 and a cosine schedule.
    All methods of cselab use AdamW and a linear decay, so the same rate of 4e-5 makes different steps.

    See also: `MoCo`; `BTBERT`, the same rows without a queue.
    """

    family = "extra data"
    columns = ("sentence", "paraphrase")
    queue: PositiveInt = 6720

    recipes = {"bert-base": Recipe(lr=4e-5, batch_size=32, epochs=50, max_length=64)}
