"""From words and commas to a line of text; the same rules hold in both languages."""

import re

COMMAS = re.compile(r"\s*,[\s,]*")


def join(*parts: str) -> str:
    """The parts that are not empty, with blanks between them; ``finish`` tidies the commas."""
    return " ".join(filter(None, parts))


def finish(text: str, mark: str) -> str:
    """A sentence: tidy commas, capital letter in front, punctuation mark behind."""
    text = COMMAS.sub(", ", text).rstrip(" ,")
    return text[0].upper() + text[1:] + mark
