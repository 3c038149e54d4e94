"""From meaning to English: one meaning, many sentences."""

from __future__ import annotations

import random
from dataclasses import dataclass

from cselab.world.frames import Frame, Saying
from cselab.world.lexicon import Lexicon
from cselab.world.meaning import Meaning, Thing
from cselab.world.morphology import indefinite, sentence_case, third_person

FORMS = ("plain", "fronted", "passive", "passive fronted", "subject cleft", "object cleft")
STATIVE = {"hear", "know", "see", "dislike", "taste", "feel", "sound"}  # never "is hearing"
PLURAL_BE = {"is": "are", "was": "were", "does": "do", "has": "have"}


@dataclass(frozen=True)
class Phrase:
    """A noun phrase ready to be placed."""

    text: str
    plural: bool = False
    person: bool = False
    possessive: str = "its"


class Grammar:
    """Says meanings. `forms(meaning)` lists what is possible, `say` says one of them."""

    def __init__(self, lexicon: Lexicon, frames: dict[str, Frame]):
        self.lexicon, self.frames = lexicon, frames

    def forms(self, meaning: Meaning) -> list[tuple[Saying, str]]:
        """Every way of saying the frame in every form that suits the meaning."""
        frame, filled = self.frames[meaning.frame], dict(meaning.roles)
        out = []
        for saying in frame.sayings:
            if not self.verbs(saying, meaning):
                continue
            be = saying.verbs[0].startswith("be")
            voices = ["plain", "passive"] if saying.passive and not frame.lasting else ["plain"]
            out += [(saying, voice) for voice in voices]
            if meaning.place or meaning.time:
                out += [(saying, voice.replace("plain", "") + " fronted") for voice in voices]
            if not meaning.negated and not be and meaning.tense != "habit":
                out += [(saying, "subject cleft")] if saying.subject in filled else []
                out += [(saying, "object cleft")] if len(voices) == 2 else []
        return [(saying, form.strip()) for saying, form in out]

    def verbs(self, saying: Saying, meaning: Meaning) -> list[str]:
        """The verbs of a saying that suit: no manner with "be", no "is hearing"."""
        going_on = meaning.tense == "now" and not self.frames[meaning.frame].lasting
        barred = ({"be"} if meaning.way else set()) | (STATIVE if going_on else set())
        return [verb for verb in saying.verbs if verb.split("_")[0] not in barred]

    def say(self, meaning: Meaning, rng: random.Random, form: tuple[Saying, str] | None = None) -> str:
        """One sentence for the meaning; without `form` the plain forms come most often."""
        if form is None:
            forms = self.forms(meaning)
            weights = [{"plain": 4, "fronted": 2, "passive": 2}.get(name, 0.7) for _, name in forms]
            form = rng.choices(forms, weights)[0]
        saying, shape = form
        return Clause(self, meaning, saying, rng).shape(shape)

    def phrase(
        self, thing: Thing, rng: random.Random, article: str = "", subject: bool = False, negated=False
    ) -> Phrase:
        """A noun phrase: "the big dogs", "three apples", "Ms Keller", "my uncle"."""
        if not thing.noun:
            return Phrase(self._word(self.lexicon.qualities[thing.quality].words, rng))
        noun = self.lexicon.nouns[thing.noun]
        plural = bool(thing.quantity) or noun.kind == "pair"
        one, several = self._word(noun.words, rng)
        core = several if plural else one
        if thing.quality:
            core = f"{self._word(self.lexicon.qualities[thing.quality].words, rng)} {core}"
        if noun.kind in ("name", "bare") or article == "bare":
            article = ""
        elif noun.kind in ("mine", "unique"):
            article = {"mine": "my", "unique": "the"}[noun.kind]
        elif thing.quantity and thing.quantity != "some":
            article = self._word(self.lexicon.quantities[thing.quantity].words, rng)
        elif not article and (plural or noun.kind == "mass"):
            article = rng.choice(("the", "the", "any") if negated and not subject else ("the", "the", "some"))
            if not subject and not negated and rng.random() < 0.3:
                article = ""
        article = article or ("" if plural or noun.kind != "count" else rng.choice(("a", "the")))
        text = indefinite(core) if article == "a" else f"{article} {core}".strip()
        return Phrase(text, plural, noun.is_a("person"), "their" if plural else noun.possessive)

    def verb(
        self, base: str, tense: str, passive: bool, plural: bool, split: bool, lasting: bool, rng
    ) -> tuple[str, str]:
        """(auxiliary, rest): ("was", "peeled"), ("did", "peel"); the auxiliary is "" where English needs none."""
        first, *particles = base.split("_")
        past, participle, ing = self.lexicon.verb(first)
        tail = " ".join(["", *particles])
        if passive:
            aux, rest = {
                "past": ("was", ""),
                "now": ("is", "being "),
                "habit": ("is", ""),
                "future": ("will", "be "),
            }[tense]
            rest += participle
        elif first == "be":
            aux, rest = {"past": ("was", ""), "future": ("will", "be")}.get(tense, ("is", ""))
            tail = tail if rest else tail.strip()
        elif tense == "now" and not lasting:
            aux, rest = "is", ing
        elif tense == "future":
            aux, rest = ("is", f"going to {first}") if rng.random() < 0.3 else ("will", first)
        elif split:
            aux, rest = "did" if tense == "past" else "does", first
        else:
            aux, rest = "", past if tense == "past" else first if plural else third_person(first)
        return PLURAL_BE.get(aux, aux) if plural else aux, rest + tail

    def _word(self, words, rng):
        """The concept's own word half of the time, else one of its synonyms."""
        return words[0] if rng.random() < 0.5 else rng.choice(words)


