"""German noun phrases against forms written by hand."""

import pytest

from examples.demo.language.features import (
    MAN,
    PEOPLE,
    SPEAKER,
    SPEAKERS,
    WOMAN,
    Address,
    Case,
    Degree,
    Number,
    Referent,
    hearer,
)
from examples.demo.language.german.nouns import (
    adjective_stem,
    decline_noun,
    name_genitive,
    number_word,
    personal_pronoun,
    possessive_stem,
    pronominal_adverb,
    reflexive_pronoun,
    relative_pronoun,
)
from examples.demo.language.german.phrases import nominal, prepositional, spatial
from examples.demo.language.lexicon.people import COUNTRIES
from examples.demo.language.lexicon.places import TOWN
from examples.demo.language.meaning import Determiner, Name, NounPhrase, Pronoun, Spatial
from tests.examples.demo.language.lookup import name, noun, quality

CASES = (Case.NOM, Case.ACC, Case.DAT, Case.GEN)
OLD = quality("alt")

# Determiner, then Mann, Frau, Kind and the plural Kinder, each in four cases.
TABLES = {
    Determiner.DEFINITE: """
        der alte Mann | den alten Mann | dem alten Mann | des alten Mannes
        die alte Frau | die alte Frau | der alten Frau | der alten Frau
        das alte Kind | das alte Kind | dem alten Kind | des alten Kindes
        die alten Kinder | die alten Kinder | den alten Kindern | der alten Kinder""",
    Determiner.THIS: """
        dieser alte Mann | diesen alten Mann | diesem alten Mann | dieses alten Mannes
        diese alte Frau | diese alte Frau | dieser alten Frau | dieser alten Frau
        dieses alte Kind | dieses alte Kind | diesem alten Kind | dieses alten Kindes
        diese alten Kinder | diese alten Kinder | diesen alten Kindern | dieser alten Kinder""",
    Determiner.INDEFINITE: """
        ein alter Mann | einen alten Mann | einem alten Mann | eines alten Mannes
        eine alte Frau | eine alte Frau | einer alten Frau | einer alten Frau
        ein altes Kind | ein altes Kind | einem alten Kind | eines alten Kindes
        alte Kinder | alte Kinder | alten Kindern | alter Kinder""",
    Determiner.POSSESSIVE: """
        mein alter Mann | meinen alten Mann | meinem alten Mann | meines alten Mannes
        meine alte Frau | meine alte Frau | meiner alten Frau | meiner alten Frau
        mein altes Kind | mein altes Kind | meinem alten Kind | meines alten Kindes
        meine alten Kinder | meine alten Kinder | meinen alten Kindern | meiner alten Kinder""",
    Determiner.BARE: """
        alter Mann | alten Mann | altem Mann | alten Mannes
        alte Frau | alte Frau | alter Frau | alter Frau
        altes Kind | altes Kind | altem Kind | alten Kindes
        alte Kinder | alte Kinder | alten Kindern | alter Kinder""",
}
NEGATED = """
    kein alter Mann | keinen alten Mann | keinem alten Mann | keines alten Mannes
    keine alte Frau | keine alte Frau | keiner alten Frau | keiner alten Frau
    kein altes Kind | kein altes Kind | keinem alten Kind | keines alten Kindes
    keine alten Kinder | keine alten Kinder | keinen alten Kindern | keiner alten Kinder"""
COLUMNS = (
    (noun("Mann"), Number.SINGULAR),
    (noun("Frau"), Number.SINGULAR),
    (noun("Kind"), Number.SINGULAR),
    (noun("Kind"), Number.PLURAL),
)


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


@pytest.mark.parametrize("determiner", TABLES, ids=lambda d: d.name)
def test_all_cases_and_genders(determiner: Determiner) -> None:
    for (entry, number), expected in zip(COLUMNS, rows(TABLES[determiner]), strict=True):
        phrase = NounPhrase(entry, determiner, number, (OLD,), possessor=SPEAKER)
        assert [nominal(phrase, case) for case in CASES] == expected


def test_negated_article() -> None:
    for (entry, number), expected in zip(COLUMNS, rows(NEGATED), strict=True):
        phrase = NounPhrase(entry, Determiner.INDEFINITE, number, (OLD,))
        assert [nominal(phrase, case, negative=True) for case in CASES] == expected


