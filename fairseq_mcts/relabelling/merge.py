"""From finished chunks to a folder with scores, a chunk at a time."""

import shutil
from typing import Any

import numpy as np

from fairseq_mcts.data.files import process_name, publish, sync
from fairseq_mcts.data.scored_folder import ScoredSplitWriter, Scores, SplitNames
from fairseq_mcts.progress import showing
from fairseq_mcts.relabelling.chunks import Counts, chunk_store, read_counts, read_rows
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.relabelling.rows import METHODS
from fairseq_mcts.work import ChunkStore, explained_if_full, num_chunks, settings_digest

_BINS = 20
_BLOCK = 2**20  # scores looked at together
_NAMED = 10  # so many missing chunks are listed one by one


def merge(names: SplitNames, num_shards: int | None = None) -> dict[str, Any]:
    """Writes the split that its chunks make up, deletes them, and returns its record.

    All files are made beside the chunks and moved when they are whole, the scores last: a merge
    that was killed is simply done again. `num_shards` only helps to name who left chunks out.
    """
    store = chunk_store(names)
    with explained_if_full(names.folder):
        record = _write(names, store, num_shards)
    store.remove()
    return record


def _write(names: SplitNames, store: ChunkStore, num_shards: int | None) -> dict[str, Any]:
    settings, origin = store.settings()
    digest = settings_digest(settings)
    chunks = range(num_chunks(settings["data"]["rows"], settings["chunk_rows"]))
    _refuse_missing(store, chunks, num_shards)
    of_chunks = (read_counts(store, chunk, digest) for chunk in chunks)
    counts = Counts(*map(sum, zip(*of_chunks, strict=True)))
    if not counts.rows:
        raise RelabellingError(f"{store.folder}: all {counts.skipped} sources are unfit")

    with_similarities = settings.get("similarities", False)
    stage = names.within(store.folder / f"merged-{process_name()}")
    shutil.rmtree(stage.folder, ignore_errors=True)
    stage.folder.mkdir()
    writer = ScoredSplitWriter(
        stage,
        counts.rows,
        source_vocabulary=settings["data"]["source_vocabulary"],
        target_vocabulary=settings["data"]["target_vocabulary"],
        with_similarities=with_similarities,
    )
    for chunk in showing("merging", chunks, "chunks"):
        writer.add(read_rows(store, chunk, digest, with_similarities=with_similarities))
    record = {
        **settings,
        "settings_digest": digest,
        "origin": origin,
        "rows": counts.rows,
        "methods": list(METHODS),
        "counts": {
            "skipped_too_long": counts.skipped,
            "empty_samples": counts.empty,
            "samples_equal_to_reference": counts.exact,
            "rows_with_matches": counts.matched,
            "sample_tokens": writer.samples.tokens,  # eos counted
            "reference_tokens": writer.references.tokens,
            "longest_sample": writer.samples.longest,
            "longest_reference": writer.references.longest,
        },
        "scores": score_figures(writer.scores(), settings["metric"]["range"]),
    }
    writer.finish(record)
    for path in writer.paths:
        sync(path)
    for path in writer.paths:
        publish(path, names.folder / path.name)
    return record


def _refuse_missing(store: ChunkStore, chunks: range, num_shards: int | None) -> None:
    missing = sorted(set(chunks) - store.finished())
    if not missing:
        return
    listing = ", ".join(map(str, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
    shards = ""
    if num_shards is not None:
        behind = sorted({chunk % num_shards for chunk in missing})
        shards = f", of shard {', '.join(map(str, behind))} of {num_shards}"
    raise RelabellingError(
        f"{store.folder}: {len(missing)} of {len(chunks)} chunks are missing "
        f"({listing}{shards}); relabel again with the same options, what is finished is kept"
    )


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
