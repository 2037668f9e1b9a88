"""Reads what systems put out: plain text, or the files that fairseq-generate writes."""

import gzip
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# "D-17<tab>-0.31<tab>text": the detokenised hypothesis of sentence 17.
_GENERATED = re.compile(r"^D-\d+\t\S+\t")
_NUMBERED = re.compile(r"^([STD])-(\d+)\t(.*)$", re.DOTALL)
_SHOWN_IDS = 5


@dataclass(frozen=True)
class SystemOutput:
    """A system's translations, one per sentence; sources and references if the file has them."""

    path: Path
    hypotheses: list[str]
    sources: list[str] | None = None
    references: list[str] | None = None


def read_lines(path: Path | str) -> list[str]:
    """Lines of a UTF-8 file (or .gz), split at newlines alone: no sentence breaks in two."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: is no whole gzip file ({error})") from None
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    texts = []
    for number, line in enumerate(lines, start=1):
        try:
            texts.append(line.decode("utf-8").removesuffix("\r"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, line {number}: not UTF-8 ({error.reason})") from None
    return texts


def read_system(path: Path | str) -> SystemOutput:
    """Reads a file of either kind, which shows in its lines."""
    path = Path(path)
    lines = read_lines(path)
    if any(_GENERATED.match(line) for line in lines):
        return _read_generated(path, lines)
    return SystemOutput(path, lines)


def _read_generated(path: Path, lines: Iterable[str]) -> SystemOutput:
    """Brings the S, T and D lines into the order of the test set; the first D of an id is its best.

    Shards may simply be concatenated. Log lines and lines of other letters are passed over.
    """
    found: dict[str, dict[int, str]] = {"D": {}, "S": {}, "T": {}}
    for line in lines:
        match = _NUMBERED.match(line)
        if match is None:
            continue
        letter, number, text = match.groups()
        if letter == "D":
            _, _, text = text.partition("\t")  # the score precedes the text
        found[letter].setdefault(int(number), text)
    expected = 1 + max(max(ids) for ids in found.values() if ids)
    # D lines there are: they made this a generated file
    columns = {
        letter: _in_order(path, letter, ids, expected) for letter, ids in found.items() if ids
    }
    return SystemOutput(path, columns["D"], columns.get("S"), columns.get("T"))


def _in_order(path: Path, letter: str, texts: dict[int, str], expected: int) -> list[str]:
    missing = [number for number in range(expected) if number not in texts]
    if missing:
        shown = ", ".join(map(str, missing[:_SHOWN_IDS]))
        more = ", …" if len(missing) > _SHOWN_IDS else ""
        raise ValueError(
            f"{path}: {letter} lines for {len(texts)} of {expected} sentences; missing: "
            f"{shown}{more}. Concatenate all shards, and make sure that no batch was dropped"
        )
    return [texts[number] for number in range(expected)]
