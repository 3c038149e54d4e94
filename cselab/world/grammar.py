"""From meaning to English: one meaning, many sentences."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import zip_longest

from cselab.world.frames import Frame, Saying
from cselab.world.lexicon import Lexicon
from cselab.world.meaning import Meaning, Thing
from cselab.world.morphology import indefinite, sentence_case, third_person

FORMS = {  # how often each is chosen where it is possible
    "plain": 4,
    "fronted": 2,
    "passive": 2,
    "passive fronted": 0.7,
    "subject cleft": 0.5,
    "object cleft": 0.5,
}
QUESTIONS = ("person", "thing", "place", "time", "number", "yes-no")
STATIVE = {"hear", "know", "see", "dislike", "taste", "feel", "sound"}  # no "is hearing"
PLURAL = {"is": "are", "was": "were", "does": "do"}


@dataclass(frozen=True)
class Phrase:
    """A noun phrase ready to be placed."""

    text: str
    plural: bool = False
    person: bool = False
    possessive: str = "its"


class Grammar:
    """Says meanings: `forms` lists how a meaning can be said, `say` says it, `ask` asks about it."""

    def __init__(self, lexicon: Lexicon, frames: dict[str, Frame]):
        self.lexicon, self.frames = lexicon, frames

    def forms(self, meaning: Meaning) -> list[tuple[Saying, str]]:
        """Every saying of the frame, in every form of `FORMS` that suits the meaning."""
        frame, out = self.frames[meaning.frame], []
        for saying in frame.sayings:
            verbs = self.verbs(saying, meaning)
            if not verbs:
                continue
            voices = ["plain", "passive"] if saying.passive and not frame.lasting else ["plain"]
            shapes = list(voices)
            if meaning.place or meaning.time:
                shapes += [("fronted" if voice == "plain" else "passive fronted") for voice in voices]
            if not meaning.negated and "be" not in verbs and meaning.tense != "habit":
                shapes += ["subject cleft"] * (saying.subject in frame.roles)
                shapes += ["object cleft"] * (len(voices) == 2)
            out += [(saying, shape) for shape in shapes]
        return out

    def verbs(self, saying: Saying, meaning: Meaning) -> list[str]:
        """The verbs of a saying that suit: no manner with "be", no "is hearing"."""
        going_on = meaning.tense == "now" and not self.frames[meaning.frame].lasting
        barred = ({"be"} if meaning.way else set()) | (STATIVE if going_on else set())
        return [verb for verb in saying.verbs if verb.split("_")[0] not in barred]

    def say(
        self,
        meaning: Meaning,
        rng: random.Random,
        form: tuple[Saying, str] | None = None,
        opener: str = "",
        known: frozenset[str] | None = None,
    ) -> str:
        """One sentence for the meaning, in any of its forms or the given one.

        In a text, an `opener` ("then") may come first, and `known` nouns take "the", the others "a".
        """
        forms = [form] if form else self.forms(meaning)
        if opener:
            forms = [form for form in forms if form[1] in ("plain", "passive")]
        saying, shape = rng.choices(forms, [FORMS[shape] for _, shape in forms])[0]
        return Clause(self, meaning, saying, rng, known).sentence(shape, opener)

    def ask(self, meaning: Meaning, kind: str, rng: random.Random) -> str | None:
        """A question for somebody or something, a place, a time, a number, or yes or no; None if it has none."""
        sayings = [saying for saying in self.frames[meaning.frame].sayings if self.verbs(saying, meaning)]
        return Clause(self, meaning, rng.choice(sayings), rng).question(kind) if not meaning.negated else None

    def word(self, words, rng: random.Random):
        """The concept's own word half of the time, else any of its words."""
        return words[0] if rng.random() < 0.5 else rng.choice(words)

    def phrase(self, thing: Thing, rng: random.Random, article: str = "", role: str = "object") -> Phrase:
        """ "the big dogs", "three apples", "Ms Keller", "my uncle"; role: "subject", "object" or "denied"."""
        if not thing.noun:
            return Phrase(self.word(self.lexicon.qualities[thing.quality].words, rng))
        noun = self.lexicon.nouns[thing.noun]
        plural = bool(thing.quantity) or noun.kind == "pair"
        core = self.word(noun.words, rng)[plural]
        if thing.quality and article != "bare":
            core = f"{self.word(self.lexicon.qualities[thing.quality].words, rng)} {core}"
        if noun.kind in ("name", "bare") or article == "bare":
            article = ""
        elif noun.kind in ("mine", "unique"):
            article = "my" if noun.kind == "mine" else "the"
        elif thing.quantity in self.lexicon.quantities:
            article = self.word(self.lexicon.quantities[thing.quantity].words, rng)
        elif plural or noun.kind == "mass":
            indefinites = {"subject": ("some",), "object": ("some", ""), "denied": ("any", "")}[role]
            indefinites = ("the", rng.choice(indefinites))
            article = "the" if article == "the" else indefinites[article == "a" or rng.random() < 0.5]
        else:
            article = article or rng.choice(("a", "the"))
        text = indefinite(core) if article == "a" else f"{article} {core}".strip()
        return Phrase(text, plural, noun.is_a("person"), "their" if plural else noun.possessive)

    def verb(
        self,
        base: str,
        tense: str,
        plural: bool,
        passive: bool = False,
        split: bool = False,
        going: bool = False,
    ) -> tuple[str, str, str]:
        """Finite auxiliary, further ones, verb: ("will", "be", "peeled"); ("", "", "peeled") unless it is `split`."""
        first, *particles = base.split("_")
        past, participle, ing = self.lexicon.verb(first)
        if passive:
            aux, more = {
                "past": ("was", ""),
                "now": ("is", "being"),
                "habit": ("is", ""),
                "future": ("will", "be"),
            }[tense]
            main = participle
        elif first == "be":
            aux, more, main = {"past": ("was", "", ""), "future": ("will", "", "be")}.get(
                tense, ("is", "", "")
            )
        elif tense == "now":
            aux, more, main = "is", "", ing
        elif tense == "future":
            aux, more, main = ("is", "going to", first) if going else ("will", "", first)
        elif split:
            aux, more, main = "did" if tense == "past" else "does", "", first
        else:
            aux, more, main = "", "", past if tense == "past" else first if plural else third_person(first)
        return PLURAL.get(aux, aux) if plural else aux, more, joined(main, *particles)


