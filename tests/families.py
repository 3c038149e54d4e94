"""Small methods, one a mechanism that the interface carries; and the real ones that own state or other networks."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from cselab.losses import Loss, info_nce
from cselab.methods import METHODS, Method, Views


def frozen(module):
    return copy.deepcopy(module).requires_grad_(False)


class Contrast(Method):
    """InfoNCE, with further negatives and weights where the views have them."""

    temperature: float = 0.05

    def loss(self, v):
        extra = vars(v)
        return info_nce(v.anchor, v.positive, self.temperature, extra.get("negatives"), extra.get("log_weights"))


class MomentumQueue(Contrast):
    """MoCo: a queue of vectors from a slowly following copy."""

    name = title = "momentum_queue"
    size: int = 12
    momentum: float = 0.9

    def build(self, encoder, rows, generator):
        self.slow = frozen(encoder)
        width = encoder.backbone.config.hidden_size
        self.register_buffer("queue", torch.randn(self.size, width, generator=generator))
        return super().build(encoder, rows, generator)

    def views(self, encode, batch):
        with torch.no_grad():
            fast = encode.encoder.backbone.parameters()
            for slow, quick in zip(self.slow.backbone.parameters(), fast, strict=True):
                slow.lerp_(quick, 1 - self.momentum)
        pair = encode(batch, batch)
        keys = encode.head(encode(batch, by=self.slow, dropout=False, head=False)).detach()
        queue, self.queue = self.queue, torch.cat([keys, self.queue])[: self.size]
        return Views(*pair, negatives=queue)


class Cutoff(Contrast):
    """ConSERT: features cut off in one view, positions shuffled in the other."""

    name = title = "cutoff"

    def views(self, encode, batch):
        tokens = encode.tokens(batch)
        rows, length = tokens["input_ids"].shape
        embeds = encode.encoder.backbone.get_input_embeddings()(tokens["input_ids"])
        kept = torch.rand(rows, 1, embeds.shape[2], generator=self.generator) >= 0.2
        order = torch.rand(rows, length, generator=self.generator).argsort(1).to(embeds.device)
        rest = {key: value for key, value in tokens.items() if key != "input_ids"}
        one = {"inputs_embeds": embeds * kept.to(embeds), **rest}
        return Views(*encode(one, {**tokens, "position_ids": order}, dropout=False))


class Templates(Contrast):
    """PromptBERT: two templates, each denoised by the vector of an empty sentence, a row that every process encodes."""

    name = title = "templates"

    def views(self, encode, batch):
        vectors = []
        for template in ("this sentence : {sentence} means .", "the sentence {sentence} means ."):
            bias = encode(encode.tokens(["."], template), dropout=False)
            vectors.append(encode(encode.tokens(batch, template)) - bias)
        return Views(*vectors)


class Discriminator(Contrast):
    """DiffCSE: a second network that learns beside the encoder, at a rate of its own."""

    name = title = "discriminator"

    def build(self, encoder, rows, generator):
        self.judge = copy.deepcopy(encoder.backbone)
        self.verdict = nn.utils.skip_init(nn.Linear, encoder.backbone.config.hidden_size, 1)
        nn.init.normal_(self.verdict.weight, std=0.1, generator=generator)
        nn.init.zeros_(self.verdict.bias)
        return super().build(encoder, rows, generator)

    def groups(self, encoder):
        own = [weight for weight in self.parameters() if weight.requires_grad]
        return [{"params": [*encoder.parameters()]}, {"params": own, "lr": 1e-3}]

    def views(self, encode, batch):
        tokens = encode.tokens(batch)
        pair = encode(batch, batch)
        ids, seen = tokens["input_ids"], tokens["attention_mask"].bool()
        changed = (torch.rand(ids.shape, generator=self.generator).to(ids.device) < 0.3) & seen
        now = torch.where(changed, ids.roll(1, 1), ids)
        embeds = self.judge.get_input_embeddings()(now)
        embeds = torch.cat([pair[0][:, None], embeds[:, 1:]], dim=1)
        states = self.judge(inputs_embeds=embeds, attention_mask=tokens["attention_mask"]).last_hidden_state
        return Views(*pair, judged=self.verdict(states).squeeze(-1)[seen], changed=(now != ids)[seen].float())

    def loss(self, v):
        replaced = F.binary_cross_entropy_with_logits(v.judged, v.changed)
        return super().loss(v) + 0.1 * Loss({"replaced": replaced})


class HardNegatives(Contrast):
    """Supervised SimCSE: rows of three texts, and a weight for each one's own hard negative."""

    name = title = "hard_negatives"
    columns = ("sentence", "entailment", "contradiction")

    def views(self, encode, batch):
        anchor, entailed, denied = encode(*(list(column) for column in zip(*batch, strict=True)))
        weights = torch.zeros(len(batch), 2 * len(batch))
        weights[:, len(batch) :] = 0.5 * torch.eye(len(batch))
        return Views(anchor, entailed, negatives=denied, log_weights=weights.to(anchor))


