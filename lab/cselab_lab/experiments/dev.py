"""The pairs that select the best step of a training."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cselab._util.arguments import check_choice
from cselab.data import MissingFile, data_root, load_sts, read_pairs
from cselab.evaluators import PairsEvaluator, UnlabelledEvaluator
from cselab.evaluators.world import classroom_sts, world_sts

from .registered import DEV_SETS

if TYPE_CHECKING:
    from cselab.training import Evaluator

CHOICES = DEV_SETS
HELD_OUT = 500

CorpusRow = str | tuple[str, ...]
"""A sentence, or for a method with several columns a tuple of texts."""


def dev_evaluator(
    choice: str, sentences: Sequence[CorpusRow], data: Path | None = None
) -> "tuple[Evaluator | None, list[CorpusRow], str]":
    """The evaluator that selects the best step, the remaining training sentences, and a description.

    "sts-b": STS-B dev from the SentEval folder. "classroom-sts": natural pairs, bundled. "world": the bundled world's
    dev pairs. "corpus": label-free, on the last sentences of the corpus, which are then not trained on. "none": the
    last step is kept. "auto": STS-B where the data are, otherwise the world. A file: scored pairs, as for
    `cselab.data.read_pairs`.

    Raises:
        ValueError: an unknown choice; a corpus too small to hold sentences out.
        DataError: STS-B is damaged, or is required and missing; CSELAB_DATA names no folder.
    """
    sentences = list(sentences)
    if Path(choice).is_file() or Path(choice).suffix:
        pairs = read_pairs(choice)
        low, high = min(pairs.scores), max(pairs.scores)
        threshold = low + 0.8 * (high - low) - 1e-9  # of positives, on whatever scale, as 4 on STS's 0 to 5
        return PairsEvaluator(pairs, threshold), sentences, f"{len(pairs)} pairs of {Path(choice).name}"
    check_choice("dev", choice, CHOICES)
    if choice == "none":
        return None, sentences, "none"
    if choice == "corpus":
        held_out = min(HELD_OUT, len(sentences) // 10)
        if held_out < 20:
            raise ValueError(f"sentences in the corpus: {len(sentences)}, too few to hold some out: use --dev world")
        held = sentences[-held_out:]
        unseen = set(held)
        rest = [row for row in sentences[:-held_out] if row not in unseen]
        evaluator = UnlabelledEvaluator([row if isinstance(row, str) else row[0] for row in held])
        return evaluator, rest, f"{held_out} held-out sentences"
    if choice in ("auto", "sts-b"):
        root = data or data_root()
        try:
            pairs = load_sts("STS-B", root, split="dev")
            doubt = " (not the published text)" if pairs.provenance == "unknown text" else ""
            return PairsEvaluator(pairs), sentences, f"STS-B dev{doubt}"
        except MissingFile:
            if choice == "sts-b" or data is not None:
                raise
    if choice == "classroom-sts":
        return PairsEvaluator(classroom_sts("dev")), sentences, "Classroom-STS dev"
    return PairsEvaluator(world_sts("dev")), sentences, "the world's dev pairs"
