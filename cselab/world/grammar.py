"""From meaning to English: one meaning, many sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from random import Random
from typing import Any

from .frames import Frame, Saying
from .lexicon import Lexicon
from .meaning import Meaning, Thing
from .morphology import indefinite, sentence_case

SENTENCE_FORMS = {  # and how often each is chosen where it is possible
    "plain": 4,
    "fronted": 2,
    "passive": 2,
    "passive fronted": 0.7,
    "subject cleft": 0.5,
    "object cleft": 0.5,
}
QUESTION_KINDS = ("person", "thing", "place", "time", "number", "yes-no")
STATIVE = {"hear", "know", "see", "dislike", "taste", "feel", "sound"}  # no "is hearing"
PEOPLE = ("person", "ensemble", "team", "company", "gang", "party", "government", "council")  # "who" only
PLURAL = {"is": "are", "was": "were", "does": "do"}


@dataclass(frozen=True)
class Phrase:
    """A noun phrase ready to be placed."""

    text: str
    plural: bool = False
    person: bool = False
    possessive: str = "its"


@dataclass
class Grammar:
    """Turns meanings into text: `forms` lists the wordings, `say` returns a sentence, `ask` returns a question."""

    lexicon: Lexicon
    frames: dict[str, Frame]

    def forms(self, meaning: Meaning) -> list[tuple[Saying, str]]:
        """Every saying of the frame, in every form of `SENTENCE_FORMS` that suits the meaning."""
        frame, out = self.frames[meaning.frame], []
        counted = any(thing.quantity in self.lexicon.words for _, thing in meaning.roles)
        for saying in frame.sayings:
            verbs = self.verbs(saying, meaning)
            voices = ["plain", "passive"] if saying.passive and not frame.lasting else ["plain"]
            fronted = [f"{voice} fronted".removeprefix("plain ") for voice in voices]
            shapes = voices + (fronted if meaning.place or meaning.time else [])
            plain_fact = not (meaning.negated or counted) and meaning.tense != "habit"
            if plain_fact and "be" not in verbs:
                shapes += ["subject cleft"] * (saying.subject in frame.roles)
                shapes += ["object cleft"] * (len(voices) == 2 and saying.movable)
            out += [(saying, shape) for shape in shapes if verbs]
        return out

    def verbs(self, saying: Saying, meaning: Meaning) -> list[str]:
        """The verbs of a saying that suit the meaning."""
        frame = self.frames[meaning.frame]
        if meaning.way and saying.subject in [*frame.roles][1:]:
            return []  # who sells willingly need not find a willing buyer
        going_on = meaning.tense == "now" and not frame.lasting
        barred = ({"be"} if meaning.way else set()) | (STATIVE if going_on else set())
        return [verb for verb in saying.verbs if verb.split("_")[0] not in barred]

    def say(
        self,
        meaning: Meaning,
        rng: Random,
        form: tuple[Saying, str] | None = None,
        opener: str = "",
        known: frozenset[str] | None = None,
    ) -> str:
        """One sentence for the meaning, in any of its forms or in the given one.

        In a text an `opener` ("then") may come first, and nouns have "the" if `known`, otherwise "a".
        """
        forms = [form] if form else self.forms(meaning)
        if opener:
            forms = [form for form in forms if form[1] in ("plain", "passive")]
        saying, shape = rng.choices(forms, [SENTENCE_FORMS[shape] for _, shape in forms])[0]
        return Clause(self, meaning, saying, rng, known).sentence(shape, opener)

    def ask(self, meaning: Meaning, kind: str, rng: Random) -> str | None:
        """A question of one of `QUESTION_KINDS` that the meaning answers, or None."""
        sayings = [saying for saying in self.frames[meaning.frame].sayings if self.verbs(saying, meaning)]
        return None if meaning.negated else Clause(self, meaning, rng.choice(sayings), rng).question(kind)

    def word(self, name: str, rng: Random) -> str:
        """The word that names a concept, or as often any of its synonyms; "" for none."""
        return any_of(self.lexicon.words[name].words, rng) if name else ""

    def phrase(self, thing: Thing, rng: Random, article: str = "", role: str = "object") -> Phrase:
        """ "the big dogs", "three apples", "Ms Keller", "my uncle"; as "subject", "object" or "denied" object."""
        if not thing.noun:
            return Phrase(self.word(thing.quality, rng))
        noun = self.lexicon.nouns[thing.noun]
        plural = bool(thing.quantity) or noun.kind == "pair"
        core = any_of(noun.words, rng)[plural]
        if thing.quality and article != "bare":
            core = f"{self.word(thing.quality, rng)} {core}"
        if noun.kind in ("name", "bare") or article == "bare":
            article = ""
        elif noun.kind in ("mine", "unique"):
            article = "my" if noun.kind == "mine" else "the"
        elif thing.quantity in self.lexicon.words:
            article = self.word(thing.quantity, rng)
            if role == "subject" and article.isdigit():  # a sentence does not begin with a figure
                article = self.lexicon.words[thing.quantity].words[0]
        elif noun.kind == "mass" and role == "subject" and article != "the":
            article = rng.choice(("the", ""))
        elif plural or noun.kind == "mass":
            some = rng.choice({"subject": ("some",), "object": ("some", ""), "denied": ("any", "")}[role])
            article = some if article == "a" or (article != "the" and rng.random() < 0.5) else "the"
        else:
            article = article or rng.choice(("a", "the"))
        text = indefinite(core) if article == "a" else f"{article} {core}".strip()
        return Phrase(text, plural, any(map(noun.is_a, PEOPLE)), "their" if plural else noun.possessive)

    def verb(
        self, base: str, tense: str, plural: bool, passive: bool = False, split: bool = False, going: bool = False
    ) -> tuple[str, str, str]:
        """Finite auxiliary, further auxiliaries, verb: ("will", "be", "peeled"); ("", "", "peeled") if nothing splits
        it.
        """
        first, *particles = base.split("_")
        third_person, past, participle, ing = self.lexicon.verbs[first]
        be = {"past": ("was", ""), "now": ("is", "being"), "habit": ("is", ""), "future": ("will", "be")}[tense]
        if passive:
            aux, more, main = *be, participle
        elif first == "be":
            aux, more, main = be[0], "", be[1].removesuffix("being")
        elif tense == "now":
            aux, more, main = "is", "", ing
        elif tense == "future":
            aux, more, main = ("is", "going to", first) if going else ("will", "", first)
        elif split:
            aux, more, main = "did" if tense == "past" else "does", "", first
        else:
            aux, more, main = "", "", past if tense == "past" else first if plural else third_person
        return PLURAL.get(aux, aux) if plural else aux, more, joined(main, *particles)


class Clause:
    """The construction of one sentence for one meaning; every part occurs once."""

    def __init__(
        self, grammar: Grammar, meaning: Meaning, saying: Saying, rng: Random, known: frozenset[str] | None = None
    ) -> None:
        self.grammar, self.meaning, self.saying, self.rng, self.known = grammar, meaning, saying, rng, known
        self.things = dict(meaning.roles)
        self.base = rng.choice(grammar.verbs(saying, meaning))
        self.going = rng.random() < 0.3
        frame = grammar.frames[meaning.frame]
        self.described = frame.describes
        self.tense = "habit" if frame.lasting and meaning.tense == "now" else meaning.tense
        self.time, self.place = grammar.word(meaning.time, rng), ""
        if meaning.place:
            article = "the" if rng.random() < 0.75 or known is not None else "a"
            where = grammar.lexicon.nouns[meaning.place.noun].on or "in"
            self.place = f"{where} {grammar.phrase(meaning.place, rng, article).text}"
        way = grammar.word(meaning.way, rng)
        early = way.endswith("ly") and " " not in way
        self.early, self.late = (way, "") if early else ("", way)

    def sentence(self, form: str, opener: str = "") -> str:
        """The sentence in one of `SENTENCE_FORMS`."""
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
            words = [it, focus.text, "that", subject.text, self._predicate(subject, self._rest(others, subject))]
        elif "passive" in form:
            article = article or ("the" if self.meaning.negated else "")  # not "some goals were not scored"
            subject, agent = self._role(target, article, "subject"), self._role(self.saying.subject)
            rest = joined(self._rest(others, agent), "by", agent.text)
            words = [subject.text, self._predicate(subject, rest, passive=True)]
        else:
            subject = self._role(self.saying.subject, "the" if self.described else "", "subject")
            words = [subject.text, self._predicate(subject, self._rest(self.saying.rest, subject))]
        if setting and words[-1].split()[-1:] == setting[0].split()[:1]:  # not "put in in Dublin"
            front, setting = setting[0], [*setting[1:], front]
        return sentence_case((f"{front}, " if front else "") + joined(*words, *setting))

    def question(self, kind: str) -> str | None:
        """A question of one of `QUESTION_KINDS`, or None where the meaning has no answer."""
        _, target, others = self._object()
        asked = self.things.get(target) if self.saying.passive else None
        subject, rest = self._role(self.saying.subject, "the", "subject"), self.saying.rest
        if kind in ("person", "thing"):
            if asked and self._role(target).person == (kind == "person"):
                return self._inverted(self._which(target, kind), subject, others)
            if self.saying.subject not in self.things or subject.person != (kind == "person"):
                return None
            who = Phrase(self._which(self.saying.subject, kind), possessive=subject.possessive)
            words = [who.text, self._predicate(who, self._rest(rest, who)), self.place, self.time]
            return sentence_case(joined(*words), "?")
        if kind == "number":
            if not asked or asked.quantity not in self.grammar.lexicon.words:
                return None
            many = self.grammar.lexicon.nouns[asked.noun].words[0][1]
            return self._inverted(f"how many {many}", subject, others)
        if kind == "yes-no":
            return self._inverted("", subject, rest)
        answer, wh = (self.place, "where") if kind == "place" else (self.time, "when")
        return self._inverted(wh, subject, rest, leave_out=answer) if answer else None

    def _which(self, token: str, kind: str) -> str:
        """The question word for a noun: "who", "what", or "which" with its class ("which vegetable")."""
        broader = self.grammar.lexicon.nouns[self.things[token].noun].hypernym
        if kind == "thing" and broader and broader.kind == "count" and self.rng.random() < 0.4:
            return f"which {broader.words[0][0]}"
        return "who" if kind == "person" else "what"

    def _inverted(self, wh: str, subject: Phrase, rest: Sequence[str], leave_out: str = "") -> str:
        aux, more, verb = self._verb(subject, split=True)
        setting = [text for text in (self.place, self.time) if text != leave_out]
        words = [aux, subject.text, more, self.early, verb, self._rest(rest, subject), self.late, *setting]
        return sentence_case(joined(wh, *words), "?")

    def _object(self) -> tuple[str, str, list[str]]:
        """The article and the role after the verb, and the rest."""
        article, *others = self.saying.rest if self.saying.rest[:1] in (["the"], ["a"]) else ("", *self.saying.rest)
        return article, others[0] if others else "", others[1:]

    def _role(self, token: str, article: str = "", role: str = "object") -> Phrase:
        """The thing in a role, or the token itself for a word."""
        thing = self.things.get(token)
        if not thing:
            return Phrase(token)
        if self.known is not None and not article:
            article = "the" if thing.noun in self.known else "a"
        role = "denied" if self.meaning.negated and role == "object" else role
        return self.grammar.phrase(thing, self.rng, article, role)

    def _rest(self, tokens: Sequence[str], subject: Phrase) -> str:
        """The words after the verb, with the roles filled in."""
        words, article = [], ""
        for token, following in zip_longest(tokens, tokens[1:], fillvalue=""):
            if token == "at" and following in self.things:
                place = self.grammar.lexicon.nouns[self.things[following].noun]
                words.append(place.on or ("in" if place.is_a("place") else "at"))
            elif token in ("the", "a", "bare", "their") and following in self.things:
                article = subject.possessive if token == "their" else token
            elif token == "their":
                words.append(subject.possessive)
            else:
                words.append(self._role(self.rng.choice(token.split("|")), article).text)
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


def any_of(words: Any, rng: Random) -> Any:
    """The first half of the time, else any."""
    return words[0] if rng.random() < 0.5 else rng.choice(words)


def joined(*words: str) -> str:
    """The non-empty words, with single spaces."""
    return " ".join(word for word in words if word)