class Clause:
    """One saying of one meaning on its way to a sentence."""

    def __init__(
        self,
        grammar: Grammar,
        meaning: Meaning,
        saying: Saying,
        rng: random.Random,
        known: frozenset[str] | None = None,
    ):
        self.grammar, self.meaning, self.saying, self.rng, self.known = grammar, meaning, saying, rng, known
        self.things, lexicon = dict(meaning.roles), grammar.lexicon
        self.base = rng.choice(grammar.verbs(saying, meaning))
        self.going = rng.random() < 0.3
        lasting = grammar.frames[meaning.frame].lasting
        self.tense = "habit" if lasting and meaning.tense == "now" else meaning.tense
        self.time = grammar.word(lexicon.times[meaning.time].words, rng) if meaning.time else ""
        self.place = ""
        if meaning.place:
            article = "the" if rng.random() < 0.75 or self.known else "a"
            where = lexicon.nouns[meaning.place.noun].on or "in"
            self.place = f"{where} {grammar.phrase(meaning.place, rng, article).text}"
        way = grammar.word(lexicon.ways[meaning.way].words, rng) if meaning.way else ""
        early = way.endswith("ly") and " " not in way and rng.random() < 0.6
        self.early, self.late = (way, "") if early else ("", way)

    def sentence(self, form: str, opener: str = "") -> str:
        """The sentence in one of `FORMS`."""
        setting = [text for text in (self.place, self.time) if text]
        front = opener or (self.rng.choice(setting) if "fronted" in form else "")
        setting = [text for text in setting if text != front]
        it = "it was" if self.tense == "past" else "it is"
        article, target, others = self._object()
        if form == "subject cleft":
            focus = self._role(self.saying.subject, "the", "subject")
            who = "who" if focus.person else "that"
            words = [it, focus.text, who, self._predicate(focus, self._rest(self.saying.rest, focus))]
        elif form == "object cleft":
            focus, subject = self._role(target, "the"), self._role(self.saying.subject, "the", "subject")
            words = [
                it,
                focus.text,
                "that",
                subject.text,
                self._predicate(subject, self._rest(others, subject)),
            ]
        elif "passive" in form:
            subject, agent = self._role(target, article, "subject"), self._role(self.saying.subject)
            rest = joined(self._rest(others, agent), "by", agent.text)
            words = [subject.text, self._predicate(subject, rest, passive=True)]
        else:
            subject = self._role(self.saying.subject, "", "subject")
            words = [subject.text, self._predicate(subject, self._rest(self.saying.rest, subject))]
        return sentence_case((f"{front}, " if front else "") + joined(*words, *setting))

    def question(self, kind: str) -> str | None:
        """A question of one of `QUESTIONS`, or None where the meaning has no answer to it."""
        _, target, others = self._object()
        subject = self._role(self.saying.subject, "the", "subject")
        asked = self.things.get(target) if self.saying.passive else None
        if kind in ("person", "thing"):
            if asked and self._role(target).person == (kind == "person"):
                return self._inverted(self._which(target, kind), subject, others)
            if self.saying.subject in self.things and subject.person == (kind == "person"):
                who = Phrase(self._which(self.saying.subject, kind))
                words = [
                    who.text,
                    self._predicate(who, self._rest(self.saying.rest, subject)),
                    self.place,
                    self.time,
                ]
                return sentence_case(joined(*words), "?")
        if kind == "place" and self.place:
            self.place = ""
            return self._inverted("where", subject, self.saying.rest)
        if kind == "time" and self.time:
            self.time = ""
            return self._inverted("when", subject, self.saying.rest)
        if kind == "number" and asked and asked.quantity in self.grammar.lexicon.quantities:
            return self._inverted(
                f"how many {self.grammar.lexicon.nouns[asked.noun].words[0][1]}", subject, others
            )
        return self._inverted("", subject, self.saying.rest) if kind == "yes-no" else None

    def _which(self, token: str, kind: str) -> str:
        """ "who" and "what", or "which vegetable"."""
        broader = self.grammar.lexicon.nouns[self.things[token].noun].hypernym()
        if kind == "thing" and broader and broader.kind == "count" and self.rng.random() < 0.4:
            return f"which {broader.words[0][0]}"
        return "who" if kind == "person" else "what"

    def _inverted(self, wh: str, subject: Phrase, rest: tuple[str, ...]) -> str:
        aux, more, verb = self._verb(subject, split=True)
        words = [
            wh,
            aux,
            subject.text,
            more,
            self.early,
            verb,
            self._rest(rest, subject),
            self.late,
            self.place,
            self.time,
        ]
        return sentence_case(joined(*words), "?")

    def _object(self) -> tuple[str, str, tuple[str, ...]]:
        """The article and the role of the direct object, and what follows it."""
        start = 1 if self.saying.rest[:1] in (("the",), ("a",)) else 0
        head = (*self.saying.rest, "")[start]
        return self.saying.rest[0] if start else "", head, self.saying.rest[start + 1 :]

    def _role(self, token: str, article: str = "", role: str = "object") -> Phrase:
        """The thing in a role, or the token itself."""
        thing = self.things.get(token)
        if not thing:
            return Phrase(token)
        if self.known is not None and not article:
            article = "the" if thing.noun in self.known else "a"
        role = "denied" if self.meaning.negated and role == "object" else role
        return self.grammar.phrase(thing, self.rng, article, role)

    def _rest(self, tokens: tuple[str, ...], subject: Phrase) -> str:
        """What follows the verb, with the roles filled in."""
        words, article = [], ""
        for token, following in zip_longest(tokens, tokens[1:], fillvalue=""):
            if token in ("the", "a", "their", "bare") and following in self.things:
                article = subject.possessive if token == "their" else token
            elif token == "at" and following in self.things:
                noun = self.grammar.lexicon.nouns[self.things[following].noun]
                words.append(noun.on or ("in" if noun.is_a("place") else "at"))
            else:
                token = subject.possessive if token == "their" else self.rng.choice(token.split("|"))
                words.append(self._role(token, article).text)
                article = ""
        return joined(*words)

    def _verb(self, subject: Phrase, passive: bool = False, split: bool = False) -> tuple[str, str, str]:
        return self.grammar.verb(self.base, self.tense, subject.plural, passive, split, self.going)

    def _predicate(self, subject: Phrase, rest: str, passive: bool = False) -> str:
        aux, more, verb = self._verb(subject, passive, self.meaning.negated)
        if self.meaning.negated:
            short = "won't" if aux == "will" else aux + "n't"
            aux = short if self.rng.random() < 0.4 else aux + " not"
        return joined(aux, more, self.early, verb, rest, self.late)


def joined(*words: str) -> str:
    """The words that are there, with single spaces."""
    return " ".join(word for word in words if word)
