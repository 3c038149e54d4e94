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


def test_a_source_behind_a_cache_and_one_that_no_number_records_are_named():
    anisotropy, focal = claims.table("01_anisotropy"), claims.table("07_focal_infonce")
    assert "| cell `layers`: computed again |" in anisotropy
    assert "| `micro`, cell `record`: table, tokens: mean cosine; table, types: mean cosine and 1 more |" in anisotropy
    (undecided,) = (row for row in focal.splitlines() if "leave that undecided" in row)
    assert "cell `record`: SimCSE: gain on dev; Focal: gain on dev" in undecided


def test_a_check_that_reads_nothing_has_no_source():
    run = claims.claims.recorded_runs("01_anisotropy", "classroom")[0]
    assert claims.by_place(claims.sources(lambda run: True, run)) == ["`?`"]
