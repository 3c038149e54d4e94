"""Training and encoding on a GPU next to sentence-transformers, and whether the losses are the CPU's.

    python scripts/benchmarks/gpu.py                         # on a machine with CUDA
    python scripts/benchmarks/gpu.py --only throughput       # one part
    python scripts/benchmarks/gpu.py --device cpu --tiny     # that the script itself runs

Each result is written to results/gpu.json at once; a part that fails does not stop the others. The script runs from a
checkout (in PYTHONPATH where cselab is not installed) and without a network.

Throughput is that of BERT-base with random weights (no download), sentences of 32 tokens, bfloat16: a longer run less a
shorter one, so that the start of a run does not count. The share is of the peak that a large product of matrices
reaches on the same device.
"""

import argparse
import json
import platform
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import torch
from transformers import BertConfig, BertModel
from transformers.modeling_outputs import BaseModelOutput

from cselab import SentenceEncoder, TrainConfig, train
from cselab._util.versions import versions
from cselab.world import World

ROOT = Path(__file__).resolve().parents[2]
METHODS = ("simcse", "whitenedcse", "imsimcse", "focal")
LENGTH = 32


def encoder_of(layers: int, width: int, device: str) -> SentenceEncoder:
    """A BERT of this size with random weights and the bundled vocabulary."""
    bundled = SentenceEncoder.from_pretrained("mini")
    config = BertConfig(
        vocab_size=len(bundled.tokenizer), num_hidden_layers=layers, hidden_size=width,
        num_attention_heads=width // 64, intermediate_size=4 * width,
    )  # fmt: skip
    torch.manual_seed(0)
    return SentenceEncoder(BertModel(config, add_pooling_layer=False), bundled.tokenizer, "cls").to(device)


def texts_of(count: int) -> list[str]:
    """Texts long enough to fill the row: four sentences of the world, joined."""
    told = [sentence.text for sentence in World(0).sentences(4 * count)]
    return [" ".join(told[4 * at : 4 * at + 4]) for at in range(count)]


def synchronised() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def peak(device: str) -> float:
    """Operations a second of a large product in bfloat16: what this device really reaches."""
    size = 8192 if device == "cuda" else 512
    a, b = (torch.randn(size, size, dtype=torch.bfloat16, device=device) for _ in range(2))
    for _ in range(3):
        a @ b
    start = synchronised()
    for _ in range(20):
        a @ b
    return 20 * 2 * size**3 / (synchronised() - start)


def operations(encoder: SentenceEncoder) -> float:
    """Of one row of 32 tokens in one forward pass: 2 a weight and token, and attention's on top."""
    config = encoder.backbone.config
    weights = config.num_hidden_layers * 12 * config.hidden_size**2
    attention = config.num_hidden_layers * 4 * LENGTH * config.hidden_size
    return LENGTH * (2 * weights + attention)