class Entities(Contrast):
    """EASE: a table of entities, learnt from the rows of the corpus."""

    name = title = "entities"
    columns = ("sentence", "entity")

    def build(self, encoder, rows, generator):
        self.numbers = {name: number for number, name in enumerate(dict.fromkeys(name for _, name in rows))}
        drawn = torch.randn(len(self.numbers), encoder.backbone.config.hidden_size, generator=generator)
        self.table = nn.Embedding.from_pretrained(drawn, freeze=False)
        return super().build(encoder, rows, generator)

    def views(self, encode, batch):
        texts, names = (list(column) for column in zip(*batch, strict=True))
        numbers = torch.tensor([self.numbers[name] for name in names], device=self.table.weight.device)
        return Views(*encode(texts, texts), entity=self.table(numbers))

    def loss(self, v):
        return super().loss(v) + 0.01 * info_nce(v.anchor, v.entity, 1.0)


class Adversarial(Contrast):
    """A view whose input vectors moved along the sign of the loss's gradient."""

    name = title = "adversarial"

    def views(self, encode, batch):
        tokens = encode.tokens(batch)
        rest = {key: value for key, value in tokens.items() if key != "input_ids"}
        embeds = encode.encoder.backbone.get_input_embeddings()(tokens["input_ids"])
        probe = embeds.detach().requires_grad_()
        loss = self.loss(Views(encode(batch), encode({"inputs_embeds": probe, **rest}))).total
        (slope,) = torch.autograd.grad(loss, probe)
        return Views(encode(batch), encode({"inputs_embeds": embeds + 1e-2 * slope.sign(), **rest}))


class TwoEncoders(Contrast):
    """CT: two encoders that drift apart, and no head."""

    name = title = "two_encoders"

    def build(self, encoder, rows, generator):
        self.other = copy.deepcopy(encoder)
        return None

    def views(self, encode, batch):
        return Views(encode(batch, dropout=False), encode(batch, by=self.other, dropout=False))

    def loss(self, v):
        dots = v.anchor @ v.positive.T
        return Loss({"tension": F.binary_cross_entropy_with_logits(dots, torch.eye(len(dots)).to(dots))})


class Spans(Contrast):
    """DeCLUTR: spans of a document."""

    name = title = "spans"
    columns = ("document",)

    def views(self, encode, batch):
        return Views(*encode(*([self._span(document) for document in batch] for _ in range(2))))

    def _span(self, document):
        words = document.split()
        start = int(torch.randint(max(1, len(words) - 6), (), generator=self.generator))
        return " ".join(words[start : start + 6])


class FrozenBackbone(Contrast):
    """Only the head learns; the backbone is frozen for the run, and thawed after it."""

    name = title = "frozen_backbone"

    def build(self, encoder, rows, generator):
        encoder.backbone.requires_grad_(False)
        return super().build(encoder, rows, generator)

    def views(self, encode, batch):
        return Views(*encode(batch, batch))


FAMILIES = {
    method.name: method
    for method in (
        MomentumQueue, Cutoff, Templates, Discriminator, HardNegatives, Entities, Adversarial, TwoEncoders,
        Spans, FrozenBackbone,
    )
}  # fmt: skip

REAL = (
    "adcse", "dclr", "diffcse", "ease", "imsimcse_dclr", "mcse", "mixcse_diffcse", "mocose", "pairsupcon",
    "retrieved_negatives", "scd", "sncse", "sncse_dropout", "uscal", "vascl",
)  # fmt: skip
FAMILIES |= {name: METHODS[name] for name in REAL}
