"""German conjugation against forms written by hand."""

import pytest

from examples.demo.language.features import MAN, PEOPLE, SPEAKER, SPEAKERS, Address, Tense, hearer
from examples.demo.language.german.verb_complex import verb_complex
from examples.demo.language.german.verbs import (
    DUERFEN,
    HABEN,
    KOENNEN,
    SEIN,
    WERDEN,
    WISSEN,
    WOLLEN,
    Auxiliary,
    GermanVerb,
    german_verb,
    imperative,
    present,
    preterite,
    subjunctive,
)
from examples.demo.language.meaning import Modal

# ich, du, er, wir, ihr, sie; the polite form equals that of "sie".
PERSONS = (SPEAKER, hearer(Address.DU), MAN, SPEAKERS, hearer(Address.IHR), PEOPLE)


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        (german_verb("machen"), "mache machst macht machen macht machen"),
        (german_verb("arbeiten"), "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten"),
        (german_verb("öffnen"), "öffne öffnest öffnet öffnen öffnet öffnen"),
        (german_verb("zeichnen"), "zeichne zeichnest zeichnet zeichnen zeichnet zeichnen"),
        (german_verb("wohnen"), "wohne wohnst wohnt wohnen wohnt wohnen"),
        (german_verb("tanzen"), "tanze tanzt tanzt tanzen tanzt tanzen"),
        (german_verb("sammeln"), "sammle sammelst sammelt sammeln sammelt sammeln"),
        (german_verb("füttern"), "füttere fütterst füttert füttern füttert füttern"),
        (german_verb("geben"), "gebe gibst gibt geben gebt geben"),
        (german_verb("lesen"), "lese liest liest lesen lest lesen"),
        (german_verb("essen"), "esse isst isst essen esst essen"),
        (german_verb("nehmen"), "nehme nimmst nimmt nehmen nehmt nehmen"),
        (german_verb("an|halten"), "halte hältst hält halten haltet halten"),
        (german_verb("ein|laden"), "lade lädst lädt laden ladet laden"),
        (german_verb("finden"), "finde findest findet finden findet finden"),
        (german_verb("schließen"), "schließe schließt schließt schließen schließt schließen"),
        (SEIN, "bin bist ist sind seid sind"),
        (HABEN, "habe hast hat haben habt haben"),
        (WERDEN, "werde wirst wird werden werdet werden"),
        (WISSEN, "weiß weißt weiß wissen wisst wissen"),
        (KOENNEN, "kann kannst kann können könnt können"),
        (DUERFEN, "darf darfst darf dürfen dürft dürfen"),
        (WOLLEN, "will willst will wollen wollt wollen"),
    ],
    ids=lambda value: value.infinitive if isinstance(value, GermanVerb) else "",
)
def test_present(verb: GermanVerb, forms: str) -> None:
    assert [present(verb, person) for person in PERSONS] == forms.split()
    assert present(verb, hearer(Address.SIE)) == forms.split()[5]


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        (german_verb("machen"), "machte machtest machte machten machtet machten"),
        (german_verb("gehen"), "ging gingst ging gingen gingt gingen"),
        (german_verb("finden"), "fand fandest fand fanden fandet fanden"),
        (german_verb("lesen"), "las lasest las lasen last lasen"),
        (german_verb("bringen"), "brachte brachtest brachte brachten brachtet brachten"),
        (SEIN, "war warst war waren wart waren"),
        (KOENNEN, "konnte konntest konnte konnten konntet konnten"),
    ],
    ids=lambda value: value.infinitive if isinstance(value, GermanVerb) else "",
)
def test_preterite(verb: GermanVerb, forms: str) -> None:
    assert [preterite(verb, person) for person in PERSONS] == forms.split()


def test_subjunctive() -> None:
    assert [subjunctive(SEIN, person) for person in PERSONS] == (
        ["wäre", "wärest", "wäre", "wären", "wäret", "wären"]
    )
    assert subjunctive(HABEN, SPEAKERS) == "hätten"


@pytest.mark.parametrize(
    ("notation", "participle"),
    [
        ("machen", "gemacht"),
        ("auf|machen", "aufgemacht"),
        ("besuchen", "besucht"),
        ("reparieren", "repariert"),
        ("an|probieren", "anprobiert"),
        ("übersetzen", "übersetzt"),
        ("arbeiten", "gearbeitet"),
        ("ein|laden", "eingeladen"),
        ("weg|werfen", "weggeworfen"),
        ("hängen", "gehangen"),
        ("hängen +weak", "gehängt"),
    ],
)
def test_participles(notation: str, participle: str) -> None:
    assert german_verb(notation).full_participle == participle


