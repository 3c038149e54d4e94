"""Hard negatives among graded pairs: a low human grade and a high cosine (Hou and Li 2023, Section 5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cselab.data import Pairs
from cselab.evaluators.baselines import word_overlap
from cselab.evaluators.vectors import Encoder, encode_distinct


def hard_negatives(
    pairs: Pairs, encoders: Encoder | Mapping[str, Encoder], *, share: float = 0.2, count: int = 10
) -> pd.DataFrame:
    """Among the pairs with the lowest human grades, those with the highest cosines.

    Focal-InfoNCE examines such pairs of STS-B's training set, and finds technical terms and sentences of the same
    structure. The column "word overlap" shows how much of the similarity comes from shared words. A second encoder,
    trained from the first, shows which pairs training has separated.

    Args:
        pairs: graded pairs, such as `load_sts("STS-B", split="train")`, or your own from `read_pairs`.
        encoders: one, or several by name; the first one chooses and sorts.
        share: the share of the pairs, from the lowest grade upwards, that count as negatives; above 0, at most 1.
            Grades that equal the highest of these are in.
        count: how many pairs at most.

    Returns:
        One row per pair: "sentence1", "sentence2", "grade", "word overlap" (0 to 1), and a column for each encoder: the
        cosine, -1 to 1 ("cosine" where there is one encoder without a name).

    Raises:
        ValueError: `share` or `count` out of range, or no encoder.

    See also: `cselab.methods.RetrievedNegatives` trains with negatives that were looked up among all sentences.
    """
    if not 0 < share <= 1 or count < 1:
        raise ValueError(f"share lies above 0 and is at most 1, count is at least 1; got {share} and {count}")
    named = encoders if isinstance(encoders, Mapping) else {"cosine": encoders}
    if not named:
        raise ValueError("encoders is empty; give at least one")
    grades = np.asarray(pairs.scores)
    negative = np.flatnonzero(grades <= np.quantile(grades, share, method="lower"))
    sides = [[side[row] for row in negative] for side in (pairs.sentences1, pairs.sentences2)]
    columns = {"sentence1": sides[0], "sentence2": sides[1], "grade": grades[negative]}
    columns["word overlap"] = word_overlap(*sides).round(2)
    columns |= {
        name: encode_distinct(encoder, sides[0] + sides[1]).similarities(*sides) for name, encoder in named.items()
    }
    first = next(iter(named))
    frame = pd.DataFrame(columns).sort_values(first, ascending=False, kind="stable")
    return frame.head(count).reset_index(drop=True)
