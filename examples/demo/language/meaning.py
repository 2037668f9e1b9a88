"""The abstract meaning of a sentence: a tree that each language realises on its own."""

from dataclasses import dataclass

from examples.demo.language.features import (
    PEOPLE,
    Degree,
    Feature,
    Gender,
    Number,
    Polarity,
    Referent,
    Sex,
    Tense,
)
from examples.demo.language.words import Adjective, Adverb, Noun, ProperName, Relation, Verb

SUBJECT = -1  # key of a clause's subject; its arguments have their index


class Determiner(Feature):
    BARE = "no article"
    DEFINITE = "the"
    INDEFINITE = "a"
    THIS = "this"
    EVERY = "every"
    WHICH = "which"
    ALL = "all"
    MANY = "many"
    SOME = "some"
    SEVERAL = "several"
    NUMERAL = "a number"
    POSSESSIVE = "my"


@dataclass(frozen=True)
class Pronoun:
    referent: Referent


@dataclass(frozen=True)
class Name:
    """A person's, city's or country's name."""

    entry: ProperName

    @property
    def referent(self) -> Referent:
        gender = {Sex.MALE: Gender.MASC, Sex.FEMALE: Gender.FEM, Sex.THING: Gender.NEUT}
        return Referent(
            3, self.entry.number, self.entry.gender or gender[self.entry.sex], self.entry.sex
        )


@dataclass(frozen=True)
class Indefinite:
    """An indefinite pronoun: someone, nobody, something …"""

    english: str
    german: tuple[str, str, str]  # nominative, accusative, dative
    sex: Sex = Sex.THING

    @property
    def referent(self) -> Referent:
        return Referent(3, Number.SINGULAR, Gender.NEUT, self.sex)


@dataclass(frozen=True)
class Pair:
    """Two persons joined by "and"."""

    first: Name
    second: Name

    @property
    def referent(self) -> Referent:
        return PEOPLE


@dataclass(frozen=True)
class Quality:
    """An adjective in one of its degrees."""

    adjective: Adjective
    degree: Degree = Degree.POSITIVE


@dataclass(frozen=True)
class NounPhrase:
    noun: Noun
    determiner: Determiner = Determiner.DEFINITE
    number: Number = Number.SINGULAR
    qualities: tuple[Quality, ...] = ()
    count: int = 0
    possessor: "Referent | Nominal | None" = None
    relative: "RelativeClause | None" = None

    @property
    def referent(self) -> Referent:
        # A child is neither he nor she here: nothing refers back to it in the singular.
        sex = self.noun.sex or Sex.MALE
        return Referent(3, self.number, self.noun.gender, sex)


Nominal = Pronoun | Name | Indefinite | Pair | NounPhrase


@dataclass(frozen=True)
class Spatial:
    """A place, at rest or as the goal of a motion."""

    relation: Relation
    nominal: Nominal
    motion: bool = False


def is_indefinite(phrase: Nominal) -> bool:
    """Whether the phrase is a noun with the article "a" or with none."""
    return isinstance(phrase, NounPhrase) and phrase.determiner in (
        Determiner.INDEFINITE,
        Determiner.BARE,
    )


def relative_head(phrase: Nominal | Spatial) -> NounPhrase | None:
    """The noun phrase in `phrase` that has a relative clause, if there is one."""
    inner = phrase.nominal if isinstance(phrase, Spatial) else phrase
    return inner if isinstance(inner, NounPhrase) and inner.relative else None


class DurationKind(Feature):
    AGO = "ago"
    AHEAD = "in"
    SINCE = "for, up to now"
    THROUGHOUT = "for, then over"


@dataclass(frozen=True)
class Duration:
    """A count of time units: three days ago, in two weeks, for a year."""

    kind: DurationKind
    count: int
    unit: Noun


@dataclass(frozen=True)
class ClockTime:
    """A full hour, or half past it."""

    hour: int
    half: bool = False


Adverbial = Adverb | Spatial | Duration | ClockTime


