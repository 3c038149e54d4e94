"""Why a score differs from the expected score: unstated choices, tried one by one, then two at a time."""

from __future__ import annotations

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
"""Points by which another processor or version may move a score."""

LENGTHS = (32, 64, 128, 256, 512)
TRANSFORMS = ("none", "centred", "whitening")
PASSES = ("split", "pooling", "max length", "prompt")
"""The choices for which the sentences are encoded again; the rest is arithmetic."""

SIMILARITIES = ("cosine", "dot product", "Euclidean distance")
SHOWN = 5

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Trial:
    """A score, and the changes from the settings of the encoder and the papers."""

    changes: Settings
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
    encoder: SentenceEncoder,
    task: str | Pairs,
    expected: float | str,
    data: str | Path | None = None,
    changes: int = 2,
    tolerance: float | None = None,
) -> Explanation:
    """Find the choice that makes an STS score the expected number.

    Trials change pooling, aggregation of subsets, head, similarity (with and without normalisation), split, longest
    input, prompt, centring and whitening fitted on the same sentences, and Pearson for Spearman: first the unchanged
    settings, then each single change, then pairs of changes; changes without encoding come first. The search
    ends with the fewest changes that give the number.

    Args:
        task: of the STS suite or the world's ("STS12", "STS-B", "Classroom-STS"), a file of pairs, or `Pairs`.
        expected: the number; text ("60.70") keeps its digits, and with them the accuracy.
        changes: the most changes at once. With three, chance hits become likely.
        tolerance: in points; default half of the last digit, plus 0.005 for differences between machines.

    Raises:
        ValueError: an unknown task, or text that is not a number.
        DataError: missing or damaged data.
    """
    return ScoreExplainer(encoder, task, data).explain(expected, changes, tolerance)


