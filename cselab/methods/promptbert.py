"""PromptBERT (Jiang et al. 2022): the [MASK] of two prompts, each without the prompt's own contribution."""

from collections.abc import Sequence

import torch
from torch import Tensor

from cselab.encoders.text import first_position
from cselab.methods import Contrastive, Encode, Recipe, Rows, SentenceEncoder, Vectors, Views, register

TEMPLATES = (
    "{sentence} [MASK].",
    "{sentence} is [MASK].",
    "{sentence} mean [MASK].",
    "{sentence} means [MASK].",
    "This {sentence} means [MASK].",
    "This sentence of {sentence} means [MASK].",
    'This sentence of "{sentence}" means [MASK].',
    'This sentence : "{sentence}" means [MASK].',
)
"""The templates of the survey's Table 4; the last two are PromptBERT's."""


@register("promptbert", "PromptBERT")
class PromptBERT(Contrastive):
    """The views are a sentence in two prompts; from each vector the vector of the empty prompt is subtracted.

        h_k(x) = MASK( prompt_k(x) ) - MASK( prompt_k() ),   l_i = InfoNCE( h_1(x_i), h_2(x_i) )

    The tokens of the empty prompt keep their positions around the sentence (template denoising).
    Training changes the encoder's pooling to the [MASK] of the first prompt: it is evaluated and saved in this form,
    without subtraction and head. `max_length` counts the sentence's own tokens; prompt, [CLS] and [SEP] come on top.
    Write [MASK] in a template whatever the model's token is. `denoise=False` leaves out the subtraction.

    The templates are BERT's. For RoBERTa the released script has two different prompts: "This sentence : ' {sentence} '
    means[MASK].", and the same with "The" for "This"; give them as `first` and `second`. The released code subtracts
    the empty prompt where it selects the best step, and not in its test; here neither does.

    See also: `SNCSE`, which adds denials; `DCPCSE`, whose prompt is vectors; `TEMPLATES` in this file, all of
        the survey's Table 4.
    """

    family = "text"
    positives_by_dropout = False
    first: str = TEMPLATES[6]
    second: str = TEMPLATES[7]
    denoise: bool = True

    recipes = {"bert-base": Recipe(lr=1e-5, batch_size=256)}

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        self.prompts = [text.replace("[MASK]", encoder.tokenizer.mask_token) for text in (self.first, self.second)]
        for prompt in reversed(self.prompts):  # each is checked, the first remains
            encoder.use_prompt(prompt)

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        return Views(*(self.prompted(encode, sentences, prompt) for prompt in self.prompts))

    def prompted(self, encode: Encode, texts: Sequence[str], prompt: str) -> Vectors:
        """The vectors of the texts in one of the prompts."""
        encoder = encode.encoder
        empty = encoder.tokenize([""], template=prompt)
        room = min(encode.max_length + empty["input_ids"].shape[1], encoder.max_length)
        tokens = encoder.tokenize(texts, room, prompt)
        vectors = encode(tokens, head=False)
        if self.denoise:
            vectors = vectors - self._bias(encode, empty, tokens, prompt)
        return vectors if encode.head is None else encode.head(vectors)

    def _bias(self, encode: Encode, empty: dict[str, Tensor], tokens: dict[str, Tensor], prompt: str) -> Tensor:
        """The vector of the empty prompt for each sentence, with a gap of the sentence's length."""
        ids = empty["input_ids"]
        lengths, which = (tokens["attention_mask"].sum(1) - ids.shape[1]).unique(return_inverse=True)
        before = encode.encoder.tokenizer(prompt.split("{sentence}")[0], add_special_tokens=False)["input_ids"]
        places = first_position(encode.encoder.backbone) + torch.arange(ids.shape[1], device=ids.device)
        gap = lengths[:, None] * (torch.arange(ids.shape[1], device=ids.device) > len(before))
        rows = {name: part.expand(len(lengths), -1) for name, part in empty.items()}
        return encode({**rows, "position_ids": places + gap}, head=False)[which]
