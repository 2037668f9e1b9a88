"""The English verb group: auxiliaries, do-support, modals, negation."""

from dataclasses import dataclass

from fairseq_mcts.demo.english.morphology import (
    EnglishForms,
    is_third_singular,
    past_of_be,
    present_of_be,
    verb_forms,
)
from fairseq_mcts.demo.features import Polarity, Referent, Tense
from fairseq_mcts.demo.meaning import Modal

PAST_FORMS = (Tense.PAST, Tense.HYPOTHETICAL)
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
    have = "has" if is_third_singular(subject) else "have"
    if tense is Tense.FUTURE:
        if going_to:
            return VerbGroup(present_of_be(subject), f"going to {head.base}")
        return VerbGroup("will", head.base)
    if tense is Tense.CONDITIONAL:
        return VerbGroup("would", head.base)
    if tense is Tense.PERFECT or (tense is Tense.SINCE and stative):
        return VerbGroup(have, head.participle)
    if tense is Tense.SINCE:
        return VerbGroup(have, f"been {head.ing}")
    if tense is Tense.PLUPERFECT:
        return VerbGroup("had", head.participle)
    if tense is Tense.PROGRESSIVE and not stative:
        return VerbGroup(present_of_be(subject), head.ing)
    return head.simple(subject, past=tense in PAST_FORMS, unreal=tense is Tense.HYPOTHETICAL)


def _modal_group(
    modal: Modal, head: Head, subject: Referent, tense: Tense, *, negated: bool, have_to: bool
) -> VerbGroup:
    past = tense in (Tense.PAST, Tense.HYPOTHETICAL, Tense.CONDITIONAL)
    if modal is Modal.CAN:
        return VerbGroup("could" if past else "can", head.base)
    if modal is Modal.SHOULD:
        return VerbGroup("should", head.base)
    if modal is Modal.WOULD_LIKE:
        return VerbGroup("would", f"like to {head.base}")
    if modal is Modal.MAY:
        if not past and not have_to:
            # "may not" could mean "perhaps not": the ban is "must not".
            return VerbGroup("must" if negated else "may", head.base)
        be = past_of_be(subject) if past else present_of_be(subject)
        return VerbGroup(be, f"allowed to {head.base}")
    if modal is Modal.MUST and not (past or negated or have_to):
        return VerbGroup("must", head.base)
    forms = verb_forms("want" if modal is Modal.WANT else "have")
    if past:
        group = VerbGroup(forms.past, do_form="did", base=forms.base)
    else:
        group = finite_present(forms, subject)
    return VerbGroup(group.finite, f"to {head.base}", group.do_form, group.base)
