"""The table of claims has for every sentence the cell where it stands and what shows it."""

import claims
import pytest


@pytest.mark.parametrize("lesson", claims.claims.CLAIMS)
def test_every_claim_has_its_cell_and_its_source(lesson):
    rows = claims.table(lesson).splitlines()[4:]
    assert len(rows) == len(claims.claims.CLAIMS[lesson])
    assert [row for row in rows if "`?`" in row] == []


def test_what_a_claim_rests_on_is_told_apart():
    tour = claims.table("00_tour")
    assert "| cell `record`: plain: mean cosine |" in tour
    assert "recorded, `effects`: plain, mean subtracted, mean_cosine" in tour
    assert "the paper's: whitenedcse, Table 1" in tour
