"""Why a score differs from the expected score: unstated choices, tried one by one, then two at a time."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from cselab.metrics.geometry import COSINE_DECIMALS

if TYPE_CHECKING:
    from cselab.data import Pairs
    from cselab.encoders.encoder import SentenceEncoder

OTHER_ARITHMETIC = 0.005
"""Points by which a different processor or version may move a score."""

LENGTHS = (32, 64, 128, 256, 512)
TRANSFORMS = ("none", "centred", "whitening")
PASSES = ("split", "pooling", "max length", "prompt")
"""The choices for which the sentences are encoded again; the rest is arithmetic."""

SIMILARITIES = ("cosine", "dot product", "Euclidean distance")
NEAREST_SHOWN = 5

TrialSettings = Mapping[str, Any]


@dataclass(frozen=True)
class Trial:
    """A score, and the changes from the settings of the encoder and the papers."""

    changes: TrialSettings
    score: float

    def __str__(self) -> str:
        changes = ", ".join(f"{name} {value}" for name, value in self.changes.items())
        return f"{self.score:.2f}  {changes or 'unchanged settings'}"


@dataclass(frozen=True)
class Explanation:
    """The trials that reach a number, or come near.

    Attributes:
        task, expected, tolerance: the question; `tolerance` in points.
        base: the unchanged settings and their score.
        explained: the trials that give the number, with the fewest changes; the number cannot distinguish them.
        nearest: the trials with the nearest scores.
        tried: the number of trials.
    """

    task: str
    expected: float
    tolerance: float
    base: Trial
    explained: list[Trial]
    nearest: list[Trial]
    tried: int

    def __str__(self) -> str:
        base = ", ".join(f"{name} {value}" for name, value in self.base.changes.items() if value not in ("none", ""))
        many = len(self.explained)
        if not many:
            verdict = f"none of {self.tried} settings gives this score: check weights and data. Nearest:"
        elif not self.explained[0].changes:
            verdict = "explained by the unchanged settings"
        else:
            verdict = "explained by:" if many == 1 else f"{many} settings give this score and cannot be distinguished:"
        trials = self.explained or self.nearest
        shown = [f"  {trial}" for trial in trials if not many or trial.changes]
        score = f"{self.task}: {self.base.score:.2f} with unchanged settings ({base}); "
        return "\n".join([f"{score}expected {self.expected:g} ± {self.tolerance:.3g}", verdict, *shown])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        trials = {name: [vars(trial) for trial in getattr(self, name)] for name in ("explained", "nearest")}
        return vars(self) | {"base": vars(self.base)} | trials


def explain_score(
    encoder: "SentenceEncoder",
    task: "str | Pairs",
    expected: float | str,
    data: str | Path | None = None,
    changes: int = 2,
) -> Explanation:
    """Find the choice that makes an STS score the expected number.

    Trials change pooling, aggregation of subsets, head, similarity (with and without normalisation), split, longest
    input, prompt, centring and whitening fitted on the same sentences, and Pearson for Spearman: first the unchanged
    settings, then each single change, then pairs of changes; changes that need no encoding come first. The search
    ends with the fewest changes that give the number.

    Args:
        task: a task of the STS suite or the world's ("STS12", "STS-B", "Classroom-STS"), a file of pairs, or `Pairs`.
        expected: the number; text ("60.70") keeps its digits, and with them the accuracy: half of the last digit, plus
            0.005 for differences between machines.
        changes: the most changes at once. With three, chance hits become likely.

    Raises:
        ValueError: an unknown task, or text that is not a number.
        DataError: missing or damaged data.
    """
    return ScoreExplainer(encoder, task, data).explain(expected, changes)


class ScoreExplainer:
    """Explains several numbers of one encoder and task; vectors are kept from number to number."""

    def __init__(self, encoder: "SentenceEncoder", task: "str | Pairs", data: str | Path | None = None) -> None:
        self.encoder, self.splits = encoder.copy().eval(), pairs_by_split(task, data)
        self.task = task if isinstance(task, str) else task.name
        self.encoder.normalize = False
        self.vectors, self.predicted = cache(self._vectors), cache(self._predicted)
        self.axes = self._axes()
        self.base = {name: values[0] for name, values in self.axes.items()}

    def explain(self, expected: float | str, changes: int = 2, tolerance: float | None = None) -> Explanation:
        """See `explain_score`."""
        try:
            number = float(expected)
            if not abs(number) <= 100:
                raise ValueError
        except (TypeError, ValueError):
            raise ValueError(
                "expected must be a number of points, -100 to 100, such as 60.73, with a point and no %; "
                f"got {expected!r}"
            ) from None
        if isinstance(expected, str) and abs(number) < 1 and len(expected.partition(".")[2]) > 2:
            raise ValueError(f"expected {expected} is a fraction, and scores are in points: give {100 * number:g}")
        if tolerance is None:
            tolerance = 0.5 * 10.0 ** -len(str(expected).partition(".")[2]) + OTHER_ARITHMETIC
        tried: list[Trial] = []
        explained: list[Trial] = []
        for level in range(min(changes, len(self.axes)) + 1):
            scored = [one for one in self.tries(level) if np.isfinite(one.score)]
            tried += scored
            explained = [one for one in scored if abs(one.score - number) <= tolerance]
            if explained:
                break
        nearest = sorted(tried, key=lambda one: abs(one.score - number))[:NEAREST_SHOWN]
        base = Trial(self.base, self.score(self.base))
        if not tried:
            raise ValueError(f"{self.task} gives no score: all its grades, or all similarities, are the same")
        return Explanation(self.task, number, tolerance, base, explained, nearest, len(tried))

    def _axes(self) -> dict[str, list[Any]]:
        """The values of each choice; the unchanged setting is first."""
        from cselab.encoders.pooling import POOLINGS
        from cselab.evaluators.sts import AGGREGATIONS

        encoder, first = self.encoder, next(iter(self.splits.values()))
        poolings, representations = [encoder.pooling], [encoder.representation, "backbone"]
        if encoder.template is None:
            has_pooler = getattr(encoder.backbone, "pooler", None) is not None
            known = {name: one for name, one in POOLINGS.items() if one.counts != "mask"}
            poolings += [name for name, one in known.items() if has_pooler or not one.pooler]
        if encoder.head is not None and "head" not in encoder.untrained:
            representations.append("head")
        longest = max(len(ids) for ids in encoder.tokenizer(first.sentences, verbose=False)["input_ids"])
        own = min(encoder.max_length, longest)
        axes = {
            "metric": ["Spearman", "Pearson"],
            "aggregation": AGGREGATIONS if len(set(first.subsets)) > 1 else AGGREGATIONS[:1],
            "similarity": SIMILARITIES,
            "transform": TRANSFORMS,
            "representation": representations,
            "split": self.splits,
            "pooling": poolings,
            "max length": [encoder.max_length, *(n for n in LENGTHS if n < longest and n != own)],
            "prompt": [encoder.default_prompt_name or "none", "none", *encoder.prompts],
        }
        return {name: list(dict.fromkeys(values)) for name, values in axes.items()}

    def tries(self, changes: int) -> Iterator[Trial]:
        """The trials with this number of changes; those with the fewest passes of the encoder are first."""
        settings = [dict(zip(self.axes, values, strict=True)) for values in product(*self.axes.values())]
        changed = [{name: v for name, v in one.items() if v != self.base[name]} for one in settings]
        chosen = [one for one in changed if len(one) == changes]
        for one in sorted(chosen, key=lambda one: sum(name in PASSES for name in one)):
            yield Trial(one, self.score(self.base | one))

    def score(self, chosen: TrialSettings) -> float:
        """The score in points; NaN if a correlation is undefined."""
        from cselab.evaluators.sts import strata
        from cselab.metrics.significance import UndefinedCorrelation, score

        pairs = self.splits[chosen["split"]]
        predicted = self.predicted(*(chosen[name] for name in ("representation", "transform", "similarity", *PASSES)))
        groups = strata(pairs.subsets or [""] * len(pairs), chosen["aggregation"])
        try:
            return 100 * score(predicted, np.asarray(pairs.scores), chosen["metric"].lower(), groups)
        except UndefinedCorrelation:
            return float("nan")

    def _vectors(self, split: str, pooling: str, length: int, prompt: str) -> Float[np.ndarray, "2n d"]:
        """A pass of the encoder over both sides of the pairs, before the head."""
        from cselab.encoders.encoder import TruncationWarning

        encoder = self.encoder
        encoder.pooling, encoder.max_length, encoder.representation = pooling, length, "backbone"
        before = "" if prompt == "none" else encoder.prompts[prompt]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # truncation is part of the trial
            return np.asarray(encoder.encode(self.splits[split].sentences, prompt=before))

    def _predicted(self, representation: str, transform: str, similarity: str, *where: Any) -> Float[np.ndarray, " n"]:
        """The similarity of each pair, after the head and a transform fitted on the same sentences."""
        import torch

        from cselab.transforms import fit

        vectors = self.vectors(*where)
        if representation == "head":
            with torch.no_grad():
                rows = torch.from_numpy(vectors).to(self.encoder.device)
                vectors = self.encoder.head(rows).cpu().numpy()
        if transform != "none":
            vectors = fit(transform, vectors).transform(vectors)
        one, two = np.split(vectors.astype(np.float64), 2)
        lengths = (np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)).clip(min=1e-30)
        # the scale does not change ranks; rounding noise does
        if similarity == "Euclidean distance":
            found = -np.linalg.norm(one - two, axis=1) / lengths.max() ** 0.5
        else:
            found = (one * two).sum(axis=1) / (lengths if similarity == "cosine" else lengths.max())
        return found.round(COSINE_DECIMALS)


def pairs_by_split(task: "str | Pairs", data: str | Path | None) -> "dict[str, Pairs]":
    """The pairs of each available split of a task; the requested split is first."""
    from cselab.data import MissingFile, Pairs, read_pairs
    from cselab.evaluators.sts import STS
    from cselab.evaluators.suites import tasks_by_suite
    from cselab.evaluators.world import WorldSTS

    if isinstance(task, Pairs):
        return {task.split: task}
    if not isinstance(task, str | Path):
        raise TypeError(f"task is {task!r:.60}; expected the name of a task, a file of pairs, or Pairs")
    if Path(task).is_file():
        return {"": read_pairs(task)}
    task, suites = str(task), [STS(), WorldSTS()]
    asked = tasks_by_suite(suites, [task])
    suite = next(suite for suite, names in zip(suites, asked, strict=True) if names)
    name = task.partition("/")[0]
    splits: dict[str, Pairs] = {}
    for one in dict.fromkeys([task, *(known for known in suite.tasks if known.partition("/")[0] == name)]):
        try:
            collected: Any = suite.collect(data, [one]).tasks[0]
            splits[one.partition("/")[2] or "test"] = collected.pairs
        except MissingFile:
            if one == task:
                raise
    return splits
