"""The classroom's pairs: well-formed, balanced, graded in accord with their reasons; damage is named."""

from collections import Counter
from itertools import pairwise
from statistics import correlation

import pytest

from cselab.data import DataError
from cselab.world import classroom
from cselab.world.classroom import FILE, REASONS, ROWS, classroom_pairs, classroom_sts

PAIRS = classroom_pairs()
SENTENCES = [sentence for pair in PAIRS for sentence in (pair.sentence1, pair.sentence2)]


def words(sentence):
    return sentence.lower().rstrip(".?!").replace(",", "").split()


def overlap(pair):
    first, second = set(words(pair.sentence1)), set(words(pair.sentence2))
    return len(first & second) / len(first | second)


def band(pair):
    return int(pair.score)


def test_there_are_enough_pairs_and_a_third_of_them_is_for_development():
    assert len(PAIRS) == sum(ROWS.values()) >= 360
    assert ROWS["test"] == 2 * ROWS["dev"]


def test_the_grades_are_balanced_in_both_splits():
    for split, rows in ROWS.items():
        counts = Counter(band(pair) for pair in PAIRS if pair.split == split)
        assert sorted(counts) == [0, 1, 2, 3, 4, 5]
        assert min(counts.values()) >= 0.8 * rows / 6
        assert max(counts.values()) <= 1.2 * rows / 6


def test_both_splits_hold_every_reason_at_about_the_same_rate():
    dev, test = (Counter(pair.reason for pair in PAIRS if pair.split == split) for split in ("dev", "test"))
    for reason in REASONS:
        assert abs(2 * dev[reason] - test[reason]) <= 3, reason
        assert dev[reason] >= 3, reason


def test_half_grades_are_used_sparingly():
    assert sum(pair.score % 1 == 0.5 for pair in PAIRS) < 0.1 * len(PAIRS)


def test_the_reasons_are_the_documented_ones_and_all_occur():
    documented = {line.split()[0] for line in classroom.__doc__.splitlines() if line.startswith("    ")}
    assert documented - set("012345") == set(REASONS) == {pair.reason for pair in PAIRS}


@pytest.mark.parametrize("reason", REASONS)
def test_the_range_of_a_reason_is_used_to_both_ends_and_not_left(reason):
    lowest, highest = REASONS[reason]
    scores = [pair.score for pair in PAIRS if pair.reason == reason]
    assert (min(scores), max(scores)) == (lowest, highest)


def test_everyday_topics_are_many_and_none_is_rare():
    counts = Counter(pair.topic for pair in PAIRS)
    assert len(counts) >= 20
    assert min(counts.values()) >= 10


def test_no_sentence_occurs_twice_so_the_splits_share_none():
    bare = Counter(" ".join(words(sentence)) for sentence in SENTENCES)
    assert [sentence for sentence, count in bare.items() if count > 1] == []


def test_sentences_look_like_sentences_of_5_to_25_words():
    for sentence in SENTENCES:
        assert 5 <= len(sentence.split()) <= 25, sentence
        assert sentence[0].isupper() and sentence[-1] in ".?!", sentence
        assert "  " not in sentence and " ," not in sentence, sentence
        assert all(first != second for first, second in pairwise(words(sentence))), sentence


def test_lengths_vary():
    lengths = [len(sentence.split()) for sentence in SENTENCES]
    assert sum(length >= 15 for length in lengths) >= 80
    assert sum(length <= 7 for length in lengths) >= 80


def test_word_overlap_alone_does_not_give_the_grades_away():
    by_reason = {reason: [overlap(pair) for pair in PAIRS if pair.reason == reason] for reason in REASONS}
    mean = {reason: sum(values) / len(values) for reason, values in by_reason.items()}
    assert mean["role"] > mean["same"] > mean["paraphrase"] > mean["topic"]
    assert mean["negation"] > mean["paraphrase"] > mean["idiom"]
    assert sum(overlap(pair) < 0.2 for pair in PAIRS if pair.score >= 4.5) >= 20
    assert sum(overlap(pair) > 0.5 for pair in PAIRS if pair.score <= 3) >= 40
    assert 0.2 < correlation([overlap(pair) for pair in PAIRS], [pair.score for pair in PAIRS]) < 0.6


def test_the_loader_gives_the_rows_of_one_split_in_order():
    for split, rows in ROWS.items():
        pairs = classroom_sts(split)
        expected = [pair for pair in PAIRS if pair.split == split]
        assert len(pairs) == rows
        assert (pairs.name, pairs.split) == ("Classroom STS", split)
        assert pairs.sentences1 == [pair.sentence1 for pair in expected]
        assert pairs.sentences2 == [pair.sentence2 for pair in expected]
        assert pairs.scores == [pair.score for pair in expected]
        assert pairs.subsets == [pair.reason for pair in expected]


def test_test_is_the_default_split_and_an_unknown_one_lists_the_splits():
    assert classroom_sts().split == "test"
    with pytest.raises(ValueError, match=r"'train'.*dev, test"):
        classroom_sts("train")


@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        (0, "train", "split 'train' is not one of dev, test"),
        (1, "five", "not 'five'"),
        (1, "nan", "not 'nan'"),
        (1, "6", "not '6'"),
        (1, "2.25", "not '2.25'"),
        (2, "because", "reason 'because' is not one of same, paraphrase"),
        (3, "", "the topic '' is blank"),
        (4, "  ", "the sentence1 '  ' is blank"),
        (5, "Ends with a space. ", "white space around it"),
        (5, "Two\tfields.", "7 tab-separated fields, 6 expected"),
    ],
)
def test_a_damaged_row_is_refused_with_its_file_and_line(tmp_path, column, value, complaint):
    lines = FILE.read_text(encoding="utf-8").splitlines()
    fields = lines[41].split("\t")
    fields[column] = value
    lines[41] = "\t".join(fields)
    damaged = tmp_path / "damaged.tsv"
    damaged.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"damaged\.tsv, line 42: ") as refusal:
        classroom_pairs(damaged)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(("reason", "score"), [("same", "3"), ("none", "1"), ("negation", "5"), ("topic", "0")])
def test_a_grade_that_contradicts_its_reason_is_refused(tmp_path, reason, score):
    lines = FILE.read_text(encoding="utf-8").splitlines()
    split, _, _, *rest = lines[1].split("\t")
    lines[1] = "\t".join([split, score, reason, *rest])
    damaged = tmp_path / "damaged.tsv"
    damaged.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"damaged\.tsv, line 2: a pair with reason '{reason}' is graded"):
        classroom_pairs(damaged)


def test_a_file_cut_short_or_without_its_header_is_refused(tmp_path):
    lines = FILE.read_text(encoding="utf-8").splitlines(keepends=True)
    damaged = tmp_path / "damaged.tsv"
    damaged.write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match=r"damaged\.tsv, 483 lines: 321 pairs of split test, 322 expected"):
        classroom_pairs(damaged)
    damaged.write_text("".join(lines[1:]), encoding="utf-8")
    with pytest.raises(DataError, match=r"damaged\.tsv, line 1: the header should be split, score"):
        classroom_pairs(damaged)
    damaged.write_text("", encoding="utf-8")
    with pytest.raises(DataError, match=r"damaged\.tsv, line 1: the header should be"):
        classroom_pairs(damaged)
