import pytest

from cselab.data import Pairs, as_pairs, read_pairs

PAIRS = Pairs(["a", "b", "c"], ["d", "e", "f"], [0.0, 2.5, 5.0], "toy", "dev", ["x", "x", "y"])


def test_pairs_know_their_size_sentences_and_rows():
    assert len(PAIRS) == 3
    assert PAIRS.sentences == ["a", "b", "c", "d", "e", "f"]
    part = PAIRS.rows([2, 0])
    assert (part.sentences1, part.sentences2, part.scores) == (["c", "a"], ["f", "d"], [5.0, 0.0])
    assert (part.name, part.split, part.subsets) == ("toy", "dev", ["y", "x"])


def test_the_hash_depends_on_sentences_scores_and_order_alone():
    same = Pairs(PAIRS.sentences1, PAIRS.sentences2, PAIRS.scores, "another name")
    assert same.hash == PAIRS.hash
    for other in (
        Pairs(["a", "b", "z"], PAIRS.sentences2, PAIRS.scores),
        Pairs(PAIRS.sentences1, ["d", "e", "z"], PAIRS.scores),
        Pairs(PAIRS.sentences1, PAIRS.sentences2, [0.0, 2.5, 4.9]),
        PAIRS.rows([1, 0, 2]),
    ):
        assert other.hash != PAIRS.hash


def test_sides_of_different_length_are_refused():
    with pytest.raises(ValueError, match="2 first sentences, 1 second ones and 2 scores"):
        Pairs(["a", "b"], ["c"], [1.0, 2.0])
    with pytest.raises(ValueError, match="1 subset names for 2 pairs"):
        Pairs(["a", "b"], ["c", "d"], [1.0, 2.0], subsets=["x"])


def test_pairs_are_read_from_tabs_whatever_their_quotes(tmp_path):
    path = tmp_path / "own.tsv"
    path.write_text('he said " no\tshe said "yes"\t1.5\n\na\tb\t4\n')
    pairs = read_pairs(path)
    assert (pairs.sentences1, pairs.sentences2) == (['he said " no', "a"], ['she said "yes"', "b"])
    assert (pairs.scores, pairs.name) == ([1.5, 4.0], "own")


GRADES = {
    "some without a label": ([4.5, -1, 0, 2, -1], "2 of 5 rows have the grade -1"),
    "paraphrases without a label": ([1, 0, -1, 0, 1], "1 of 5 rows have the grade -1"),
    "classes of NLI": ([0, 1, 2, 2, 0], "taken as grades. If they are classes"),
    "classes of NLI without a label": ([0, 1, 2, -1, 0], "1 of 5 rows have the grade -1"),
}


@pytest.mark.parametrize("case", GRADES)
def test_scores_that_are_hardly_grades_are_warned_of(case, tmp_path):
    scores, said = GRADES[case]
    rows = [(f"a dog {row}", f"a cat {row}", score) for row, score in enumerate(scores)]
    with pytest.warns(UserWarning, match=said):
        assert as_pairs(rows).scores == scores
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{one}\t{two}\t{score}\n" for one, two, score in rows))
    with pytest.warns(UserWarning, match=rf"pairs\.tsv: .*{said}"):
        assert read_pairs(file).scores == scores


@pytest.mark.parametrize("scores", [[0, 1, 1], [-1, 1, 1], [-1, 0.5, -0.5], [1, 2, 5], [0, 1, 2, 3, 5], [0, 1, 2]])
def test_usual_grades_are_not_warned_of(scores):
    assert as_pairs([(f"a dog {row}", f"a cat {row}", score) for row, score in enumerate(scores)]).scores == scores
