"""Rows of a corpus with several columns: a sentence and a method's further columns, from one meaning."""

from collections.abc import Sequence
from random import Random

from cselab._util.arguments import check_choice

from .changes import NEEDS
from .meaning import Sentence, overlap
from .speaker import Speaker

CHANGES = {
    "paraphrase": ("same",),
    "negation": ("negation",),
    "entailment": ("less", "hypernym"),
    "contradiction": ("negation", "opposite"),
}
"""Columns that are sentences of a changed meaning, and by which changes. A negation keeps the words as far as
possible; the remaining columns use different words.
"""

LABELS = ("topic", "sentiment")
"""Columns that are a label, as text."""

ROW_COLUMNS = ("sentence", *CHANGES, *LABELS, "entity", "other_entity", "scene", "document")


def rows(world: Speaker, columns: Sequence[str], n: int, rng: Random, split: str) -> list:
    """`n` rows with these columns, with distinct first texts: see `World.rows`."""
    for column in columns:
        check_choice("column", column, ROW_COLUMNS)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"columns is {tuple(columns)!r}: name each column once, at least one")
    if "document" in columns:
        if len(columns) > 1:
            raise ValueError("'document' must be the only column: columns=('document',)")
        return [" ".join(sentence.text for sentence in told) for told in world.documents(n, split)]
    drawn: dict[str, tuple[str, ...]] = {}
    while len(drawn) < n:
        sentence = world.say(world.meaning(rng, split), rng)
        row = tuple(_text(world, column, sentence, rng) for column in columns)
        if all(row):
            drawn.setdefault(sentence.text, row)
    return [row if len(columns) > 1 else row[0] for row in drawn.values()]


def _text(world: Speaker, column: str, sentence: Sentence, rng: Random) -> str:
    """The content of a further column; empty if the meaning lacks the value."""
    meaning = sentence.meaning
    if column == "sentence":
        return sentence.text
    if column == "topic":
        return world.frames[meaning.frame].topic
    if column == "sentiment":
        return {1: "positive", -1: "negative"}.get(world.feeling(meaning), "")
    if column in ("entity", "other_entity"):
        nouns = [world.lexicon.nouns[thing.noun] for _, thing in meaning.roles if thing.noun]
        named = [noun for noun in nouns if noun.kind == "name"]
        one = Random(sentence.text).choice(named) if named else None  # the same in each column
        if one is None or column == "entity":
            return one.name if one else ""
        others = [noun.name for noun in world.lexicon.names if noun.parent is one.parent]
        return rng.choice([name for name in others if all(name != noun.name for noun in named)] or [""])
    if column == "scene":
        return " ".join(f"{value:.4f}" for value in world.scene_vector(meaning))
    change = rng.choice(CHANGES[column])
    possible = NEEDS.get(change, lambda frame: True)(world.frames[meaning.frame])
    changed = world.changed(meaning, change, rng) if possible else None
    worded = [world.say(changed, rng) for _ in range(6)] if changed else []
    different = [one for one in worded if one.text != sentence.text]
    nearest = max if column == "negation" else min
    return nearest(different, key=lambda one: overlap((sentence, one))).text if different else ""