class ScoreExplainer:
    """Explains several numbers of one encoder and task; vectors are kept from number to number."""

    def __init__(self, encoder: SentenceEncoder, task: str | Pairs, data: str | Path | None = None) -> None:
        self.encoder, self.splits = encoder.copy().eval(), pairs_by_split(task, data)
        self.task = task if isinstance(task, str) else task.name
        self.encoder.normalize = False
        self.pairs = cache(self._pairs)
        self.vectors = cache(self._vectors)
        self.transformed = cache(self._transformed)
        self.predicted = cache(self._predicted)
        self.axes = self._axes()
        self.base = {name: values[0] for name, values in self.axes.items()}

    def explain(self, expected: float | str, changes: int = 2, tolerance: float | None = None) -> Explanation:
        """See `explain_score`."""
        try:
            number = float(expected)
        except ValueError:
            raise ValueError(
                f"expected must be a number of points such as 60.73, with a point and no %; got {expected!r}"
            ) from None
        if isinstance(expected, str) and abs(number) < 1 and len(expected.partition(".")[2]) > 2:
            raise ValueError(f"expected {expected} is a fraction, and scores are in points: give {100 * number:g}")
        if tolerance is None:
            tolerance = 0.5 * 10.0 ** -len(str(expected).partition(".")[2]) + OTHER_ARITHMETIC
        tried: list[Trial] = []
        explained: list[Trial] = []
        for level in range(changes + 1):
            scored = [one for one in self.tries(level) if np.isfinite(one.score)]
            tried += scored
            explained = [one for one in scored if abs(one.score - number) <= tolerance]
            if explained:
                break
        nearest = sorted(tried, key=lambda one: abs(one.score - number))[:SHOWN]
        base = Trial(self.base, self.score(self.base))
        if not tried:
            raise ValueError(f"{self.task} gives no score: all its grades, or all similarities, are the same")
        return Explanation(self.task, number, tolerance, base, explained, nearest, len(tried))

    def _axes(self) -> dict[str, list[Any]]:
        """The values of each choice; the unchanged setting is first."""
        from cselab.encoders.pooling import POOLINGS
        from cselab.evaluators.sts import AGGREGATIONS

        encoder, first = self.encoder, next(iter(self.splits.values()))
        poolings = [encoder.pooling]
        if encoder.template is None:
            poolings += [name for name, one in POOLINGS.items() if one.counts != "mask" and self._has(name)]
        texts = first.sentences
        longest = max(len(ids) for ids in encoder.tokenizer(texts, verbose=False)["input_ids"])
        own = min(encoder.max_length, longest)
        most = [length for length in LENGTHS if length < longest and length != own]
        prompts = [encoder.default_prompt_name or "none", "none", *encoder.prompts]
        several = len(set(first.subsets)) > 1
        return {
            "metric": ["Spearman", "Pearson"],
            "aggregation": list(AGGREGATIONS if several else AGGREGATIONS[:1]),
            "similarity": list(SIMILARITIES),
            "transform": list(TRANSFORMS),
            "representation": list(
                dict.fromkeys([encoder.representation, "backbone", *(["head"] if self._head() else [])])
            ),
            "split": list(self.splits),
            "pooling": list(dict.fromkeys(poolings)),
            "max length": [encoder.max_length, *most],
            "prompt": list(dict.fromkeys(prompts)),
        }

    def _has(self, pooling: str) -> bool:
        from cselab.encoders.pooling import get_pooling

        return not get_pooling(pooling).pooler or getattr(self.encoder.backbone, "pooler", None) is not None

    def _head(self) -> bool:
        return self.encoder.head is not None and "head" not in self.encoder.untrained

    def tries(self, changes: int) -> Iterator[Trial]:
        """The trials with this number of changes; those with the fewest passes of the encoder are first."""
        settings = [dict(zip(self.axes, values, strict=True)) for values in product(*self.axes.values())]
        changed = [{name: v for name, v in one.items() if v != self.base[name]} for one in settings]
        chosen = [one for one in changed if len(one) == changes]
        for one in sorted(chosen, key=lambda one: sum(name in PASSES for name in one)):
            yield Trial(one, self.score(self.base | one))

    def score(self, chosen: Settings) -> float:
        """The score in points; NaN if a correlation is undefined."""
        from cselab.evaluators.sts import strata
        from cselab.metrics.significance import UndefinedCorrelation, score

        pairs = self.splits[chosen["split"]]
        where = [chosen[name] for name in PASSES]
        predicted = self.predicted(*where, chosen["representation"], chosen["transform"], chosen["similarity"])
        groups = strata(pairs.subsets or [""] * len(pairs), chosen["aggregation"])
        try:
            return 100 * score(predicted, np.asarray(pairs.scores), chosen["metric"].lower(), groups)
        except UndefinedCorrelation:
            return float("nan")

    def _pairs(self, split: str) -> tuple[list[str], list[int], list[int]]:
        """The distinct sentences, and the rows of the first and second sentence of each pair."""
        pairs = self.splits[split]
        rows = {text: row for row, text in enumerate(dict.fromkeys([*pairs.sentences1, *pairs.sentences2]))}
        return list(rows), [rows[text] for text in pairs.sentences1], [rows[text] for text in pairs.sentences2]

    def _vectors(self, split: str, pooling: str, length: int, prompt: str) -> Float[np.ndarray, "n d"]:
        """A pass of the encoder, before the head."""
        from cselab.encoders.encoder import TruncationWarning

        encoder = self.encoder
        encoder.pooling, encoder.max_length, encoder.representation = pooling, length, "backbone"
        before = "" if prompt == "none" else encoder.prompts[prompt]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)  # truncation is part of the trial
            return np.asarray(encoder.encode(self.pairs(split)[0], prompt=before))

    def _transformed(self, *where: Any) -> Float[np.ndarray, "n d"]:
        """The vectors after the head, and after a transform fitted on them."""
        import torch

        from cselab.transforms import fit

        *place, representation, transform = where
        vectors = self.vectors(*place)
        if representation == "head":
            with torch.no_grad():
                rows = torch.from_numpy(vectors).to(self.encoder.device)
                vectors = self.encoder.head(rows).cpu().numpy()
        return vectors if transform == "none" else fit(transform, vectors).transform(vectors)

    def _predicted(self, *where: Any) -> Float[np.ndarray, " n"]:
        """The similarity of each pair."""
        *place, similarity = where
        vectors, (_, first, second) = self.transformed(*place), self.pairs(place[0])
        one, two = (vectors[rows].astype(np.float64) for rows in (first, second))
        lengths = (np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)).clip(min=1e-30)
        scale = 1.0 if similarity == "cosine" else lengths.max()
        if similarity == "Euclidean distance":
            predicted, scale = -np.linalg.norm(one - two, axis=1), scale**0.5
        else:
            products = (one * two).sum(axis=1)
            predicted = products if similarity == "dot product" else products / lengths
        return (predicted / scale).round(COSINE_DECIMALS)  # the scale does not change ranks; rounding noise does


def pairs_by_split(task: str | Pairs, data: str | Path | None) -> dict[str, Pairs]:
    """The pairs of each available split of a task; the requested split is first."""
    from cselab.data import MissingFile, Pairs, read_pairs
    from cselab.evaluators.sts import STS
    from cselab.evaluators.suites import tasks_by_suite
    from cselab.evaluators.world import WorldSTS

    if isinstance(task, Pairs):
        return {task.split: task}
    if Path(task).is_file():
        return {"": read_pairs(task)}
    suites = [STS(), WorldSTS()]
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
