"""German clauses: verb-second, verb-first and verb-final order, and what stands where."""

from dataclasses import dataclass, replace
from enum import Enum

from examples.demo.language.features import Case
from examples.demo.language.german.middle_field import (
    ArgumentStructure,
    Chunk,
    GermanStyle,
    Role,
    argument_structure,
    middle_field,
)
from examples.demo.language.german.nouns import (
    CASES,
    interrogative_adverb,
    join_preposition,
    relative_pronoun,
)
from examples.demo.language.german.phrases import FIXED_CASES, nominal
from examples.demo.language.german.verb_complex import VerbComplex, verb_complex
from examples.demo.language.german.verbs import imperative
from examples.demo.language.meaning import (
    COORDINATORS,
    SUBJECT,
    Action,
    Clause,
    Conjunction,
    Content,
    Determiner,
    Linked,
    Mood,
    Nominal,
    NounPhrase,
    Question,
    RelativeClause,
    Sentence,
    Spatial,
    Wh,
)
from examples.demo.language.text import finish, join


class Order(Enum):
    SECOND = "main clause: one phrase, then the finite verb"
    FIRST = "yes-no question"
    FINAL = "subordinate clause"
    INFINITIVE = "infinitive with zu"
    COMMAND = "imperative"


QUESTION_WORDS = {
    Wh.WHERE: "wo",
    Wh.WHERE_TO: "wohin",
    Wh.WHEN: "wann",
    Wh.WHY: "warum",
    Wh.HOW: "wie",
}
# nominative, accusative, dative
WHO = ("wer", "wen", "wem")
WHAT = ("was", "was", "was")


def german(sentence: Sentence, style: GermanStyle) -> str:
    """The German sentence for a meaning; ``style`` settles what the meaning leaves open."""
    return finish(GermanWriter(style).sentence(sentence), sentence.mood.value)


