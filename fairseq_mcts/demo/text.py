"""From a list of words and commas to a line of text; the same rules hold in both languages."""

import re


def join(*parts: str) -> str:
    """The parts that are not empty, with one blank between them and tidy commas."""
    text = " ".join(part for part in parts if part)
    text = re.sub(r"\s*,(\s*,)*", ",", text)
    return re.sub(r"\s+", " ", text).strip()


def finish(text: str, mark: str) -> str:
    """A sentence: capital letter in front, punctuation mark behind."""
    text = text.rstrip(" ,")
    return text[0].upper() + text[1:] + mark
