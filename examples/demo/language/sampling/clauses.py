"""Draws clauses: a predicate with its complements, a tense, and adverbials that suit it."""

from dataclasses import replace
from functools import cache

from examples.demo.language.features import (
    IMPERSONAL,
    UNREAL_TENSES,
    Polarity,
    Tense,
)
from examples.demo.language.lexicon.adverbs import (
    ALREADY,
    HABITS,
    MANNERS,
    STILL,
)
from examples.demo.language.lexicon.governed_verbs import DATIVE, DITRANSITIVE, PREPOSITIONAL
from examples.demo.language.lexicon.place_verbs import LOCAL, MOTION, PLACING
from examples.demo.language.lexicon.simple_verbs import INTRANSITIVE, TRANSITIVE, WEATHER
from examples.demo.language.meaning import (
    Action,
    Adverbial,
    Clause,
    ClockTime,
    Determiner,
    Duration,
    DurationKind,
    Existence,
    Indefinite,
    Modal,
    Nominal,
    NounPhrase,
    Pronoun,
    RelativeClause,
    Spatial,
    is_indefinite,
)
from examples.demo.language.sampling.descriptions import DescriptionSampler
from examples.demo.language.sampling.phrases import (
    NOBODY,
    PERSON_KINDS,
    SOMETHING,
)
from examples.demo.language.words import Adverb, Slot, SlotRole, Verb, expand_kinds

VERB_CLASSES: dict[str, tuple[Verb, ...]] = {
    "transitive": TRANSITIVE,
    "intransitive": INTRANSITIVE,
    "prepositional": PREPOSITIONAL,
    "dative": DATIVE,
    "ditransitive": DITRANSITIVE,
    "local": LOCAL,
    "motion": MOTION,
    "placing": PLACING,
}
PREDICATE_WEIGHTS: dict[str, float] = {
    "transitive": 36,
    "intransitive": 10,
    "prepositional": 9,
    "dative": 7,
    "ditransitive": 9,
    "local": 9,
    "motion": 9,
    "placing": 7,
    "description": 8,
    "identity": 3,
    "location": 2,
}
ACTION_WEIGHTS = {kind: PREDICATE_WEIGHTS[kind] for kind in VERB_CLASSES}
LASTING = frozenset(
    ["sleep", "work", "live", "wait", "sit", "cook", "read", "sing", "dance", "look", "repair"]
)
ANYTHING = expand_kinds("person animal thing site dish abstract event film")
AHEAD = frozenset({Tense.FUTURE, Tense.CONDITIONAL, Tense.PLUPERFECT})


