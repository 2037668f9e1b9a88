"""Finds lexicon entries by their words, for tests that build meanings by hand."""

from examples.demo.language.features import MAN, SPEAKER, WOMAN
from examples.demo.language.lexicon import NOUNS
from examples.demo.language.lexicon.adverbs import (
    HABITS,
    MANNERS,
    TIMES,
    VEHICLES_TAKEN,
    WHEREABOUTS,
)
from examples.demo.language.lexicon.clause_verbs import ASKING, INTENDING, SAYING
from examples.demo.language.lexicon.governed_verbs import DATIVE, DITRANSITIVE, PREPOSITIONAL
from examples.demo.language.lexicon.people import COUNTRIES, MEN, TITLED, TOWNS, WOMEN
from examples.demo.language.lexicon.place_verbs import LOCAL, MOTION, PLACING
from examples.demo.language.lexicon.qualities import ADJECTIVES
from examples.demo.language.lexicon.simple_verbs import INTRANSITIVE, TRANSITIVE, WEATHER
from examples.demo.language.meaning import Action, Name, NounPhrase, Pronoun, Quality
from examples.demo.language.words import Adverb, Noun, Verb

VERBS: tuple[Verb, ...] = (
    *INTRANSITIVE,
    *TRANSITIVE,
    *WEATHER,
    *PREPOSITIONAL,
    *DATIVE,
    *DITRANSITIVE,
    *LOCAL,
    *MOTION,
    *PLACING,
    *SAYING,
    *ASKING,
    *INTENDING,
)
NAMES = (*MEN, *WOMEN, *TITLED, *TOWNS, *COUNTRIES)
ADVERBS = (*TIMES, *HABITS, *MANNERS, *VEHICLES_TAKEN, *WHEREABOUTS)

I = Pronoun(SPEAKER)  # noqa: E741
HE = Pronoun(MAN)
SHE = Pronoun(WOMAN)


def noun(german: str, english: str = "") -> Noun:
    return next(n for n in NOUNS if n.german == german and english in ("", n.english))


def verb(english: str, infinitive: str, slots: int | None = None) -> Verb:
    """A verb by its English and its full German infinitive (and the number of its slots)."""
    return next(
        v
        for v in VERBS
        if v.english == english
        and v.german.full_infinitive == infinitive
        and slots in (None, len(v.slots))
    )


def action(english: str, infinitive: str, /, *arguments: object, **more: object) -> Action:
    return Action(verb(english, infinitive, len(arguments)), arguments, **more)


def name(english: str) -> Name:
    return Name(next(n for n in NAMES if n.english == english))


def adverb(english: str) -> Adverb:
    return next(a for a in ADVERBS if a.english == english)


def quality(german: str, english: str = "") -> Quality:
    return Quality(next(a for a in ADJECTIVES if a.german == german and english in ("", a.english)))


def the(german: str, *qualities: Quality, **more: object) -> NounPhrase:
    return NounPhrase(noun(german), qualities=qualities, **more)
