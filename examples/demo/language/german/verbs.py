"""German verbs: principal parts and every form that the grammar builds from them."""

from dataclasses import dataclass
from enum import Enum

from examples.demo.language.features import Address, Case, Number, Referent
from examples.demo.language.german.strong_verbs import PREFER_PRETERITE, STRONG_VERBS

INSEPARABLE_PREFIXES = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer", "unter", "über")
# Verbs that only look as if they had an inseparable prefix.
SIMPLE_VERBS = frozenset({"ernten", "beten"})


class Auxiliary(Enum):
    HABEN = "haben"
    SEIN = "sein"


@dataclass(frozen=True)
class GermanVerb:
    """Principal parts; a separable prefix is kept apart from the conjugated stem."""

    infinitive: str
    third: str  # er/sie/es, present
    preterite: str  # ich/er, preterite
    participle: str
    prefix: str = ""
    second: str = ""  # du, present, where it does not follow from ``third``
    auxiliary: Auxiliary = Auxiliary.HABEN
    reflexive: Case | None = None
    always_preterite: bool = False  # the perfect of this verb sounds odd in a narrative

    @property
    def full_infinitive(self) -> str:
        return self.prefix + self.infinitive

    @property
    def full_participle(self) -> str:
        return self.prefix + self.participle

    @property
    def zu_infinitive(self) -> str:
        return f"{self.prefix}zu{self.infinitive}" if self.prefix else f"zu {self.infinitive}"


def strong(
    infinitive: str,
    third: str,
    preterite: str,
    participle: str,
    *,
    second: str = "",
    sein: bool = False,
    reflexive: Case | None = None,
    always_preterite: bool = False,
) -> GermanVerb:
    """An irregular verb; ``auf|stehen`` marks a prefix that the other parts leave out."""
    prefix, _, base = infinitive.rpartition("|")
    return GermanVerb(
        infinitive=base,
        third=third,
        preterite=preterite,
        participle=participle,
        prefix=prefix,
        second=second,
        auxiliary=Auxiliary.SEIN if sein else Auxiliary.HABEN,
        reflexive=reflexive,
        always_preterite=always_preterite,
    )


def weak(infinitive: str, *, sein: bool = False, reflexive: Case | None = None) -> GermanVerb:
    """A regular verb; ``auf|machen`` marks a separable prefix."""
    base = infinitive.rpartition("|")[2]
    stem = verb_stem(base)
    link = "e" if needs_linking_e(stem) else ""
    unstressed = base.startswith(INSEPARABLE_PREFIXES) and base not in SIMPLE_VERBS
    ge = "" if unstressed or base.endswith("ieren") else "ge"
    return strong(
        infinitive,
        third=f"{stem}{link}t",
        preterite=f"{stem}{link}te",
        participle=f"{ge}{stem}{link}t",
        sein=sein,
        reflexive=reflexive,
    )


def german_verb(notation: str) -> GermanVerb:
    """A verb from its lexicon notation.

    ``an|kommen +sein``: separable prefix, perfect with sein; ``sich freuen`` and
    ``sich(dat) an|sehen``: reflexive; ``hängen +weak``: regular in spite of a strong twin.
    """
    words = notation.split()
    reflexive = {"sich": Case.ACC, "sich(dat)": Case.DAT}.get(words[0])
    infinitive = words[0] if reflexive is None else words[1]
    sein = "+sein" in words
    base = infinitive.rpartition("|")[2]
    if base not in STRONG_VERBS or "+weak" in words:
        return weak(infinitive, sein=sein, reflexive=reflexive)
    third, past, participle, *second = STRONG_VERBS[base].split()
    return strong(
        infinitive,
        third,
        past,
        participle,
        second="".join(second),
        sein=sein,
        reflexive=reflexive,
        always_preterite=infinitive in PREFER_PRETERITE,
    )


def verb_stem(infinitive: str) -> str:
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def needs_linking_e(stem: str) -> bool:
    """Whether an e stands between this stem and -t or -st: arbeit-e-t, öffn-e-t, but lern-t."""
    if stem.endswith(("t", "d")):
        return True
    if stem.endswith(("chn", "chm")):
        return True
    return stem[-1] in "mn" and stem[-2] not in "aeiouäöülrmnh"


SEIN = strong("sein", "ist", "war", "gewesen", sein=True, always_preterite=True)
HABEN = strong("haben", "hat", "hatte", "gehabt", second="hast", always_preterite=True)
WERDEN = strong("werden", "wird", "wurde", "geworden", second="wirst", sein=True)
WISSEN = strong("wissen", "weiß", "wusste", "gewusst", second="weißt", always_preterite=True)
KOENNEN = strong("können", "kann", "konnte", "gekonnt", always_preterite=True)
MUESSEN = strong("müssen", "muss", "musste", "gemusst", always_preterite=True)
DUERFEN = strong("dürfen", "darf", "durfte", "gedurft", always_preterite=True)
WOLLEN = strong("wollen", "will", "wollte", "gewollt", always_preterite=True)
SOLLEN = strong("sollen", "soll", "sollte", "gesollt", always_preterite=True)
MOEGEN = strong("mögen", "mag", "mochte", "gemocht", always_preterite=True)

