"""The list of mutants: shared among jobs, the same in every run, and kept for the next one."""

from argparse import Namespace
from pathlib import Path

import pytest
from cosmic_ray import work_item
from cosmic_ray.work_db import WorkDB, use_db

from tools import mutants

KINDS = ("core/AddNot", "core/NumberReplacer", "core/NoWayOfOurs")


def session(path: Path) -> Path:
    """As `cosmic-ray init` makes it, with ids of its own each time."""
    with use_db(str(path), WorkDB.Mode.create) as database:
        for line in range(1, 21):
            for kind in KINDS:
                place = work_item.MutationSpec("toy.py", kind, 0, (line, 0), (line, 1))
                item = work_item.WorkItem.single(f"{path.name}-{kind}-{line}", place)
                database.add_work_items([item])
    return path


def chosen(path: Path) -> list[tuple[str, tuple[int, int]]]:
    with use_db(str(path), WorkDB.Mode.open) as database:
        mutations = [item.mutations[0] for item in database.pending_work_items]
        return [(one.operator_name, one.start_pos) for one in mutations]


@pytest.mark.parametrize(("sample", "wanted"), [(None, 40), (7, 7), (99, 40)])
def test_jobs_share_the_sample(tmp_path: Path, sample: int | None, wanted: int) -> None:
    whole, *parts = (session(tmp_path / f"{number}.sqlite") for number in range(4))
    for path, job, jobs in ((whole, 0, 1), *((part, job, 3) for job, part in enumerate(parts))):
        with use_db(str(path), WorkDB.Mode.open) as database:
            mutants.leave_out(database, sample, 1, job, jobs)
        assert mutants.progress(path) == (0, len(chosen(path)))
    assert len(chosen(whole)) == wanted
    assert {kind for kind, _ in chosen(whole)} <= set(KINDS[:2])
    assert sorted(one for part in parts for one in chosen(part)) == sorted(chosen(whole))


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    path = session(tmp_path / "search-0.sqlite")
    with use_db(str(path), WorkDB.Mode.open) as database:
        mutants.leave_out(database, 5, 1, 0, 1)
        first = next(iter(database.pending_work_items))
        survived = work_item.WorkResult(
            work_item.WorkerOutcome.NORMAL,
            test_outcome=work_item.TestOutcome.SURVIVED,
            diff="+ x",
        )
        database.set_result(first.job_id, survived)
    mutants.prepare(path, tmp_path, "no.toml", Namespace(sample=5, seed=1, jobs=1), 0)
    assert mutants.progress(path) == (1, 4)
    with use_db(str(path), WorkDB.Mode.open) as database:
        assert [diff for _, diff in mutants.survivors(database)] == ["+ x"]


def test_a_run_with_other_options_or_code_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "fairseq_mcts" / "toy.py"
    code.parent.mkdir()
    code.write_text("x = 1\n")
    monkeypatch.setattr(mutants, "REPOSITORY", tmp_path)
    options = Namespace(files=[], sample=5, seed=1, jobs=2)
    mutants.settle(tmp_path, options)
    mutants.settle(tmp_path, options)
    with pytest.raises(SystemExit, match=f"^--work {tmp_path}: holds a run of other"):
        mutants.settle(tmp_path, Namespace(**{**vars(options), "seed": 2}))
    code.write_text("x = 2\n")
    with pytest.raises(SystemExit, match=f"^--work {tmp_path}: holds a run of other"):
        mutants.settle(tmp_path, options)
