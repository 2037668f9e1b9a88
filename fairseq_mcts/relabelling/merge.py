"""From finished chunks to a folder with scores, a chunk at a time."""

import shutil
from collections.abc import Iterable
from typing import Any

import numpy as np

from fairseq_mcts.data.files import process_name, publish, sync
from fairseq_mcts.data.scored_folder import (
    ScoredSplitWriter,
    Scores,
    SplitNames,
)
from fairseq_mcts.relabelling.chunks import ChunkStore, total_counts
from fairseq_mcts.relabelling.settings import RelabellingError, Settings, settings_digest

_BINS = 20
_BLOCK = 2**20  # scores looked at together
_NAMED = 10  # so many missing chunks are listed one by one


def num_chunks(settings: Settings) -> int:
    """How many chunks the corpus has."""
    return -(-int(settings["data"]["rows"]) // int(settings["chunk_rows"]))


def merge(store: ChunkStore, num_shards: int | None = None) -> dict[str, Any]:
    """Writes the split that the chunks make up, deletes them, and returns its record.

    All files are made beside the chunks and moved when they are whole, the scores last: a merge
    that was killed is simply done again. `num_shards` only helps to name who left chunks out.
    """
    settings, origin = store.settings()
    digest = settings_digest(settings)
    chunks = range(num_chunks(settings))
    _refuse_missing(store, chunks, num_shards)
    counts = total_counts(store.read_counts(chunk, digest) for chunk in chunks)
    if not counts.rows:
        raise RelabellingError(f"{store.folder}: all {counts.skipped} sources are too long")

    stage = SplitNames(
        store.folder / f"merged-{process_name()}",
        store.names.split,
        store.names.source_lang,
        store.names.target_lang,
    )
    shutil.rmtree(stage.folder, ignore_errors=True)
    stage.folder.mkdir()
    writer = ScoredSplitWriter(
        stage,
        counts.rows,
        source_vocabulary=settings["data"]["source_vocabulary"],
        target_vocabulary=settings["data"]["target_vocabulary"],
    )
    lengths = _Lengths()
    for chunk in chunks:
        rows = store.read(chunk)
        lengths.add(rows.samples.sizes, rows.references.sizes)
        writer.add(rows)
    record = {
        **settings,
        "settings_digest": digest,
        "origin": origin,
        "rows": counts.rows,
        "counts": {
            "skipped_too_long": counts.skipped,
            "empty_samples": counts.empty,
            "samples_equal_to_reference": counts.exact,
            **lengths.figures(),
        },
        "scores": score_figures(writer.scores, settings["metric"]["range"]),
    }
    writer.finish(record)
    for path in writer.paths:
        sync(path)
    for path in writer.paths:
        publish(path, store.names.folder / path.name)
    store.remove()
    return record


def _refuse_missing(store: ChunkStore, chunks: Iterable[int], num_shards: int | None) -> None:
    missing = sorted(set(chunks) - store.finished())
    if not missing:
        return
    listing = ", ".join(map(str, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
    shards = ""
    if num_shards is not None:
        behind = sorted({chunk % num_shards for chunk in missing})
        shards = f", of shard {', '.join(map(str, behind))} of {num_shards}"
    raise RelabellingError(
        f"{store.folder}: {len(missing)} of {num_chunks(store.settings()[0])} chunks are missing "
        f"({listing}{shards}); relabel again with the same options, what is finished is kept"
    )


class _Lengths:
    """Tokens of samples and references, eos counted, summed up over chunks."""

    def __init__(self) -> None:
        self._total = np.zeros(2, np.int64)
        self._longest = np.zeros(2, np.int64)

    def add(self, *sizes: Any) -> None:
        self._total += [int(one.sum()) for one in sizes]
        self._longest = np.maximum(self._longest, [int(one.max(initial=0)) for one in sizes])

    def figures(self) -> dict[str, int]:
        return {
            "sample_tokens": int(self._total[0]),
            "reference_tokens": int(self._total[1]),
            "longest_sample": int(self._longest[0]),
            "longest_reference": int(self._longest[1]),
        }


def score_figures(scores: Scores, metric_range: list[float | None]) -> dict[str, Any]:
    """Minimum, maximum, mean and histogram, over the metric's range if that has bounds."""
    low, high = float(scores.min()), float(scores.max())
    edges = np.linspace(
        low if metric_range[0] is None else metric_range[0],
        high if metric_range[1] is None else metric_range[1],
        _BINS + 1,
    )
    total = 0.0
    counts = np.zeros(_BINS, np.int64)
    for begin in range(0, len(scores), _BLOCK):
        block = np.asarray(scores[begin : begin + _BLOCK], np.float64)
        total += float(block.sum())
        # float32 scores at the outer bounds may lie beyond them by a rounding
        counts += np.histogram(block.clip(edges[0], edges[-1]), edges)[0]
    return {
        "min": low,
        "max": high,
        "mean": total / len(scores),
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }
