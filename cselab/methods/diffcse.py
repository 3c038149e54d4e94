"""DiffCSE (Chuang et al. 2022): a sentence's vector must help to find which of its words were replaced."""

import copy
from typing import Literal

import torch
import torch.nn.functional as F

from cselab.augmentations import inner_tokens
from cselab.encoders.dropout import embedding_changed
from cselab.encoders.heads import NormalizedHead
from cselab.losses import Loss
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Views, register
from cselab.methods.components import MaskedLMGenerator
from cselab.methods.hyperparameters import NonNegativeFloat, UnitInterval


@register("diffcse", "DiffCSE")
class DiffCSE(Contrastive):
    """SimCSE, and a second network that detects replaced tokens with the help of the sentence's vector.

        l = InfoNCE + weight * mean over tokens of  cross-entropy( [x''_t != x_t], D(x'', h)_t )

    A share `masked` of a sentence's tokens is masked and guessed by a frozen masked language model (`lm`: see
    `MaskedLMGenerator`): x''. The discriminator D, a copy of the encoder that is trained too, reads x'' with h in
    place of its first token's embedding. Only through h does the encoder learn from it.

    The head is Linear - batch norm - ReLU - Linear - batch norm.

    `variant="released"` copies two points of the code: every place gets the language model's likeliest token, masked
    or not (`fill="argmax"`), and padding counts as tokens that were not replaced. In five points the code differs from
    each variant. Its discriminator reads x'' of each view, with separate masks and h; of the masked tokens
    a fifth keep their word or get a random one, as in BERT; only [CLS] is put back, so that [SEP] may be replaced; the
    batch norms of the head see all views together; and the language model guesses under dropout.

    See also: `SNCSEDropout`, which learns from an edit whose meaning is known.
    """

    family = "extra network"
    weight: NonNegativeFloat = 0.005
    masked: UnitInterval = 0.3
    fill: Literal["sample", "argmax"] = "sample"
    count_padding: bool = False
    lm: str | None = None

    variants = {"paper": {}, "released": {"fill": "argmax", "count_padding": True}}
    recipes = {"bert-base": Recipe(lr=7e-6, epochs=2)}

    def build(self, setup: Setup) -> Head:
        head = super().build(setup)
        width = setup.width
        self.masked_lm = MaskedLMGenerator(setup.encoder, self.lm)
        self.discriminator = copy.deepcopy(setup.encoder.backbone)
        if getattr(self.discriminator, "pooler", None) is not None:
            self.discriminator.pooler = None  # it would never be used
        self.verdict = setup.linear(width, 1)
        return head and NormalizedHead(width, setup.generator)

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = super().views(encode, batch)
        tokens = encode.tokens(self.column(batch, "sentence"))
        ids, inner = tokens["input_ids"], inner_tokens(tokens)
        blanks = inner & (torch.rand(ids.shape, generator=self.generator) < self.masked).to(ids.device)
        mask = encode.encoder.tokenizer.mask_token_id
        edited = self.masked_lm.fill(tokens, blanks, mask, self.generator, self.fill)
        edited = torch.where(inner, edited, ids)  # [CLS], [SEP] and padding stay
        seen = torch.ones_like(inner) if self.count_padding else inner
        v.replaced = (edited != ids)[seen].float()
        v.detected = self.detected(v.anchor, {**tokens, "input_ids": edited})[seen]
        return v

    def detected(self, h: torch.Tensor, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        """[n, t] logits: was this token replaced? `h` replaces the embedding of the first token."""
        first = h[:, None]
        with embedding_changed(self.discriminator, lambda e: torch.cat([first.to(e), e[:, 1:]], dim=1)):
            return self.verdict(self.discriminator(**tokens).last_hidden_state)[..., 0]

    def loss(self, v: Views) -> Loss:
        detection = F.binary_cross_entropy_with_logits(v.detected.float(), v.replaced)
        return super().loss(v) + self.weight * Loss({"replaced_tokens": detection})
