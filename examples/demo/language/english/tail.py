"""What follows the verb of an English clause: complements, then manner, place and time."""

from dataclasses import dataclass, replace

from examples.demo.language.english.morphology import graded
from examples.demo.language.english.phrases import (
    clock_time,
    comparison,
    duration,
    nominal,
    spatial,
)
from examples.demo.language.features import Polarity
from examples.demo.language.meaning import (
    Action,
    Adverbial,
    Clause,
    ClockTime,
    Description,
    Duration,
    DurationKind,
    Existence,
    Identity,
    Indefinite,
    Location,
    NounPhrase,
    Pronoun,
    Spatial,
    relative_head,
)
from examples.demo.language.text import join
from examples.demo.language.words import Adverb, AdverbRole


@dataclass(frozen=True)
class EnglishStyle:
    """Choices that the meaning leaves open; every combination is good English."""

    time_first: bool = False
    contract: bool = False  # didn't, not did not
    have_to: bool = True  # has to, is allowed to; not must, may
    going_to: bool = False  # is going to, not will
    drop_that: bool = False  # he says it is late, the man I saw
    which: bool = False  # which and whether, not that and if
    particle_last: bool = False  # turn the light on, not turn on the light
    shift_dative: bool = True  # give Anna a book, not give a book to Anna
    anymore: bool = False  # not … anymore, not no longer


@dataclass(frozen=True)
class Piece:
    text: str
    head: NounPhrase | None = None  # set if a relative clause belongs to the phrase


@dataclass(frozen=True)
class Tail:
    complements: tuple[Piece, ...]
    adverbials: tuple[Piece, ...]  # manner and place
    times: tuple[str, ...]
    closing: str = ""  # yet, anymore

    @property
    def time(self) -> str:
        return join(*self.times, self.closing)

    def move_time(self) -> tuple[str, "Tail"]:
        """The first time adverbial for the front of the clause, and the tail without it."""
        if not self.times:
            return "", self
        first = self.times[0]
        # A single word like "yesterday" needs no comma, a phrase does.
        return (f"{first}," if " " in first else first), replace(self, times=self.times[1:])


def clause_tail(clause: Clause, style: EnglishStyle, taken: int | None) -> Tail:
    closing = {Polarity.NOT_YET: "yet", Polarity.NO_LONGER: "anymore" if style.anymore else ""}
    return Tail(
        complements=tuple(complements(clause, style, taken)),
        adverbials=tuple(
            piece for kind in ("manner", "place") for piece in of_kind(clause.adverbials, kind)
        ),
        times=tuple(
            piece.text for kind in ("span", "time") for piece in of_kind(clause.adverbials, kind)
        ),
        closing=closing.get(clause.polarity, ""),
    )


def of_kind(adverbials: tuple[Adverbial, ...], kind: str) -> list[Piece]:
    return [adverbial_piece(a) for a in adverbials if adverbial_kind(a) == kind]


def adverbial_kind(adverbial: Adverbial) -> str:
    if isinstance(adverbial, Adverb):
        return adverbial.role.value
    if isinstance(adverbial, Spatial):
        return AdverbRole.PLACE.value
    if isinstance(adverbial, Duration) and adverbial.kind is DurationKind.THROUGHOUT:
        return "span"
    return AdverbRole.TIME.value


def adverbial_piece(adverbial: Adverbial) -> Piece:
    if isinstance(adverbial, Adverb):
        return Piece(adverbial.english)
    if isinstance(adverbial, Spatial):
        return Piece(spatial(adverbial), relative_head(adverbial))
    if isinstance(adverbial, ClockTime):
        return Piece(clock_time(adverbial))
    return Piece(duration(adverbial))


def complements(clause: Clause, style: EnglishStyle, taken: int | None) -> list[Piece]:
    predicate = clause.predicate
    negative = clause.polarity is not Polarity.POSITIVE
    if isinstance(predicate, Action):
        return action_complements(clause, predicate, style, taken)
    if isinstance(predicate, Identity | Existence):
        return [Piece(nominal(predicate.nominal, negative=negative))]
    if isinstance(predicate, Description):
        return [Piece(description(predicate))]
    return [] if taken is not None else [place_piece(predicate)]


def place_piece(predicate: Location) -> Piece:
    place = predicate.place
    if isinstance(place, Spatial):
        return Piece(spatial(place), relative_head(place))
    return Piece(place.english)


def description(predicate: Description) -> str:
    quality = predicate.quality
    word = graded(quality.adjective, quality.degree)
    if predicate.intensifier is not None:
        word = f"{predicate.intensifier.english} {word}"
    if predicate.standard is None:
        return word
    return comparison(quality.degree, word, nominal(predicate.standard))


def action_complements(
    clause: Clause, action: Action, style: EnglishStyle, taken: int | None
) -> list[Piece]:
    """The particle and the arguments of a verb; an argument in front leaves its preposition."""
    particle = " ".join(action.verb.english.split(" ")[1:])
    negative = clause.polarity is not Polarity.POSITIVE
    pieces: list[Piece] = []
    to_object: Piece | None = None
    has_two_objects = len(action.verb.slots) > 1
    for index, (slot, argument) in enumerate(zip(action.verb.slots, action.arguments, strict=True)):
        preposition = slot.english.strip("()")
        shiftable = has_two_objects and slot.english.startswith("(")
        if index == taken or (clause.passive and index == 0):
            if preposition:
                pieces.append(Piece(preposition))
            continue
        if isinstance(argument, Spatial):
            pieces.append(Piece(spatial(argument), relative_head(argument)))
            continue
        text = nominal(argument, negative=negative)
        head = relative_head(argument)
        if shiftable and prefers_shift(action, index, style, taken):
            pieces.append(Piece(text, head))
        elif preposition and has_two_objects and index == 0:
            to_object = Piece(f"{preposition} {text}", head)
        else:
            pieces.append(Piece(join(preposition, text), head))
    if to_object is not None:
        pieces.append(to_object)
    if clause.passive and not isinstance(clause.subject, Indefinite):
        pieces.append(Piece(f"by {nominal(clause.subject)}", relative_head(clause.subject)))
    return with_particle(particle, pieces, clause, action, style, taken)


def prefers_shift(action: Action, index: int, style: EnglishStyle, taken: int | None) -> bool:
    """Whether the receiver stands before the thing: not if the thing is a mere pronoun."""
    thing = action.arguments[1]
    if taken == 1:
        return False
    return not isinstance(thing, Pronoun) and (
        style.shift_dative or isinstance(action.arguments[index], Pronoun)
    )


def with_particle(
    particle: str,
    pieces: list[Piece],
    clause: Clause,
    action: Action,
    style: EnglishStyle,
    taken: int | None,
) -> list[Piece]:
    if not particle:
        return pieces
    movable = bool(action.verb.slots) and not action.verb.slots[0].english
    if movable and not clause.passive and taken != 0:
        first = action.arguments[0]
        late = style.particle_last and relative_head(first) is None
        if isinstance(first, Pronoun) or late:
            return [pieces[0], Piece(particle), *pieces[1:]]
    return [Piece(particle), *pieces]
