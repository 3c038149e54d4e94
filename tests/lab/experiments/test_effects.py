"""The recorded effects, as lessons read them: the same numbers as in results/effects.md."""

from pathlib import Path
from statistics import mean, stdev

import pytest
from cselab_lab.experiments.effects import Effects, read_effects

ROOT = Path(__file__).parents[3]


def test_means_are_those_of_the_table_of_all_effects():
    (line,) = [
        text for text in (ROOT / "results" / "effects.md").read_text().splitlines() if text.startswith("| SimCSE  ")
    ]
    cells = [cell.strip() for cell in line.split("|")]
    found = list(read_effects().values("SimCSE", "STS-B").values())
    assert (
        cells[5] == f"{mean(found):.1f} ± {stdev(found):.1f}" == f"{read_effects().mean('SimCSE', 'STS-B'):.1f} ± 0.8"
    )
    assert cells[2] == str(len(found))


def test_a_row_that_trains_nothing_has_one_value_and_no_losses():
    effects = read_effects()
    assert list(effects.values("plain", "World-STS")) == [None]
    assert effects.losses("plain") == effects.curves("plain") == {}


def test_losses_and_curves_have_a_line_for_each_seed():
    effects = read_effects()
    assert (
        effects.losses("SimCSE").keys() == effects.curves("SimCSE").keys() == effects.values("SimCSE", "STS-B").keys()
    )
    assert {len(losses) for losses in effects.losses("SimCSE").values()} == {60}
    assert all(curve[0][0] == 0 for curve in effects.curves("SimCSE").values())


def test_another_corpus_is_another_table():
    assert list(read_effects("world:20000").lines) == ["SimCSE"]
    with pytest.raises(ValueError, match="nothing is recorded for the corpus 'news'"):
        read_effects("news")


def test_a_table_says_how_many_seeds_there_are():
    effects = read_effects()
    head, plain, simcse = effects.table(["plain", "SimCSE"], ["STS-B"]).splitlines()
    assert head.split() == ["seeds", "STS-B"]
    assert plain.split() == ["plain", f"{effects.mean('plain', 'STS-B'):.1f}"]
    values = effects.values("SimCSE", "STS-B")
    assert simcse.split()[:3] == ["SimCSE", str(len(values)), f"{mean(values.values()):.1f}"]


def test_an_unknown_row_or_measure_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no recorded row 'simcse'; there are SimCSE, WhitenedCSE"):
        read_effects().values("simcse", "STS-B")
    with pytest.raises(ValueError, match="'plain' has no 'SICK-R'; it has STS-B dev"):
        read_effects().mean("plain", "SICK-R")


def test_one_row_over_another_seed_by_seed():
    def line(value):
        return {"scores": {"STS-B": value}}

    seen = Effects(
        {
            "A": {0: line(5.0), 1: line(7.0), 2: line(9.0)},
            "B": {0: line(4.0), 2: line(10.0)},
            "plain": {None: line(1.0)},
        }
    )
    assert seen.over("A", "B", "STS-B") == {0: 1.0, 2: -1.0}
    assert seen.over("A", "plain", "STS-B") == {0: 4.0, 1: 6.0, 2: 8.0}
    assert seen.over("plain", "B", "STS-B") == {0: -3.0, 2: -9.0}
    assert seen.over("plain", "plain", "STS-B") == {None: 0.0}
