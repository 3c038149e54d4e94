"""The world: sentences with a known meaning, and pairs, rows and labels made from them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from cselab._util.arguments import check_choice, checked
from cselab.data import Pairs
from cselab.data.classification import Labelled
from cselab.data.files import read_fields
from cselab.world import changes

from .grammar import QUESTION_KINDS
from .meaning import Meaning, Sentence, overlap
from .rows import rows
from .rubric import Rubric
from .speaker import Speaker

# Kinds of STS pairs by grade: name, change, and whether the wording is as "alike" as possible, "free"
# or "apart". The hard ones keep the words and reverse the meaning, or keep the meaning and change the words.
# A kind that is listed twice is drawn twice as often.
PAIR_KINDS = {
    5: (("same words", "same", "alike"), ("paraphrase", "same", "free"), *3 * [("other words", "same", "apart")]),
    4: (*2 * [("detail", "detail", "apart")], ("detail", "detail", "free"), ("hypernym", "hypernym", "apart")),
    3: (
        ("other", "other", "free"),
        ("other", "other", "apart"),
        ("details", "details", "apart"),
        ("number", "number", "alike"),
    ),
    2: (
        ("negation", "negation", "alike"),
        ("roles", "roles", "alike"),
        ("opposite", "opposite", "free"),
        ("event", "event", "alike"),
    ),
    1: (("topic", "topic", "free"), ("event", "event", "alike")),
    0: (("none", "none", "free"), ("shared words", "words", "alike")),
}
TASKS = ("topic", "sentiment", "question", "subjectivity", "paraphrase")
FEELINGS = {"negative": -1, "positive": 1}


WordTable = dict[str, tuple[str, ...]]
"""Some words for each word."""

GradedPair = tuple[str, str, float, str]
"""Two texts, the grade from 0 to 5, and the kind of pair."""


@cache
def kept_pairs(split: str) -> list[GradedPair]:
    """The first of `World(seed=0).sts` in dev and test: `cselab world pairs 1200 --split dev` prints `sts-dev.tsv`."""
    file = Path(__file__).with_name(f"sts-{split}.tsv")
    rows = (row for _, row in read_fields(file)) if file.is_file() else ()
    return [(one, two, float(grade), kind) for one, two, grade, kind in rows]


class World(Speaker):
    """Sentences, pairs, labels and scenes, drawn from a seed: the same seed gives the same in every process.

    Meanings are divided into train, dev and test by a hash of their story (frame and participants), so that the splits
    share no story in any wording.

    >>> world = World(seed=0)
    >>> world.sentences(3) == World(seed=0).sentences(3)
    True
    >>> sorted(set(world.sts(12, split="dev").scores))
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.rubric = Rubric(self.lexicon, self.frames)

    # ---- sentences ---------------------------------------------------------------------------------------

    def sentences(self, n: int, split: str = "train") -> list[Sentence]:
        """`n` sentences, all different.

        Raises:
            ValueError: an unknown split, or `n` below 1 or above `LARGEST_SAMPLE`; the methods below raise the same.
        """
        rng = self._random("sentences", n, split)
        drawn: dict[str, Sentence] = {}
        while len(drawn) < n:
            sentence = self.say(self.meaning(rng, split), rng)
            drawn.setdefault(sentence.text, sentence)
        return list(drawn.values())

    # ---- pairs -------------------------------------------------------------------------------------------

    def sts(self, n: int, split: str = "test") -> Pairs:
        """`n` pairs graded 0 to 5 by the rubric of rubric.py, as many of each grade.

        The grade is that of the meanings. `subsets` names the kind of each pair (see `PAIR_KINDS`). The first 1,200 of
        seed 0, dev and test, come from a file, because drawing them needs seconds.
        """
        rng, kept = self._random("sts", n, split), kept_pairs(split) if self.seed == 0 else []
        rows = kept[:n] if n <= len(kept) else [self._graded(number % 6, split, rng) for number in range(n)]
        ones, twos, grades, kinds = map(list, zip(*rows, strict=True))
        return Pairs(ones, twos, grades, name="world-sts", split=split, subsets=kinds)

    def _graded(self, grade: int, split: str, rng: Random) -> GradedPair:
        kind, change, wording = rng.choice(PAIR_KINDS[grade])
        one, two = self.pair(grade, change, wording, split, rng)
        return one.text, two.text, float(grade), kind

    def pair(self, grade: int, change: str, wording: str, split: str, rng: Random) -> tuple[Sentence, Sentence]:
        """A meaning and its change, of this grade, in different texts; change and wording as in `PAIR_KINDS`."""
        while True:
            first = self.meaning(rng, split, changes.NEEDS.get(change))
            for second in (self.changed(first, change, rng) for _ in range(8)):
                if second and grade == self.rubric.grade(first, second):
                    pair = self._worded(first, second, wording, rng)
                    if pair[0].text != pair[1].text:
                        return pair

    def _worded(self, first: Meaning, second: Meaning, wording: str, rng: Random) -> tuple[Sentence, Sentence]:
        """Sentences for the meanings: free, or the wordings of several tries that share the most or fewest words."""
        if wording == "free":
            return self.say(first, rng), self.say(second, rng)
        seeds = [rng.random() for _ in range(6)]  # equal choices keep the texts alike
        ones = [self.say(first, Random(seed)) for seed in seeds]
        twos = [self.say(second, Random(seed)) for seed in seeds]
        different = [(one, two) for one in ones for two in twos if one.text != two.text]
        return (max if wording == "alike" else min)(different or [(ones[0], twos[0])], key=overlap)

    @checked
    def rows(self, columns: Sequence[str], n: int, split: str = "train") -> list[str] | list[tuple[str, ...]]:
        """`n` rows for a method with these `columns`: texts for one column, tuples of texts for several.

        * "sentence"; "paraphrase", the same meaning in other words; "negation", its denial in the same words;
          "entailment", a sentence that follows from it; "contradiction", a sentence that excludes it;
        * "topic" and "sentiment" ("positive" or "negative"), labels of it;
        * "entity", a named person or thing in the sentence; "other_entity", one of the same kind that is not in it;
        * "scene", 64 numbers separated by blanks: the content of a picture (see `scene_vector`);
        * "document", as the only column: five consecutive sentences.

        Raises:
            ValueError: an unknown column, a repeated column, a document with further columns, an unknown split.

        >>> World(seed=0).rows(("sentence", "entity"), 1)
        [('A week ago, Nora Byrne bought the fresco from the gallery.', 'Nora Byrne')]
        """
        rng = self._random(f"rows/{'/'.join(columns)}", n, split)
        return rows(self, columns, n, rng, split)

    # ---- labels ------------------------------------------------------------------------------------------

    def transfer(self, task: str, n: int, split: str = "train") -> Labelled:
        """`n` sentences with labels for a task of `TASKS`, as many of each label; "paraphrase" labels pairs.

        Raises:
            ValueError: an unknown task.
        """
        classes = {
            "topic": self.topics,
            "sentiment": tuple(FEELINGS),
            "question": QUESTION_KINDS,
            "subjectivity": ("objective", "subjective"),
            "paraphrase": ("different", "paraphrase"),
        }
        check_choice("transfer task", task, TASKS)
        return self._labelled(task, n, split, classes[task])

    def clustering(self, n: int, split: str = "test") -> Labelled:
        """`n` sentences with their topics as labels, as many of each."""
        return self._labelled("clustering", n, split, self.topics)

    def _labelled(self, task: str, n: int, split: str, classes: tuple[str, ...]) -> Labelled:
        rng = self._random(task, n, split)
        rows: dict[tuple[str, ...], int] = {}
        while len(rows) < n:
            label = len(rows) % len(classes)
            example = self._example(task, classes[label], split, rng)
            if example:
                rows.setdefault(tuple(sentence.text for sentence in example), label)
        first, *second = map(list, zip(*rows, strict=True))
        made = Labelled(first, list(rows.values()), classes, f"world-{task}", split)
        return replace(made, sentences2=second[0]) if second else made

    def _example(self, task: str, label: str, split: str, rng: Random) -> tuple[Sentence, ...] | None:
        """A try at an example of a label; None where the meaning drawn gives none."""
        match task:
            case "topic" | "clustering":
                return (self.say(self.meaning(rng, split, lambda frame: frame.topic == label), rng),)
            case "sentiment":
                meaning = self.meaning(rng, split, lambda frame: frame.opinion or frame.feeling != 0)
                return (self.say(meaning, rng),) if self.feeling(meaning) == FEELINGS[label] else None
            case "subjectivity":  # opinions, half of them introduced as such; and facts
                meaning = self.meaning(rng, split, lambda frame: frame.opinion == (label == "subjective"))
                introduced = label == "subjective" and rng.random() < 0.5
                opener = self.grammar.word(rng.choice(self.lexicon.families["opinion"]), rng) if introduced else ""
                return (Sentence(self.grammar.say(meaning, rng, opener=opener), meaning),)
            case "question":
                meaning = self.meaning(rng, split)
                question = self.grammar.ask(meaning, label, rng)
                return (Sentence(question, meaning),) if question else None
            case "paraphrase":  # a different meaning in the nearest words
                first, same = self.meaning(rng, split), label == "paraphrase"
                change = "same" if same else rng.choice(("negation", "roles", "opposite", "other", "number"))
                second = self.changed(first, change, rng)
                if not second or (self.rubric.grade(first, second) == 5) != same:
                    return None
                return self._worded(first, second, "free" if same else "alike", rng)
        raise AssertionError(f"no example of {task}")

    # ---- words -------------------------------------------------------------------------------------------

    def synonyms(self) -> WordTable:
        """Words of one meaning by the first of them: nouns, verbs, adjectives, adverbs, times, quantities."""
        table = {noun.name: tuple(one for one, _ in noun.words) for noun in self.lexicon.nouns.values() if noun.said}
        table |= {word.words[0]: tuple(word.words) for word in self.lexicon.words.values()}
        for saying in (saying for frame in self._all for saying in frame.sayings):
            verbs = tuple(verb.replace("_", " ") for verb in saying.verbs)
            table[verbs[0]] = verbs
        return {first: words for first, words in table.items() if len(words) > 1}

    def antonyms(self) -> WordTable:
        """The words of opposite meaning of every adjective, adverb, time and quantity that has some."""
        known = self.lexicon.words
        opposites: WordTable = {}
        for word in known.values():
            for one in word.words if word.opposite in known else ():
                opposites[one] = tuple(dict.fromkeys((*opposites.get(one, ()), *known[word.opposite].words)))
        return opposites
