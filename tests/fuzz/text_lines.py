"""Random lines of text as files and callers may hold them, the odd and the hostile included."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from tests.fuzz.choices import Choices, chance

LONG = 100_000  # characters, of the longest lines
#: what some library takes for the end of a line, though only \n is one in a file
LINE_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
#: joiners, marks of direction, byte order mark, variation selectors, what subwords are marked by
INVISIBLE = "\u200b\u200d\u200e\u202e\u2066\ufeff\ufe0f\u00ad\u034f"
MARKS = ("\u2581", "@@", "@@ ", "<unk>", "<s>", "</s>", "<pad>", "<mask>", "[CLS]", "[SEP]", "▁▁")
#: what would be read as something else if text were ever pasted into code, markup or names
HOSTILE = (
    "<script>alert(1)</script>",
    "'; DROP TABLE studies; --",
    "$(touch marker) `touch marker`",
    "../../etc/passwd",
    "{0.__class__} %s %n {{7*7}}",
    "S-0\tH-0\t0.0\tnot an output line",
    "nan",
    "-inf",
    '{"id": 1}',
    "\\u0000\\x00",
)
_PLANES = 17


def random_line(choices: Choices, known: list[str], *, most: int = 60) -> str:
    """A line without \\n; `known` are sentences that a model was trained on."""
    makers: list[Callable[[Choices, list[str], int], str]] = [
        _of_a_plane,
        _of_all_planes,
        _mixed_with_known,
        _controls,
        _repeated,
        _hostile,
        _blank,
    ]
    if chance(choices, 1):
        line = _of_a_plane(choices, known, 30) or "long "
        return (line * (LONG // len(line) + 1))[: choices.one_of((LONG, 5_000, 1_100))]
    return choices.one_of(makers)(choices, known, most)


def _character(choices: Choices, plane: int) -> str:
    """Any code point of a plane that is not half of a pair, assigned or not."""
    while True:
        point = plane * 0x10000 + choices.integer(0, 0xFFFF)
        character = chr(point)
        if unicodedata.category(character) != "Cs" and character != "\n":
            return character


def _of_a_plane(choices: Choices, known: list[str], most: int) -> str:
    plane = choices.one_of((0, 0, 0, 1, 2, choices.integer(0, _PLANES - 1)))
    return "".join(_character(choices, plane) for _ in range(choices.integer(0, most)))


def _of_all_planes(choices: Choices, known: list[str], most: int) -> str:
    count = choices.integer(0, most)
    return "".join(_character(choices, choices.integer(0, _PLANES - 1)) for _ in range(count))


def _mixed_with_known(choices: Choices, known: list[str], most: int) -> str:
    words = choices.one_of(known).split(" ")
    for _ in range(choices.integer(0, 4)):
        odd = choices.one_of((*MARKS, *INVISIBLE, *LINE_ENDS, "\x00", "e\u0301\u0301\u0301"))
        place = choices.integer(0, len(words))
        words.insert(place, odd)
    return choices.one_of((" ", "", "  ", "\t", "\u00a0", "\u3000")).join(words)


def _controls(choices: Choices, known: list[str], most: int) -> str:
    points = [*range(0x20), *range(0x7F, 0xA0), *map(ord, INVISIBLE), *map(ord, LINE_ENDS)]
    points.remove(ord("\n"))
    return "".join(chr(choices.one_of(points)) for _ in range(choices.integer(0, most)))


def _repeated(choices: Choices, known: list[str], most: int) -> str:
    piece = choices.one_of((*MARKS, *INVISIBLE, ".", "a", "ß", "\u0301", "👩\u200d👩\u200d👧", "'"))
    return piece * choices.integer(1, most)


def _hostile(choices: Choices, known: list[str], most: int) -> str:
    return choices.one_of(HOSTILE)


def _blank(choices: Choices, known: list[str], most: int) -> str:
    return choices.one_of(("", " ", "\t", "\u3000", "\u2028", "\r", "\x00", "\ufeff"))
