"""English clauses: subject–verb–object order, questions, and what follows the object."""

from dataclasses import dataclass, replace
from enum import Enum

from examples.demo.language.english.morphology import verb_forms
from examples.demo.language.english.phrases import nominal
from examples.demo.language.english.tail import EnglishStyle, Tail, clause_tail
from examples.demo.language.english.verb_group import VerbGroup, verb_group
from examples.demo.language.features import Polarity
from examples.demo.language.meaning import (
    SUBJECT,
    Action,
    Clause,
    Conjunction,
    Content,
    Determiner,
    Existence,
    Linked,
    Mood,
    Nominal,
    NounPhrase,
    Sentence,
    Spatial,
    Wh,
)
from examples.demo.language.text import finish, join
from examples.demo.language.words import Adverb, AdverbRole

QUESTION_WORDS = {
    Wh.WHERE: "where",
    Wh.WHERE_TO: "where",
    Wh.WHEN: "when",
    Wh.WHY: "why",
    Wh.HOW: "how",
}
COMMA_BEFORE = (
    Conjunction.AND,
    Conjunction.BUT,
    Conjunction.THEREFORE,
    Conjunction.ALTHOUGH,
)


class Order(Enum):
    STATEMENT = "subject before verb"
    INVERTED = "auxiliary before subject"
    TO_INFINITIVE = "to open"
    GERUND = "opening"
    COMMAND = "open"


def english(sentence: Sentence, style: EnglishStyle) -> str:
    """The English sentence for a meaning; ``style`` settles what the meaning leaves open."""
    # A written English command does without the exclamation mark that German likes.
    mark = "." if sentence.mood is Mood.COMMAND else sentence.mood.value
    return finish(EnglishWriter(style).sentence(sentence), mark)


