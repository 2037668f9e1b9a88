"""The German verb complex: which form is finite, and what waits at the end of the clause."""

from dataclasses import dataclass

from examples.demo.language.features import UNREAL_TENSES, Address, Referent, Tense
from examples.demo.language.german.verbs import (
    DUERFEN,
    HABEN,
    KOENNEN,
    MOEGEN,
    MUESSEN,
    SEIN,
    SOLLEN,
    SUBJUNCTIVES,
    WERDEN,
    WOLLEN,
    Auxiliary,
    GermanVerb,
    present,
    preterite,
    subjunctive,
)
from examples.demo.language.meaning import Modal

MODAL_VERBS = {
    Modal.CAN: KOENNEN,
    Modal.MUST: MUESSEN,
    Modal.MAY: DUERFEN,
    Modal.WANT: WOLLEN,
    Modal.SHOULD: SOLLEN,
    Modal.WOULD_LIKE: MOEGEN,
}
ALWAYS_SUBJUNCTIVE = (Modal.SHOULD, Modal.WOULD_LIKE)  # sollte, möchte


@dataclass(frozen=True)
class VerbComplex:
    """Finite verb, its separable prefix, and the other verb forms in clause-final order."""

    finite: str
    prefix: str = ""
    rest: str = ""

    @property
    def clause_final(self) -> str:
        """All of it where the finite verb stands last: "aufgemacht hat", "aufmacht"."""
        finite = self.prefix + self.finite
        return f"{self.rest} {finite}" if self.rest else finite

    @property
    def right_bracket(self) -> str:
        """What closes a clause whose finite verb stands in front."""
        return self.rest or self.prefix


@dataclass(frozen=True)
class Head:
    """The full verb, active or passive, in the forms that auxiliaries combine with."""

    verb: GermanVerb
    passive: bool = False

    @property
    def infinitive(self) -> str:
        if self.passive:
            return f"{self.verb.full_participle} werden"
        return self.verb.full_infinitive

    @property
    def participle(self) -> str:
        return f"{self.verb.full_participle} worden" if self.passive else self.verb.full_participle

    @property
    def auxiliary(self) -> GermanVerb:
        return SEIN if self.passive or self.verb.auxiliary is Auxiliary.SEIN else HABEN

    def simple(self, subject: Referent, *, past: bool) -> VerbComplex:
        conjugate = preterite if past else present
        if self.passive:
            return VerbComplex(conjugate(WERDEN, subject), rest=self.verb.full_participle)
        return VerbComplex(conjugate(self.verb, subject), prefix=self.verb.prefix)


def verb_complex(
    verb: GermanVerb,
    subject: Referent,
    tense: Tense,
    modal: Modal | None = None,
    *,
    passive: bool = False,
    prefer_perfect: bool = True,
    future_with_werden: bool = True,
) -> VerbComplex:
    """The verb forms of a clause; past and future leave German a choice."""
    head = Head(verb, passive)
    if modal is not None:
        return VerbComplex(_finite_modal(modal, subject, tense), rest=head.infinitive)
    if tense in UNREAL_TENSES:
        return _unreal(head, subject)
    if tense is Tense.FUTURE and future_with_werden:
        return VerbComplex(present(WERDEN, subject), rest=head.infinitive)
    if tense is Tense.PERFECT or (
        tense is Tense.PAST and _past_is_perfect(head, subject, prefer_perfect)
    ):
        return VerbComplex(present(head.auxiliary, subject), rest=head.participle)
    if tense is Tense.PLUPERFECT:
        return VerbComplex(preterite(head.auxiliary, subject), rest=head.participle)
    return head.simple(subject, past=tense is Tense.PAST)


def _past_is_perfect(head: Head, subject: Referent, prefer_perfect: bool) -> bool:
    if head.passive or head.verb.always_preterite:
        return False
    # "du gingst", "ihr kauftet" sound bookish: a familiar hearer always gets the perfect.
    return prefer_perfect or subject.address in (Address.DU, Address.IHR)


def _finite_modal(modal: Modal, subject: Referent, tense: Tense) -> str:
    verb = MODAL_VERBS[modal]
    if modal in ALWAYS_SUBJUNCTIVE or tense in UNREAL_TENSES:
        return subjunctive(verb, subject)
    return preterite(verb, subject) if tense is Tense.PAST else present(verb, subject)


def _unreal(head: Head, subject: Referent) -> VerbComplex:
    if not head.passive and head.verb.infinitive in SUBJUNCTIVES and not head.verb.prefix:
        return VerbComplex(subjunctive(head.verb, subject))
    return VerbComplex(subjunctive(WERDEN, subject), rest=head.infinitive)
