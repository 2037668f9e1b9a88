"""A run of relabelling: which chunks are to be made, making them, and merging."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq.tasks.translation import TranslationTask

from fairseq_mcts.data.loading import split_names
from fairseq_mcts.data.scored_folder import read_record
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import text_decoders
from fairseq_mcts.progress import progress_bar
from fairseq_mcts.relabelling.checked_metric import CheckedMetric
from fairseq_mcts.relabelling.chunks import ChunkStore
from fairseq_mcts.relabelling.corpus import (
    Corpus,
    SourceRange,
    copy_dictionaries,
    corpus_settings,
    open_corpus,
    open_task,
)
from fairseq_mcts.relabelling.decoding import Decoding
from fairseq_mcts.relabelling.labeller import BatchLimits, Labeller
from fairseq_mcts.relabelling.merge import merge, num_chunks
from fairseq_mcts.relabelling.models import ModelFiles
from fairseq_mcts.relabelling.settings import RelabellingError, Settings, differences
from fairseq_mcts.relabelling.summary import summary
from fairseq_mcts.relabelling.text_corpus import open_text


@dataclass(frozen=True)
class Folders:
    """Where data come from and go to."""

    data: Path
    out: Path
    splits: Sequence[str]
    source_lang: str | None = None
    target_lang: str | None = None
    made_split: str | None = None  # what the one split is called then, if not the same
    limit: SourceRange | None = None  # of the rows that are read
    monolingual: Path | None = None  # text that is read in place of the one split

    def open_task(self) -> TranslationTask:
        """Checks the folders and reads the dictionaries."""
        if self.out.resolve() == self.data.resolve():
            raise RelabellingError(f"--out {self.out}: must not be the folder of the data")
        return open_task(self.data, self.source_lang, self.target_lang)

    @property
    def made_splits(self) -> Sequence[str]:
        """The names of what is made."""
        return self.splits if self.made_split is None else [self.made_split]

    def open_corpora(self, task: TranslationTask, encode: Callable[[str], str]) -> list[Corpus]:
        """What is relabelled; `encode` splits a line of text into symbols."""
        if self.monolingual is not None:
            [made] = self.made_splits
            return [open_text(task, made, self.monolingual, encode, self.limit)]
        pairs = zip(self.splits, self.made_splits, strict=True)
        return [open_corpus(task, self.data, *names, self.limit) for names in pairs]

    def store(self, task: TranslationTask, split: str) -> ChunkStore:
        """The chunks of the split to be made."""
        return ChunkStore(split_names(task, split, self.out))


@dataclass(frozen=True)
class Recipe:
    """How rows are made."""

    policy: ModelFiles
    metric: Metric
    decoding: Decoding
    text: Settings  # the options of subwords and tokenisation
    value: ModelFiles | None = None  # of searches; None: the policy's own
    bpe: Any = None
    tokenizer: Any = None
    skip_too_long: bool = False
    chunk_rows: int = 1000

    def encode(self, line: str) -> str:
        """A line of text as the symbols of the dictionary, with spaces between them."""
        for encoder in (self.tokenizer, self.bpe):
            line = line if encoder is None else encoder.encode(line)
        return line

    def settings(self) -> Settings:
        """What a result depends on."""
        metric = self.metric
        value = {} if self.value is None else {"value": self.value.settings()}
        return {
            "format": 2,
            "policy": self.policy.settings(),
            **value,
            "metric": {
                "name": metric.name,
                "signature": metric.sentence_signature(),
                "privileged": metric.privileged,
                "range": [bound if math.isfinite(bound) else None for bound in metric.range],
            },
            "decoding": self.decoding.settings(),
            "text": self.text,
            "chunk_rows": self.chunk_rows,
        }


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

    def _chunks(self) -> dict[int, range]:
        """The shard's chunks, each with its rows of the corpus."""
        size = int(self.settings["chunk_rows"])
        chunks = range(self.shard.index, num_chunks(self.settings), self.shard.count)
        rows = self.corpus.rows
        return {chunk: rows[chunk * size : (chunk + 1) * size] for chunk in chunks}

    def pending(self) -> dict[int, range]:
        """Those that are still to be made."""
        finished = self.store.finished()
        return {chunk: rows for chunk, rows in self._chunks().items() if chunk not in finished}

    def make_chunks(self, labeller: Labeller) -> None:
        """Makes the pending chunks and shows progress."""
        pending = self.pending()
        total = sum(map(len, self._chunks().values()))
        done = total - sum(map(len, pending.values()))
        with progress_bar(self.corpus.split, total, done=done) as progress:
            for chunk, of_corpus in pending.items():
                rows, counts = labeller.label(self.corpus, of_corpus, progress.update)
                self.store.write(chunk, self.settings, rows, counts)