# ich and er share a form in the present of these, and du adds -st to it.
PRETERITE_PRESENTS = frozenset(
    v.infinitive for v in (WISSEN, KOENNEN, MUESSEN, DUERFEN, WOLLEN, SOLLEN, MOEGEN)
)
SUBJUNCTIVES = {
    "sein": "wäre",
    "haben": "hätte",
    "werden": "würde",
    "wissen": "wüsste",
    "können": "könnte",
    "müssen": "müsste",
    "dürfen": "dürfte",
    "wollen": "wollte",
    "sollen": "sollte",
    "mögen": "möchte",
}


def takes_plural_form(subject: Referent) -> bool:
    """Whether the verb stands in the form of wir, sie and Sie."""
    if subject.address is Address.SIE:
        return True
    return subject.number is Number.PLURAL and subject.person != 2


def present(verb: GermanVerb, subject: Referent) -> str:
    """Present indicative, without the separable prefix."""
    if verb.infinitive == "sein":
        return _present_of_sein(subject)
    if takes_plural_form(subject):
        return verb.infinitive
    if subject.person == 2:
        return _present_of_hearer(verb, subject)
    if subject.person == 3 or verb.infinitive in PRETERITE_PRESENTS:
        return verb.third
    return first_person(verb.infinitive)


def _present_of_hearer(verb: GermanVerb, subject: Referent) -> str:
    if subject.address is Address.IHR:
        stem = verb_stem(verb.infinitive)
        return stem + ("et" if needs_linking_e(stem) else "t")
    return verb.second or _second_from_third(verb)


def first_person(infinitive: str) -> str:
    """The ich form of a present that is not modal: sammeln drops an e, tun keeps its stem."""
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "le"
    return verb_stem(infinitive) + "e"


def _second_from_third(verb: GermanVerb) -> str:
    if verb.infinitive in PRETERITE_PRESENTS:
        return verb.third + ("t" if verb.third.endswith(("s", "ß")) else "st")
    stem = verb.third.removesuffix("t")
    return stem + ("t" if stem.endswith(("s", "ß", "x", "z")) else "st")


def _present_of_sein(subject: Referent) -> str:
    if takes_plural_form(subject):
        return "sind"
    if subject.person == 2:
        return "seid" if subject.address is Address.IHR else "bist"
    return "bin" if subject.person == 1 else "ist"


def preterite(verb: GermanVerb, subject: Referent) -> str:
    """Preterite indicative, without the separable prefix."""
    return _past_endings(verb.preterite, subject)


def subjunctive(verb: GermanVerb, subject: Referent) -> str:
    """Konjunktiv II of the verbs that have a living one (see ``SUBJUNCTIVES``)."""
    return _past_endings(SUBJUNCTIVES[verb.infinitive], subject)


def _past_endings(form: str, subject: Referent) -> str:
    ends_in_e = form.endswith("e")
    if takes_plural_form(subject):
        return form + ("n" if ends_in_e else "en")
    if subject.person != 2:
        return form
    if subject.address is Address.IHR:
        return form + ("t" if ends_in_e else "et" if form.endswith(("t", "d")) else "t")
    if ends_in_e or not form.endswith(("t", "d", "s", "ß", "z")):
        return form + "st"
    return form + "est"


def imperative(verb: GermanVerb, address: Address) -> str:
    """Imperative without the separable prefix; the polite one brings its "Sie" along."""
    if address is Address.SIE:
        return f"{verb.infinitive} Sie"
    stem = verb_stem(verb.infinitive)
    if address is Address.IHR:
        return stem + ("et" if needs_linking_e(stem) else "t")
    if _raises_e_to_i(verb, stem):
        return verb.third if verb.third.endswith("tt") else verb.third.removesuffix("t")
    if verb.infinitive.endswith("n") and not verb.infinitive.endswith("en"):
        return first_person(verb.infinitive)  # sammle!, füttere!
    return stem + ("e" if needs_linking_e(stem) or stem.endswith("ig") else "")


def _raises_e_to_i(verb: GermanVerb, stem: str) -> bool:
    """Whether the verb has an i for its e: lesen → lies!, nehmen → nimm!, but fahren → fahr!"""
    changed = verb.third.removesuffix("t").removesuffix("e")
    return changed != stem and "i" in changed and "i" not in stem
