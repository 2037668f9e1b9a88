"""A run of relabelling: which chunks are to be made, making them, and merging."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq.tasks.translation import TranslationTask

from fairseq_mcts.data.scored_folder import SplitNames, read_record
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import text_decoders
from fairseq_mcts.progress import progress_bar
from fairseq_mcts.relabelling.chunks import ChunkStore
from fairseq_mcts.relabelling.corpus import (
    Corpus,
    copy_dictionaries,
    corpus_settings,
    open_corpus,
    open_task,
)
from fairseq_mcts.relabelling.labeller import BatchLimits, Labeller
from fairseq_mcts.relabelling.merge import merge, num_chunks
from fairseq_mcts.relabelling.policy import Decoding, PolicyFiles, Sampler
from fairseq_mcts.relabelling.settings import (
    RelabellingError,
    Settings,
    differences,
    metric_settings,
)
from fairseq_mcts.relabelling.summary import summary


@dataclass(frozen=True)
class Folders:
    """Where data come from and go to."""

    data: Path
    out: Path
    splits: Sequence[str]
    source_lang: str | None = None
    target_lang: str | None = None

    def open_task(self) -> TranslationTask:
        """Checks the folders and reads the dictionaries."""
        if self.out.resolve() == self.data.resolve():
            raise RelabellingError(f"--out {self.out}: must not be the folder of the data")
        return open_task(self.data, self.source_lang, self.target_lang)

    def target(self, task: TranslationTask, split: str) -> SplitNames:
        """The split to be made."""
        return SplitNames(self.out, split, task.cfg.source_lang, task.cfg.target_lang)


@dataclass(frozen=True)
class Recipe:
    """How rows are made."""

    policy: PolicyFiles
    metric: Metric
    decoding: Decoding
    text: Settings  # the options of subwords and tokenisation
    bpe: Any = None
    tokenizer: Any = None
    skip_too_long: bool = False
    chunk_rows: int = 1000


@dataclass(frozen=True)
class Shard:
    """The part of the work that one process does: the chunks c with c % count == index."""

    index: int = 0
    count: int = 1


@dataclass(frozen=True)
class _Job:
    """One split's part of the work."""

    store: ChunkStore
    corpus: Corpus
    settings: Settings
    shard: Shard

    def _chunks(self) -> range:
        return range(self.shard.index, num_chunks(self.settings), self.shard.count)

    def _bounds(self, chunk: int) -> tuple[int, int]:
        """First row of the corpus in a chunk, and the one behind its last."""
        size = int(self.settings["chunk_rows"])
        return chunk * size, min((chunk + 1) * size, len(self.corpus))

    def _rows(self, chunks: Iterable[int]) -> int:
        return sum(end - begin for begin, end in map(self._bounds, chunks))

    def pending(self) -> list[int]:
        """The chunks that are still to be made."""
        finished = self.store.finished()
        return [chunk for chunk in self._chunks() if chunk not in finished]

    def make_chunks(self, labeller: Labeller) -> None:
        """Makes the pending chunks and shows progress."""
        pending = self.pending()
        total = self._rows(self._chunks())
        done = total - self._rows(pending)
        with progress_bar(self.corpus.names.split, total, done=done) as progress:
            for chunk in pending:
                rows, counts = labeller.label(self.corpus, *self._bounds(chunk), progress.update)
                self.store.write(chunk, self.settings, rows, counts)


