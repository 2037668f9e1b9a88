"""Draws predicates with "to be": professions, qualities, comparisons and whereabouts."""

from dataclasses import replace

from examples.demo.language.features import Address, Degree, Number
from examples.demo.language.lexicon import NOUNS
from examples.demo.language.lexicon.adverbs import WHEREABOUTS
from examples.demo.language.lexicon.qualities import INTENSIFIERS
from examples.demo.language.meaning import (
    Description,
    Determiner,
    Identity,
    Location,
    Nominal,
    NounPhrase,
    Predicate,
    Pronoun,
    Quality,
)
from examples.demo.language.sampling.adverbials import AdverbialSampler
from examples.demo.language.sampling.phrases import PERSON_KINDS, adjectives_for
from examples.demo.language.words import Noun

PERSON_SAMPLE = next(noun for noun in NOUNS if noun.english == "man")  # stands for any person


class DescriptionSampler(AdverbialSampler):
    """Draws predicates without a full verb, beside phrases and adverbials."""

    def copular(self, kind: str, subject: Nominal) -> Predicate:
        if kind == "identity":
            return Identity(self.identity(subject))
        if kind == "location" and subject.referent.is_person:
            if self.chance(0.4):
                return Location(self.ranked(WHEREABOUTS))
            return Location(self.place(self.noun(frozenset({"room", "out"})), motion=False))
        return self.description(subject)

    def identity(self, subject: Nominal) -> NounPhrase:
        """A profession that agrees with the subject in sex and number."""
        referent = subject.referent
        noun = self.noun(frozenset({"job"}))
        while not referent.is_plural and referent.person == 3 and noun.sex is not referent.sex:
            noun = self.noun(frozenset({"job"}))
        number = Number.PLURAL if referent.is_plural else Number.SINGULAR
        if referent.address is Address.SIE:
            number = Number.SINGULAR
        qualities = self.qualities(noun, Determiner.INDEFINITE)
        return NounPhrase(noun, Determiner.INDEFINITE, number, qualities)

    def description(self, subject: Nominal) -> Description:
        noun = subject.noun if isinstance(subject, NounPhrase) else PERSON_SAMPLE
        if self.chance(0.3):
            graded = adjectives_for(noun, graded=True)
            standard = self.standard(noun, subject)
            if graded and standard is not None:
                degree = Degree.COMPARATIVE if self.chance(0.75) else Degree.POSITIVE
                return Description(Quality(self.ranked(graded), degree), standard)
        adjective = self.ranked(adjectives_for(noun))
        intensifier = self.ranked(INTENSIFIERS) if self.chance(0.3) else None
        if not adjective.gradable:
            intensifier = None
        return Description(Quality(adjective), intensifier=intensifier)

    def standard(self, noun: Noun, subject: Nominal) -> Nominal | None:
        """What the subject is compared with: something of its own kind."""
        if noun is PERSON_SAMPLE or noun.kinds & PERSON_KINDS:
            other = self.object(PERSON_KINDS, subject)
            if isinstance(other, Pronoun) or self.may_corefer(other, subject):
                return None
            return replace(other, qualities=()) if isinstance(other, NounPhrase) else other
        other_noun = self.noun(frozenset(sorted(noun.kinds)[:1]))
        if other_noun is noun:
            return None
        return replace(self.phrase_of(other_noun, None, definite=True), qualities=())