@pytest.mark.parametrize(
    ("determiner", "count", "expected"),
    [
        (Determiner.MANY, 0, "viele alte Bücher vielen alten Büchern"),
        (Determiner.SEVERAL, 0, "mehrere alte Bücher mehreren alten Büchern"),
        (Determiner.ALL, 0, "alle alten Bücher allen alten Büchern"),
        (Determiner.NUMERAL, 21, "einundzwanzig alte Bücher einundzwanzig alten Büchern"),
    ],
)
def test_quantified_plurals(determiner: Determiner, count: int, expected: str) -> None:
    phrase = NounPhrase(noun("Buch"), determiner, Number.PLURAL, (OLD,), count=count)
    assert f"{nominal(phrase, Case.NOM)} {nominal(phrase, Case.DAT)}" == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Junge", "Junge Jungen Jungen Jungen"),
        ("Student", "Student Studenten Studenten Studenten"),
        ("Nachbar", "Nachbar Nachbarn Nachbarn Nachbarn"),
        ("Bär", "Bär Bären Bären Bären"),
        ("Buchstabe", "Buchstabe Buchstaben Buchstaben Buchstabens"),
        ("Haus", "Haus Haus Haus Hauses"),
        ("Lehrer", "Lehrer Lehrer Lehrer Lehrers"),
        ("Auto", "Auto Auto Auto Autos"),
        ("Geheimnis", "Geheimnis Geheimnis Geheimnis Geheimnisses"),
        ("Museum", "Museum Museum Museum Museums"),
        ("Tür", "Tür Tür Tür Tür"),
    ],
)
def test_singular_declension(word: str, expected: str) -> None:
    forms = [decline_noun(noun(word), case, Number.SINGULAR) for case in CASES]
    assert " ".join(forms) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Tisch", "Tischen"), ("Auto", "Autos"), ("Frau", "Frauen"), ("Lehrer", "Lehrern")],
)
def test_dative_plural(word: str, expected: str) -> None:
    assert decline_noun(noun(word), Case.DAT, Number.PLURAL) == expected


@pytest.mark.parametrize(
    ("german", "comparative", "superlative"),
    [
        ("alt", "älter", "ältest"),
        ("gut", "besser", "best"),
        ("teuer", "teurer", "teuerst"),
        ("dunkel", "dunkler", "dunkelst"),
        ("hoch", "höher", "höchst"),
        ("klein", "kleiner", "kleinst"),
        ("berühmt", "berühmter", "berühmtest"),
    ],
)
def test_degrees(german: str, comparative: str, superlative: str) -> None:
    adjective = quality(german).adjective
    assert adjective_stem(adjective, Degree.COMPARATIVE) == comparative
    assert adjective_stem(adjective, Degree.SUPERLATIVE) == superlative


def test_adjectives_with_a_changed_stem() -> None:
    expensive = NounPhrase(noun("Auto"), qualities=(quality("teuer"),))
    tall = NounPhrase(noun("Baum"), Determiner.INDEFINITE, qualities=(quality("hoch"),))
    dark = NounPhrase(noun("Keller"), qualities=(quality("dunkel"),))
    tired = NounPhrase(noun("Kind"), Determiner.INDEFINITE, qualities=(quality("müde"),))
    assert nominal(expensive, Case.NOM) == "das teure Auto"
    assert nominal(tall, Case.NOM) == "ein hoher Baum"
    assert nominal(dark, Case.ACC) == "den dunklen Keller"
    assert nominal(tired, Case.NOM) == "ein müdes Kind"


def test_pronouns() -> None:
    persons = [SPEAKER, hearer(Address.DU), MAN, WOMAN, SPEAKERS, hearer(Address.IHR), PEOPLE]
    persons.append(hearer(Address.SIE))
    forms = [[personal_pronoun(p, case) for p in persons] for case in CASES[:3]]
    assert forms[0] == ["ich", "du", "er", "sie", "wir", "ihr", "sie", "Sie"]
    assert forms[1] == ["mich", "dich", "ihn", "sie", "uns", "euch", "sie", "Sie"]
    assert forms[2] == ["mir", "dir", "ihm", "ihr", "uns", "euch", "ihnen", "Ihnen"]
    assert [possessive_stem(p) for p in persons] == (
        ["mein", "dein", "sein", "ihr", "unser", "euer", "ihr", "Ihr"]
    )
    assert [reflexive_pronoun(p, Case.DAT) for p in persons] == (
        ["mir", "dir", "sich", "sich", "uns", "euch", "sich", "sich"]
    )


