"""A masked language model that fills blanks and does not learn: ELECTRA's generator, as in DiffCSE."""

import copy
from typing import Any, Literal

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.folder import load_masked_lm
from cselab.encoders.open import BUNDLED, find_encoder
from cselab.encoders.training_forward import TokenizedBatch


class MaskedLMGenerator(nn.Module):
    """A frozen network that guesses masked tokens.

    Args:
        encoder: the encoder in training, whose vocabulary it must have.
        lm: a masked language model: "micro", "mini", a folder, a name of the hub. None: the encoder's model, if
            bundled; otherwise a copy of the initial encoder, which predicts the token whose input vector is nearest to
            its output by inner product.

    Raises:
        CheckpointError: the model does not exist, or has no output layer.
        ValueError: its vocabulary differs from the encoder's.
    """

    lm: Any

    def __init__(self, encoder: SentenceEncoder, lm: str | None = None) -> None:
        super().__init__()
        name = encoder.name if lm is None and encoder.name in BUNDLED else lm
        self.lm = copy.deepcopy(encoder.backbone) if name is None else load_masked_lm(find_encoder(name, None)[0])
        self.lm.requires_grad_(False)
        theirs, ours = self.lm.config.vocab_size, encoder.backbone.config.vocab_size
        if theirs != ours:
            raise ValueError(
                f"{lm} has a vocabulary of {theirs} tokens, the encoder one of {ours}: use a masked language model "
                "with the encoder's tokenizer"
            )

    @torch.no_grad()
    def fill(
        self,
        tokens: TokenizedBatch,
        blanks: Bool[Tensor, "n t"],
        mask_id: int,
        generator: torch.Generator,
        how: Literal["sample", "argmax"] = "sample",
    ) -> Int[Tensor, "n t"]:
        """Ids [n, t]: the model's guess for the blanks, drawn from its softmax, and elsewhere the original tokens.

        With "argmax", every place gets the likeliest token, masked or not.
        """
        self.lm.eval()
        ids = tokens["input_ids"]
        output = self.lm(**{**tokens, "input_ids": ids.masked_fill(blanks, mask_id)})
        logits = getattr(output, "logits", None)
        if logits is None:
            logits = output.last_hidden_state @ self.lm.get_input_embeddings().weight.T
        if how == "argmax":
            return logits.argmax(-1)
        chances = logits[blanks].float().softmax(-1).cpu()
        if len(chances):
            guesses = torch.multinomial(chances, 1, generator=generator)[:, 0]
            ids = ids.masked_scatter(blanks, guesses.to(ids))
        return ids
