"""Which phrases a German clause has, and in which order its middle field holds them."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from examples.demo.language.features import IMPERSONAL, Case, Degree, Polarity, Tense
from examples.demo.language.german.nouns import comparative, reflexive_pronoun
from examples.demo.language.german.phrases import (
    clock_time,
    duration,
    nominal,
    prepositional,
    spatial,
)
from examples.demo.language.german.verbs import SEIN, GermanVerb, strong
from examples.demo.language.meaning import (
    SUBJECT,
    Action,
    Adverbial,
    Clause,
    ClockTime,
    Description,
    Determiner,
    Duration,
    DurationKind,
    Existence,
    Identity,
    Indefinite,
    Location,
    Nominal,
    NounPhrase,
    Pronoun,
    Spatial,
    is_indefinite,
    relative_head,
)
from examples.demo.language.words import Adverb, AdverbRole

GEBEN = strong("geben", "gibt", "gab", "gegeben", always_preterite=True)  # es gibt


class Role(Enum):
    """What a phrase is to its clause, as far as the front position cares."""

    SUBJECT = "subject"
    EXPERIENCER = "dative that feels like a subject: mir gefällt das"
    TIME = "time"
    PLACE = "place"
    OTHER = "other"


@dataclass(frozen=True)
class GermanStyle:
    """Choices that the meaning leaves open; every combination is good German."""

    perfect: bool = True  # er hat gesehen, not er sah
    werden: bool = True  # er wird kommen, not er kommt (morgen)
    front: Role = Role.SUBJECT  # what opens a main clause
    object_before_time: bool = False  # das Buch gestern, not gestern das Buch
    gerade: bool = False  # marks what is going on just now
    von_possessor: bool = False  # das Auto von Anna, not Annas Auto


@dataclass(frozen=True)
class Constituent:
    """A complement of the verb with the case or preposition that German gives it."""

    key: int
    phrase: Nominal | Spatial
    case: Case
    preposition: str = ""


@dataclass(frozen=True)
class ArgumentStructure:
    verb: GermanVerb
    subject: Nominal
    subject_key: int
    constituents: tuple[Constituent, ...] = ()

    def find(self, key: int) -> Constituent:
        if key == self.subject_key:
            return Constituent(key, self.subject, Case.NOM)
        return next(c for c in self.constituents if c.key == key)


@dataclass(frozen=True)
class Chunk:
    rank: int
    text: str
    role: Role = Role.OTHER
    relative_head: NounPhrase | None = None  # set if a relative clause belongs to the phrase


def argument_structure(clause: Clause) -> ArgumentStructure:
    """The German verb, its grammatical subject and its complements."""
    predicate = clause.predicate
    if isinstance(predicate, Existence):
        there = Constituent(0, predicate.nominal, Case.ACC)
        return ArgumentStructure(GEBEN, Pronoun(IMPERSONAL), SUBJECT, (there,))
    if not isinstance(predicate, Action):
        return ArgumentStructure(SEIN, clause.subject, SUBJECT)
    complements = tuple(
        Constituent(index, argument, slot.case, slot.german)
        for index, (slot, argument) in enumerate(
            zip(predicate.verb.slots, predicate.arguments, strict=True)
        )
    )
    verb = predicate.verb.german
    if not (clause.passive or predicate.verb.inverted):
        return ArgumentStructure(verb, clause.subject, SUBJECT, complements)
    promoted = predicate.arguments[0]
    assert not isinstance(promoted, Spatial), "a place cannot become the subject"
    rest = complements[1:]
    if predicate.verb.inverted:
        rest = (Constituent(SUBJECT, clause.subject, Case.DAT), *rest)
    elif not isinstance(clause.subject, Indefinite):
        # An agent that is "someone" is not worth a mention.
        rest = (*rest, Constituent(SUBJECT, clause.subject, Case.DAT, "von"))
    return ArgumentStructure(verb, promoted, 0, rest)


def middle_field(
    clause: Clause,
    structure: ArgumentStructure,
    style: GermanStyle,
    taken: int | None,
    *,
    inverts: bool = False,
) -> list[Chunk]:
    """All phrases but the verbs, each with its rank; the subject is among them."""
    negation = Negation(clause.polarity)
    chunks: list[Chunk] = []
    if taken != structure.subject_key:
        text = nominal(structure.subject, Case.NOM, von_possessor=style.von_possessor)
        chunks.append(Chunk(10, text, Role.SUBJECT, relative_head(structure.subject)))
    if structure.verb.reflexive is not None:
        reflexive = reflexive_pronoun(structure.subject.referent, structure.verb.reflexive)
        # heute freut sich Anna, but heute freut sie sich, weil Anna sich freut
        leads = inverts and not isinstance(structure.subject, Pronoun)
        chunks.append(Chunk(8 if leads else 20, reflexive))
    for constituent in structure.constituents:
        if constituent.key != taken:
            chunks.append(complement_chunk(constituent, clause, style, negation))
    chunks.extend(predicative_chunks(clause, negation, taken))
    chunks.extend(adverbial_chunk(adverbial) for adverbial in clause.adverbials)
    going_on = clause.tense is Tense.PROGRESSIVE and clause.polarity is Polarity.POSITIVE
    if style.gerade and going_on and not clause.adverbials:
        chunks.append(Chunk(31, "gerade"))
    chunks.extend(negation.leftover())
    return chunks


class Negation:
    """Spends a clause's negation on an indefinite phrase (kein), or else on "nicht"."""

    WORDS: ClassVar[dict[Polarity, str]] = {
        Polarity.NOT: "nicht",
        Polarity.NOT_YET: "noch nicht",
        Polarity.NO_LONGER: "nicht mehr",
        Polarity.NEVER: "nie",
    }

    def __init__(self, polarity: Polarity) -> None:
        self.polarity = polarity
        self.pending = polarity is not Polarity.POSITIVE

    def spend_on(self, phrase: Nominal) -> bool:
        """Whether this phrase takes the negation up as its article."""
        if not (self.pending and is_indefinite(phrase)) or self.polarity is Polarity.NEVER:
            return False
        self.pending = False
        return True

    def decorate(self, text: str) -> str:
        """Add what the polarity adds to a negated phrase: noch kein Haus, kein Haus mehr."""
        if self.polarity is Polarity.NOT_YET:
            return f"noch {text}"
        return f"{text} mehr" if self.polarity is Polarity.NO_LONGER else text

    def leftover(self) -> list[Chunk]:
        return [Chunk(45, self.WORDS[self.polarity])] if self.pending else []


