import pytest

from cselab.data import STS_PAIRS, check


def status_of(found):
    return {(line.name, line.split): line.status for line in found}


def test_a_whole_folder_is_ok_and_what_is_not_there_is_missing(senteval):
    found = check(senteval)
    status = status_of(found)
    for task, splits in STS_PAIRS.items():
        assert all(status[task, split] == "ok" for split in splits)
    assert status["MR", "all"] == status["AgNews", "all"] == "missing"
    assert {line.suite for line in found} == {"sts", "transfer", "clustering"}
    (line,) = [line for line in found if (line.name, line.split) == ("STS-B", "dev")]
    assert str(line).split() == ["ok", "sts", "STS-B", "dev", "1500", "rows,", "unknown", "text"]


@pytest.mark.slow
def test_the_real_data_are_whole(real_data):
    found = check(real_data)
    assert not [str(line) for line in found if line.status == "damaged"]
    assert status_of(found)["STS-B", "test"] == "ok"
