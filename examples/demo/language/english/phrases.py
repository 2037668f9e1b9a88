"""English noun phrases, places and times: meaning in, words out."""

from examples.demo.language.english.morphology import (
    graded,
    indefinite_article,
    noun_form,
    number_word,
    object_pronoun,
    possessive,
    possessive_s,
    subject_pronoun,
)
from examples.demo.language.features import Degree, Number, Referent
from examples.demo.language.meaning import (
    ClockTime,
    Determiner,
    Duration,
    DurationKind,
    Indefinite,
    Name,
    Nominal,
    NounPhrase,
    Pair,
    Pronoun,
    Spatial,
)
from examples.demo.language.text import join

PLAIN_DETERMINERS = {
    Determiner.DEFINITE: "the",
    Determiner.EVERY: "every",
    Determiner.WHICH: "which",
    Determiner.ALL: "all the",
    Determiner.MANY: "many",
    Determiner.SOME: "some",
    Determiner.SEVERAL: "several",
}


def nominal(phrase: Nominal, *, subject: bool = False, negative: bool = False) -> str:
    """A noun phrase without its relative clause; ``negative`` asks for "any"."""
    if isinstance(phrase, Pronoun):
        return subject_pronoun(phrase.referent) if subject else object_pronoun(phrase.referent)
    if isinstance(phrase, Name):
        return phrase.entry.english
    if isinstance(phrase, Indefinite):
        return phrase.english
    if isinstance(phrase, Pair):
        return f"{phrase.first.entry.english} and {phrase.second.entry.english}"
    return noun_phrase(phrase, negative=negative)


def noun_phrase(phrase: NounPhrase, *, negative: bool = False) -> str:
    qualities = [graded(q.adjective, q.degree) for q in phrase.qualities]
    core = join(" ".join(qualities), noun_form(phrase.noun, phrase.number))
    return join(determiner(phrase, core, negative=negative), core)


def determiner(phrase: NounPhrase, core: str, *, negative: bool) -> str:
    kind = phrase.determiner
    if kind in PLAIN_DETERMINERS:
        return PLAIN_DETERMINERS[kind]
    plural = phrase.number is Number.PLURAL
    if kind is Determiner.THIS:
        return "these" if plural else "this"
    if kind is Determiner.NUMERAL:
        return number_word(phrase.count)
    if kind is Determiner.POSSESSIVE:
        return possessor(phrase)
    if kind is Determiner.INDEFINITE and not plural:
        return indefinite_article(core)
    return "any" if negative else ""


def possessor(phrase: NounPhrase) -> str:
    owner = phrase.possessor
    assert owner is not None, "a possessive determiner needs a possessor"
    if isinstance(owner, Referent):
        return possessive(owner)
    plural = isinstance(owner, NounPhrase) and owner.referent.is_plural
    return possessive_s(nominal(owner), plural=plural)


def spatial(place: Spatial) -> str:
    relation = place.relation
    preposition = relation.english_motion if place.motion else relation.english_rest
    return f"{preposition} {nominal(place.nominal)}"


def duration(span: Duration) -> str:
    number = Number.SINGULAR if span.count == 1 else Number.PLURAL
    unit = noun_form(span.unit, number)
    amount = indefinite_article(unit) if span.count == 1 else number_word(span.count)
    if span.kind is DurationKind.AGO:
        return f"{amount} {unit} ago"
    return f"{'in' if span.kind is DurationKind.AHEAD else 'for'} {amount} {unit}"


def clock_time(time: ClockTime) -> str:
    if time.half:
        return f"at half past {number_word(time.hour)}"
    return f"at {number_word(time.hour)} o'clock"


def comparison(degree: Degree, word: str, standard: str) -> str:
    """An adjective with what it is compared to: older than Anna, as old as Anna."""
    if degree is Degree.COMPARATIVE:
        return f"{word} than {standard}"
    return f"as {word} as {standard}"
