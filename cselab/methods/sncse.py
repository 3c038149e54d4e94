"""SNCSE (Wang et al. 2022): PromptBERT's two prompts, and a denial as a soft negative."""

from cselab.methods import Encode, Recipe, Vectors, register
from cselab.methods.promptbert import TEMPLATES, PromptBERT
from cselab.methods.sncse_dropout import SNCSEDropout


@register("sncse", "SNCSE")
class SNCSE(SNCSEDropout, PromptBERT):
    """The views of PromptBERT, and SNCSE-Dropout's margin for the denial, which uses the second prompt.

        h = MASK( first(x) ),  h+ = MASK( second(x) ),  n = MASK( second(not x) ),   loss: see `SNCSEDropout`

    As released: the anchor's prompt has the colon, the encoder is evaluated with it, and nothing is subtracted, where
    PromptBERT subtracts the empty prompt. The released code counts the prompt within its 32 tokens; here it comes
    on top. The code also appends " ." to a sentence without a final punctuation mark; cselab does not change sentences.
    (The world's all end with one.)

    See also: `SNCSEDropout`, the same with dropout views; `cselab data negate`, which writes the rows from any corpus.
    """

    first: str = TEMPLATES[7]
    second: str = TEMPLATES[6]
    denoise: bool = False

    recipes = {
        "bert-base": Recipe(lr=1e-5, batch_size=256),
        "bert-large": Recipe(lr=5e-6, batch_size=128),
        "roberta-base": Recipe(lr=1e-5, batch_size=256, hyperparameters={"weight": 5e-4}),
        "roberta-large": Recipe(lr=5e-6, batch_size=128, hyperparameters={"weight": 5e-4}),
    }

    def denied(self, encode: Encode, denials: list[str]) -> Vectors:
        return self.prompted(encode, denials, self.prompts[1])