DEFINITE_DETERMINERS = (
    Determiner.DEFINITE,
    Determiner.THIS,
    Determiner.EVERY,
    Determiner.ALL,
    Determiner.POSSESSIVE,
)


def is_definite(phrase: Nominal) -> bool:
    if isinstance(phrase, NounPhrase):
        return phrase.determiner in DEFINITE_DETERMINERS
    return not isinstance(phrase, Indefinite)


def complement_chunk(
    constituent: Constituent, clause: Clause, style: GermanStyle, negation: Negation
) -> Chunk:
    phrase = constituent.phrase
    head = relative_head(phrase)
    if isinstance(phrase, Spatial):
        return Chunk(70, spatial(phrase), Role.OTHER, head)
    if constituent.preposition:
        text = prepositional(constituent.preposition, phrase, constituent.case)
        return Chunk(65, text, Role.OTHER, head)
    negative = negation.spend_on(phrase)
    text = nominal(phrase, constituent.case, negative=negative, von_possessor=style.von_possessor)
    if negative:
        text = negation.decorate(text)
    if constituent.case is Case.DAT:
        return dative_chunk(constituent, text, head)
    if isinstance(phrase, Pronoun):
        return Chunk(20, text)
    if not is_definite(phrase):
        return Chunk(60, text, Role.OTHER, head)
    # "den Hut Peter leihen" would be odd: next to a dative the object stays behind it.
    early = style.object_before_time and head is None and not has_dative(clause)
    return Chunk(25 if early else 40, text, Role.OTHER, head)


def has_dative(clause: Clause) -> bool:
    action = clause.predicate
    return isinstance(action, Action) and any(slot.case is Case.DAT for slot in action.verb.slots)


def dative_chunk(constituent: Constituent, text: str, head: NounPhrase | None) -> Chunk:
    is_pronoun = isinstance(constituent.phrase, Pronoun)
    if constituent.key == SUBJECT:
        # weil mir das Buch gefällt, but weil das Buch meinem Vater gefällt
        return Chunk(9 if is_pronoun else 35, text, Role.EXPERIENCER, head)
    return Chunk(21 if is_pronoun else 35, text, Role.OTHER, head)


def predicative_chunks(clause: Clause, negation: Negation, taken: int | None) -> list[Chunk]:
    """The part of the predicate that goes with the verb "sein"."""
    predicate = clause.predicate
    if isinstance(predicate, Identity):
        return [Chunk(75, identity(predicate.nominal, negation), Role.OTHER)]
    if isinstance(predicate, Description):
        return [Chunk(75, description(predicate))]
    if isinstance(predicate, Location) and taken is None:
        place = predicate.place
        if isinstance(place, Spatial):
            return [Chunk(70, spatial(place), Role.OTHER, relative_head(place))]
        return [Chunk(70, place.german)]
    return []


def identity(phrase: NounPhrase, negation: Negation) -> str:
    """The noun behind "sein": er ist Lehrer, but er ist ein guter Lehrer, er ist kein Lehrer."""
    negative = negation.spend_on(phrase)
    profession = "job" in phrase.noun.kinds and not phrase.qualities
    if profession and phrase.determiner is Determiner.INDEFINITE and not negative:
        return phrase.noun.german if not phrase.referent.is_plural else phrase.noun.german_plural
    text = nominal(phrase, Case.NOM, negative=negative)
    return negation.decorate(text) if negative else text


def description(predicate: Description) -> str:
    quality = predicate.quality
    word = quality.adjective.german
    if quality.degree is Degree.COMPARATIVE:
        word = comparative(quality.adjective)
    if predicate.intensifier is not None:
        word = f"{predicate.intensifier.german} {word}"
    if predicate.standard is None:
        return word
    standard = nominal(predicate.standard, Case.NOM)
    if quality.degree is Degree.COMPARATIVE:
        return f"{word} als {standard}"
    return f"so {word} wie {standard}"


ADVERB_RANKS = {
    AdverbRole.TIME: (30, Role.TIME),
    AdverbRole.FREQUENCY: (31, Role.OTHER),
    AdverbRole.MANNER: (50, Role.OTHER),
    AdverbRole.PLACE: (55, Role.PLACE),
}


def adverbial_chunk(adverbial: Adverbial) -> Chunk:
    if isinstance(adverbial, Adverb):
        rank, role = ADVERB_RANKS[adverbial.role]
        return Chunk(rank, adverbial.german, role)
    if isinstance(adverbial, Duration):
        if adverbial.kind is DurationKind.THROUGHOUT:
            return Chunk(41, duration(adverbial))
        return Chunk(30, duration(adverbial), Role.TIME)
    if isinstance(adverbial, ClockTime):
        return Chunk(30, clock_time(adverbial), Role.TIME)
    return Chunk(55, spatial(adverbial), Role.PLACE, relative_head(adverbial))