def test_euer_loses_its_e_before_an_ending() -> None:
    owner = hearer(Address.IHR)
    phrase = NounPhrase(noun("Tochter"), Determiner.POSSESSIVE, possessor=owner)
    assert nominal(phrase, Case.NOM) == "eure Tochter"
    house = NounPhrase(noun("Haus"), Determiner.POSSESSIVE, possessor=owner)
    assert nominal(house, Case.NOM) == "euer Haus"


def test_possessors() -> None:
    brother = NounPhrase(noun("Bruder"), Determiner.POSSESSIVE, possessor=SPEAKER)
    car = NounPhrase(noun("Auto"), Determiner.POSSESSIVE, qualities=(OLD,), possessor=brother)
    annas = NounPhrase(
        noun("Auto"), Determiner.POSSESSIVE, qualities=(OLD,), possessor=name("Anna")
    )
    mister = NounPhrase(noun("Auto"), Determiner.POSSESSIVE, possessor=name("Mr. Becker"))
    assert nominal(car, Case.DAT) == "dem alten Auto meines Bruders"
    assert nominal(annas, Case.DAT) == "Annas altem Auto"
    assert nominal(annas, Case.NOM, von_possessor=True) == "das alte Auto von Anna"
    assert nominal(mister, Case.NOM) == "Herrn Beckers Auto"
    assert nominal(mister, Case.NOM, von_possessor=True) == "das Auto von Herrn Becker"
    assert [name_genitive(n) for n in ("Anna", "Hans", "Max")] == ["Annas", "Hans'", "Max'"]


def test_contractions_and_two_way_prepositions() -> None:
    kitchen, station = NounPhrase(noun("Küche")), NounPhrase(noun("Bahnhof"))
    cinema = NounPhrase(noun("Kino"))

    def at_rest_and_in_motion(phrase: NounPhrase) -> tuple[str, str]:
        relation = phrase.noun.relation
        assert relation is not None
        return spatial(Spatial(relation, phrase)), spatial(Spatial(relation, phrase, True))

    assert at_rest_and_in_motion(kitchen) == ("in der Küche", "in die Küche")
    assert at_rest_and_in_motion(station) == ("am Bahnhof", "zum Bahnhof")
    assert at_rest_and_in_motion(cinema) == ("im Kino", "ins Kino")
    assert prepositional("an", NounPhrase(noun("Geheimnis")), Case.ACC) == "an das Geheimnis"


def test_countries_with_and_without_article() -> None:
    phrases = {
        entry.english: (
            spatial(Spatial(TOWN, Name(entry))),
            spatial(Spatial(TOWN, Name(entry), True)),
        )
        for entry in COUNTRIES
    }
    assert phrases["Italy"] == ("in Italien", "nach Italien")
    assert phrases["Switzerland"] == ("in der Schweiz", "in die Schweiz")
    assert phrases["the United States"] == ("in den USA", "in die USA")


def test_things_behind_prepositions_become_adverbs() -> None:
    thing = Pronoun(Referent(3, Number.SINGULAR, noun("Brief").gender))
    assert prepositional("auf", thing, Case.ACC) == "darauf"
    assert prepositional("auf", Pronoun(MAN), Case.ACC) == "auf ihn"
    assert [pronominal_adverb(p) for p in ("mit", "über", "an")] == ["damit", "darüber", "daran"]


def test_relative_pronouns() -> None:
    gender = noun("Mann").gender
    assert relative_pronoun(Case.DAT, gender, Number.SINGULAR) == "dem"
    assert relative_pronoun(Case.DAT, gender, Number.PLURAL) == "denen"


def test_number_words() -> None:
    words = [number_word(n) for n in (1, 6, 12, 16, 17, 20, 21, 30, 76, 99)]
    assert words == [
        "eins",
        "sechs",
        "zwölf",
        "sechzehn",
        "siebzehn",
        "zwanzig",
        "einundzwanzig",
        "dreißig",
        "sechsundsiebzig",
        "neunundneunzig",
    ]
