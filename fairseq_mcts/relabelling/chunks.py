"""What a chunk of relabelled rows holds, as the arrays of `work.ChunkStore`."""

from typing import Any, NamedTuple

import numpy as np

from fairseq_mcts.data.scored_folder import ScoredRows, SplitNames
from fairseq_mcts.data.token_file import TokenRows
from fairseq_mcts.work import Arrays, ChunkStore, DamagedChunkError

FOLDER = "relabel-chunks"  # inside the output folder, until the merge
_SENTENCES = ("sources", "samples", "references")
_ROW_ARRAYS = (
    *(f"{name}.{part}" for name in _SENTENCES for part in ("tokens", "sizes")),
    *("scores", "rows"),
)
_SIMILARITIES = "similarities"  # codes; their numbers follow from the lengths of the sentences


class Counts(NamedTuple):
    """What a chunk says beside its rows."""

    rows: int
    skipped: int  # sources left out because they are too long, or empty lines
    empty: int  # samples without any text
    exact: int  # samples equal to the reference
    matched: int = 0  # rows some of whose tokens have similarities


def chunk_store(names: SplitNames) -> ChunkStore:
    """The chunks of the split that they become."""
    return ChunkStore(names.folder / FOLDER / names.pair)


def as_arrays(rows: ScoredRows, counts: Counts) -> Arrays:
    """A chunk, ready to be stored."""
    arrays: dict[str, Any] = {
        "counts": np.array(counts, np.int64),
        "scores": rows.scores,
        "rows": rows.rows,
    }
    for name in _SENTENCES:
        sentences: TokenRows = getattr(rows, name)
        arrays[f"{name}.tokens"] = sentences.tokens.astype(np.int32)
        arrays[f"{name}.sizes"] = sentences.sizes
    if rows.similarities is not None:
        arrays[_SIMILARITIES] = rows.similarities.tokens.astype(np.uint16)
    return arrays


def read_counts(store: ChunkStore, chunk: int, digest: str) -> Counts:
    """The figures of a chunk, which must be of the settings with this digest."""
    return Counts(*store.read(chunk, digest, ("counts",))["counts"].tolist())


def read_rows(
    store: ChunkStore, chunk: int, digest: str, *, with_similarities: bool = False
) -> ScoredRows:
    """The rows of a chunk."""
    names = (*_ROW_ARRAYS, _SIMILARITIES) if with_similarities else _ROW_ARRAYS
    arrays = store.read(chunk, digest, names)
    sources, samples, references = (
        TokenRows(arrays[f"{name}.tokens"], arrays[f"{name}.sizes"]) for name in _SENTENCES
    )
    rows = ScoredRows(sources, samples, references, arrays["scores"], arrays["rows"])
    fault = _fault(rows)
    if fault is None and with_similarities:
        codes, sizes = arrays[_SIMILARITIES], sources.sizes * samples.sizes
        rows = rows._replace(similarities=TokenRows(codes.astype(np.int64), sizes))
        if len(codes) != sizes.sum():
            fault = f"{len(codes)} similarities for {sizes.sum()} pairs of tokens"
    if fault is not None:
        raise DamagedChunkError(
            chunk,
            f"{store.path(chunk)} is damaged ({fault}); delete it and run the command that made "
            "it again",
        )
    return rows


def _fault(rows: ScoredRows) -> str | None:
    """What tells that rows are not as they were made."""
    count = len(rows.scores)
    for name, sentences in zip(_SENTENCES, rows[:3], strict=True):
        if len(sentences.sizes) != count or sentences.sizes.sum() != len(sentences.tokens):
            return f"its {name} are not those of its {count} scores"
    if len(rows.rows) != count:
        return f"{len(rows.rows)} rows for {count} scores"
    bad = np.flatnonzero(~np.isfinite(rows.scores))
    return f"score {bad[0]} is {rows.scores[bad[0]]}" if len(bad) else None