class Wh(Feature):
    """Question words for adverbials."""

    WHERE = "where"
    WHERE_TO = "where to"
    WHEN = "when"
    WHY = "why"
    HOW = "how"


@dataclass(frozen=True)
class Content:
    """A finite clause as an object: that …, whether …, or an indirect question."""

    clause: "Clause"
    wh: Wh | None = None
    gap: int | None = None  # the place argument that "where" stands for
    whether: bool = False


@dataclass(frozen=True)
class Action:
    """A verb with what it asks for; ``arguments`` run parallel to ``verb.slots``."""

    verb: Verb
    arguments: tuple[Nominal | Spatial, ...] = ()
    content: Content | None = None
    infinitive: "Clause | None" = None


@dataclass(frozen=True)
class Description:
    """X is ADJECTIVE, more ADJECTIVE than Y, or as ADJECTIVE as Y."""

    quality: Quality
    standard: Nominal | None = None
    intensifier: Adverb | None = None


@dataclass(frozen=True)
class Identity:
    """X is a NOUN."""

    nominal: NounPhrase


@dataclass(frozen=True)
class Existence:
    """There is a NOUN."""

    nominal: NounPhrase


@dataclass(frozen=True)
class Location:
    """X is somewhere (with the plain verb "to be" in both languages)."""

    place: Spatial | Adverb


Predicate = Action | Description | Identity | Existence | Location


class Modal(Feature):
    CAN = "can"
    MUST = "must"
    MAY = "may"
    WANT = "want"
    SHOULD = "should"
    WOULD_LIKE = "would like"


@dataclass(frozen=True)
class Clause:
    subject: Nominal
    predicate: Predicate
    tense: Tense = Tense.PRESENT
    modal: Modal | None = None
    polarity: Polarity = Polarity.POSITIVE
    adverbials: tuple[Adverbial, ...] = ()
    passive: bool = False


@dataclass(frozen=True)
class RelativeClause:
    """A clause in which the head noun fills one place: the subject, or argument ``gap``."""

    clause: Clause
    gap: int | None = None

    @property
    def place(self) -> int:
        """The key of the place that the head noun fills."""
        return SUBJECT if self.gap is None else self.gap


class Conjunction(Feature):
    """A link between clauses; values are the English and the German word."""

    BECAUSE = ("because", "weil")
    SINCE = ("since", "da")
    ALTHOUGH = ("although", "obwohl")
    IF = ("if", "wenn")
    WHEN_ONCE = ("when", "als")
    WHEN_GENERAL = ("when", "wenn")
    WHILE = ("while", "während")
    BEFORE = ("before", "bevor")
    AFTER = ("after", "nachdem")
    UNTIL = ("until", "bis")
    AND = ("and", "und")
    BUT = ("but", "aber")
    FOR = ("because", "denn")
    THEREFORE = ("so", "deshalb")
    IN_ORDER_TO = ("to", "um")
    WITHOUT = ("without", "ohne")

    @property
    def english(self) -> str:
        return str(self.value[0])

    @property
    def german(self) -> str:
        return str(self.value[1])


COORDINATORS = frozenset({Conjunction.AND, Conjunction.BUT, Conjunction.FOR})


@dataclass(frozen=True)
class Linked:
    """A further clause and how it hangs on the main one."""

    conjunction: Conjunction
    clause: Clause
    leading: bool = False  # whether it stands before the main clause


class Mood(Feature):
    STATEMENT = "."
    QUESTION = "?"
    COMMAND = "!"


@dataclass(frozen=True)
class Question:
    """What a wh-question asks for: an adverbial ``wh``, argument ``gap`` or else the subject.

    With both, the adverb stands for that argument: where (0) does she live?
    """

    wh: Wh | None = None
    gap: int | None = None


@dataclass(frozen=True)
class Sentence:
    clause: Clause
    mood: Mood = Mood.STATEMENT
    question: Question | None = None
    linked: Linked | None = None
    vocative: Name | NounPhrase | None = None
    please: bool = False
