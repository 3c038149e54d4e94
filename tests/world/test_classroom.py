"""The classroom's pairs: well-formed, balanced, graded in accord with their reasons; damage is named."""

from collections import Counter
from itertools import pairwise

import pytest

from cselab.world.classroom import PAIRS_FILE, PAIRS_OF_SPLIT, ClassroomPair, classroom_pairs, classroom_sts

REASONS = {  # lowest and highest grade
    "same": (5.0, 5.0),
    "paraphrase": (4.5, 5.0),
    "idiom": (4.5, 5.0),
    "detail": (3.0, 4.5),
    "hypernym": (3.0, 4.0),
    "number": (3.0, 4.0),
    "time": (3.0, 4.0),
    "place": (3.0, 4.0),
    "who": (3.0, 3.0),
    "certainty": (3.0, 3.5),
    "role": (2.0, 2.5),
    "negation": (2.0, 2.0),
    "opposite": (2.0, 2.0),
    "event": (1.5, 2.5),
    "object": (2.0, 2.5),
    "topic": (1.0, 1.5),
    "sense": (0.0, 0.5),
    "none": (0.0, 0.0),
}
PAIRS = classroom_pairs()
SENTENCES = [sentence for pair in PAIRS for sentence in (pair.sentence1, pair.sentence2)]


def words(sentence):
    return sentence.lower().rstrip(".?!").replace(",", "").split()


def test_the_file_has_its_columns_and_no_cell_is_blank_or_padded():
    header, *lines = PAIRS_FILE.read_text(encoding="utf-8").splitlines()
    assert tuple(header.split("\t")) == ClassroomPair._fields
    for line in lines:
        cells = line.split("\t")
        assert len(cells) == len(ClassroomPair._fields), line
        assert all(cell and cell == cell.strip() for cell in cells), line


def test_there_are_enough_pairs_and_a_third():
    """There are enough pairs and a third of them is for development."""
    assert Counter(pair.split for pair in PAIRS) == PAIRS_OF_SPLIT
    assert sum(PAIRS_OF_SPLIT.values()) >= 360
    assert PAIRS_OF_SPLIT["test"] == 2 * PAIRS_OF_SPLIT["dev"]


@pytest.mark.parametrize("reason", REASONS)
def test_the_range_of_a_reason_is_used_to_both_ends_and_not_left(reason):
    lowest, highest = REASONS[reason]
    scores = [pair.score for pair in PAIRS if pair.reason == reason]
    assert (min(scores), max(scores)) == (lowest, highest)


def test_no_sentence_occurs_twice_so_the_splits_share_none():
    bare = Counter(" ".join(words(sentence)) for sentence in SENTENCES)
    assert [sentence for sentence, count in bare.items() if count > 1] == []


def test_sentences_look_like_sentences_of_5_to_25_words():
    for sentence in SENTENCES:
        assert 5 <= len(sentence.split()) <= 25, sentence
        assert sentence[0].isupper() and sentence[-1] in ".?!", sentence
        assert "  " not in sentence and " ," not in sentence, sentence
        assert all(first != second for first, second in pairwise(words(sentence))), sentence


def test_the_loader_gives_the_rows_of_one_split_in_order():
    for split, rows in PAIRS_OF_SPLIT.items():
        pairs = classroom_sts(split)
        expected = [pair for pair in PAIRS if pair.split == split]
        assert len(pairs) == rows
        assert (pairs.name, pairs.split) == ("Classroom STS", split)
        assert pairs.sentences1 == [pair.sentence1 for pair in expected]
        assert pairs.sentences2 == [pair.sentence2 for pair in expected]
        assert pairs.scores == [pair.score for pair in expected]
        assert pairs.subsets == [pair.reason for pair in expected]


def test_test_is_the_default_split_and_an_unknown_one_lists():
    """Test is the default split and an unknown one lists the splits."""
    assert classroom_sts().split == "test"
    with pytest.raises(ValueError, match=r"'train'.*dev, test"):
        classroom_sts("train")
