"""German noun phrases: articles, pronouns, and the endings of nouns and adjectives."""

from enum import Enum

from examples.demo.language.features import Address, Case, Degree, Gender, Number, Referent
from examples.demo.language.words import Adjective, Noun

CASES = (Case.NOM, Case.ACC, Case.DAT, Case.GEN)

# Rows: nominative, accusative, dative, genitive. Columns: masculine, feminine, neuter, plural.
DEFINITE_ARTICLE = ("der die das die", "den die das die", "dem der dem den", "des der des der")
DER_ENDINGS = ("er e es e", "en e es e", "em er em en", "es er es er")
EIN_ENDINGS = ("- e - e", "en e - e", "em er em en", "es er es er")
STRONG_ENDINGS = ("er e es e", "en e es e", "em er em en", "en er en er")
WEAK_ENDINGS = ("e e e en", "en e e en", "en en en en", "en en en en")
MIXED_ENDINGS = ("er e es en", "en e es en", "en en en en", "en en en en")
RELATIVE_PRONOUN = (
    "der die das die",
    "den die das die",
    "dem der dem denen",
    "dessen deren dessen deren",
)


class Declension(Enum):
    """How an adjective is declined, which depends on what stands before it."""

    STRONG = "no article, or one without an ending"
    WEAK = "after der, dieser, jeder, alle"
    MIXED = "after ein, kein, mein"


ADJECTIVE_TABLES = {
    Declension.STRONG: STRONG_ENDINGS,
    Declension.WEAK: WEAK_ENDINGS,
    Declension.MIXED: MIXED_ENDINGS,
}


def _cell(table: tuple[str, ...], case: Case, gender: Gender, number: Number) -> str:
    column = 3 if number is Number.PLURAL else list(Gender).index(gender)
    return table[CASES.index(case)].split()[column].replace("-", "")


def definite_article(case: Case, gender: Gender, number: Number) -> str:
    return _cell(DEFINITE_ARTICLE, case, gender, number)


def relative_pronoun(case: Case, gender: Gender, number: Number) -> str:
    return _cell(RELATIVE_PRONOUN, case, gender, number)


def der_word(stem: str, case: Case, gender: Gender, number: Number) -> str:
    """A determiner with the endings of the definite article: dies-, jed-, welch-, all-."""
    return stem + _cell(DER_ENDINGS, case, gender, number)


def ein_word(stem: str, case: Case, gender: Gender, number: Number) -> str:
    """A determiner with the endings of "ein"; "euer" loses its e before an ending."""
    ending = _cell(EIN_ENDINGS, case, gender, number)
    if stem == "euer" and ending:
        stem = "eur"
    return stem + ending


def adjective_ending(declension: Declension, case: Case, gender: Gender, number: Number) -> str:
    return _cell(ADJECTIVE_TABLES[declension], case, gender, number)


def adjective_stem(adjective: Adjective, degree: Degree) -> str:
    """What the endings are added to: alt, älter, ältest; teur, teurer, teuerst."""
    if degree is Degree.COMPARATIVE:
        return comparative(adjective)
    if degree is Degree.SUPERLATIVE:
        return superlative(adjective)
    return adjective.stem or adjective.german


def comparative(adjective: Adjective) -> str:
    if adjective.comparative:
        return adjective.comparative
    stem = adjective.stem or adjective.german
    return stem.removesuffix("e") + "er"


def superlative(adjective: Adjective) -> str:
    if adjective.superlative:
        return adjective.superlative
    word = adjective.german.removesuffix("e")
    return word + ("est" if word.endswith(("t", "d", "s", "ß", "z", "sch")) else "st")


def decline_adjective(
    adjective: Adjective,
    degree: Degree,
    declension: Declension,
    case: Case,
    gender: Gender,
    number: Number,
) -> str:
    stem = adjective_stem(adjective, degree)
    ending = adjective_ending(declension, case, gender, number)
    if stem.endswith("e") and ending.startswith("e"):
        stem = stem[:-1]
    return stem + ending


def decline_noun(noun: Noun, case: Case, number: Number) -> str:
    if number is Number.PLURAL:
        form = noun.german_plural
        return form + "n" if case is Case.DAT and not form.endswith(("n", "s")) else form
    if case is Case.NOM or (noun.gender is Gender.FEM and not noun.weak):
        return noun.german
    if case is Case.GEN and (noun.genitive or not noun.weak):
        return noun.genitive or genitive_form(noun.german)
    return weak_form(noun.german) if noun.weak else noun.german


