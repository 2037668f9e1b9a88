"""English morphology: plurals, verb forms, comparison, pronouns, numbers."""

from dataclasses import dataclass
from functools import cache

from examples.demo.language.features import Degree, Number, Referent
from examples.demo.language.words import Adjective, Noun

VOWELS = "aeiou"

# Past and past participle.
IRREGULAR_VERBS: dict[str, str] = {
    "begin": "began begun",
    "bite": "bit bitten",
    "break": "broke broken",
    "bring": "brought brought",
    "build": "built built",
    "buy": "bought bought",
    "catch": "caught caught",
    "come": "came come",
    "cut": "cut cut",
    "draw": "drew drawn",
    "drink": "drank drunk",
    "drive": "drove driven",
    "eat": "ate eaten",
    "fall": "fell fallen",
    "feed": "fed fed",
    "find": "found found",
    "fly": "flew flown",
    "forget": "forgot forgotten",
    "forgive": "forgave forgiven",
    "get": "got got",
    "give": "gave given",
    "go": "went gone",
    "grow": "grew grown",
    "hang": "hung hung",
    "have": "had had",
    "hear": "heard heard",
    "hide": "hid hidden",
    "know": "knew known",
    "lay": "laid laid",
    "leave": "left left",
    "lend": "lent lent",
    "lie": "lay lain",
    "light": "lit lit",
    "lose": "lost lost",
    "meet": "met met",
    "pay": "paid paid",
    "put": "put put",
    "read": "read read",
    "run": "ran run",
    "say": "said said",
    "see": "saw seen",
    "sell": "sold sold",
    "send": "sent sent",
    "show": "showed shown",
    "sing": "sang sung",
    "sit": "sat sat",
    "sleep": "slept slept",
    "stand": "stood stood",
    "steal": "stole stolen",
    "swim": "swam swum",
    "take": "took taken",
    "tell": "told told",
    "think": "thought thought",
    "throw": "threw thrown",
    "understand": "understood understood",
    "wake": "woke woken",
    "wear": "wore worn",
    "win": "won won",
    "write": "wrote written",
}
# Verbs that double their last letter before -ed and -ing, and those that do before -ing only.
DOUBLING = frozenset({"admit", "hug", "plan", "stop"})
DOUBLING_ING = frozenset({"begin", "cut", "forget", "get", "put", "run", "sit", "swim", "win"})
IRREGULAR_PLURALS = {
    "child": "children",
    "grandchild": "grandchildren",
    "fish": "fish",
    "goose": "geese",
    "knife": "knives",
    "man": "men",
    "mouse": "mice",
    "potato": "potatoes",
    "sheep": "sheep",
    "shelf": "shelves",
    "thief": "thieves",
    "tomato": "tomatoes",
    "wife": "wives",
    "wolf": "wolves",
    "woman": "women",
}
# Words whose first letter misleads the choice between "a" and "an".
AN_WORDS = ("hour", "honest", "heir")
A_WORDS = ("uni", "use", "usual", "europ", "one")
DOUBLED_ADJECTIVES = frozenset({"big", "hot", "thin", "red"})
LONG_ADJECTIVES = frozenset({"modern", "fragile", "bitter", "polite"})
LONG_ADJECTIVE_ENDINGS = (
    "ful",
    "ous",
    "ing",
    "ed",
    "ive",
    "ent",
    "ant",
    "less",
    "ic",
    "al",
    "ible",
)


@dataclass(frozen=True)
class EnglishForms:
    base: str
    third: str
    past: str
    participle: str
    ing: str


@cache
def verb_forms(base: str) -> EnglishForms:
    if base == "be":
        return EnglishForms("be", "is", "was", "been", "being")
    regular_past = _with_ed(base)
    past, participle = IRREGULAR_VERBS.get(base, f"{regular_past} {regular_past}").split(" ")
    third = "has" if base == "have" else _with_s(base)
    return EnglishForms(base, third, past, participle, _with_ing(base))


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _with_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in VOWELS:
        return base[:-1] + "ied"
    return base + (base[-1] if base in DOUBLING else "") + "ed"


def _with_ing(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return base[:-1] + "ing"
    return base + (base[-1] if base in DOUBLING | DOUBLING_ING else "") + "ing"


def plural(noun: Noun) -> str:
    """Plural of the last word: "kitchen table" → "kitchen tables"."""
    if noun.english_plural:
        return noun.english_plural
    *modifiers, last = noun.english.split(" ")
    form = IRREGULAR_PLURALS.get(last) or (last + "s" if last[-1] == "o" else _with_s(last))
    return " ".join([*modifiers, form])


def noun_form(noun: Noun, number: Number) -> str:
    return plural(noun) if number is Number.PLURAL else noun.english


def indefinite_article(following: str) -> str:
    word = following.lower()
    if word.startswith(AN_WORDS):
        return "an"
    return "an" if word[0] in VOWELS and not word.startswith(A_WORDS) else "a"


def graded(adjective: Adjective, degree: Degree) -> str:
    """An adjective in a degree: good/better/best, old/older/oldest, more/most expensive."""
    word = adjective.english
    if degree is Degree.POSITIVE:
        return word
    superlative = degree is Degree.SUPERLATIVE
    if adjective.english_comparative:
        return adjective.english_superlative if superlative else adjective.english_comparative
    if is_long(word):
        return f"{'most' if superlative else 'more'} {word}"
    ending = "est" if superlative else "er"
    if word.endswith("e"):
        return word[:-1] + ending
    if word.endswith("y"):
        return word[:-1] + "i" + ending
    return word + (word[-1] if word in DOUBLED_ADJECTIVES else "") + ending


def is_long(word: str) -> bool:
    """Whether an adjective is compared with more and most."""
    if word in LONG_ADJECTIVES:
        return True
    syllables = sum(
        1 for i, c in enumerate(word) if c in VOWELS + "y" and word[i - 1 : i] not in tuple(VOWELS)
    ) - word.endswith("e")
    return syllables > 2 or (syllables == 2 and word.endswith(LONG_ADJECTIVE_ENDINGS))


def _row(referent: Referent) -> str:
    if referent.person == 1:
        return "we" if referent.is_plural else "I"
    if referent.person == 2:
        return "you"
    return "they" if referent.is_plural else referent.sex.value


OBJECT_PRONOUNS = {
    "I": "me",
    "you": "you",
    "he": "him",
    "she": "her",
    "it": "it",
    "we": "us",
    "they": "them",
}
POSSESSIVES = {
    "I": "my",
    "you": "your",
    "he": "his",
    "she": "her",
    "it": "its",
    "we": "our",
    "they": "their",
}


def subject_pronoun(referent: Referent) -> str:
    return _row(referent)


def object_pronoun(referent: Referent) -> str:
    return OBJECT_PRONOUNS[_row(referent)]


def possessive(referent: Referent) -> str:
    return POSSESSIVES[_row(referent)]


def is_third_singular(referent: Referent) -> bool:
    return referent.person == 3 and not referent.is_plural


def present_of_be(referent: Referent) -> str:
    if referent.person == 1 and not referent.is_plural:
        return "am"
    return "is" if is_third_singular(referent) else "are"


def past_of_be(referent: Referent) -> str:
    singular = referent.person != 2 and not referent.is_plural
    return "was" if singular else "were"


def possessive_s(phrase: str, *, plural: bool) -> str:
    """The possessive of a phrase: Anna's, the boss's, the children's, but the teachers'."""
    return phrase + ("'" if plural and phrase.endswith("s") else "'s")


_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def number_word(value: int) -> str:
    """Cardinal numbers from 0 to 99: 21 → twenty-one."""
    if value < 20:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
