"""A run of relabelling: which chunks are to be made, making them, and merging."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from fairseq_mcts.data.scored_folder import SplitNames, read_record
from fairseq_mcts.relabelling.chunks import chunk_store
from fairseq_mcts.relabelling.corpus import copy_dictionaries, corpus_settings
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.relabelling.labelling_work import LabellingWork
from fairseq_mcts.relabelling.merge import merge
from fairseq_mcts.relabelling.plan import Data, Folders, Plan
from fairseq_mcts.relabelling.summary import summary
from fairseq_mcts.relabelling.text_corpus import Extremes
from fairseq_mcts.work import (
    Engine,
    Job,
    Settings,
    Shard,
    Staff,
    cut,
    differences,
    locked,
    refuse_held,
)


@dataclass(frozen=True)
class _SplitJob:
    """One split's part of the work."""

    names: SplitNames  # of what is made
    job: Job


def relabel(
    describe: Callable[[], Plan], plan: Plan, *, shard: Shard | None, engine: Engine
) -> None:
    """Makes the chunks of a shard that are missing; without a shard all of them, and merges.

    `describe` gives the same plan in another process.
    """
    data = plan.open()
    todo = _todo(plan, data, shard)
    is_pending = any(one.job.pending() for one in todo)
    surveys = _surveys(data) if is_pending and not plan.recipe.skip_too_long else {}
    splits = [one.names.split for one in todo]
    work = LabellingWork(describe, splits, (plan, data), surveys)
    with Staff(engine, work) as staff, ExitStack() as locks:
        if is_pending:
            staff.workers()
        # nothing is written before everything that can be refused has been
        for one in todo:
            locks.enter_context(locked(one.job.store.folder, plan.folders.out, shard))
        for one in todo:
            if _is_complete(one.names, one.job.settings):  # by a command that ended just now
                continue
            one.job.store.begin(one.job.settings, plan.origin())
            copy_dictionaries(one.names, plan.folders.data, one.job.store.folder)
            if shard is None:
                print(summary(one.job.complete(staff, partial(merge, one.names))))
            else:
                one.job.make_chunks(staff)
                print(f"{one.names.split}: {shard} is finished; after all shards run with --merge")


def _surveys(data: Data) -> dict[str, Extremes]:
    """How long the lines of texts are, in blocks."""
    return {one.split: one.sources.survey(one.rows) for one in data.corpora if one.is_text}


def _todo(plan: Plan, data: Data, shard: Shard | None) -> list[_SplitJob]:
    """The splits that are not complete; refuses folders that hold something else."""
    of_recipe = plan.recipe.settings()
    todo = []
    for corpus in data.corpora:
        settings = {**corpus_settings(corpus, data.task, plan.folders.data), **of_recipe}
        names = plan.folders.names(data.task, corpus.split)
        if not _is_complete(names, settings):
            store = chunk_store(names)
            store.refuse_other(settings)
            _refuse_other_data(names)
            refuse_held(store.folder, plan.folders.out, shard)
            chunks = cut(corpus.split, corpus.rows, plan.recipe.chunk_rows, shard or Shard())
            todo.append(_SplitJob(names, Job(corpus.split, store, settings, chunks)))
    return todo


def merge_only(folders: Folders, num_shards: int | None) -> None:
    """Merges what shards have made."""
    task = folders.open_task()
    for split in folders.made_splits:
        names = folders.names(task, split)
        if _is_complete(names):
            continue
        store = chunk_store(names)
        if not store.is_begun():
            raise RelabellingError(
                f"{store.folder} does not exist: nothing was relabelled here yet"
            )
        with locked(store.folder, folders.out):
            copy_dictionaries(names, folders.data, store.folder)
            print(summary(merge(names, num_shards)))


def _is_complete(names: SplitNames, settings: Settings | None = None) -> bool:
    """Whether the split is there; one that was made by other settings is never overwritten."""
    if not names.has_scores():
        return False
    if settings is not None:
        record = read_record(names)
        # "similarities" is only there where rows have them
        names_of_settings = {*settings, "similarities"}
        changed = differences({name: record.get(name) for name in names_of_settings}, settings)
        if changed:
            raise RelabellingError(
                f"{names.score} exists and was made otherwise: {'; '.join(changed)}. Give another "
                "--out, or delete it"
            )
    chunk_store(names).remove()  # a merge may have been killed just before it did
    print(f"{names.split}: complete in {names.folder}, nothing to do")
    return True


def _refuse_other_data(names: SplitNames) -> None:
    """Refuses to overwrite data without scores, unless a killed merge has left them."""
    if chunk_store(names).is_begun():
        return
    for path in (names.source, names.sample):
        files = sorted(path.parent.glob(f"{path.name}.*"))
        if files:
            raise RelabellingError(f"--out: would overwrite {files[0]}; give another folder")
