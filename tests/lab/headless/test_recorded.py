import pytest
from cselab_lab.headless.recorded import compare_recorded, read_recorded, recorded_range, write_recorded


def entry(name, value, tolerance=1e-6):
    return {"name": name, "value": value, "tolerance": tolerance}


def differences(records, recorded):
    return [found.trouble for found in compare_recorded(records, recorded) if not found.ok]


@pytest.mark.parametrize("value, agrees", [(0.719, True), (0.681, True), (0.721, False), (0.679, False)])
def test_a_number_beyond_the_tolerance_of_the_run_is_named(value, agrees):
    found = differences([entry("rho", value, 0.02)], {"records": [entry("rho", 0.70)]})
    assert found == ([] if agrees else [f"'rho' is {value}, recorded was 0.7 (tolerance 0.02)"])


def test_records_that_appeared_or_vanished_are_reported():
    found = differences([entry("new", 1)], {"records": [entry("old", 1)]})
    assert found == ["'new' was not recorded before", "'old' is recorded, but this run did not record it"]


@pytest.mark.parametrize("value, expected", [("cls", "mean"), (True, False), (True, 1), ("1", 1)])
def test_text_and_truth_values_are_compared_for_equality(value, expected):
    assert differences([entry("x", value, 100.0)], {"records": [entry("x", expected)]})
    assert not differences([entry("x", value, 0.0)], {"records": [entry("x", value)]})


def test_a_baseline_reads_as_written_a_missing_one_as_none(tmp_path):
    run = {"notebook": "00_tour", "records": [entry("ρ", 0.7)]}
    write_recorded(tmp_path / "new" / "00_tour.smoke.json", run)
    assert read_recorded(tmp_path / "new" / "00_tour.smoke.json") == run
    assert read_recorded(tmp_path / "none.json") is None


@pytest.mark.parametrize("text", ["", "[]", '{"records": [{"name": "x"}]}'])
def test_a_damaged_baseline_is_named(tmp_path, text):
    path = tmp_path / "00_tour.smoke.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"00_tour\.smoke\.json holds no recorded numbers"):
        read_recorded(path)


def test_a_number_is_shown_with_its_difference():
    records = [entry("rho", 0.75, 0.02), entry("kind", "cls"), entry("new", 3)]
    rows = {
        found.name: found.row()
        for found in compare_recorded(records, {"records": [entry("rho", 0.7), entry("kind", "cls"), entry("old", 1)]})
    }
    assert rows["rho"] == dict(recorded="0.7", now="0.75", difference="+0.05", tolerance="0.02", ok="NO")
    assert rows["kind"] == dict(recorded="cls", now="cls", difference="", tolerance="", ok="ok")
    assert (rows["new"]["recorded"], rows["new"]["ok"]) == ("", "NO")
    assert (rows["old"]["now"], rows["old"]["ok"]) == ("", "NO")


def test_numbers_of_several_seeds_give_a_range(tmp_path):
    seeds = {0: [entry("rho", 0.7)], 1: [entry("rho", 0.8)], 2: [entry("rho", 0.75)]}
    write_recorded(tmp_path / "x.json", {"records": [entry("rho", 0.7)]}, seeds)
    (rho,) = read_recorded(tmp_path / "x.json")["records"]
    assert rho["seeds"] == {"0": 0.7, "1": 0.8, "2": 0.75}
    assert recorded_range(rho) == "recorded: 0.7 to 0.8 over 3 seeds"