def relabel(
    folders: Folders,
    recipe: Recipe,
    *,
    shard: Shard | None,
    limits: BatchLimits,
    cpu: bool = False,
) -> None:
    """Makes the chunks of a shard that are missing; without a shard all of them, and merges."""
    task = folders.open_task()
    corpora = [open_corpus(task, folders.data, split) for split in folders.splits]
    # refuses subwords without a way to join them
    texts = text_decoders(
        task, recipe.bpe, recipe.tokenizer, post_process=recipe.text["post_process"]
    )
    policy = recipe.policy.settings()
    wanted = [_settings(corpus, task, folders, recipe, policy) for corpus in corpora]
    todo = []
    for corpus, settings in zip(corpora, wanted, strict=True):
        store = ChunkStore(folders.target(task, corpus.names.split))
        if _is_complete(store.names, settings):
            store.remove()  # a merge may have been killed just before it did
            print(f"{store.names.split}: complete in {folders.out}, nothing to do")
            continue
        store.refuse_other(settings)
        _refuse_other_data(store)
        todo.append(_Job(store, corpus, settings, shard or Shard()))

    labeller = None
    if any(job.pending() for job in todo):
        sampler = _load_sampler(task, recipe, cpu)
        labeller = Labeller(sampler, recipe.metric, texts, limits)
        if not recipe.skip_too_long:
            for job in todo:
                _refuse_too_long(job.corpus, sampler.source_positions)
    # nothing is written before everything that can be refused has been
    for job in todo:
        job.store.begin(job.settings, _origin(folders, recipe))
        copy_dictionaries(job.store.names, folders.data, job.store.folder)
        if labeller is not None:
            job.make_chunks(labeller)
        if shard is None:
            print(summary(merge(job.store)))
        else:
            print(
                f"{job.corpus.names.split}: shard {shard.index} of {shard.count} is finished; "
                "after all shards run with --merge"
            )


def merge_only(folders: Folders, num_shards: int | None) -> None:
    """Merges what shards have made."""
    task = folders.open_task()
    for split in folders.splits:
        store = ChunkStore(folders.target(task, split))
        if store.names.has_scores():
            store.remove()  # a merge may have been killed just before it did
            print(f"{split}: complete in {folders.out}, nothing to do")
            continue
        store.refuse_unbegun()
        copy_dictionaries(store.names, folders.data, store.folder)
        print(summary(merge(store, num_shards)))


def _settings(
    corpus: Corpus, task: TranslationTask, folders: Folders, recipe: Recipe, policy: Settings
) -> Settings:
    return {
        "format": 1,
        "split": corpus.names.split,
        "source_lang": corpus.names.source_lang,
        "target_lang": corpus.names.target_lang,
        "data": corpus_settings(corpus, task, folders.data),
        "policy": policy,
        "metric": metric_settings(recipe.metric),
        "decoding": recipe.decoding.settings(),
        "text": recipe.text,
        "chunk_rows": recipe.chunk_rows,
    }


def _origin(folders: Folders, recipe: Recipe) -> Settings:
    return {"data": str(folders.data), "policy": [str(path) for path in recipe.policy.paths]}


def _is_complete(names: SplitNames, settings: Settings) -> bool:
    """Whether the split is there; one that was made otherwise is never overwritten."""
    if not names.has_scores():
        return False
    record = read_record(names)
    changed = differences({name: record.get(name) for name in settings}, settings)
    if changed:
        raise RelabellingError(
            f"{names.score} exists and was made otherwise: {'; '.join(changed)}. Give another "
            "--out, or delete it"
        )
    return True


def _refuse_other_data(store: ChunkStore) -> None:
    """Refuses to overwrite data without scores, unless a killed merge has left them."""
    if store.is_begun():
        return
    for path in (store.names.source, store.names.sample):
        files = sorted(path.parent.glob(f"{path.name}.*"))
        if files:
            raise RelabellingError(f"--out: would overwrite {files[0]}; give another folder")


def _load_sampler(task: TranslationTask, recipe: Recipe, cpu: bool) -> Sampler:
    device = torch.device("cuda" if torch.cuda.is_available() and not cpu else "cpu")
    models = recipe.policy.load(task, device)
    return Sampler(models, task.target_dictionary, recipe.decoding)


def _refuse_too_long(corpus: Corpus, positions: int) -> None:
    rows = corpus.too_long(positions)
    if len(rows):
        raise RelabellingError(
            f"{corpus.names.split}: {len(rows):,} sources are longer than the policy's {positions} "
            f"positions, the first in row {rows[0]} with {corpus.sources.sizes[rows[0]]} tokens; "
            "--skip-too-long leaves them out"
        )
