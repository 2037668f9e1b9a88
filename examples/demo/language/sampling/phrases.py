"""Draws noun phrases, places and times from the lexicon, frequent words more often."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import TypeVar

from examples.demo.language.features import (
    MAN,
    PEOPLE,
    SPEAKER,
    SPEAKERS,
    WOMAN,
    Address,
    Degree,
    Number,
    Referent,
    Sex,
    hearer,
)
from examples.demo.language.lexicon import NOUNS
from examples.demo.language.lexicon.people import COUNTRIES, MEN, TITLED, TOWNS, WOMEN
from examples.demo.language.lexicon.places import BEHIND, BESIDE, PERSON, SPOTS, TOWN, WALL_SPOTS
from examples.demo.language.lexicon.qualities import ADJECTIVES
from examples.demo.language.meaning import (
    Determiner,
    Indefinite,
    Name,
    Nominal,
    NounPhrase,
    Pair,
    Pronoun,
    Quality,
    Spatial,
)
from examples.demo.language.words import KIND_GROUPS, Adjective, Noun, ProperName, expand_kinds

Item = TypeVar("Item")

PERSON_KINDS = expand_kinds("person")
SOMEONE = Indefinite("someone", ("jemand", "jemanden", "jemandem"), Sex.MALE)
NOBODY = Indefinite("nobody", ("niemand", "niemanden", "niemandem"), Sex.MALE)
EVERYONE = Indefinite("everyone", ("jeder", "jeden", "jedem"), Sex.MALE)
SOMETHING = Indefinite("something", ("etwas", "etwas", "etwas"))
BULKY = frozenset({"furniture", "vehicle"})  # stands beside things, not on or in them
SIZES = ("big", "small", "old", "new")
COLORS = ("red", "black", "white", "blue", "green", "brown", "yellow", "gray", "wooden", "round")


@cache
def zipf_weights(count: int) -> list[float]:
    """Cumulative weights of a list whose first entries are the frequent ones."""
    return list(accumulate(1.0 / (rank + 2.0) for rank in range(count)))


@cache
def nouns_of(kinds: frozenset[str]) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS if noun.kinds & kinds)


@cache
def adjectives_for(noun: Noun, *, graded: bool = False) -> tuple[Adjective, ...]:
    return tuple(a for a in ADJECTIVES if a.kinds & noun.kinds and (a.gradable or not graded))


class PhraseSampler:
    """Draws the phrases of one sentence; the hearer stays the same throughout it."""

    def __init__(self, rng: Random, choice: int | None = None) -> None:
        """`choice`: how many words of a kind there are to choose from; None for all."""
        self.rng = rng
        self.choice = choice
        self.address = rng.choices(list(Address), (60, 12, 28))[0]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def ranked(self, items: Sequence[Item]) -> Item:
        """One of a list whose first entries are the frequent ones."""
        items = items[: self.choice]
        weights = zipf_weights(len(items))
        return items[bisect(weights, self.rng.random() * weights[-1], 0, len(items) - 1)]

    def weighted(self, table: Mapping[Item, float]) -> Item:
        items = list(table)
        weights = list(accumulate(table.values()))
        return items[bisect(weights, self.rng.random() * weights[-1], 0, len(items) - 1)]

    def noun(self, kinds: frozenset[str]) -> Noun:
        return self.ranked(nouns_of(kinds))

    # Persons

    def name(self) -> Name:
        group: list[ProperName] = self.rng.choices((MEN, WOMEN, TITLED), (40, 40, 20))[0]
        return Name(self.ranked(group))

    def pronoun(self) -> Pronoun:
        table = {SPEAKER: 26, MAN: 18, WOMAN: 18, SPEAKERS: 14, PEOPLE: 10}
        return Pronoun(self.weighted({**table, hearer(self.address): 14}))

    def subject(self, kinds: frozenset[str]) -> Nominal:
        """Who or what acts; persons may be pronouns and names."""
        if kinds & PERSON_KINDS and self.chance(0.62 if kinds >= PERSON_KINDS else 0.3):
            roll = self.rng.random()
            if roll < 0.54:
                return self.pronoun()
            if roll < 0.92:
                return self.name()
            if roll < 0.97:
                first, second = self.rng.sample([*MEN[: self.choice], *WOMEN[: self.choice]], 2)
                return Pair(Name(first), Name(second))
            return self.rng.choice((SOMEONE, NOBODY, EVERYONE))
        # An indefinite subject in the plural would read like a general truth.
        return self.noun_phrase(kinds, None, definite=self.chance(0.8))

    def object(self, kinds: frozenset[str], subject: Nominal | None) -> Nominal:
        """An object; persons may be pronouns and names, but not the subject itself."""
        if kinds >= PERSON_KINDS and self.chance(0.03):
            return SOMEONE
        if kinds >= PERSON_KINDS and self.chance(0.4):
            other = self.pronoun() if self.chance(0.5) else self.name()
            if subject is None or not self.may_corefer(other, subject):
                return other
        return self.noun_phrase(kinds, subject)

    @staticmethod
    def may_corefer(one: Nominal, other: Nominal) -> bool:
        """Whether two phrases may name the same persons, which would ask for a reflexive."""
        if isinstance(one, Pronoun) and isinstance(other, Pronoun):
            return one.referent.person == other.referent.person
        if isinstance(one, Name) and isinstance(other, Name | Pair):
            return True
        return isinstance(one, Pronoun) and one.referent.person == 3

    # Noun phrases

    def noun_phrase(
        self, kinds: frozenset[str], subject: Nominal | None, *, definite: bool = False
    ) -> NounPhrase:
        return self.phrase_of(self.noun(kinds), subject, definite=definite)

    def phrase_of(
        self, noun: Noun, subject: Nominal | None, *, definite: bool = False
    ) -> NounPhrase:
        determiner = self.determiner(noun, definite=definite)
        number = self.number(noun, determiner)
        phrase = NounPhrase(noun, determiner, number, self.qualities(noun, determiner))
        if determiner is Determiner.NUMERAL:
            count = self.rng.choices((2, 3, 4, 5, 6, 7, 8, 10, 12, 20, 25), range(11, 0, -1))[0]
            return NounPhrase(noun, determiner, number, phrase.qualities, count=count)
        if determiner is Determiner.POSSESSIVE:
            owner = self.owner(noun, subject)
            return NounPhrase(noun, determiner, number, phrase.qualities, possessor=owner)
        return phrase

    def determiner(self, noun: Noun, *, definite: bool) -> Determiner:
        if "kin" in noun.kinds:
            return Determiner.POSSESSIVE
        if noun.mass:
            table = {Determiner.BARE: 60, Determiner.DEFINITE: 30, Determiner.POSSESSIVE: 10}
        else:
            table = {
                Determiner.DEFINITE: 46,
                Determiner.INDEFINITE: 26,
                Determiner.POSSESSIVE: 12,
                Determiner.THIS: 6,
                Determiner.NUMERAL: 3,
                Determiner.SEVERAL: 1,
                Determiner.MANY: 1,
                Determiner.SOME: 2,
                Determiner.ALL: 1,
                Determiner.EVERY: 1,
            }
        if definite:
            allowed = (Determiner.DEFINITE, Determiner.POSSESSIVE, Determiner.THIS)
            table = {kind: weight for kind, weight in table.items() if kind in allowed}
        if noun.kinds & (PERSON_KINDS | {"building", "place"}):
            table.pop(Determiner.POSSESSIVE, None)
        return self.weighted(table)

    def number(self, noun: Noun, determiner: Determiner) -> Number:
        if determiner is Determiner.EVERY or noun.mass or "unique" in noun.kinds:
            return Number.SINGULAR
        plural = (
            Determiner.NUMERAL,
            Determiner.SEVERAL,
            Determiner.MANY,
            Determiner.SOME,
            Determiner.ALL,
        )
        if determiner in plural:
            return Number.PLURAL
        return Number.PLURAL if self.chance(0.18) else Number.SINGULAR

    def qualities(self, noun: Noun, determiner: Determiner) -> tuple[Quality, ...]:
        fitting = adjectives_for(noun)
        if not fitting or not self.chance(0.36):
            return ()
        adjective = self.ranked(fitting)
        if determiner is Determiner.DEFINITE and adjective.gradable and self.chance(0.08):
            return (Quality(adjective, Degree.SUPERLATIVE),)
        if adjective.english in SIZES and self.chance(0.2):
            colors = [other for other in fitting if other.english in COLORS]
            if colors:
                return (Quality(adjective), Quality(self.ranked(colors)))
        return (Quality(adjective),)

    def owner(self, noun: Noun, subject: Nominal | None) -> Referent | Nominal:
        """Whose it is: the subject's own, somebody's by pronoun, or somebody's by name."""
        is_owner = subject is not None and subject.referent.is_person
        if subject is not None and is_owner and can_be_referred_to(subject) and self.chance(0.6):
            owner = subject.referent
        else:
            owner = self.pronoun().referent
        if "spouse" in noun.kinds:
            # One spouse belongs to one person.
            return SPEAKER if owner.is_plural else owner
        if subject is not None and owner == subject.referent:
            return owner
        roll = self.rng.random()
        if roll < 0.5:
            return owner
        if roll < 0.8 or "kin" in noun.kinds:
            return self.name()
        relative = self.noun(frozenset({"kin"}))
        return NounPhrase(relative, Determiner.POSSESSIVE, possessor=SPEAKER)

    # Places

    def place(self, noun: Noun, *, motion: bool) -> Spatial:
        """A place by its own preposition: im Kino, ins Kino."""
        relation = noun.relation
        assert relation is not None, f"{noun.english} is no place"
        determiner = Determiner.INDEFINITE if self.chance(0.12) else Determiner.DEFINITE
        phrase = NounPhrase(noun, determiner, qualities=self.qualities(noun, determiner))
        return Spatial(relation, phrase, motion)

    def spot(
        self,
        kinds: frozenset[str],
        subject: Nominal | None,
        placed: Nominal | None,
        *,
        motion: bool,
    ) -> Spatial:
        """A place relative to a thing: auf dem Tisch, auf den Tisch."""
        fitting = [entry for entry in (*SPOTS, *WALL_SPOTS) if entry[0] in kinds] or SPOTS
        if isinstance(placed, NounPhrase) and placed.noun.kinds & BULKY:
            fitting = [entry for entry in SPOTS if entry[1] in (BESIDE, BEHIND)]
        kind, relation = self.ranked(fitting)
        phrase = self.noun_phrase(frozenset({kind}), subject, definite=True)
        return Spatial(relation, phrase, motion)

    def somewhere(
        self,
        kinds: frozenset[str],
        subject: Nominal | None,
        placed: Nominal | None,
        *,
        motion: bool,
    ) -> Spatial:
        """A place of one of the kinds that a verb allows."""
        kind = self.rng.choice(sorted(kinds))
        if kind == "town":
            return Spatial(TOWN, Name(self.ranked(TOWNS)), motion)
        if kind == "country":
            return Spatial(TOWN, Name(self.ranked(COUNTRIES)), motion)
        if kind in KIND_GROUPS["person"].split():
            return Spatial(PERSON, self.noun_phrase(frozenset({kind}), subject), motion)
        if kind == "spot" or any(kind == known for known, _ in (*SPOTS, *WALL_SPOTS)):
            return self.spot(kinds, subject, placed, motion=motion)
        return self.place(self.noun(frozenset({kind})), motion=motion)


def can_be_referred_to(phrase: Nominal) -> bool:
    """Whether a pronoun may point back at the phrase (not at "someone", not at a child)."""
    if isinstance(phrase, Indefinite):
        return False
    if isinstance(phrase, NounPhrase):
        return phrase.noun.sex is not None or phrase.number is Number.PLURAL
    return True