class Clause:
    """One saying of one meaning, its parts said once, then put in order by `shape`."""

    def __init__(self, grammar: Grammar, meaning: Meaning, saying: Saying, rng: random.Random):
        self.grammar, self.meaning, self.saying, self.rng = grammar, meaning, saying, rng
        self.frame, self.filled = grammar.frames[meaning.frame], dict(meaning.roles)
        self.base = rng.choice(grammar.verbs(saying, meaning))
        lexicon = grammar.lexicon
        way = grammar._word(lexicon.ways[meaning.way].words, rng) if meaning.way else ""
        early = way.endswith("ly") and " " not in way and rng.random() < 0.5
        self.early, self.late = (way, "") if early else ("", way)
        time = grammar._word(lexicon.times[meaning.time].words, rng) if meaning.time else ""
        self.setting = [text for text in (self._place(), time) if text]

    def _place(self) -> str:
        place = self.meaning.place
        if not place:
            return ""
        noun = self.grammar.lexicon.nouns[place.noun]
        article = self.rng.choice(("the", "the", "the", "a"))
        return f"{noun.on or 'in'} {self.grammar.phrase(place, self.rng, article).text}"

    def shape(self, name: str) -> str:
        """The finished sentence in the form `name`."""
        front = self.rng.choice(self.setting) + ", " if "fronted" in name else ""
        ending = [text for text in self.setting if text + ", " != front]
        if "cleft" in name:
            return sentence_case(self._cleft(name, ending))
        subject, predicate = self._passive() if "passive" in name else self._active()
        return sentence_case(front + " ".join([subject.text, predicate, *ending]))

    def _role(self, token: str, article: str = "", subject: bool = False) -> Phrase:
        if token not in self.filled:
            return Phrase(token)
        return self.grammar.phrase(self.filled[token], self.rng, article, subject, self.meaning.negated)

    def _active(self, subject: Phrase | None = None, gap: bool = False) -> tuple[Phrase, str]:
        subject = subject or self._role(self.saying.subject, subject=True)
        return subject, self._predicate(subject, self._rest(self.saying.rest, subject.possessive, gap), False)

    def _passive(self) -> tuple[Phrase, str]:
        article, target, rest = self._object()
        subject = self._role(target, article, subject=True)
        agent = self._role(self.saying.subject)
        return subject, self._predicate(
            subject, f"{self._rest(rest, agent.possessive)} by {agent.text}".strip(), True
        )

    def _object(self) -> tuple[str, str, tuple[str, ...]]:
        first, *rest = self.saying.rest
        if first in self.filled:
            return "", first, tuple(rest)
        return first, rest[0], tuple(rest[1:])

    def _cleft(self, name: str, ending: list[str]) -> str:
        be = "was" if self.meaning.tense == "past" else "is"
        if name == "subject cleft":
            focus = self._role(self.saying.subject, "the", subject=True)
            _, predicate = self._active(focus)
            return " ".join(["it", be, focus.text, "who" if focus.person else "that", predicate, *ending])
        article, target, rest = self._object()
        focus = self._role(target, "the", subject=True)
        subject = self._role(self.saying.subject, "the", subject=True)
        _, predicate = self._active(subject, gap=True)
        return " ".join(["it", be, focus.text, "that", subject.text, predicate, *ending])

    def _rest(self, tokens: tuple[str, ...], possessive: str, gap: bool = False) -> str:
        """What follows the verb, roles filled in; `gap` leaves the object out."""
        if gap:
            tokens = self._object()[2]
        words, article = [], ""
        for i, token in enumerate(tokens):
            following = tokens[i + 1] if i + 1 < len(tokens) else ""
            if token in ("the", "a", "their", "bare") and following in self.filled:
                article = possessive if token == "their" else token
            elif token == "at" and following in self.filled:
                words.append(self.grammar.lexicon.nouns[self.filled[following].noun].on or "at")
            elif token == "their":
                words.append(possessive)
            else:
                words.append(self._role(self.rng.choice(token.split("|")), article).text)
                article = ""
        return " ".join(words)

    def _predicate(self, subject: Phrase, rest: str, passive: bool) -> str:
        tense, negated = self.meaning.tense, self.meaning.negated
        aux, main = self.grammar.verb(
            self.base, tense, passive, subject.plural, negated, self.frame.lasting, self.rng
        )
        if negated:
            short = {"will": "won't"}.get(aux, aux + "n't")
            aux = short if self.rng.random() < 0.4 else aux + " not"
        return " ".join(part for part in (aux, self.early, main, rest, self.late) if part)
