"""Everything that wants a GPU, in one command: throughput, the CPU's losses, the tests marked `gpu`, the notebooks.

    python benchmarks/gpu.py --output results/gpu.json        # on a machine with CUDA, under 25 minutes
    python benchmarks/gpu.py --device cpu --tiny              # that the script itself runs

Throughput is that of BERT-base with random weights (no download), sentences of 32 tokens, bfloat16; the share is of the
peak that a large product of matrices reaches on the same device. A part that fails is told, and the next one runs.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import losses, modules
from sentence_transformers.util import batch_to_device
from transformers import BertConfig, BertModel

from cselab import SentenceEncoder, TrainConfig, train
from cselab.versions import versions
from cselab.world import World

ROOT = Path(__file__).resolve().parents[1]
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


def throughput(asked: argparse.Namespace) -> dict[str, Any]:
    reached = peak(asked.device)
    found: dict[str, Any] = {"bf16 peak, TFLOP/s": reached / 1e12}
    for batch in asked.batches:
        texts = texts_of(batch * 8)
        config = TrainConfig(
            steps=asked.steps, batch_size=batch, lr=3e-5, max_length=LENGTH, precision="bf16", eval_every=10**6, seed=0
        )
        for method in METHODS:
            encoder = encoder_of(*asked.size, asked.device)
            warm = TrainConfig(**vars(config) | {"steps": 3})
            work = passes_a_sentence(
                encoder, partial(train, encoder, method, texts, warm, show_progress_bar=False), 3 * batch
            ) * operations(encoder)
            start = synchronised()
            train(encoder, method, texts, config, show_progress_bar=False)
            seconds = synchronised() - start
            rate = batch * asked.steps / seconds
            found[f"{method}, batch {batch}"] = {"sentences a second": rate, "share of peak": rate * work / reached}
            print(method, batch, found[f"{method}, batch {batch}"], flush=True)
        found[f"sentence-transformers, batch {batch}"] = {"sentences a second": theirs(asked, texts, batch)}
    return found


def theirs(asked: argparse.Namespace, texts: list[str], batch: int) -> float:
    """sentence-transformers' loss on the same network in a plain loop with autocast and fused AdamW."""
    ours = encoder_of(*asked.size, asked.device)
    with tempfile.TemporaryDirectory() as folder:
        ours.save_pretrained(folder)
        words = modules.Transformer(folder, max_seq_length=LENGTH)
    model = SentenceTransformer(modules=[words, modules.Pooling(asked.size[1], "cls")], device=asked.device)
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
    return batch * asked.steps / (synchronised() - start)


def same_losses(asked: argparse.Namespace) -> dict[str, float]:
    """The largest difference between the losses of this device and of the CPU, float32, dropout off, five steps."""
    from accelerate import PartialState

    found = {}
    for method in METHODS:
        seen = []
        for device in ("cpu", asked.device):
            PartialState._reset_state()
            PartialState(cpu=device == "cpu")
            encoder = encoder_of(2, 128, device)
            for part in encoder.modules():
                if isinstance(part, torch.nn.Dropout):
                    part.p = 0.0
            config = TrainConfig(steps=5, batch_size=32, lr=1e-4, precision="fp32", eval_every=5, seed=0)
            run = train(encoder, method, texts_of(64), config, show_progress_bar=False)
            seen.append([row["loss"] for row in run.history if "loss" in row])
        found[method] = max(abs(one - other) for one, other in zip(*seen, strict=True))
    PartialState._reset_state()
    return found


def tests(asked: argparse.Namespace) -> str:
    return said(asked, [sys.executable, "-m", "pytest", "-q", "-m", "gpu"])


def notebooks(asked: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-m", "cselab.lab.cli", "notebooks", "run", "--profile", "smoke", "--output", folder]
        return said(asked, run)


def said(asked: argparse.Namespace, command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=asked.timeout)
    return f"exit {done.returncode}: " + " | ".join((done.stdout or done.stderr).strip().splitlines()[-6:])


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "throughput": throughput,
    "same losses": same_losses,
    "tests": tests,
    "notebooks": notebooks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "gpu.json")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--tiny", action="store_true", help="a small network and few steps")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--timeout", type=float, default=600, help="seconds for the tests, and for the notebooks")
    asked = parser.parse_args()
    if asked.device == "cuda" and not torch.cuda.is_available():
        parser.error("there is no CUDA device: --device cpu --tiny tries the script itself")
    asked.size, asked.batches, asked.steps = ((2, 128), (16,), 4) if asked.tiny else ((12, 768), (64, 512), 60)
    device = torch.cuda.get_device_name() if asked.device == "cuda" else platform.processor() or platform.machine()
    content: dict[str, Any] = {"device": device, "versions": versions()}
    for name in asked.only:
        start = time.monotonic()
        try:
            content[name] = PARTS[name](asked)
        except Exception:
            content[name] = {"failed": traceback.format_exc()}
        content[f"{name}, seconds"] = round(time.monotonic() - start, 1)
        asked.output.write_text(json.dumps(content, indent=1) + "\n")  # what is finished stays
        print(name, content[name], flush=True)


if __name__ == "__main__":
    main()