@dataclass(frozen=True)
class EnglishWriter:
    style: EnglishStyle

    def sentence(self, sentence: Sentence) -> str:
        linked = sentence.linked
        if linked and linked.leading:
            main = join(self.linked(linked), ",", self.time_last().main_clause(sentence))
        else:
            main = self.main_clause(sentence)
        if linked and not linked.leading:
            comma = "," if linked.conjunction in COMMA_BEFORE else ""
            main = join(main, comma, self.linked(linked))
        vocative = f"{nominal(sentence.vocative)}," if sentence.vocative else ""
        return join(vocative, "please" if sentence.please else "", main)

    def time_last(self) -> "EnglishWriter":
        """The same writer with time adverbials last, for clauses that something else opens."""
        return EnglishWriter(replace(self.style, time_first=False))

    def main_clause(self, sentence: Sentence) -> str:
        clause, question = sentence.clause, sentence.question
        if sentence.mood is Mood.COMMAND:
            return self.clause(clause, Order.COMMAND)
        if question is None:
            inverted = sentence.mood is Mood.QUESTION
            return self.clause(clause, Order.INVERTED if inverted else Order.STATEMENT)
        if question.wh is not None:
            word = QUESTION_WORDS[question.wh]
            return join(word, self.clause(clause, Order.INVERTED, taken=question.gap))
        if question.gap is None:
            word = ask_for(clause.subject)
            return join(word, self.clause(clause, Order.STATEMENT, taken=SUBJECT))
        action = clause.predicate
        assert isinstance(action, Action), "only the arguments of a verb are asked for"
        asked = action.arguments[question.gap]
        assert not isinstance(asked, Spatial), "places are asked for by adverbs"
        return join(ask_for(asked), self.clause(clause, Order.INVERTED, taken=question.gap))

    def linked(self, linked: Linked) -> str:
        if linked.conjunction is Conjunction.IN_ORDER_TO:
            return self.clause(linked.clause, Order.TO_INFINITIVE)
        gerund = linked.conjunction is Conjunction.WITHOUT
        order = Order.GERUND if gerund else Order.STATEMENT
        return join(linked.conjunction.english, self.time_last().clause(linked.clause, order))

    def clause(self, clause: Clause, order: Order, *, taken: int | None = None) -> str:
        """One clause; ``taken`` names the constituent that stands in front of it already."""
        tail = clause_tail(clause, self.style, taken)
        front = ""
        if order is Order.STATEMENT and self.style.time_first and taken is None:
            front, tail = tail.move_time()
        middle = self.mid_adverbs(clause)
        ending = join(self.tail_text(tail), self.dependents(clause), tail.time)
        if order in (Order.STATEMENT, Order.INVERTED):
            opening = self.finite_opening(clause, order, middle, taken)
        else:
            opening = join(self.nonfinite_verb(clause, order), middle)
        return join(front, opening, ending)

    def finite_opening(self, clause: Clause, order: Order, middle: str, taken: int | None) -> str:
        """Subject and verb group with "not" and the adverbs that stand among them."""
        subject = grammatical_subject(clause)
        subject_text = self.with_relative(subject, subject=True)
        if isinstance(clause.predicate, Existence):
            subject_text = "there"
        if taken == (0 if clause.passive else SUBJECT):
            subject_text = ""
        group = self.verbs(clause, subject)
        if self.uses_not(clause):
            finite, rest = group.negated(contract=self.style.contract)
            if order is Order.STATEMENT:
                return join(subject_text, finite, middle, rest)
            auxiliary, _, negator = finite.partition(" ")
            return join(auxiliary, subject_text, negator, middle, rest)
        if order is Order.INVERTED:
            finite, rest = group.inverted()
            return join(finite, subject_text, middle, rest)
        if group.do_form:
            return join(subject_text, middle, group.finite, group.rest)
        return join(subject_text, group.finite, middle, group.rest)

    def nonfinite_verb(self, clause: Clause, order: Order) -> str:
        forms = verb_forms(head_verb(clause))
        negated = self.uses_not(clause)
        if order is Order.COMMAND:
            prohibition = "don't" if self.style.contract else "do not"
            return join(prohibition if negated else "", forms.base)
        if order is Order.GERUND:
            return join("not" if negated else "", forms.ing)
        return join("not" if negated else "", "to", forms.base)

    def verbs(self, clause: Clause, subject: Nominal) -> VerbGroup:
        action = clause.predicate
        return verb_group(
            head_verb(clause),
            subject.referent,
            clause.tense,
            clause.modal,
            clause.polarity,
            passive=clause.passive,
            stative=not isinstance(action, Action) or action.verb.stative,
            have_to=self.style.have_to,
            going_to=self.style.going_to,
        )

    def uses_not(self, clause: Clause) -> bool:
        if clause.polarity is Polarity.NO_LONGER:
            return self.style.anymore
        return clause.polarity in (Polarity.NOT, Polarity.NOT_YET)

    def mid_adverbs(self, clause: Clause) -> str:
        words = [
            adverbial.english
            for adverbial in clause.adverbials
            if isinstance(adverbial, Adverb) and adverbial.role is AdverbRole.FREQUENCY
        ]
        if clause.polarity is Polarity.NEVER:
            words.append("never")
        if clause.polarity is Polarity.NO_LONGER and not self.style.anymore:
            words.append("no longer")
        return " ".join(words)

    def tail_text(self, tail: Tail) -> str:
        """Complements and adverbials, each with its relative clause."""
        return join(
            *(join(p.text, self.relative(p.head) if p.head else "") for p in tail.complements),
            *(join(p.text, self.relative(p.head) if p.head else "") for p in tail.adverbials),
        )

    def with_relative(self, phrase: Nominal, *, subject: bool = False) -> str:
        text = nominal(phrase, subject=subject)
        if isinstance(phrase, NounPhrase) and phrase.relative:
            return join(text, self.relative(phrase))
        return text

    def relative(self, head: NounPhrase) -> str:
        relative = head.relative
        assert relative is not None
        clause = self.clause(relative.clause, Order.STATEMENT, taken=relative.place)
        is_subject = relative.place == (0 if relative.clause.passive else SUBJECT)
        if not is_subject and self.style.drop_that:
            return clause
        thing = "which" if self.style.which else "that"
        return join("who" if head.referent.is_person else thing, clause)

    def dependents(self, clause: Clause) -> str:
        """Clauses that depend on the verb."""
        action = clause.predicate
        if not isinstance(action, Action):
            return ""
        if action.infinitive is not None:
            return self.clause(action.infinitive, Order.TO_INFINITIVE)
        return self.content(action.content) if action.content else ""

    def content(self, content: Content) -> str:
        inner = self.time_last().clause(content.clause, Order.STATEMENT, taken=content.gap)
        if content.wh is not None:
            return join(QUESTION_WORDS[content.wh], inner)
        if content.whether:
            return join("whether" if self.style.which else "if", inner)
        return inner if self.style.drop_that else join("that", inner)


def head_verb(clause: Clause) -> str:
    if isinstance(clause.predicate, Action):
        return clause.predicate.verb.english.split(" ")[0]
    return "be"


def grammatical_subject(clause: Clause) -> Nominal:
    if isinstance(clause.predicate, Existence):
        return clause.predicate.nominal
    if clause.passive and isinstance(clause.predicate, Action):
        promoted = clause.predicate.arguments[0]
        assert not isinstance(promoted, Spatial), "a place cannot become the subject"
        return promoted
    return clause.subject


def ask_for(asked: Nominal) -> str:
    if isinstance(asked, NounPhrase) and asked.determiner is Determiner.WHICH:
        return nominal(asked)
    return "who" if asked.referent.is_person else "what"
