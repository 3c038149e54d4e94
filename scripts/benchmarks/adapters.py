"""What adapters save: processor time and memory of SimCSE with all weights, and with LoRA alone.

    python scripts/benchmarks/adapters.py                # `mini`, and a BERT-base of random weights
    python scripts/benchmarks/adapters.py mini --steps 12

Each line is a process of its own with one thread. Seconds are processor time a step, the mean over all but the first.
Memory is the largest resident set, and before it that of the process with the opened encoder.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

ENCODERS = ("mini", "bert-base shape")
KINDS = {"all weights": None, "LoRA, rank 8": 8}


def opened(name: str):
    from cselab import SentenceEncoder

    encoder = SentenceEncoder.from_pretrained("mini")
    if name == "mini":
        return encoder
    from transformers import BertConfig, BertModel

    return SentenceEncoder(BertModel(BertConfig(vocab_size=30522)), encoder.tokenizer, "cls", name=name)


def measured(name: str, kind: str, steps: int, batch_size: int) -> dict:
    import torch

    from cselab import TrainConfig, train
    from cselab.world import World

    torch.set_num_threads(1)
    encoder = opened(name)
    if KINDS[kind] is not None:
        encoder.add_adapter(KINDS[kind])
    learning = sum(weight.numel() for weight in encoder.parameters() if weight.requires_grad)
    corpus = [sentence.text for sentence in World(0).sentences(batch_size * steps)]
    before, times = peak(), []
    config = TrainConfig(steps=steps, batch_size=batch_size, precision="fp32", eval_every=steps)
    watch = [lambda run, row: times.append(time.process_time())]
    train(encoder, "simcse", corpus, config, callbacks=watch, show_progress_bar=False)
    seconds = (times[-1] - times[-steps]) / (steps - 1)
    return {"learning": learning, "seconds": seconds, "opened": before, "peak": peak()}


def peak() -> float:
    """The largest resident set so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="*", default=ENCODERS, help=f"of {', '.join(ENCODERS)}")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.encoders[0], given.one, given.steps, given.batch_size)))
        return
    size = ["--steps", str(given.steps), "--batch-size", str(given.batch_size)]
    print(f"SimCSE, batch {given.batch_size}, {given.steps} steps\n")
    print("| encoder | trained | weights that learn | seconds a step | MB when opened | MB at most |")
    print("|---|---|---|---|---|---|")
    for name in given.encoders:
        for kind in KINDS:
            command = [sys.executable, __file__, name, "--one", kind, *size]
            line = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            memory = f"{line['opened']:,.0f} | {line['peak']:,.0f}"
            print(f"| {name} | {kind} | {line['learning']:,} | {line['seconds']:.2f} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
