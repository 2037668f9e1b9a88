"""Shapes of the lexicon's entries, and short constructors that keep the tables readable.

An entry pairs an English word with the German word that means the same *in one sense*; an
ambiguous English word therefore has several entries, and so has a word with German synonyms.
"""

from dataclasses import dataclass, field

from examples.demo.language.features import Case, Feature, Gender, Number, Sex
from examples.demo.language.german.verbs import GermanVerb

# Kinds that stand for several others, so that a verb can ask for "thing".
KIND_GROUPS: dict[str, str] = {
    "thing": "item gift tool clothing book text container device toy jewel "
    "furniture instrument vehicle",
    "portable": "item gift tool clothing book text container device toy jewel",
    "edible": "dish fruit stuff",
    "person": "kin job folk",
    "being": "kin job folk animal",
    "site": "building room place",
    "topic": "abstract event book film job kin folk animal building",
}


def expand_kinds(kinds: str) -> frozenset[str]:
    """The set of kinds that a blank-separated list names, groups resolved."""
    found: set[str] = set()
    for kind in kinds.split():
        found.update(KIND_GROUPS.get(kind, kind).split())
    return frozenset(found)


@dataclass(frozen=True)
class Relation:
    """A spatial relation: its prepositions at rest and in motion."""

    english_rest: str
    english_motion: str
    german_rest: str
    german_motion: str
    motion_case: Case = Case.ACC


@dataclass(frozen=True, eq=False)
class Noun:
    english: str
    english_plural: str
    german: str
    german_plural: str
    gender: Gender
    kinds: frozenset[str]
    genitive: str = ""
    weak: bool = False
    mass: bool = False
    sex: Sex | None = Sex.THING
    relation: Relation | None = None


def noun(
    english: str,
    german: str,
    plural: str,
    kinds: str,
    *,
    english_plural: str = "",
    genitive: str = "",
    weak: bool = False,
    sex: Sex | None = Sex.THING,
    relation: Relation | None = None,
) -> Noun:
    """A noun; ``german`` is written with its article, an empty ``plural`` makes a mass noun."""
    article, stem = german.split(" ")
    return Noun(
        english=english,
        english_plural=english_plural,
        german=stem,
        german_plural=plural,
        gender=Gender(article),
        kinds=frozenset(kinds.split()),
        genitive=genitive,
        weak=weak,
        mass=not plural,
        sex=sex,
        relation=relation,
    )


@dataclass(frozen=True, eq=False)
class ProperName:
    """A person, a city or a country; ``gender`` is set for countries that take an article."""

    english: str
    german: str
    kinds: frozenset[str]
    sex: Sex = Sex.THING
    gender: Gender | None = None
    number: Number = Number.SINGULAR


class SlotRole(Feature):
    OBJECT = "noun phrase in a case of its own"
    PREPOSITIONAL = "noun phrase behind a fixed preposition"
    REST = "where something is"
    MOTION = "where something goes"
    DIRECTION = "a city, country, building or person that someone goes to"


@dataclass(frozen=True)
class Slot:
    """A complement that a verb asks for, in both languages at once."""

    role: SlotRole
    kinds: frozenset[str]
    case: Case = Case.ACC
    english: str = ""
    german: str = ""


@dataclass(frozen=True, eq=False)
class Verb:
    """One sense of a verb: the English and the German predicate and what they ask for."""

    english: str
    german: GermanVerb
    subject: frozenset[str]
    slots: tuple[Slot, ...] = ()
    stative: bool = False
    inverted: bool = False
    passive: bool = False


@dataclass(frozen=True, eq=False)
class Adjective:
    english: str
    german: str
    kinds: frozenset[str]
    comparative: str = ""
    superlative: str = ""
    stem: str = ""
    english_comparative: str = ""
    english_superlative: str = ""
    gradable: bool = True


class AdverbRole(Feature):
    TIME = "time"
    FREQUENCY = "frequency"
    MANNER = "manner"
    PLACE = "place"


@dataclass(frozen=True, eq=False)
class Adverb:
    english: str
    german: str
    role: AdverbRole
    tenses: frozenset[str] = field(default_factory=frozenset)
