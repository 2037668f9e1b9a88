"""Grammatical categories that the two languages of the demo corpus share."""

from dataclasses import dataclass
from enum import Enum


class Feature(Enum):
    """A category that is looked up often: hashing by identity spares a call into Python."""

    __hash__ = object.__hash__


class Gender(Feature):
    """Grammatical gender of a German noun."""

    MASC = "der"
    FEM = "die"
    NEUT = "das"


class Number(Feature):
    SINGULAR = "singular"
    PLURAL = "plural"


class Case(Feature):
    NOM = "nominative"
    ACC = "accusative"
    DAT = "dative"
    GEN = "genitive"


class Sex(Feature):
    """Which English pronoun a singular noun takes: he, she or it."""

    MALE = "he"
    FEMALE = "she"
    THING = "it"


class Address(Feature):
    """How German addresses a hearer whom English just calls "you"."""

    DU = "du"
    IHR = "ihr"
    SIE = "Sie"


class Tense(Feature):
    """Tense of a clause, named after the English form."""

    PRESENT = "present"
    PROGRESSIVE = "present progressive"
    SINCE = "present perfect progressive: what began in the past and goes on"
    PAST = "past"
    PERFECT = "present perfect"
    PLUPERFECT = "past perfect"
    FUTURE = "will"
    CONDITIONAL = "would"
    HYPOTHETICAL = "unreal condition"


UNREAL_TENSES = frozenset({Tense.CONDITIONAL, Tense.HYPOTHETICAL})


class Polarity(Feature):
    POSITIVE = "positive"
    NOT = "not"
    NOT_YET = "not yet"
    NO_LONGER = "no longer"
    NEVER = "never"


class Degree(Feature):
    POSITIVE = "positive"
    COMPARATIVE = "comparative"
    SUPERLATIVE = "superlative"


@dataclass(frozen=True)
class Referent:
    """Who or what a phrase refers to, as far as pronouns and verbs agree with it.

    In the plural ``sex`` only tells persons from things.
    """

    person: int
    number: Number
    gender: Gender = Gender.NEUT
    sex: Sex = Sex.THING
    address: Address | None = None

    @property
    def is_plural(self) -> bool:
        return self.number is Number.PLURAL

    @property
    def is_person(self) -> bool:
        """Whether it is a person, not a thing: who or what, auf ihn or darauf."""
        return self.person != 3 or self.sex is not Sex.THING


SPEAKER = Referent(1, Number.SINGULAR)
SPEAKERS = Referent(1, Number.PLURAL)
MAN = Referent(3, Number.SINGULAR, Gender.MASC, Sex.MALE)
WOMAN = Referent(3, Number.SINGULAR, Gender.FEM, Sex.FEMALE)
PEOPLE = Referent(3, Number.PLURAL, sex=Sex.MALE)
IMPERSONAL = Referent(3, Number.SINGULAR, Gender.NEUT, Sex.THING)


def hearer(address: Address) -> Referent:
    """The person or persons spoken to."""
    number = Number.SINGULAR if address is Address.DU else Number.PLURAL
    return Referent(2, number, address=address)
