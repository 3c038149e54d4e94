"""What each change of a text changes, and what it leaves."""

import pytest
from tiny import seeded

from cselab.augmentations import Substitution, delete_span, delete_words, draw_spans, reorder_spans

TEXT = "one two three four five six seven eight nine ten"


def test_words_and_phrases_are_replaced_the_longest_first():
    swap = Substitution({"ice cream": ["gelato"], "ice": ["frost"], "big": ["large"]})
    text = "Ice cream, ice and a BIG iceberg-like thing: ice"
    assert swap([text], 1.0, seeded()) == ["Gelato, frost and a Large iceberg-like thing: frost"]


def test_that_share_of_the_words_is_replaced_at_least_one():
    swap = Substitution({word: [word.upper()] for word in TEXT.split()[:5]})
    counts = [
        sum(word.isupper() for word in swap([TEXT], share, seeded())[0].split()) for share in (0.0, 0.1, 0.3, 1.0)
    ]
    assert counts == [1, 1, 3, 5]
    assert swap(["nothing known here"], 1.0, seeded()) == ["nothing known here"]


def test_replacements_are_found_where_they_stand():
    swap = Substitution({"cat": ["tomcat"], "saw": ["beheld"]})
    changed, places = swap.replaced("A cat saw the cat.", 1.0, seeded())
    assert changed == "A tomcat beheld the tomcat."
    assert [changed[begin:end] for begin, end in places] == ["tomcat", "beheld", "tomcat"]


def test_any_other_word_of_a_group_may_come():
    """Any other word of a group may come and never the word itself."""
    swap = Substitution.among([("film", "movie", "picture"), ("picture", "image"), ("alone",)])
    seen = {swap(["picture"], 1.0, seeded(seed))[0] for seed in range(40)}
    assert seen == {"film", "movie", "image"}
    assert "alone" not in swap.table


@pytest.mark.parametrize("delete", [delete_words, delete_span])
def test_a_share_of_the_words_is_gone_and_the_rest_in_order(delete):
    for seed in range(30):
        left = delete([TEXT], 0.3, seeded(seed))[0].split()
        places = [TEXT.split().index(word) for word in left]
        assert len(left) == 7 and places == sorted(places)
        gaps = [b - a for a, b in zip([-1, *places], [*places, 10], strict=True)]
        if delete is delete_span:
            assert sorted(gaps)[-2:] == [1, 4]
    assert delete(["word"], 0.9, seeded()) == ["word"]
    assert len({delete([TEXT], 0.3, seeded(seed))[0] for seed in range(30)}) > 5


def test_two_spans_change_places_and_nothing_else():
    for seed in range(30):
        changed = reorder_spans([TEXT], 0.2, seeded(seed))[0].split()
        words = TEXT.split()
        moved = [place for place in range(10) if changed[place] != words[place]]
        assert sorted(changed) == sorted(words) and len(moved) in (4,)
        one, two = moved[0], moved[2]
        assert changed[one : one + 2] == words[two : two + 2]
        assert changed[two : two + 2] == words[one : one + 2]
    assert reorder_spans(["word", "two words"], 0.5, seeded()) == ["word", "words two"]


def test_positives_are_spans_that_touch_their_anchor():
    document = " ".join(f"w{number}" for number in range(200))
    lengths = {"anchor": [], "positive": []}
    for seed in range(60):
        anchors, positives = draw_spans(document, 2, 3, 1 / 50, 1 / 4, seeded(seed))
        assert len(anchors) == 2 and [len(near) for near in positives] == [3, 3]
        for anchor, near in zip(anchors, positives, strict=True):
            assert anchor in document
            first, last = (int(anchor.split()[end][1:]) for end in (0, -1))
            lengths["anchor"].append(len(anchor.split()))
            for span in near:
                assert span in document
                begin, end = (int(span.split()[end][1:]) for end in (0, -1))
                assert begin <= last + 1 and end >= first - 1
                lengths["positive"].append(len(span.split()))
    assert all(4 <= length <= 50 for each in lengths.values() for length in each)
    means = [sum(each) / len(each) for each in lengths.values()]
    assert means[0] > means[1] + 8  # 2/3 of the way from 4 to 50, and 1/3


def test_a_short_document_still_has_spans():
    anchors, positives = draw_spans("word", 1, 1, 1 / 64, 1 / 4, seeded())
    assert anchors == ["word"] and positives == [["word"]]
