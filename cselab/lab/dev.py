"""What selects the best step of a training run: scored dev pairs, or a signal without labels."""

from collections.abc import Sequence
from pathlib import Path

from cselab.data import MissingFile, load_sts
from cselab.evaluators import PairsEvaluator, UnlabelledEvaluator
from cselab.train import Evaluator

CHOICES = ("auto", "sts-b", "world", "corpus", "none")
HELD_OUT = 500


def dev_evaluator(
    choice: str, sentences: Sequence[str], data: Path | None = None
) -> tuple[Evaluator | None, list[str], str]:
    """The evaluator of that name, the sentences that are left to train on, and a few words for the user.

    "sts-b": STS-B dev from the SentEval folder. "world": the embedded world's dev pairs. "corpus": label-free, on
    the last sentences of the corpus, which are then not trained on. "none": the last step is kept. "auto":
    STS-B where the data are, otherwise the world.

    Raises:
        ValueError: an unknown choice; a corpus too small to hold sentences out.
        DataError: STS-B was asked for and is missing or damaged.
    """
    sentences = list(sentences)
    if choice not in CHOICES:
        raise ValueError(f"unknown dev {choice!r}; choose one of {', '.join(CHOICES)}")
    if choice == "none":
        return None, sentences, "none"
    if choice == "corpus":
        held_out = min(HELD_OUT, len(sentences) // 10)
        if held_out < 20:
            raise ValueError(
                f"the corpus has {len(sentences)} sentences, too few to hold some out: use --dev world"
            )
        return (
            UnlabelledEvaluator(sentences[-held_out:]),
            sentences[:-held_out],
            f"{held_out} held-out sentences",
        )
    if choice in ("auto", "sts-b"):
        try:
            return PairsEvaluator(load_sts("STS-B", data, split="dev")), sentences, "STS-B dev"
        except MissingFile:
            if choice == "sts-b" or data is not None:
                raise
    from cselab.world import World

    return PairsEvaluator(World().sts(1000, split="dev")), sentences, "the world's dev pairs"
