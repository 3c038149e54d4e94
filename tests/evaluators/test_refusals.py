"""Evaluators refuse what cannot be scored before anything is encoded: the message names it, and what is allowed."""

import numpy as np
import pytest

from cselab.data import MissingFile, Pairs
from cselab.evaluators import (
    STS,
    Clustering,
    PairsEvaluator,
    RandomEncoder,
    Transfer,
    UnlabelledEvaluator,
    evaluate,
    word_overlap,
)
from cselab.evaluators.sts import strata
from cselab.evaluators.transfer import stratified_folds
from cselab.evaluators.vectors import Encoded
from cselab.metrics.degenerate import DegenerateEmbeddings

REFUSED = {
    ValueError: [
        (lambda one, sts: evaluate(one, "stss", sts), "unknown suite 'stss'.* sts, geometry, transfer"),
        (lambda one, sts: evaluate(one, "sts", sts, ["STS11"]), r"task 'STS11'\. Did you mean 'STS1\d'.*sts: STS12"),
        (lambda one, sts: evaluate(one, "sts", sts, aggregation="median"), "aggregation 'median'.* all, mean"),
        (lambda one, sts: evaluate(one, "sts", sts, []), "tasks is empty"),
        (lambda one, sts: evaluate(one, "geometry", sts, split="all"), "split 'all'.* train, dev, test, full"),
        (lambda one, sts: evaluate(one, "geometry", ["0 a", "30 b"], ["alignment"]), "alignment: .* no pairs"),
        (lambda one, sts: evaluate(RandomEncoder(), [("0 a", "1 b", 1)], cache=sts), "RandomEncoder cannot be cached"),
        (lambda one, sts: evaluate(one, ["world", "world-transfer"], tasks=["World-Tense"]), "Tense.*World-Topic"),
        (lambda one, sts: evaluate(one, "world", tasks=["STS-B"]), "'STS-B' belongs to suite 'sts', not to world"),
        (lambda one, sts: evaluate(word_overlap, "world-clustering"), "needs sentence vectors"),
        (lambda one, sts: PairsEvaluator(Pairs(["a"], ["b"], [1.0], "toy")), r"toy has a score above 4 .*1\.0"),
        (lambda one, sts: UnlabelledEvaluator(["a", "a"]), "different sentences: 1; at least two"),
        (lambda one, sts: Clustering(seeds=[]), "seeds is empty"),
        (lambda one, sts: Transfer("adam"), "protocol 'adam'.* senteval, senteval-fast"),
        (lambda one, sts: strata(["a"], "wmean"), "aggregation 'wmean'.* all, mean, weighted_mean"),
        (lambda one, sts: stratified_folds(np.arange(9), np.eye(9)[0].astype(int), 5), "5 folds .* the rarest has 1"),
    ],
    TypeError: [
        (lambda one, sts: evaluate(one, ["sts", "geometry"], sts, protocol="x"), "'protocol'; sts has aggregation"),
        (lambda one, sts: evaluate(one, STS(), sts, aggregation="mean"), "option 'aggregation'"),
        (lambda one, sts: evaluate(one, "sts", ["0 a"]), "the sts suite reads a data folder, not list"),
        (lambda one, sts: evaluate(word_overlap, "world", prompt_name="query"), "word_overlap has no prompts.*'query'"),
    ],
    MissingFile: [
        (lambda one, sts: evaluate(one, "none.tsv"), "none.tsv: no such file"),
    ],
    DegenerateEmbeddings: [
        (
            lambda one, sts: Encoded(["a", "b"], np.eye(2) * [[1], [0]]).similarities(["a"], ["b"]),
            "1 embeddings are zero vectors",
        ),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "call", "said"), [(kind, *case) for kind in REFUSED for case in REFUSED[kind]])
def test_evaluators_refuse_before_they_encode(kind, call, said, angles, sts_folder):
    with pytest.raises(kind, match=said):
        call(angles, sts_folder)
    assert angles.calls == []
