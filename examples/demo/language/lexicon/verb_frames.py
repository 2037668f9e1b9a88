"""Constructors that keep the tables of verbs readable."""

from examples.demo.language.features import Case
from examples.demo.language.german.verbs import german_verb
from examples.demo.language.words import Slot, SlotRole, Verb, expand_kinds


def obj(kinds: str, english: str = "") -> Slot:
    """A direct object in German; English may need a preposition: look *for* something."""
    return Slot(SlotRole.OBJECT, expand_kinds(kinds), Case.ACC, english)


def dative(kinds: str, english: str = "") -> Slot:
    """A dative; "(to)" marks an English receiver that may stand before the thing."""
    return Slot(SlotRole.OBJECT, expand_kinds(kinds), Case.DAT, english)


def prep(english: str, german: str, case: Case, kinds: str) -> Slot:
    """A fixed preposition in German; in English too, unless ``english`` is empty."""
    return Slot(SlotRole.PREPOSITIONAL, expand_kinds(kinds), case, english, german)


def rest(kinds: str = "spot") -> Slot:
    """Where something is; "spot" is any place in, on or near a thing."""
    return Slot(SlotRole.REST, expand_kinds(kinds), Case.DAT)


def motion(kinds: str = "spot") -> Slot:
    """Where something is put or moves, relative to a thing."""
    return Slot(SlotRole.MOTION, expand_kinds(kinds), Case.ACC)


def direction(kinds: str) -> Slot:
    """Where someone goes, by the preposition that the place itself asks for."""
    return Slot(SlotRole.DIRECTION, expand_kinds(kinds), Case.ACC)


def verb(english: str, german: str, subject: str, *slots: Slot) -> Verb:
    """A verb whose English may be progressive and which may be passive if it has an object.

    ``german`` is in the notation of ``german_verb``.
    """
    parsed = german_verb(german)
    first = slots[0] if slots else None
    direct = first is not None and first.role is SlotRole.OBJECT and first.case is Case.ACC
    passive = direct and len(slots) == 1 and parsed.reflexive is None
    return Verb(english, parsed, expand_kinds(subject), slots, passive=passive)


def state(english: str, german: str, subject: str, *slots: Slot) -> Verb:
    """A verb that names a state: no progressive, no command, no passive."""
    return Verb(english, german_verb(german), expand_kinds(subject), slots, stative=True)


def feeling(english: str, german: str, *slots: Slot) -> Verb:
    """A verb of feeling: who feels is the subject in English and a dative in German."""
    return Verb(
        english, german_verb(german), expand_kinds("person"), slots, stative=True, inverted=True
    )