def weak_form(word: str) -> str:
    """A weak noun outside the nominative: Junge → Jungen, Student → Studenten, Herr → Herrn."""
    return word + ("n" if word.endswith(("e", "bar", "err", "auer")) else "en")


def genitive_form(word: str) -> str:
    """Strong genitive: -es after one syllable or a hissing sound, otherwise -s."""
    if word.endswith("nis"):
        return word + "ses"
    if word.endswith(("s", "ß", "x", "z", "sch", "st")):
        return word + "es"
    lowered = word.lower()
    syllables = sum(
        1
        for i, letter in enumerate(lowered)
        if letter in "aeiouäöüy" and (i == 0 or lowered[i - 1] not in "aeiouäöüy")
    )
    return word + ("es" if syllables == 1 and lowered[-1] not in "aeiouäöüyhw" else "s")


PERSONAL_PRONOUNS = {
    # nominative, accusative, dative
    "ich": ("ich", "mich", "mir"),
    "du": ("du", "dich", "dir"),
    "er": ("er", "ihn", "ihm"),
    "sie": ("sie", "sie", "ihr"),
    "es": ("es", "es", "ihm"),
    "wir": ("wir", "uns", "uns"),
    "ihr": ("ihr", "euch", "euch"),
    "plural": ("sie", "sie", "ihnen"),
    "Sie": ("Sie", "Sie", "Ihnen"),
}
POSSESSIVES = {
    "ich": "mein",
    "du": "dein",
    "er": "sein",
    "sie": "ihr",
    "es": "sein",
    "wir": "unser",
    "ihr": "euer",
    "plural": "ihr",
    "Sie": "Ihr",
}


def _pronoun_row(referent: Referent) -> str:
    if referent.person == 1:
        return "wir" if referent.is_plural else "ich"
    if referent.person == 2:
        return (referent.address or Address.DU).value
    if referent.is_plural:
        return "plural"
    return {Gender.MASC: "er", Gender.FEM: "sie", Gender.NEUT: "es"}[referent.gender]


def personal_pronoun(referent: Referent, case: Case) -> str:
    return PERSONAL_PRONOUNS[_pronoun_row(referent)][CASES.index(case)]


def reflexive_pronoun(referent: Referent, case: Case) -> str:
    if referent.person == 3 or referent.address is Address.SIE:
        return "sich"
    return personal_pronoun(referent, case)


def possessive_stem(referent: Referent) -> str:
    return POSSESSIVES[_pronoun_row(referent)]


CONTRACTIONS = {
    "in dem": "im",
    "in das": "ins",
    "an dem": "am",
    "an das": "ans",
    "zu dem": "zum",
    "zu der": "zur",
    "von dem": "vom",
    "bei dem": "beim",
}


def join_preposition(preposition: str, phrase: str, *, contract: bool) -> str:
    """Preposition and phrase, merged where German merges them: in dem Haus → im Haus."""
    article, _, rest = phrase.partition(" ")
    merged = CONTRACTIONS.get(f"{preposition} {article}") if contract else None
    return f"{merged} {rest}" if merged else f"{preposition} {phrase}"


def pronominal_adverb(preposition: str) -> str:
    """What stands for a preposition and "it": darauf, damit."""
    return ("dar" if preposition[0] in "aeiouäöü" else "da") + preposition


def interrogative_adverb(preposition: str) -> str:
    """What stands for a preposition and "what": worauf, womit."""
    return ("wor" if preposition[0] in "aeiouäöü" else "wo") + preposition


def name_genitive(name: str) -> str:
    """The genitive of a name: Annas, but Hans' and Max'."""
    return name + ("'" if name.endswith(("s", "ß", "x", "z")) else "s")


_ONES = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
]
_TENS = [
    "_",
    "zehn",
    "zwanzig",
    "dreißig",
    "vierzig",
    "fünfzig",
    "sechzig",
    "siebzig",
    "achtzig",
    "neunzig",
]


def number_word(value: int) -> str:
    """Cardinal numbers from 0 to 99 as one word: 21 → einundzwanzig."""
    if value <= 12:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    if tens == 1:
        return {6: "sech", 7: "sieb"}.get(ones, _ONES[ones]) + "zehn"
    if not ones:
        return _TENS[tens]
    return ("ein" if ones == 1 else _ONES[ones]) + "und" + _TENS[tens]
