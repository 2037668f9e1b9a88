"""What a search may give up for its metric, read off the texts: words, numbers, names."""

import re
from dataclasses import dataclass

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SHORTEST_NAME = 3  # letters: shorter words are equal in two languages by chance
_SHORTEST_COPY = 4


@dataclass(frozen=True)
class Losses:
    """What is wrong with a translation, as far as spelling tells."""

    copied: tuple[str, ...]  # words of the source that nobody should have left as they are
    numbers: tuple[str, ...]  # of the source that are missing
    names: tuple[str, ...]  # of the source that are missing


def words(text: str) -> list[str]:
    """The words of a text."""
    return _WORD.findall(text)


def find_losses(source: str, hypothesis: str, reference: str | None) -> Losses:
    """Compares a translation with its source, and with the reference if there is one.

    With a reference, names are what it takes over from the source, and a word is copied if the
    reference does not have it. Without, a capital inside the sentence makes a name.
    """
    there, wanted = set(words(hypothesis)), set(words(reference or ""))
    folded = {word.lower() for word in wanted}
    of_source = list(dict.fromkeys(words(source)))
    names = [word for word in of_source if _is_name(word, source, wanted, reference)]
    copied = [
        word
        for word in dict.fromkeys(words(hypothesis))
        if word in of_source
        and word not in names
        and word.lower() not in folded
        and len(word) >= _SHORTEST_COPY
        and (reference is not None or not word[0].isupper())  # it may be a name
        and not _NUMBER.fullmatch(word)
    ]
    # 1,000 and 1.000 are the same number in two languages
    digits = {re.sub(r"\D", "", number) for number in _NUMBER.findall(hypothesis)}
    expected = dict.fromkeys(_NUMBER.findall(source))
    if reference is not None:
        kept = {re.sub(r"\D", "", number) for number in _NUMBER.findall(reference)}
        expected = {one: None for one in expected if re.sub(r"\D", "", one) in kept}
    numbers = [number for number in expected if re.sub(r"\D", "", number) not in digits]
    return Losses(
        copied=tuple(copied),
        numbers=tuple(numbers),
        names=tuple(name for name in names if name not in there),
    )


def length_ratio(hypothesis: str, other: str) -> float | None:
    """Words of a translation for each word of the other text."""
    count = len(words(other))
    return len(words(hypothesis)) / count if count else None


def _is_name(word: str, source: str, wanted: set[str], reference: str | None) -> bool:
    if len(word) < _SHORTEST_NAME or not word[0].isupper():
        return False
    if reference is not None:
        return word in wanted
    return not source.lstrip("\"'„“«»([¿¡ ").startswith(word)
