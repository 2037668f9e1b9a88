"""Whole searches as JSON lines, as `--search-record` writes them (`generators.search_record`)."""

import gzip
import json
import math
import zlib
from pathlib import Path
from typing import Any

FORMAT = "fairseq_mcts search record 1"
KINDS = ("tree", "beam", "samples")

Record = dict[str, Any]

#: what reading a damaged line ends with
_FAULTS = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError)


def read_records(path: Path) -> dict[int, Record]:
    """The searches of a file by the numbers of their sentences, none if it is of another kind.

    A ValueError names the line of a file that begins as one of searches and does not go on so.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: is no whole gzip file ({error})") from None
    records: dict[int, Record] = {}
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            entry = json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)
            if number == 1 and entry.get("format") != FORMAT:
                return {}
            _check(entry)
        except _FAULTS as error:
            raise ValueError(f"{path}, line {number}: holds no search: {error!r}") from error
        records[entry["id"]] = entry
    return records


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    """1e999 is infinity, which is written under no other name in JSON."""
    if math.isinf(number := float(text)):
        raise ValueError(f"{text} is too large")
    return number


def _check(entry: Any) -> None:
    """Refuses what a page would stumble over."""
    if entry["format"] != FORMAT or entry["kind"] not in KINDS or type(entry["id"]) is not int:
        raise ValueError(f'format, kind or id is not one of "{FORMAT}"')
    for tree in entry["steps"] if entry["kind"] == "tree" else [entry]:
        parents = tree["parent"]
        if parents[0] != -1:
            raise ValueError("the first node is no root")
        for node, parent in enumerate(parents[1:], start=1):
            if parent not in range(node):
                raise ValueError(f"node {node} stands before its parent {parent}")
        columns = {name: tree[name] for name in _COLUMNS[entry["kind"]]}
        columns |= {name: tree[name] for name in _OPTIONAL if name in tree}
        for name, column in columns.items():
            if len(column) != len(parents):
                raise ValueError(f"{name}: {len(column)} entries for {len(parents)} nodes")
        for name in ("chosen", *_LISTS[entry["kind"]]):
            if any(node not in range(len(parents)) for node in tree[name]):
                raise ValueError(f"{name}: names a node that is not there")


_COLUMNS = {
    "tree": ("piece", "prior", "visits", "value", "opened"),
    "beam": ("piece", "logprob", "value", "score", "rank", "finished"),
    "samples": ("piece", "logprob", "score"),
}
_OPTIONAL = ("deviation",)
_LISTS: dict[str, tuple[str, ...]] = {"tree": ("landings",), "beam": (), "samples": ("samples",)}