def relabel(
    folders: Folders, recipe: Recipe, *, shard: Shard | None, limits: BatchLimits, cpu: bool = False
) -> None:
    """Makes the chunks of a shard that are missing; without a shard all of them, and merges."""
    task = folders.open_task()
    if folders.monolingual is not None and recipe.metric.privileged:
        raise RelabellingError(
            f"--monolingual: --metric {recipe.metric.name} compares with references, and text "
            "without translations has none"
        )
    recipe.decoding.refuse_unfit(recipe.metric)
    corpora = folders.open_corpora(task, recipe.encode)
    # refuses subwords without a way to join them
    texts = text_decoders(
        task, recipe.bpe, recipe.tokenizer, post_process=recipe.text["post_process"]
    )
    of_recipe = recipe.settings()
    todo = []
    for corpus in corpora:
        settings = {**corpus_settings(corpus, task, folders.data), **of_recipe}
        store = folders.store(task, corpus.split)
        if not _is_complete(store, settings):
            store.refuse_other(settings)
            _refuse_other_data(store)
            todo.append(_Job(store, corpus, settings, shard or Shard()))

    labeller = None
    if any(job.pending() for job in todo):
        device = torch.device("cuda" if torch.cuda.is_available() and not cpu else "cpu")
        models = recipe.policy.load(task, device)
        metric = CheckedMetric(recipe.metric)
        value_models = [] if recipe.value is None else recipe.value.load(task, device)
        makers = recipe.decoding.row_makers(
            models, value_models, task.target_dictionary, metric, texts
        )
        positions = min(int(model.max_positions()[0]) for model in (*models, *value_models))
        labeller = Labeller(makers, metric, texts, limits, positions)
        if not recipe.skip_too_long:
            for job in todo:
                job.corpus.refuse_unfit(positions)
    # nothing is written before everything that can be refused has been
    origin: Settings = {"data": str(folders.data)}
    origin["policy"] = [str(path) for path in recipe.policy.paths]
    if recipe.value is not None:
        origin["value"] = [str(path) for path in recipe.value.paths]
    if folders.monolingual is not None:
        origin["monolingual"] = str(folders.monolingual)
    for job in todo:
        job.store.begin(job.settings, origin)
        copy_dictionaries(job.store.names, folders.data, job.store.folder)
        if labeller is not None:
            job.make_chunks(labeller)
        if shard is None:
            print(summary(merge(job.store)))
        else:
            print(
                f"{job.corpus.split}: shard {shard.index} of {shard.count} is finished; "
                "after all shards run with --merge"
            )


def merge_only(folders: Folders, num_shards: int | None) -> None:
    """Merges what shards have made."""
    task = folders.open_task()
    for split in folders.made_splits:
        store = folders.store(task, split)
        if not _is_complete(store):
            store.settings()  # refuses one that was never begun
            copy_dictionaries(store.names, folders.data, store.folder)
            print(summary(merge(store, num_shards)))


def _is_complete(store: ChunkStore, settings: Settings | None = None) -> bool:
    """Whether the split is there; one that was made by other settings is never overwritten."""
    names = store.names
    if not names.has_scores():
        return False
    if settings is not None:
        record = read_record(names)
        changed = differences({name: record.get(name) for name in settings}, settings)
        if changed:
            raise RelabellingError(
                f"{names.score} exists and was made otherwise: {'; '.join(changed)}. Give another "
                "--out, or delete it"
            )
    store.remove()  # a merge may have been killed just before it did
    print(f"{names.split}: complete in {names.folder}, nothing to do")
    return True


def _refuse_other_data(store: ChunkStore) -> None:
    """Refuses to overwrite data without scores, unless a killed merge has left them."""
    if store.is_begun():
        return
    for path in (store.names.source, store.names.sample):
        files = sorted(path.parent.glob(f"{path.name}.*"))
        if files:
            raise RelabellingError(f"--out: would overwrite {files[0]}; give another folder")