@dataclass(frozen=True)
class GermanWriter:
    style: GermanStyle

    def sentence(self, sentence: Sentence) -> str:
        linked = sentence.linked
        opener = f"{self.linked(linked)}," if linked and linked.leading else ""
        main = self.main_clause(sentence, opener)
        if linked and not linked.leading:
            comma = "" if linked.conjunction is Conjunction.AND else ","
            main = join(main, comma, self.linked(linked))
        vocative = f"{nominal(sentence.vocative, Case.NOM)}," if sentence.vocative else ""
        return join(vocative, main)

    def main_clause(self, sentence: Sentence, opener: str) -> str:
        clause = sentence.clause
        if sentence.mood is Mood.COMMAND:
            return self.clause(clause, Order.COMMAND, please=sentence.please)
        if sentence.question is not None:
            word, taken = self.question_word(clause, sentence.question)
            return self.clause(clause, Order.SECOND, opener=word, taken=taken)
        if sentence.mood is Mood.QUESTION and not opener:
            return self.clause(clause, Order.FIRST)
        return self.clause(clause, Order.SECOND, opener=opener)

    def linked(self, linked: Linked) -> str:
        """A further clause with its conjunction, without the commas around it."""
        conjunction = linked.conjunction
        if conjunction in COORDINATORS:
            plain = replace(self.style, front=Role.SUBJECT)
            main = GermanWriter(plain).clause(linked.clause, Order.SECOND)
            return join(conjunction.german, main)
        if conjunction is Conjunction.THEREFORE:
            return self.clause(linked.clause, Order.SECOND, opener=conjunction.german)
        if conjunction in (Conjunction.IN_ORDER_TO, Conjunction.WITHOUT):
            return self.clause(linked.clause, Order.INFINITIVE, opener=conjunction.german)
        return self.clause(linked.clause, Order.FINAL, opener=conjunction.german)

    def clause(
        self,
        clause: Clause,
        order: Order,
        *,
        opener: str = "",
        taken: int | None = None,
        please: bool = False,
    ) -> str:
        """One clause; ``taken`` names the constituent that stands in the opener already."""
        structure = argument_structure(clause)
        inverts = order in (Order.FIRST, Order.SECOND)
        chunks = middle_field(clause, structure, self.style, taken, inverts=inverts)
        if please:
            chunks.append(Chunk(22, "bitte", Role.OTHER))
        if order in (Order.INFINITIVE, Order.COMMAND):
            chunks = [chunk for chunk in chunks if chunk.role is not Role.SUBJECT]
        chunks.sort(key=lambda chunk: chunk.rank)
        front = opener
        if order is Order.SECOND and not opener:
            front = self.take_front(chunks)
        afterthought = self.afterthought(clause)
        middle, extraposed = self.place_relatives(chunks, may_extrapose=not afterthought)
        afterfield = extraposed or afterthought
        if order is Order.INFINITIVE:
            return join(front, middle, structure.verb.zu_infinitive, afterfield)
        if order is Order.COMMAND:
            address = structure.subject.referent.address
            assert address is not None, "a command needs a hearer"
            verb = imperative(structure.verb, address)
            return join(verb, middle, structure.verb.prefix, afterfield)
        verbs = self.verbs(clause, structure)
        if order is Order.FINAL:
            return join(front, middle, verbs.clause_final, afterfield)
        return join(front, verbs.finite, middle, verbs.right_bracket, afterfield)

    def verbs(self, clause: Clause, structure: ArgumentStructure) -> VerbComplex:
        return verb_complex(
            structure.verb,
            structure.subject.referent,
            clause.tense,
            clause.modal,
            passive=clause.passive,
            prefer_perfect=self.style.perfect,
            # Without a word like "morgen" the present tense would lose the future.
            future_with_werden=self.style.werden or not clause.adverbials,
        )

    def take_front(self, chunks: list[Chunk]) -> str:
        """Remove and return the phrase that opens a main clause."""
        for wanted in (self.style.front, Role.SUBJECT):
            for index, chunk in enumerate(chunks):
                if chunk.role is wanted:
                    del chunks[index]
                    return join(chunk.text, self.relative_after(chunk))
        raise AssertionError("every main clause has a subject")

    def relative_after(self, chunk: Chunk) -> str:
        return f", {self.relative(chunk.relative_head)}," if chunk.relative_head else ""

    def place_relatives(self, chunks: list[Chunk], *, may_extrapose: bool) -> tuple[str, str]:
        """The middle field, and the relative clause that follows the whole clause instead."""
        texts: list[str] = []
        extraposed = ""
        for index, chunk in enumerate(chunks):
            texts.append(chunk.text)
            if chunk.relative_head is None:
                continue
            if may_extrapose and index == len(chunks) - 1:
                extraposed = self.relative_after(chunk)
            else:
                texts.append(self.relative_after(chunk))
        return join(*texts), extraposed

    def afterthought(self, clause: Clause) -> str:
        """Clauses that depend on the verb and follow the right bracket."""
        action = clause.predicate
        if not isinstance(action, Action):
            return ""
        if action.infinitive is not None:
            return f", {self.clause(action.infinitive, Order.INFINITIVE)},"
        return f", {self.content(action.content)}," if action.content else ""

    def content(self, content: Content) -> str:
        if content.wh is not None:
            word = QUESTION_WORDS[content.wh]
        else:
            word = "ob" if content.whether else "dass"
        return self.clause(content.clause, Order.FINAL, opener=word, taken=content.gap)

    def relative(self, head: NounPhrase) -> str:
        """The relative clause of a noun, opened by its pronoun."""
        relative = head.relative
        assert relative is not None
        case, preposition = gap_government(relative)
        pronoun = relative_pronoun(case, head.noun.gender, head.number)
        return self.clause(
            relative.clause,
            Order.FINAL,
            opener=join(preposition, pronoun),
            taken=relative.place,
        )

    def question_word(self, clause: Clause, question: Question) -> tuple[str, int | None]:
        """What opens a wh-question, and which constituent it stands for."""
        if question.wh is not None:
            return QUESTION_WORDS[question.wh], question.gap
        gap = SUBJECT if question.gap is None else question.gap
        constituent = argument_structure(clause).find(gap)
        asked = constituent.phrase
        assert not isinstance(asked, Spatial), "places are asked for by adverbs"
        return ask_for(asked, constituent.case, constituent.preposition), gap


def gap_government(relative: RelativeClause) -> tuple[Case, str]:
    """Case and preposition that the verb of a relative clause gives to the pronoun."""
    constituent = argument_structure(relative.clause).find(relative.place)
    case = FIXED_CASES.get(constituent.preposition, constituent.case)
    return case, constituent.preposition


def ask_for(asked: Nominal, case: Case, preposition: str) -> str:
    """The question word for a phrase: wer, wen, wem, was; auf wen, worauf; welches Buch."""
    case = FIXED_CASES.get(preposition, case)
    if isinstance(asked, NounPhrase) and asked.determiner is Determiner.WHICH:
        phrase = nominal(asked, case)
        return join_preposition(preposition, phrase, contract=False) if preposition else phrase
    if not asked.referent.is_person:
        return interrogative_adverb(preposition) if preposition else WHAT[CASES.index(case)]
    return join(preposition, WHO[CASES.index(case)])
