import csv
import io
import shutil
from functools import partial

import pytest

from cselab.data import STS_PAIRS, STS_TASKS, DataError, MissingFile, load_sts, sts_splits

STS_B = "STS/STSBenchmark/sts-test.csv"
INPUT = "STS/STS12-en-test/STS.input.MSRpar.txt"
GOLD = "STS/STS12-en-test/STS.gs.MSRpar.txt"
SICK = "SICK/SICK_test_annotated.txt"


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def test_every_set_and_split_loads_with_its_count(senteval):
    for task in STS_TASKS:
        for split in sts_splits(task):
            pairs = load_sts(task, senteval, split)
            expected = sum(STS_PAIRS[task].values()) if split == "full" else STS_PAIRS[task][split]
            assert (len(pairs), pairs.name, pairs.split) == (expected, task, split)
            assert pairs.provenance == "unknown text"


def test_the_folder_above_will_do(senteval):
    assert load_sts("STS-B", senteval.parent).hash == load_sts("STS-B", senteval).hash


def test_tokens_are_joined_by_single_spaces(senteval):
    """Tokens are joined by single spaces and quotes left alone."""
    pairs = load_sts("STS-B", senteval)
    assert pairs.sentences1[7] == 'the STS-B/test café says " row 7 : naïve , and goes on'
    assert pairs.sentences2[7] == "row 7 of STS-B/test says so too"
    assert pairs.scores[7] == 0.7


def test_pairs_without_a_gold_score_are_left_out(senteval):
    pairs = load_sts("STS16", senteval)
    assert "an unscored" not in pairs.sentences1
    first_of = {subset: pairs.sentences1[pairs.subsets.index(subset)] for subset in set(pairs.subsets)}
    assert len(first_of) == 5
    assert all(f"STS16/{subset} " in sentence and "row 0 " in sentence for subset, sentence in first_of.items())


def test_subsets_of_the_yearly_sets(senteval):
    """Subsets of the yearly sets and splits of the full ones are named."""
    assert [load_sts("STS13", senteval).subsets.count(s) for s in ("FNWN", "headlines", "OnWN")] == [189, 750, 561]
    assert load_sts("STS-B", senteval).subsets == []
    full = load_sts("SICK-R", senteval, "full")
    assert [full.subsets.count(split) for split in ("train", "dev", "test")] == [4500, 500, 4927]


@pytest.mark.parametrize("task, file", [("STS-B", STS_B), ("STS16", "STS/STS16-en-test/STS.input.headlines.txt")])
def test_the_further_columns_of_other_releases_read_the_same(senteval, task, file):
    before = load_sts(task, senteval).hash
    path = senteval / file
    path.write_bytes(b"".join(line[:-1] + b"\tsource\tlicence\n" for line in lines_of(path)))
    assert load_sts(task, senteval).hash == before


def cut_rows(path):
    path.write_bytes(b"".join(lines_of(path)[:-10]))


def cut_in_a_row(path):
    *whole, last = lines_of(path)
    path.write_bytes(b"".join(whole) + last[: len(last) // 2])


def to_latin_1(path):
    path.write_bytes(path.read_text().replace("\u2028", "").encode("latin-1"))


def to_utf_16(path):
    path.write_bytes(path.read_text().encode("utf-16"))


def to_mojibake(path):
    path.write_bytes(path.read_bytes().decode("latin-1").encode("utf-8"))


def through_a_csv_writer(path, quoting=csv.QUOTE_MINIMAL):
    table = io.StringIO()
    rows = (line.decode().rstrip("\r\n").split("\t") for line in lines_of(path))
    csv.writer(table, delimiter="\t", lineterminator="\n", quoting=quoting).writerows(rows)
    path.write_bytes(table.getvalue().encode())


through_a_csv_writer_that_quotes_all = partial(through_a_csv_writer, quoting=csv.QUOTE_ALL)


DAMAGE = [
    cut_rows,
    cut_in_a_row,
    to_latin_1,
    to_utf_16,
    to_mojibake,
    through_a_csv_writer,
    through_a_csv_writer_that_quotes_all,
]


@pytest.mark.parametrize("task, file", [("STS12", INPUT), ("STS-B", STS_B), ("SICK-R", SICK)])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused_by_name(senteval, task, file, damage):
    path = senteval / file
    damage(path)
    with pytest.raises(DataError, match=path.name):
        load_sts(task, senteval)


def test_unlike_counts_of_sentences_and_scores_are_refused(senteval):
    """Sentences and gold scores of different length are refused."""
    cut_rows(senteval / GOLD)
    with pytest.raises(DataError, match=r"STS\.input\.MSRpar\.txt has 750 rows but STS\.gs\.MSRpar\.txt has 740"):
        load_sts("STS12", senteval)
    cut_rows(senteval / INPUT)
    with pytest.raises(DataError, match=r"MSRpar\.txt: 740 rows found, 750 expected"):
        load_sts("STS12", senteval)


@pytest.mark.parametrize(
    "task, file, change, said",
    [
        ("STS12", GOLD, lambda text: text.replace("0.300", "three", 1), "line 4: the score 'three' is not a number"),
        ("SICK-R", SICK, lambda text: text.partition("\n")[2], "line 1: a header"),
    ],
)
def test_a_bad_line_is_named_with_its_own_file(senteval, task, file, change, said):
    path = senteval / file
    path.write_text(change(path.read_text()))
    with pytest.raises(DataError, match=f"{path.name}, {said}"):
        load_sts(task, senteval)


def test_unknown_names_list_the_allowed(senteval):
    """Unknown names list the allowed and a missing file is named."""
    (senteval / SICK).unlink()
    with pytest.raises(MissingFile, match="SICK_test_annotated"):
        load_sts("SICK-R", senteval)
    with pytest.raises(ValueError, match=r"unknown STS set 'STS11'.* Choose one of STS12, STS13"):
        load_sts("STS11", senteval)
    with pytest.raises(ValueError, match=r"unknown split of STS12 'dev'\. Choose one of test"):
        load_sts("STS12", senteval, "dev")


# ------------------------------------------------------------------------- on the real files, where they are


@pytest.fixture
def real_copy(real_data, tmp_path):
    """A copy of the real STS-B test file and its place in a folder of its own."""
    path = tmp_path / STS_B
    path.parent.mkdir(parents=True)
    shutil.copyfile(real_data / "senteval" / STS_B, path)
    path.chmod(0o644)
    return path


def test_another_case_of_the_real_words_is_recognised(real_copy):
    real_copy.write_text(real_copy.read_text().upper())
    pairs = load_sts("STS-B", real_copy.parents[2])
    assert pairs.provenance == "as published, other case or tokens"


def swap_a_word(path):
    path.write_text(path.read_text().replace(" dog ", " cat ", 1))


def swap_a_score(path):
    path.write_text(path.read_text().replace("\t2.500\t", "\t3.500\t", 1))


@pytest.mark.parametrize(
    "damage",
    [cut_rows, cut_in_a_row, through_a_csv_writer, through_a_csv_writer_that_quotes_all, swap_a_word, swap_a_score],
)
def test_damage_that_keeps_the_count_is_noticed_by_the_content(real_copy, damage):
    damage(real_copy)
    with pytest.raises(DataError, match=r"sts-test\.csv"):
        load_sts("STS-B", real_copy.parents[2])
