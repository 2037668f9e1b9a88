"""English forms against forms written by hand."""

import pytest

from examples.demo.language.english.morphology import (
    graded,
    indefinite_article,
    number_word,
    plural,
    possessive_s,
    verb_forms,
)
from examples.demo.language.english.verb_group import verb_group
from examples.demo.language.features import MAN, PEOPLE, SPEAKER, Degree, Polarity, Tense
from examples.demo.language.meaning import Modal
from tests.examples.demo.language.lookup import noun, quality


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("open", "opens opened opened opening"),
        ("try", "tries tried tried trying"),
        ("play", "plays played played playing"),
        ("go", "goes went gone going"),
        ("wash", "washes washed washed washing"),
        ("lie", "lies lay lain lying"),
        ("bake", "bakes baked baked baking"),
        ("see", "sees saw seen seeing"),
        ("plan", "plans planned planned planning"),
        ("put", "puts put put putting"),
        ("admit", "admits admitted admitted admitting"),
        ("visit", "visits visited visited visiting"),
        ("have", "has had had having"),
    ],
)
def test_verb_forms(base: str, expected: str) -> None:
    forms = verb_forms(base)
    assert f"{forms.third} {forms.past} {forms.participle} {forms.ing}" == expected


@pytest.mark.parametrize(
    ("german", "expected"),
    [
        ("Kind", "children"),
        ("Küche", "kitchens"),
        ("Stadt", "cities"),
        ("Kiste", "boxes"),
        ("Kartoffel", "potatoes"),
        ("Klavier", "pianos"),
        ("Zoo", "zoos"),
        ("Küchenmesser", "kitchen knives"),
        ("Schal", "scarves"),
        ("Enkel", "grandchildren"),
    ],
)
def test_plurals(german: str, expected: str) -> None:
    assert plural(noun(german)) == expected


@pytest.mark.parametrize(
    ("german", "english", "comparative", "superlative"),
    [
        ("gut", "good", "better", "best"),
        ("groß", "big", "bigger", "biggest"),
        ("klug", "clever", "cleverer", "cleverest"),
        ("schwer", "heavy", "heavier", "heaviest"),
        ("nett", "nice", "nicer", "nicest"),
        ("teuer", "expensive", "more expensive", "most expensive"),
        ("berühmt", "famous", "more famous", "most famous"),
        ("langweilig", "boring", "more boring", "most boring"),
        ("freundlich", "friendly", "friendlier", "friendliest"),
    ],
)
def test_degrees(german: str, english: str, comparative: str, superlative: str) -> None:
    adjective = quality(german, english).adjective
    assert graded(adjective, Degree.COMPARATIVE) == comparative
    assert graded(adjective, Degree.SUPERLATIVE) == superlative


def test_articles_possessives_numbers() -> None:
    words = ("apple", "hour", "university", "old man", "useful tool", "book")
    assert [indefinite_article(w) for w in words] == ["an", "an", "a", "an", "a", "a"]
    assert possessive_s("the boss", plural=False) == "the boss's"
    assert possessive_s("the teachers", plural=True) == "the teachers'"
    assert possessive_s("the children", plural=True) == "the children's"
    assert [number_word(n) for n in (3, 12, 20, 25)] == ["three", "twelve", "twenty", "twenty-five"]


def test_verb_groups() -> None:
    def statement(tense: Tense, modal: Modal | None = None, *, passive: bool = False) -> str:
        group = verb_group("open", MAN, tense, modal, passive=passive)
        return f"{group.finite} {group.rest}".strip()

    assert statement(Tense.PRESENT) == "opens"
    assert statement(Tense.PROGRESSIVE) == "is opening"
    assert statement(Tense.SINCE) == "has been opening"
    assert statement(Tense.PLUPERFECT) == "had opened"
    assert statement(Tense.PAST, Modal.MUST) == "had to open"
    assert statement(Tense.PAST, Modal.MAY) == "was allowed to open"
    assert statement(Tense.PAST, passive=True) == "was opened"
    assert statement(Tense.PERFECT, passive=True) == "has been opened"


def test_do_support_and_contractions() -> None:
    assert verb_group("open", MAN, Tense.PAST).inverted() == ("did", "open")
    assert verb_group("be", PEOPLE, Tense.PAST).inverted() == ("were", "")
    negated = verb_group("have", SPEAKER, Tense.PRESENT, Modal.WANT, Polarity.NOT)
    assert negated.negated(contract=True) == ("don't", "want to have")
    able = verb_group("open", SPEAKER, Tense.PRESENT, Modal.CAN, Polarity.NOT)
    assert able.negated(contract=False) == ("cannot", "open")
    assert able.negated(contract=True) == ("can't", "open")