class ClauseSampler(DescriptionSampler):
    """Draws clauses beside phrases, adverbials and descriptions."""

    def clause(
        self,
        subject: Nominal | None = None,
        tense: Tense | None = None,
        weights: dict[str, float] | None = None,
        *,
        plain: bool = False,
    ) -> Clause:
        """Any clause; ``plain`` leaves out modals, relative clauses and most adverbials."""
        if weights is None:
            # Nobody plans to be tall: only deeds lie ahead.
            weights = ACTION_WEIGHTS if tense in AHEAD else PREDICATE_WEIGHTS
        kind = self.weighted(weights)
        if kind in VERB_CLASSES:
            return self.action_clause(VERB_CLASSES[kind], subject, tense, plain=plain)
        if subject is None:
            subject = self.topic(PERSON_KINDS if kind == "identity" else ANYTHING)
        tense = tense or self.rng.choices((Tense.PRESENT, Tense.PAST), (60, 40))[0]
        if tense is Tense.PROGRESSIVE:
            tense = Tense.PRESENT
        predicate = self.copular(kind, subject)
        polarity = self.polarity(subject, 0.15)
        return Clause(subject, predicate, tense, polarity=polarity)

    def action_clause(
        self,
        verbs: tuple[Verb, ...],
        subject: Nominal | None,
        tense: Tense | None,
        *,
        plain: bool = False,
    ) -> Clause:
        kinds = None if subject is None else subject_kinds(subject)
        verb = self.ranked(fitting_verbs(verbs, kinds, tense in AHEAD))
        subject = subject or self.subject(verb.subject)
        action = self.action(verb, subject)
        tense = self.tense(verb) if tense is None else fit_tense(verb, tense)
        clause = Clause(subject, action, tense)
        if not plain:
            clause = self.embellish(clause)
        return self.with_polarity(clause)

    def topic(self, kinds: frozenset[str]) -> Nominal:
        """Someone or something definite that a statement can describe."""
        subject = self.subject(kinds)
        if isinstance(subject, NounPhrase) and is_indefinite(subject):
            return self.phrase_of(subject.noun, None, definite=True)
        return subject

    # Predicates

    def action(self, verb: Verb, subject: Nominal) -> Action:
        arguments: list[Nominal | Spatial] = []
        placed = subject  # what is somewhere or goes somewhere: the object, if there is one
        for slot in verb.slots:
            if slot.role in (SlotRole.OBJECT, SlotRole.PREPOSITIONAL):
                placed = self.argument(verb, slot, subject)
                arguments.append(placed)
            else:
                in_motion = slot.role is not SlotRole.REST
                place = self.somewhere(slot.kinds, subject, placed, motion=in_motion)
                arguments.append(place)
        return Action(verb, tuple(arguments))

    def argument(self, verb: Verb, slot: Slot, subject: Nominal) -> Nominal:
        # "Her book pleases Anna" would put the pronoun before its name in German.
        anchor = None if verb.inverted else subject
        if verb.english in ("see", "hear", "buy", "look for") and self.chance(0.03):
            return SOMETHING
        if slot.role is SlotRole.PREPOSITIONAL or verb.inverted:
            if slot.kinds >= PERSON_KINDS:
                return self.object(slot.kinds, anchor or subject)
            return self.noun_phrase(slot.kinds, anchor, definite=verb.inverted)
        return self.object(slot.kinds, anchor if anchor is not None else subject)

    def existence(self) -> Clause:
        noun = self.noun(frozenset({"building", "green"}))
        determiner = self.weighted(
            {Determiner.INDEFINITE: 6, Determiner.MANY: 2, Determiner.SEVERAL: 1}
        )
        number = self.number(noun, determiner)
        phrase = NounPhrase(noun, determiner, number, self.qualities(noun, determiner))
        tense = Tense.PRESENT if self.chance(0.7) else Tense.PAST
        where: Adverbial = self.somewhere(frozenset({"town", "area"}), None, None, motion=False)
        clause = Clause(Pronoun(IMPERSONAL), Existence(phrase), tense, adverbials=(where,))
        if determiner is Determiner.INDEFINITE and self.chance(0.3):
            polarity = Polarity.NOT if self.chance(0.7) else Polarity.NO_LONGER
            return replace(clause, polarity=polarity)
        return clause

    def weather(self, tense: Tense) -> Clause:
        return Clause(Pronoun(IMPERSONAL), Action(self.ranked(WEATHER)), tense)

    # Tense, adverbials, negation

    def tense(self, verb: Verb) -> Tense:
        if verb.stative:
            return self.rng.choices((Tense.PRESENT, Tense.PAST), (55, 45))[0]
        options = (Tense.PAST, Tense.PRESENT, Tense.PROGRESSIVE, Tense.FUTURE, Tense.PERFECT)
        return self.rng.choices(options, (46, 12, 18, 14, 10))[0]

    def embellish(self, clause: Clause) -> Clause:
        """Add a modal, a relative clause or adverbials, whatever the clause can bear."""
        action = clause.predicate
        assert isinstance(action, Action)
        if clause.subject == NOBODY:
            return clause  # "nobody has already come" is no English
        if clause.tense not in UNREAL_TENSES and self.chance(0.16) and can_take_modal(clause):
            return self.with_modal(clause)
        if self.chance(0.08):
            with_relative = self.with_relative(clause)
            if with_relative is not None:
                return with_relative
        lasting = action.verb.english.split()[0] in LASTING
        goes_on = clause.tense is (Tense.PRESENT if action.verb.stative else Tense.PROGRESSIVE)
        if lasting and goes_on and self.chance(0.4):
            span = self.duration(DurationKind.SINCE)
            return replace(clause, tense=Tense.SINCE, adverbials=(span,))
        return replace(clause, adverbials=self.adverbials(clause, lasting=lasting))

    def with_modal(self, clause: Clause) -> Clause:
        table = {
            Modal.CAN: 24.0,
            Modal.MUST: 24,
            Modal.WANT: 22,
            Modal.MAY: 8,
            Modal.SHOULD: 12,
            Modal.WOULD_LIKE: 10,
        }
        modal = self.weighted(table)
        past = clause.tense is Tense.PAST and modal not in (Modal.SHOULD, Modal.WOULD_LIKE)
        tense = Tense.PAST if past else Tense.PRESENT
        adverbials: tuple[Adverbial, ...] = ()
        if self.chance(0.45) and not is_stative(clause):
            adverbials = (self.time("past" if past else "future"),)
        return replace(clause, modal=modal, tense=tense, adverbials=adverbials)

    def polarity(self, subject: Nominal, probability: float) -> Polarity:
        if isinstance(subject, Indefinite) or is_quantified(subject):
            return Polarity.POSITIVE
        return Polarity.NOT if self.chance(probability) else Polarity.POSITIVE

    def with_polarity(self, clause: Clause) -> Clause:
        """Negate the clause now and then, where a negation has one clear scope."""
        if not can_be_negated(clause):
            return clause
        if clause.tense is Tense.PERFECT:
            table = {Polarity.POSITIVE: 70, Polarity.NOT_YET: 22, Polarity.NEVER: 8}
        elif clause.modal is None and clause.tense is Tense.PRESENT:
            table = {Polarity.POSITIVE: 78, Polarity.NOT: 14, Polarity.NO_LONGER: 8}
        else:
            table = {Polarity.POSITIVE: 86, Polarity.NOT: 14}
        return replace(clause, polarity=self.weighted(table))

    # Relative clauses

    def with_relative(self, clause: Clause) -> Clause | None:
        """Hang a relative clause on the last argument, if that is a noun phrase."""
        action = clause.predicate
        assert isinstance(action, Action)
        if not action.arguments or action.verb.inverted:
            return None
        last = action.arguments[-1]
        if not isinstance(last, NounPhrase) or last.possessor is not None:
            return None
        headed = self.relative_phrase(last)
        if headed is None:
            return None
        return replace(
            clause, predicate=replace(action, arguments=(*action.arguments[:-1], headed))
        )

    def relative_phrase(self, head: NounPhrase) -> NounPhrase | None:
        """The phrase with a relative clause in which it is subject or object."""
        if head.determiner in (Determiner.BARE, Determiner.EVERY, Determiner.NUMERAL):
            return None
        bare = replace(head, qualities=(), determiner=Determiner.DEFINITE)
        if head.referent.is_person and self.chance(0.7):
            clause = self.clause(bare, None, ACTION_WEIGHTS, plain=True)
            relative = RelativeClause(replace(clause, polarity=Polarity.POSITIVE))
            return replace(head, relative=relative)
        fitting = [
            verb
            for verb in (*TRANSITIVE, *PREPOSITIONAL)
            if verb.slots[0].kinds & head.noun.kinds and verb.subject & PERSON_KINDS
        ]
        if not fitting:
            return None
        verb = self.ranked(fitting)
        subject = self.pronoun() if self.chance(0.5) else self.name()
        tense = self.tense(verb)
        if tense is Tense.PRESENT and not verb.stative:
            tense = Tense.PAST
        clause = Clause(subject, Action(verb, (bare,)), tense)
        return replace(head, relative=RelativeClause(clause, gap=0))


