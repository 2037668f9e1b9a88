"""German noun phrases, places and times: meaning in, inflected words out.

Relative clauses are left to ``german.clauses``, which knows where they may stand.
"""

from dataclasses import dataclass

from examples.demo.language.features import Case, Number, Referent
from examples.demo.language.german.nouns import (
    CASES,
    Declension,
    decline_adjective,
    decline_noun,
    definite_article,
    der_word,
    ein_word,
    join_preposition,
    name_genitive,
    number_word,
    personal_pronoun,
    possessive_stem,
    pronominal_adverb,
)
from examples.demo.language.meaning import (
    ClockTime,
    Determiner,
    Duration,
    DurationKind,
    Indefinite,
    Name,
    Nominal,
    NounPhrase,
    Pair,
    Pronoun,
    Spatial,
)
from examples.demo.language.text import join

# Prepositions with one case only; the others take the case that their use asks for.
FIXED_CASES = {
    "mit": Case.DAT,
    "nach": Case.DAT,
    "von": Case.DAT,
    "zu": Case.DAT,
    "bei": Case.DAT,
    "aus": Case.DAT,
    "gegenüber": Case.DAT,
    "für": Case.ACC,
    "um": Case.ACC,
    "durch": Case.ACC,
    "gegen": Case.ACC,
    "ohne": Case.ACC,
    "wegen": Case.GEN,
    "trotz": Case.GEN,
}
# Determiners with the endings of "der"; after quantifiers adjectives have those endings too.
DER_WORDS = {
    Determiner.THIS: "dies",
    Determiner.EVERY: "jed",
    Determiner.WHICH: "welch",
    Determiner.ALL: "all",
}
QUANTIFIERS = {Determiner.MANY: "viel", Determiner.SOME: "einig", Determiner.SEVERAL: "mehrer"}


@dataclass(frozen=True)
class Opening:
    """What stands before the adjectives, and how it makes them decline."""

    text: str
    declension: Declension
    genitive: str = ""  # possessor behind the noun: das Auto meines Bruders


def nominal(
    phrase: Nominal, case: Case, *, negative: bool = False, von_possessor: bool = False
) -> str:
    """A noun phrase in a case; ``negative`` turns ein into kein."""
    if isinstance(phrase, Pronoun):
        return personal_pronoun(phrase.referent, case)
    if isinstance(phrase, Name):
        return name(phrase, case)
    if isinstance(phrase, Indefinite):
        return phrase.german[CASES.index(case)]
    if isinstance(phrase, Pair):
        return f"{name(phrase.first, case)} und {name(phrase.second, case)}"
    return noun_phrase(phrase, case, negative=negative, von_possessor=von_possessor)


def name(phrase: Name, case: Case) -> str:
    entry = phrase.entry
    if entry.gender is not None:
        return f"{definite_article(case, entry.gender, entry.number)} {entry.german}"
    if entry.german.startswith("Herr ") and case is not Case.NOM:
        return entry.german.replace("Herr ", "Herrn ", 1)
    return entry.german


def noun_phrase(
    phrase: NounPhrase, case: Case, *, negative: bool = False, von_possessor: bool = False
) -> str:
    noun, number = phrase.noun, phrase.number
    opening = open_phrase(phrase, case, negative=negative, von_possessor=von_possessor)
    adjectives = [
        decline_adjective(
            quality.adjective, quality.degree, opening.declension, case, noun.gender, number
        )
        for quality in phrase.qualities
    ]
    return join(
        opening.text, " ".join(adjectives), decline_noun(noun, case, number), opening.genitive
    )


