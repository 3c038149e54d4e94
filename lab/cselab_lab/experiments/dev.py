"""What selects the best step of a training run: scored dev pairs, or a signal without labels."""

from collections.abc import Sequence
from pathlib import Path

from cselab._util.choices import check_choice
from cselab.data import MissingFile, data_root, load_sts, read_pairs
from cselab.evaluators import PairsEvaluator, UnlabelledEvaluator
from cselab.evaluators.world import classroom_sts, world_sts
from cselab.training import Evaluator

CHOICES = ("auto", "sts-b", "classroom-sts", "world", "corpus", "none")
HELD_OUT = 500

Row = str | tuple[str, ...]
"""Of a corpus: a sentence, or for a method with several columns a tuple of texts."""


def dev_evaluator(
    choice: str, sentences: Sequence[Row], data: Path | None = None
) -> tuple[Evaluator | None, list[Row], str]:
    """The evaluator of that name, the sentences that are left to train on, and a few words for the user.

    "sts-b": STS-B dev from the SentEval folder. "classroom-sts": natural pairs, bundled. "world": the bundled world's
    dev pairs. "corpus": label-free, on
    the last sentences of the corpus, which are then not trained on. "none": the last step is kept. "auto":
    STS-B where the data are, otherwise the world. A file: scored pairs as `cselab.data.read_pairs` takes them.

    Raises:
        ValueError: an unknown choice; a corpus too small to hold sentences out.
        DataError: STS-B is damaged, or was asked for and is missing; CSELAB_DATA names no folder.
    """
    sentences = list(sentences)
    if Path(choice).is_file() or Path(choice).suffix:
        pairs = read_pairs(choice)
        what = f"{len(pairs)} pairs of {Path(choice).name}"
        return PairsEvaluator(pairs, _threshold(pairs.scores)), sentences, what
    check_choice("dev", choice, CHOICES)
    if choice == "none":
        return None, sentences, "none"
    if choice == "corpus":
        held_out = min(HELD_OUT, len(sentences) // 10)
        if held_out < 20:
            raise ValueError(f"the corpus has {len(sentences)} sentences, too few to hold some out: use --dev world")
        kept = [row if isinstance(row, str) else row[0] for row in sentences[-held_out:]]
        unseen = set(sentences[-held_out:])
        rest = [sentence for sentence in sentences[:-held_out] if sentence not in unseen]
        return UnlabelledEvaluator(kept), rest, f"{held_out} held-out sentences"
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


def _threshold(scores: Sequence[float]) -> float:
    """Above which pairs count as positives, on whatever scale: four fifths of the way, as 4 on STS's 0 to 5."""
    low, high = min(scores), max(scores)
    return low + 0.8 * (high - low) - 1e-9
