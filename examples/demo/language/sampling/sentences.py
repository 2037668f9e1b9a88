"""Sentence patterns: how clauses become statements, questions, commands and longer sentences."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from examples.demo.language.english.clauses import english
from examples.demo.language.english.tail import EnglishStyle
from examples.demo.language.features import Address, Number, Polarity, Tense, hearer
from examples.demo.language.german.clauses import german
from examples.demo.language.german.middle_field import GermanStyle, Role
from examples.demo.language.lexicon import NOUNS
from examples.demo.language.lexicon.clause_verbs import ASKING, INTENDING, SAYING, SUDDEN
from examples.demo.language.lexicon.governed_verbs import PREPOSITIONAL
from examples.demo.language.lexicon.people import MEN, TITLED, WOMEN
from examples.demo.language.lexicon.place_verbs import LOCAL, MOTION
from examples.demo.language.lexicon.simple_verbs import TRANSITIVE
from examples.demo.language.meaning import (
    Action,
    Clause,
    Conjunction,
    Content,
    Description,
    Determiner,
    Linked,
    Modal,
    Mood,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    Quality,
    Question,
    Sentence,
    Wh,
)
from examples.demo.language.sampling.clauses import (
    ACTION_WEIGHTS,
    ClauseSampler,
    can_take_modal,
)
from examples.demo.language.sampling.phrases import (
    PERSON_KINDS,
    SOMEONE,
    adjectives_for,
    can_be_referred_to,
)

IMPERSONAL_OBJECT = tuple(v for v in TRANSITIVE if v.slots[0].kinds.isdisjoint(PERSON_KINDS))
CHILD = next(noun for noun in NOUNS if noun.english == "child")
CHILDREN = NounPhrase(CHILD, Determiner.BARE, Number.PLURAL)  # "Children, …" speaks to several

# Which tenses the main and the linked clause take under a conjunction.
LINK_TENSES: dict[Conjunction, list[tuple[Tense, Tense]]] = {
    Conjunction.BECAUSE: [
        (Tense.PAST, Tense.PAST),
        (Tense.PROGRESSIVE, Tense.PROGRESSIVE),
        (Tense.PRESENT, Tense.PRESENT),
        (Tense.FUTURE, Tense.PROGRESSIVE),
    ],
    Conjunction.FOR: [(Tense.PAST, Tense.PAST), (Tense.PROGRESSIVE, Tense.PROGRESSIVE)],
    Conjunction.ALTHOUGH: [(Tense.PAST, Tense.PAST), (Tense.PROGRESSIVE, Tense.PROGRESSIVE)],
    Conjunction.BUT: [(Tense.PAST, Tense.PAST), (Tense.PROGRESSIVE, Tense.PROGRESSIVE)],
    Conjunction.AND: [(Tense.PAST, Tense.PAST), (Tense.PROGRESSIVE, Tense.PROGRESSIVE)],
    Conjunction.THEREFORE: [(Tense.PAST, Tense.PAST), (Tense.PROGRESSIVE, Tense.FUTURE)],
    Conjunction.SINCE: [(Tense.PAST, Tense.PAST)],
    Conjunction.IF: [(Tense.FUTURE, Tense.PRESENT), (Tense.CONDITIONAL, Tense.HYPOTHETICAL)],
    Conjunction.WHEN_ONCE: [(Tense.PAST, Tense.PAST)],
    Conjunction.WHEN_GENERAL: [(Tense.FUTURE, Tense.PRESENT), (Tense.PRESENT, Tense.PRESENT)],
    Conjunction.WHILE: [(Tense.PAST, Tense.PAST), (Tense.PROGRESSIVE, Tense.PROGRESSIVE)],
    Conjunction.BEFORE: [(Tense.PAST, Tense.PAST), (Tense.FUTURE, Tense.PRESENT)],
    Conjunction.AFTER: [(Tense.PAST, Tense.PLUPERFECT)],
    Conjunction.UNTIL: [(Tense.PAST, Tense.PAST), (Tense.FUTURE, Tense.PRESENT)],
}
LINK_WEIGHTS: dict[Conjunction, float] = {
    Conjunction.BECAUSE: 18,
    Conjunction.FOR: 5,
    Conjunction.ALTHOUGH: 7,
    Conjunction.BUT: 10,
    Conjunction.AND: 8,
    Conjunction.THEREFORE: 5,
    Conjunction.SINCE: 3,
    Conjunction.IF: 13,
    Conjunction.WHEN_ONCE: 10,
    Conjunction.WHEN_GENERAL: 9,
    Conjunction.WHILE: 4,
    Conjunction.BEFORE: 5,
    Conjunction.AFTER: 5,
    Conjunction.UNTIL: 3,
}
TEMPORAL = frozenset(
    {
        Conjunction.WHEN_ONCE,
        Conjunction.WHILE,
        Conjunction.BEFORE,
        Conjunction.AFTER,
        Conjunction.UNTIL,
    }
)
MAY_LEAD = frozenset(LINK_WEIGHTS) - {
    Conjunction.FOR,
    Conjunction.BUT,
    Conjunction.AND,
    Conjunction.THEREFORE,
    Conjunction.UNTIL,
}


class Grammar(ClauseSampler):
    """Draws the meaning of one whole sentence."""

    def sentence(self, *, simple: bool = False) -> Sentence:
        weights = SIMPLE_PATTERN_WEIGHTS if simple else PATTERN_WEIGHTS
        pattern: Callable[[Grammar], Sentence] = self.weighted(weights)
        return pattern(self)

    # Statements

    def statement(self) -> Sentence:
        return Sentence(self.clause())

    def there_is(self) -> Sentence:
        return Sentence(self.existence())

    def relative_subject(self) -> Sentence:
        """A statement about a described person: the man who lives in Berlin sold his car."""
        head = self.noun_phrase(frozenset({"job", "folk"}), None, definite=True)
        headed = self.relative_phrase(head)
        clause = self.clause(head, weights=ACTION_WEIGHTS, plain=True)
        return Sentence(replace(clause, subject=headed or head))

    def passive(self) -> Sentence:
        verb = self.ranked([verb for verb in TRANSITIVE if verb.passive])
        patient = self.noun_phrase(verb.slots[0].kinds, None)
        hidden = bool(verb.subject & PERSON_KINDS) and self.chance(0.6)
        agent: Nominal = SOMEONE if hidden else self.noun_phrase(verb.subject, None)
        tense = Tense.PAST if self.chance(0.8) else Tense.PERFECT
        clause = Clause(agent, Action(verb, (patient,)), tense, passive=True)
        if self.chance(0.2):
            modal = self.weighted({Modal.MUST: 3, Modal.CAN: 2})
            clause = replace(clause, tense=Tense.PRESENT, modal=modal)
        elif tense is Tense.PAST and self.chance(0.5):
            clause = replace(clause, adverbials=(self.time("past"),))
        return Sentence(clause)

    # Questions and commands

    def yes_no_question(self) -> Sentence:
        clause = self.clause(self.hearer_or_other())
        return self.addressed(Sentence(clause, Mood.QUESTION))

    def hearer_or_other(self) -> Nominal:
        return Pronoun(hearer(self.address)) if self.chance(0.6) else self.name()

    def wh_question(self) -> Sentence:
        kind = self.weighted({"object": 4, "subject": 2, "place": 3, "adverb": 4, "which": 2})
        if kind == "place":
            return self.addressed(self.place_question())
        if kind == "adverb":
            wh = self.weighted({Wh.WHY: 5, Wh.WHEN: 3, Wh.HOW: 0.5})
            clause = self.clause(self.hearer_or_other(), weights=ACTION_WEIGHTS, plain=True)
            if wh is not Wh.WHY:
                clause = replace(clause, polarity=Polarity.POSITIVE)
            return self.addressed(Sentence(clause, Mood.QUESTION, Question(wh)))
        weights = {"transitive": 6.0, "prepositional": 2, "dative": 1}
        subject = SOMEONE if kind == "subject" else self.hearer_or_other()
        clause = self.clause(subject, weights=weights, plain=True)
        clause = replace(clause, polarity=Polarity.POSITIVE)
        if kind == "subject":
            return Sentence(clause, Mood.QUESTION, Question())
        action = clause.predicate
        assert isinstance(action, Action)
        if kind == "which":
            noun = self.noun(action.verb.slots[0].kinds)
            asked = NounPhrase(noun, Determiner.WHICH, self.number(noun, Determiner.WHICH))
            clause = replace(clause, predicate=replace(action, arguments=(asked,)))
        return self.addressed(Sentence(clause, Mood.QUESTION, Question(gap=0)))

    def place_question(self) -> Sentence:
        verbs, wh = LOCAL, Wh.WHERE
        if self.chance(0.4):
            verbs, wh = MOTION, Wh.WHERE_TO
        clause = self.action_clause(verbs, None, None, plain=True)
        clause = replace(clause, polarity=Polarity.POSITIVE)
        return Sentence(clause, Mood.QUESTION, Question(wh, gap=0))

    def addressed(self, sentence: Sentence) -> Sentence:
        """Now and then name the hearer, which tells du, ihr and Sie apart."""
        if not self.chance(0.25):
            return sentence
        subject = sentence.clause.subject
        if not isinstance(subject, Pronoun) or subject.referent.person != 2:
            return sentence
        return replace(sentence, vocative=self.vocative())

    def vocative(self) -> Name | NounPhrase:
        if self.address is Address.IHR:
            return CHILDREN
        group = TITLED if self.address is Address.SIE else [*MEN, *WOMEN]
        return Name(self.ranked(group))

    def command(self) -> Sentence:
        you = Pronoun(hearer(self.address))
        weights = {**ACTION_WEIGHTS, "dative": 2, "local": 0.5}
        clause = self.clause(you, Tense.PRESENT, weights, plain=True)
        action = clause.predicate
        assert isinstance(action, Action)
        if action.verb.stative or not can_take_modal(clause):
            return self.command()
        if clause.polarity is not Polarity.POSITIVE:
            clause = replace(clause, polarity=Polarity.NOT)
        sentence = Sentence(clause, Mood.COMMAND, please=self.chance(0.5))
        return replace(sentence, vocative=self.vocative()) if self.chance(0.35) else sentence

    # Sentences of several clauses

    def two_clauses(self) -> Sentence:
        conjunction = self.weighted(LINK_WEIGHTS)
        main_tense, linked_tense = self.rng.choice(LINK_TENSES[conjunction])
        main = self.clause(tense=main_tense, plain=self.chance(0.6))
        if main.modal is None and main.tense is Tense.SINCE:
            main = replace(main, tense=Tense.PROGRESSIVE, adverbials=())
        linked = self.second_clause(main, linked_tense)
        leading = conjunction in MAY_LEAD and self.chance(0.35)
        if conjunction in TEMPORAL:
            # What does not happen has no time: "before he does not come" makes no sense.
            main = replace(main, polarity=Polarity.POSITIVE)
            linked = replace(linked, polarity=Polarity.POSITIVE)
        return Sentence(main, linked=Linked(conjunction, linked, leading))

    def second_clause(self, main: Clause, tense: Tense) -> Clause:
        """A clause about the weather, about the same person, or about someone else."""
        if self.chance(0.12):
            return self.weather(tense)
        subject = main.subject
        if subject.referent.is_person and can_be_referred_to(subject) and self.chance(0.6):
            return self.clause(Pronoun(subject.referent), tense, plain=True)
        return self.clause(None, tense, plain=True)

    def same_thing(self) -> Sentence:
        """A thing in the first clause, a pronoun for it in the second."""
        verbs = IMPERSONAL_OBJECT
        clause = self.action_clause(verbs, None, Tense.PAST, plain=True)
        action = clause.predicate
        assert isinstance(action, Action)
        thing = action.arguments[0]
        if not isinstance(thing, NounPhrase) or not can_be_referred_to(clause.subject):
            return self.same_thing()
        if clause.polarity is not Polarity.POSITIVE or not adjectives_for(thing.noun):
            return self.same_thing()
        it = Pronoun(thing.referent)
        conjunction = self.weighted(
            {
                Conjunction.BECAUSE: 4,
                Conjunction.BUT: 4,
                Conjunction.ALTHOUGH: 2,
                Conjunction.FOR: 1,
                Conjunction.AND: 1,
            }
        )
        fitting = [
            verb
            for verb in (verbs if "animal" in thing.noun.kinds else (*verbs, *PREPOSITIONAL))
            if verb.slots[0].kinds & thing.noun.kinds
            and verb.subject & PERSON_KINDS
            and verb.english not in ("have", action.verb.english)
        ]
        person = Pronoun(clause.subject.referent)
        if fitting and clause.subject.referent.is_person and self.chance(0.45):
            second = Clause(person, Action(self.ranked(fitting), (it,)), Tense.PAST)
            if self.chance(0.5):
                modal = self.weighted({Modal.WANT: 4, Modal.MUST: 2, Modal.CAN: 2})
                second = replace(second, modal=modal)
        else:
            quality = Quality(self.ranked(adjectives_for(thing.noun)))
            second = Clause(it, Description(quality), Tense.PAST)
        if self.chance(0.25):
            second = replace(second, polarity=Polarity.NOT)
        return Sentence(clause, linked=Linked(conjunction, second))

    def content_clause(self) -> Sentence:
        """A clause as an object: she says that …; he asks whether …; I do not know where …"""
        asking = self.chance(0.35)
        verb = self.ranked(ASKING if asking else SAYING)
        subject = self.subject(PERSON_KINDS)
        now = verb.english not in SUDDEN and self.chance(0.6)
        tense = Tense.PRESENT if now else Tense.PAST
        inner_tense = Tense.PAST if tense is Tense.PAST else None
        content = Content(self.clause(None, inner_tense, plain=self.chance(0.5)))
        if asking:
            content = self.asked_content(inner_tense)
        clause = Clause(subject, Action(verb, content=content), tense)
        if verb.english == "know" and asking and can_be_referred_to(subject):
            clause = replace(clause, polarity=Polarity.NOT)
        return Sentence(clause)

    def asked_content(self, tense: Tense | None) -> Content:
        kind = self.weighted({"whether": 4, "where": 3, "why": 2, "when": 1})
        if kind == "where":
            verbs = LOCAL if self.chance(0.6) else MOTION
            wh = Wh.WHERE if verbs is LOCAL else Wh.WHERE_TO
            clause = self.action_clause(verbs, None, tense, plain=True)
            return Content(replace(clause, polarity=Polarity.POSITIVE), wh, gap=0)
        clause = self.clause(None, tense, ACTION_WEIGHTS, plain=True)
        if kind == "whether":
            return Content(replace(clause, polarity=Polarity.POSITIVE), whether=True)
        if kind == "when":
            return Content(replace(clause, polarity=Polarity.POSITIVE), Wh.WHEN)
        return Content(clause, Wh.WHY)

    def infinitive(self) -> Sentence:
        verb = self.ranked(INTENDING)
        subject = self.subject(PERSON_KINDS)
        tense = Tense.PAST if self.chance(0.6) or verb.stative else Tense.PROGRESSIVE
        inner = self.deed(subject)
        clause = Clause(subject, Action(verb, infinitive=inner), tense)
        return Sentence(clause)

    def deed(
        self,
        subject: Nominal,
        tense: Tense = Tense.PRESENT,
        weights: dict[str, float] = ACTION_WEIGHTS,
    ) -> Clause:
        """Something that one can intend to do."""
        while True:
            clause = self.clause(subject, tense, weights, plain=True)
            action = clause.predicate
            assert isinstance(action, Action)
            if not action.verb.stative and can_take_modal(clause):
                return replace(clause, polarity=Polarity.POSITIVE)

    def purpose(self) -> Sentence:
        """What something is done for: she went to the market (in order) to buy apples."""
        subject = self.subject(PERSON_KINDS)
        weights = {"motion": 4.0, "transitive": 3}
        tense = Tense.PAST if self.chance(0.7) else Tense.PROGRESSIVE
        main = self.deed(subject, tense, weights)
        without = self.chance(0.25)
        conjunction = Conjunction.WITHOUT if without else Conjunction.IN_ORDER_TO
        return Sentence(main, linked=Linked(conjunction, self.deed(subject)))

    # Style

    def english_style(self) -> EnglishStyle:
        return EnglishStyle(
            time_first=self.chance(0.25),
            contract=self.chance(0.35),
            have_to=self.chance(0.7),
            going_to=self.chance(0.25),
            drop_that=self.chance(0.4),
            which=self.chance(0.25),
            particle_last=self.chance(0.4),
            shift_dative=self.chance(0.65),
            anymore=self.chance(0.5),
        )

    def german_style(self) -> GermanStyle:
        front = self.weighted(
            {Role.SUBJECT: 60.0, Role.TIME: 28, Role.PLACE: 6, Role.EXPERIENCER: 6}
        )
        return GermanStyle(
            perfect=self.chance(0.7),
            werden=self.chance(0.6),
            front=front,
            object_before_time=self.chance(0.3),
            gerade=self.chance(0.35),
            von_possessor=self.chance(0.15),
        )


PATTERN_WEIGHTS: dict[Callable[[Grammar], Sentence], float] = {
    Grammar.statement: 28,
    Grammar.two_clauses: 21,
    Grammar.same_thing: 8,
    Grammar.content_clause: 9,
    Grammar.yes_no_question: 6,
    Grammar.wh_question: 7,
    Grammar.relative_subject: 4,
    Grammar.infinitive: 4,
    Grammar.purpose: 4,
    Grammar.passive: 4,
    Grammar.command: 4,
    Grammar.there_is: 2,
}
#: a sentence has one translation, so that a reference says which one is right
SIMPLE_GERMAN = GermanStyle(
    perfect=True,
    werden=True,
    front=Role.SUBJECT,
    object_before_time=False,
    gerade=False,
    von_possessor=False,
)
SIMPLE_PATTERN_WEIGHTS: dict[Callable[[Grammar], Sentence], float] = {
    pattern: PATTERN_WEIGHTS[pattern]
    for pattern in (
        Grammar.statement,
        Grammar.two_clauses,
        Grammar.same_thing,
        Grammar.yes_no_question,
        Grammar.there_is,
    )
}


def draw(rng: Random, choice: int | None = None, *, simple: bool = False) -> tuple[str, str]:
    """One random pair of an English and a German sentence.

    `choice`: how many words of a kind there are to choose from, the most frequent ones; None for
    all. `simple`: statements and plain questions alone, in one German style.
    """
    grammar = Grammar(rng, choice)
    sentence = grammar.sentence(simple=simple)
    return (
        english(sentence, grammar.english_style()),
        german(sentence, SIMPLE_GERMAN if simple else grammar.german_style()),
    )