def open_phrase(phrase: NounPhrase, case: Case, *, negative: bool, von_possessor: bool) -> Opening:
    """Article or another determiner, with the declension that it asks of adjectives."""
    kind, cell = phrase.determiner, (case, phrase.noun.gender, phrase.number)
    if kind is Determiner.POSSESSIVE:
        return open_possessive(phrase, case, von_possessor=von_possessor)
    if kind is Determiner.DEFINITE:
        return Opening(definite_article(*cell), Declension.WEAK)
    if kind in DER_WORDS:
        return Opening(der_word(DER_WORDS[kind], *cell), Declension.WEAK)
    if kind in QUANTIFIERS:
        return Opening(der_word(QUANTIFIERS[kind], *cell), Declension.STRONG)
    if negative or (kind is Determiner.INDEFINITE and phrase.number is Number.SINGULAR):
        return Opening(ein_word("kein" if negative else "ein", *cell), Declension.MIXED)
    count = number_word(phrase.count) if kind is Determiner.NUMERAL else ""
    return Opening(count, Declension.STRONG)


def open_possessive(phrase: NounPhrase, case: Case, *, von_possessor: bool) -> Opening:
    possessor, gender, number = phrase.possessor, phrase.noun.gender, phrase.number
    if isinstance(possessor, Referent):
        word = ein_word(possessive_stem(possessor), case, gender, number)
        return Opening(word, Declension.MIXED)
    assert possessor is not None, "a possessive determiner needs a possessor"
    article = definite_article(case, gender, number)
    if isinstance(possessor, Name) and not von_possessor:
        return Opening(name_genitive(name(possessor, Case.GEN)), Declension.STRONG)
    if isinstance(possessor, NounPhrase):
        return Opening(article, Declension.WEAK, nominal(possessor, Case.GEN))
    return Opening(article, Declension.WEAK, f"von {nominal(possessor, Case.DAT)}")


def has_definite_article(phrase: Nominal) -> bool:
    """Whether a preposition may merge with the phrase's first word."""
    if isinstance(phrase, Name):
        return phrase.entry.gender is not None
    if not isinstance(phrase, NounPhrase):
        return False
    # "in dem Haus, das …": an article that points at a relative clause stays whole.
    return phrase.relative is None and (
        phrase.determiner is Determiner.DEFINITE or isinstance(phrase.possessor, NounPhrase | Pair)
    )


def prepositional(
    preposition: str, phrase: Nominal, case: Case, *, spatial_sense: bool = False
) -> str:
    """Preposition and noun phrase; for things, "it" becomes a pronominal adverb."""
    if isinstance(phrase, Pronoun) and not phrase.referent.is_person:
        return pronominal_adverb(preposition)
    case = FIXED_CASES.get(preposition, case)
    # "ans Meer" for a place, but "an das Geheimnis denken".
    contract = has_definite_article(phrase) and (spatial_sense or case is Case.DAT)
    return join_preposition(preposition, nominal(phrase, case), contract=contract)


def spatial(place: Spatial) -> str:
    """A place at rest or in motion: in der Stadt (where?), in die Stadt (where to?)."""
    relation = place.relation
    if place.motion:
        preposition, case = relation.german_motion, relation.motion_case
    else:
        preposition, case = relation.german_rest, Case.DAT
    if isinstance(place.nominal, Name) and place.nominal.entry.gender and preposition == "nach":
        preposition, case = "in", Case.ACC  # nach Italien, but in die Schweiz
    return prepositional(preposition, place.nominal, case, spatial_sense=True)


def duration(span: Duration) -> str:
    number = Number.SINGULAR if span.count == 1 else Number.PLURAL
    case = Case.ACC if span.kind is DurationKind.THROUGHOUT else Case.DAT
    if span.count == 1:
        amount = ein_word("ein", case, span.unit.gender, number)
    else:
        amount = number_word(span.count)
    text = f"{amount} {decline_noun(span.unit, case, number)}"
    if span.kind is DurationKind.THROUGHOUT:
        return f"{text} lang"
    return f"{ {DurationKind.AGO: 'vor', DurationKind.AHEAD: 'in'}.get(span.kind, 'seit') } {text}"


def clock_time(time: ClockTime) -> str:
    """A time of day: um drei Uhr; half past three is "um halb vier"."""
    if time.half:
        return f"um halb {number_word(time.hour % 12 + 1)}"
    return f"um {'ein' if time.hour == 1 else number_word(time.hour)} Uhr"
