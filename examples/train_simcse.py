"""SimCSE in straight lines, without the trainer: the weights of `cselab.train(encoder, "simcse", sentences)`.

python examples/train_simcse.py
"""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize

from cselab import SentenceEncoder
from cselab.training.loop import epoch_order, seed_from
from cselab.world import World


def train_simcse(
    encoder: SentenceEncoder,
    sentences: Sequence[str],
    steps: int = 60,
    batch_size: int = 64,
    lr: float = 3e-5,
    temperature: float = 0.05,
    max_length: int = 32,
    seed: int = 42,
) -> list[float]:
    """Train an encoder with mean pooling, in place. Returns the loss of each step."""
    tokenizer, transformer, width = encoder.tokenizer, encoder.backbone, encoder.hidden_size
    head = nn.Sequential(nn.Linear(width, width), nn.Tanh())  # used in training, not afterwards
    nn.init.normal_(head[0].weight, std=0.02, generator=torch.Generator().manual_seed(seed))
    nn.init.zeros_(head[0].bias)
    weights = [*transformer.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=lr, weight_decay=0.0, fused=True)
    transformer.train()  # dropout on
    losses = []
    for step in range(steps):
        epoch, place = divmod(step, len(sentences) // batch_size)
        rows = epoch_order(len(sentences), seed, epoch)[place * batch_size : (place + 1) * batch_size]
        batch = [sentences[row] for row in rows.tolist()]
        tokens = tokenizer(batch, padding=True, truncation=True, max_length=max_length, return_tensors="pt")
        twice = {name: torch.cat([ids, ids]) for name, ids in tokens.items()}  # [2N, t]

        torch.manual_seed(seed_from(seed, step, 0))  # each of the 2N rows has a dropout mask of its own
        states = transformer(**twice).last_hidden_state  # [2N, t, d]
        mask = twice["attention_mask"][..., None].float()
        first, second = ((states * mask).sum(1) / mask.sum(1)).chunk(2)  # [N, d] each

        cosines = normalize(head(first)) @ normalize(head(second)).T  # [N, N]
        loss = cross_entropy(cosines / temperature, torch.arange(batch_size))  # the own pair against all others
        loss.backward()
        nn.utils.clip_grad_norm_([weight for weight in weights if weight.grad is not None], 1.0)
        for group in optimizer.param_groups:
            group["lr"] = lr * (steps - step) / steps  # falls to zero
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    transformer.eval()
    return losses


if __name__ == "__main__":
    losses = train_simcse(SentenceEncoder("micro"), [sentence.text for sentence in World().sentences(640)])
    print(f"loss {losses[0]:.3f} at step 1, {losses[-1]:.3f} at step {len(losses)}")
