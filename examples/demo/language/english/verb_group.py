"""The English verb group: auxiliaries, do-support, modals, negation."""

from dataclasses import dataclass

from examples.demo.language.english.morphology import (
    EnglishForms,
    is_third_singular,
    past_of_be,
    present_of_be,
    verb_forms,
)
from examples.demo.language.features import Polarity, Referent, Tense
from examples.demo.language.meaning import Modal

PAST_FORMS = (Tense.PAST, Tense.HYPOTHETICAL)
PERFECT_FORMS = (Tense.PERFECT, Tense.SINCE, Tense.PLUPERFECT)
WILL_AND_WOULD = {Tense.FUTURE: "will", Tense.CONDITIONAL: "would"}
CONTRACTIONS = {
    "am not": "am not",
    "is not": "isn't",
    "are not": "aren't",
    "was not": "wasn't",
    "were not": "weren't",
    "do not": "don't",
    "does not": "doesn't",
    "did not": "didn't",
    "have not": "haven't",
    "has not": "hasn't",
    "had not": "hadn't",
    "will not": "won't",
    "would not": "wouldn't",
    "can not": "can't",
    "could not": "couldn't",
    "should not": "shouldn't",
    "must not": "mustn't",
}


@dataclass(frozen=True)
class VerbGroup:
    """The finite verb and the rest; a finite full verb needs "do" in questions and negations."""

    finite: str
    rest: str = ""
    do_form: str = ""  # do, does, did: set if the finite verb is a full verb
    base: str = ""  # what follows the do-form

    def inverted(self) -> tuple[str, str]:
        """What stands before and behind the subject of a question."""
        if self.do_form:
            return self.do_form, f"{self.base} {self.rest}".strip()
        return self.finite, self.rest

    def negated(self, *, contract: bool) -> tuple[str, str]:
        finite, rest = self.inverted()
        full = f"{finite} not"
        if contract:
            return CONTRACTIONS.get(full, full), rest
        return ("cannot" if finite == "can" else full), rest


@dataclass(frozen=True)
class Head:
    """The full verb (or the passive of it) in the forms that auxiliaries combine with."""

    forms: EnglishForms
    passive: bool = False

    def _form(self, be_form: str, own: str) -> str:
        return f"{be_form} {self.forms.participle}" if self.passive else own

    @property
    def base(self) -> str:
        return self._form("be", self.forms.base)

    @property
    def participle(self) -> str:
        return self._form("been", self.forms.participle)

    @property
    def ing(self) -> str:
        return self._form("being", self.forms.ing)

    def simple(self, subject: Referent, *, past: bool, unreal: bool) -> VerbGroup:
        if self.passive or self.forms.base == "be":
            be = past_of_be(subject) if past else present_of_be(subject)
            if unreal:
                be = "were"
            return VerbGroup(be, self.forms.participle if self.passive else "")
        if past:
            return VerbGroup(self.forms.past, do_form="did", base=self.forms.base)
        return finite_present(self.forms, subject)


def finite_present(forms: EnglishForms, subject: Referent) -> VerbGroup:
    if is_third_singular(subject):
        return VerbGroup(forms.third, do_form="does", base=forms.base)
    return VerbGroup(forms.base, do_form="do", base=forms.base)


def verb_group(
    base: str,
    subject: Referent,
    tense: Tense,
    modal: Modal | None = None,
    polarity: Polarity = Polarity.POSITIVE,
    *,
    passive: bool = False,
    stative: bool = False,
    have_to: bool = True,
    going_to: bool = False,
) -> VerbGroup:
    head = Head(verb_forms(base), passive)
    if modal is not None:
        negated = polarity is not Polarity.POSITIVE
        return _modal_group(modal, head, subject, tense, negated=negated, have_to=have_to)
    if tense is Tense.FUTURE and going_to:
        return VerbGroup(present_of_be(subject), f"going to {head.base}")
    if tense in WILL_AND_WOULD:
        return VerbGroup(WILL_AND_WOULD[tense], head.base)
    if tense in PERFECT_FORMS:
        has = "has" if is_third_singular(subject) else "have"
        going_on = tense is Tense.SINCE and not stative
        return VerbGroup(
            "had" if tense is Tense.PLUPERFECT else has,
            f"been {head.ing}" if going_on else head.participle,
        )
    if tense is Tense.PROGRESSIVE and not stative:
        return VerbGroup(present_of_be(subject), head.ing)
    return head.simple(subject, past=tense in PAST_FORMS, unreal=tense is Tense.HYPOTHETICAL)


def _modal_group(
    modal: Modal, head: Head, subject: Referent, tense: Tense, *, negated: bool, have_to: bool
) -> VerbGroup:
    past = tense in (Tense.PAST, Tense.HYPOTHETICAL, Tense.CONDITIONAL)
    auxiliaries = {
        Modal.CAN: VerbGroup("could" if past else "can", head.base),
        Modal.SHOULD: VerbGroup("should", head.base),
        Modal.WOULD_LIKE: VerbGroup("would", f"like to {head.base}"),
    }
    if not (past or have_to):
        # "may not" could mean "perhaps not": the ban is "must not".
        auxiliaries[Modal.MAY] = VerbGroup("must" if negated else "may", head.base)
        if not negated:
            auxiliaries[Modal.MUST] = VerbGroup("must", head.base)
    if modal in auxiliaries:
        return auxiliaries[modal]
    if modal is Modal.MAY:
        be = past_of_be(subject) if past else present_of_be(subject)
        return VerbGroup(be, f"allowed to {head.base}")
    forms = verb_forms("want" if modal is Modal.WANT else "have")
    if past:
        return VerbGroup(forms.past, f"to {head.base}", do_form="did", base=forms.base)
    group = finite_present(forms, subject)
    return VerbGroup(group.finite, f"to {head.base}", group.do_form, group.base)