def passes_a_sentence(encoder: SentenceEncoder, steps: Callable[[], Any], sentences: int) -> float:
    """Forward passes that one sentence costs; one with gradients counts three times, for the way back."""
    passes = 0.0

    def count(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        nonlocal passes
        passes += len(named["attention_mask"]) * (3 if torch.is_grad_enabled() else 1)

    hook = encoder.backbone.register_forward_pre_hook(count, with_kwargs=True)
    steps()
    hook.remove()
    return passes / sentences


Results = Iterator[tuple[str, Callable[[], Any]]]
"""What a part measures: a name, and the work."""


def throughput(asked: argparse.Namespace) -> Results:
    reached = peak(asked.device)
    yield "bf16 peak, TFLOP/s", lambda: reached / 1e12
    for batch in asked.batches:
        yield f"sentence-transformers, batch {batch}", partial(theirs, asked, batch)
        for method in METHODS:
            yield f"{method}, batch {batch}", partial(ours, asked, method, batch, reached)
    for batch in asked.batches:  # last: it takes a minute to compile, and may not work everywhere
        for name, change in {"captured": capture, "compiled": compile_backbone}.items():
            if change is not capture or asked.device == "cuda":
                yield f"simcse {name}, batch {batch}", partial(ours, asked, "simcse", batch, reached, change)


def compile_backbone(encoder: SentenceEncoder, batch: int) -> None:
    encoder.backbone.compile()


def capture(encoder: SentenceEncoder, batch: int) -> None:
    """Replay forward and backward of the backbone as CUDA graphs: two views of a batch, all of `LENGTH` tokens."""

    class States(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.backbone, self.uncaptured = encoder.backbone, encoder.backbone.forward

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.uncaptured(input_ids=ids, attention_mask=mask).last_hidden_state

    ids = torch.ones(2 * batch, LENGTH, dtype=torch.long, device=encoder.device)
    with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
        states = torch.cuda.make_graphed_callables(States().train(), (ids, torch.ones_like(ids)))
    encoder.backbone.forward = lambda input_ids, attention_mask, **_: BaseModelOutput(states(input_ids, attention_mask))


def ours(
    asked: argparse.Namespace,
    method: str,
    batch: int,
    reached: float,
    change: Callable[[SentenceEncoder, int], None] | None = None,
) -> dict[str, float]:
    encoder, texts = encoder_of(*asked.size, asked.device), texts_of(batch * 8)
    if change is not None:
        change(encoder, batch)

    def run(steps: int) -> float:
        config = TrainConfig(
            steps=steps, batch_size=batch, lr=3e-5, max_length=LENGTH, precision="bf16", eval_every=10**6, seed=0
        )
        start = synchronised()
        train(encoder, method, texts, config, show_progress_bar=False)
        return synchronised() - start

    work = passes_a_sentence(encoder, partial(run, 3), 3 * batch) * operations(encoder)
    rate = batch * asked.steps / (-run(3) + run(3 + asked.steps))
    return {
        "sentences a second": rate,
        "share of peak": rate * work / reached,
        "minutes for a million": 1e6 / rate / 60,
    }


def opened_by_sentence_transformers(encoder: SentenceEncoder, length: int) -> Any:
    from sentence_transformers import SentenceTransformer

    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        model = SentenceTransformer(folder, device=str(encoder.device))
    model.max_seq_length = length
    return model


def theirs(asked: argparse.Namespace, batch: int) -> dict[str, float]:
    """sentence-transformers' loss on the same network in a plain loop with autocast and fused AdamW."""
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.util import batch_to_device

    texts = texts_of(batch * 8)
    model = opened_by_sentence_transformers(encoder_of(*asked.size, asked.device), LENGTH)
    loss = losses.MultipleNegativesRankingLoss(model, scale=20)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5, fused=asked.device == "cuda")
    model.train()

    def steps(count: int) -> None:
        for step in range(count):
            at = step * batch % len(texts)
            features = [model.preprocess(texts[at : at + batch]) for _ in range(2)]
            features = [batch_to_device(one, torch.device(asked.device)) for one in features]
            with torch.autocast(asked.device, torch.bfloat16):
                value = loss(features, None)
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

    steps(3)
    start = synchronised()
    steps(asked.steps)
    return {"sentences a second": batch * asked.steps / (synchronised() - start)}


def encoding(asked: argparse.Namespace) -> Results:
    """Sentences a second of `encode`, the same network on both sides; the largest difference of their vectors."""
    texts = [sentence.text for sentence in World(0).sentences(400 if asked.tiny else 10_000)]
    for size, name in ((asked.size, "BERT-base"), ((3, 256), "mini's size")):
        for precision in ("fp32", "bf16"):
            yield f"{name}, {precision}", partial(encode_both, asked, size, precision, texts)


def encode_both(
    asked: argparse.Namespace, size: tuple[int, int], precision: Literal["fp32", "bf16"], texts: list[str]
) -> dict[str, float]:
    own = encoder_of(*size, asked.device)
    own.precision = precision
    other = opened_by_sentence_transformers(own, own.max_length)

    def ours() -> np.ndarray:
        return own.encode(texts, batch_size=256, show_progress_bar=False)

    def theirs() -> np.ndarray:
        with torch.autocast(asked.device, torch.bfloat16, enabled=precision == "bf16"):
            return other.encode(texts, batch_size=256, show_progress_bar=False)

    rates, vectors = {"cselab": 0.0, "sentence-transformers": 0.0}, {}
    for _ in range(3):  # in turn, the best of each: the first also starts the device
        for whose, encode in zip(rates, (ours, theirs), strict=True):
            start = synchronised()
            vectors[whose] = encode()
            rates[whose] = max(rates[whose], len(texts) / (synchronised() - start))
    difference = np.abs(vectors["cselab"] - vectors["sentence-transformers"]).max()
    return rates | {"largest difference": float(difference)}


def same_losses(asked: argparse.Namespace) -> Results:
    for method in METHODS:
        yield method, partial(largest_difference, asked, method)


def largest_difference(asked: argparse.Namespace, method: str) -> float:
    """Between the losses of this device and of the CPU: float32, dropout off, five steps."""
    from accelerate import PartialState

    seen = []
    try:
        for device in ("cpu", asked.device):
            PartialState._reset_state()
            PartialState(cpu=device == "cpu")
            encoder = encoder_of(2, 128, device)
            for part in encoder.modules():
                if isinstance(part, torch.nn.Dropout):
                    part.p = 0.0
            config = TrainConfig(steps=5, batch_size=32, lr=1e-4, precision="fp32", eval_every=5, seed=0)
            with patch("cselab.training.loop.check_views_differ"):  # which they are, without dropout
                run = train(encoder, method, texts_of(64), config, show_progress_bar=False)
            seen.append([row["loss"] for row in run.history if "loss" in row])
    finally:
        PartialState._reset_state()
    return max(abs(one - other) for one, other in zip(*seen, strict=True))


PARTS: dict[str, Callable[[argparse.Namespace], Results]] = {
    "throughput": throughput,
    "encoding": encoding,
    "same losses": same_losses,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "gpu.json")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--tiny", action="store_true", help="a small network and few steps")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    asked = parser.parse_args()
    if asked.device == "cuda" and not torch.cuda.is_available():
        parser.error("there is no CUDA device: --device cpu --tiny tries the script itself")
    asked.size, asked.batches, asked.steps = ((2, 128), (16,), 4) if asked.tiny else ((12, 768), (64, 512), 60)
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {"device": name_of(asked.device), "versions": versions()}
    for name in asked.only:
        results = content[name] = {}
        start = time.monotonic()
        try:
            for what, measure in PARTS[name](asked):
                try:
                    results[what] = measure()
                except Exception:
                    results[what] = {"failed": traceback.format_exc()}
                asked.output.write_text(json.dumps(content, indent=1) + "\n")  # what is finished stays
                print(f"{name}: {what}: {results[what]}", flush=True)
        except Exception:
            results["failed"] = traceback.format_exc()
        results["seconds"] = round(time.monotonic() - start, 1)
        asked.output.write_text(json.dumps(content, indent=1) + "\n")


def name_of(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