def subject_kinds(subject: Nominal) -> frozenset[str]:
    return subject.noun.kinds if isinstance(subject, NounPhrase) else PERSON_KINDS


@cache
def fitting_verbs(
    verbs: tuple[Verb, ...], kinds: frozenset[str] | None, ahead: bool
) -> tuple[Verb, ...]:
    """The verbs that can have a subject of these kinds, without states if they lie ahead."""
    return tuple(
        verb
        for verb in verbs
        if (kinds is None or verb.subject & kinds) and not (verb.stative and ahead)
    )


def fit_tense(verb: Verb, tense: Tense) -> Tense:
    """The tense that the verb allows: stative verbs have no progressive."""
    return Tense.PRESENT if verb.stative and tense is Tense.PROGRESSIVE else tense


def is_stative(clause: Clause) -> bool:
    return not isinstance(clause.predicate, Action) or clause.predicate.verb.stative


def can_take_modal(clause: Clause) -> bool:
    action = clause.predicate
    return (
        isinstance(action, Action)
        and clause.subject.referent.is_person
        and not action.verb.inverted
        and action.verb.german.infinitive not in UNWILLED
    )


# Nobody has to, or is allowed to, have these happen.
UNWILLED = frozenset(
    {
        "haben",
        "verlieren",
        "vergessen",
        "bekommen",
        "verpassen",
        "verlaufen",
        "ähneln",
        "lieben",
        "vermissen",
        "erkennen",
    }
)


def can_be_negated(clause: Clause) -> bool:
    """Whether both languages would understand a negation of the clause alike."""
    action = clause.predicate
    assert isinstance(action, Action)
    phrases = [p.nominal if isinstance(p, Spatial) else p for p in action.arguments]
    unclear = (
        clause.modal is Modal.WOULD_LIKE
        or is_indefinite(clause.subject)
        or any(isinstance(p, Indefinite) or is_quantified(p) for p in (clause.subject, *phrases))
        or sum(map(is_indefinite, phrases)) > 1
        or any(isinstance(a, Duration | ClockTime) for a in clause.adverbials)
        or any(a in UNNEGATED for a in clause.adverbials)
    )
    return not unclear


UNNEGATED: tuple[Adverb, ...] = (*HABITS, *MANNERS, STILL, ALREADY)


def is_quantified(phrase: Nominal) -> bool:
    """Whether the scope of a phrase under a negation would differ between the languages."""
    return isinstance(phrase, NounPhrase) and phrase.determiner in (
        Determiner.EVERY,
        Determiner.ALL,
        Determiner.MANY,
        Determiner.SOME,
        Determiner.SEVERAL,
        Determiner.NUMERAL,
    )