def test_infinitives_with_zu() -> None:
    assert german_verb("auf|machen").zu_infinitive == "aufzumachen"
    assert german_verb("besuchen").zu_infinitive == "zu besuchen"


def test_notation() -> None:
    assert german_verb("an|kommen +sein").auxiliary is Auxiliary.SEIN
    assert german_verb("sich freuen").reflexive is not None
    assert german_verb("machen").reflexive is None


@pytest.mark.parametrize(
    ("notation", "du", "ihr"),
    [
        ("machen", "mach", "macht"),
        ("warten", "warte", "wartet"),
        ("öffnen", "öffne", "öffnet"),
        ("geben", "gib", "gebt"),
        ("lesen", "lies", "lest"),
        ("essen", "iss", "esst"),
        ("nehmen", "nimm", "nehmt"),
        ("helfen", "hilf", "helft"),
        ("fahren +sein", "fahr", "fahrt"),
        ("laufen +sein", "lauf", "lauft"),
        ("sich entschuldigen", "entschuldige", "entschuldigt"),
        ("klettern +sein", "klettere", "klettert"),
        ("sammeln", "sammle", "sammelt"),
        ("liegen", "lieg", "liegt"),
        ("fliegen +sein", "flieg", "fliegt"),
    ],
)
def test_imperative(notation: str, du: str, ihr: str) -> None:
    verb = german_verb(notation)
    assert imperative(verb, Address.DU) == du
    assert imperative(verb, Address.IHR) == ihr
    assert imperative(verb, Address.SIE) == f"{verb.infinitive} Sie"


OPEN = german_verb("auf|machen")
GO = german_verb("gehen +sein")


@pytest.mark.parametrize(
    ("tense", "modal", "passive", "front", "final"),
    [
        (Tense.PRESENT, None, False, "macht … auf", "aufmacht"),
        (Tense.PAST, None, False, "hat … aufgemacht", "aufgemacht hat"),
        (Tense.PLUPERFECT, None, False, "hatte … aufgemacht", "aufgemacht hatte"),
        (Tense.FUTURE, None, False, "wird … aufmachen", "aufmachen wird"),
        (Tense.CONDITIONAL, None, False, "würde … aufmachen", "aufmachen würde"),
        (Tense.PRESENT, Modal.MUST, False, "muss … aufmachen", "aufmachen muss"),
        (Tense.PAST, Modal.WANT, False, "wollte … aufmachen", "aufmachen wollte"),
        (Tense.PRESENT, Modal.WOULD_LIKE, False, "möchte … aufmachen", "aufmachen möchte"),
        (Tense.PRESENT, Modal.SHOULD, False, "sollte … aufmachen", "aufmachen sollte"),
        (Tense.HYPOTHETICAL, Modal.CAN, False, "könnte … aufmachen", "aufmachen könnte"),
        (Tense.PAST, None, True, "wurde … aufgemacht", "aufgemacht wurde"),
        (Tense.PERFECT, None, True, "ist … aufgemacht worden", "aufgemacht worden ist"),
        (Tense.PRESENT, Modal.CAN, True, "kann … aufgemacht werden", "aufgemacht werden kann"),
    ],
)
def test_verb_complex(
    tense: Tense, modal: Modal | None, passive: bool, front: str, final: str
) -> None:
    verbs = verb_complex(OPEN, MAN, tense, modal, passive=passive)
    assert f"{verbs.finite} … {verbs.right_bracket}" == front
    assert verbs.clause_final == final


def test_perfect_and_preterite_are_a_choice_but_not_for_all() -> None:
    def past(verb: GermanVerb, person: int, *, perfect: bool) -> str:
        return verb_complex(verb, PERSONS[person], Tense.PAST, prefer_perfect=perfect).clause_final

    assert past(GO, 2, perfect=True) == "gegangen ist"
    assert past(GO, 2, perfect=False) == "ging"
    assert past(GO, 1, perfect=False) == "gegangen bist"  # nobody says "du gingst"
    assert past(SEIN, 1, perfect=True) == "warst"
    assert past(german_verb("wissen"), 0, perfect=True) == "wusste"
