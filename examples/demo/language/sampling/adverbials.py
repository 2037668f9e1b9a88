"""Draws adverbials that suit a clause: time, frequency, manner and place."""

from functools import cache

from examples.demo.language.features import Tense
from examples.demo.language.lexicon.adverbs import (
    ALREADY,
    BACK_THEN,
    HABITS,
    JUDGEMENTS,
    MANNERS,
    STILL,
    TIMES,
    VEHICLES_TAKEN,
    WHEREABOUTS,
)
from examples.demo.language.lexicon.things import TIME_UNITS
from examples.demo.language.meaning import (
    Action,
    Adverbial,
    Clause,
    ClockTime,
    Duration,
    DurationKind,
)
from examples.demo.language.sampling.phrases import PhraseSampler
from examples.demo.language.words import Adverb, SlotRole

# The part of time that adverbs of a tense must lie in.
SPHERES = {
    Tense.PAST: "past",
    Tense.PRESENT: "habit",
    Tense.PROGRESSIVE: "present",
    Tense.FUTURE: "future",
}


class AdverbialSampler(PhraseSampler):
    """Draws adverbials beside phrases."""

    def adverbials(self, clause: Clause, *, lasting: bool) -> tuple[Adverbial, ...]:
        action, tense = clause.predicate, clause.tense
        assert isinstance(action, Action)
        found: list[Adverbial] = []
        sphere = SPHERES.get(tense)
        if tense is Tense.PERFECT and self.chance(0.4):
            found.append(ALREADY)
        if tense is Tense.PRESENT and not action.verb.stative and self.chance(0.6):
            found.append(self.ranked(HABITS))
        elif sphere is not None and not action.verb.stative and self.chance(0.6):
            found.append(self.time(sphere))
            day = found[0]
            if isinstance(day, Adverb) and "day" in day.tenses and self.chance(0.25):
                found.append(self.clock())
        elif tense is Tense.PAST and self.chance(0.15):
            found.append(BACK_THEN)
        if tense is Tense.PROGRESSIVE and not found and self.chance(0.15):
            found.append(STILL)
        if tense is Tense.FUTURE and self.chance(0.12):
            found.append(self.ranked(JUDGEMENTS))
        if lasting and tense is Tense.PAST and self.chance(0.2):
            found = [self.duration(DurationKind.THROUGHOUT)]
        found.extend(self.circumstances(clause))
        return tuple(found)

    def circumstances(self, clause: Clause) -> list[Adverbial]:
        """Adverbials of manner and place."""
        action = clause.predicate
        assert isinstance(action, Action)
        if action.verb.stative or not clause.subject.referent.is_person:
            return []
        roles = {slot.role for slot in action.verb.slots}
        if SlotRole.DIRECTION in roles:
            travels = action.verb.german.infinitive in ("fahren", "reisen")
            return [self.ranked(VEHICLES_TAKEN)] if travels and self.chance(0.3) else []
        if roles & {SlotRole.REST, SlotRole.MOTION}:
            return []
        found: list[Adverbial] = []
        if self.chance(0.1):
            manner = self.ranked(MANNERS)
            if "plural" not in manner.tenses or clause.subject.referent.is_plural:
                found.append(manner)
        if self.chance(0.16):
            if self.chance(0.3):
                found.append(self.ranked(WHEREABOUTS))
            else:
                noun = self.noun(frozenset({"room", "green", "out"}))
                found.append(self.place(noun, motion=False))
        return found

    def time(self, sphere: str) -> Adverbial:
        if sphere == "past" and self.chance(0.14):
            return self.duration(DurationKind.AGO)
        if sphere == "future" and self.chance(0.14):
            return self.duration(DurationKind.AHEAD)
        if sphere in ("past", "future") and self.chance(0.1):
            return self.clock()
        return self.ranked(times_in(sphere))

    def duration(self, kind: DurationKind) -> Duration:
        count = self.rng.choices((1, 2, 3, 4, 5, 6, 10, 20), (8, 9, 8, 5, 4, 3, 2, 1))[0]
        return Duration(kind, count, self.ranked(TIME_UNITS))

    def clock(self) -> ClockTime:
        return ClockTime(self.rng.randint(1, 12), half=self.chance(0.35))


@cache
def times_in(sphere: str) -> tuple[Adverb, ...]:
    return tuple(adverb for adverb in TIMES if sphere in adverb.tenses)
