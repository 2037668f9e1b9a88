"""Studies: sampled settings, grids, kills, and several commands on one storage."""

import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fairseq_mcts.tuning import study as study_module
from fairseq_mcts.tuning.grid import Setting, Space, grid, parse_options
from fairseq_mcts.tuning.heartbeat import Heartbeat
from fairseq_mcts.tuning.objectives import Objective
from fairseq_mcts.tuning.owners import LAST_SEEN, is_lost, this_process
from fairseq_mcts.tuning.proposals import Outcome, Proposal
from fairseq_mcts.tuning.storage import explained_storage_errors
from fairseq_mcts.tuning.study import StudyOptions, StudyProposals
from fairseq_mcts.work import WorkError
from tests.tuning.trials import score_of, trial

pytest.importorskip("optuna")

SPACE = parse_options(["lenpen=0.2..3", "beam=1..8"], {"lenpen": [], "beam": []}, whole={"beam"})
GRID = parse_options(["lenpen=0.5,1,2", "beam=2,4"], {"lenpen": [], "beam": []})


def open_study(
    folder: Path,
    *,
    space: Space = SPACE,
    sampler: str = "tpe",
    trials: int = 20,
    prune: str | None = None,
    objectives: tuple[str, ...] = ("bleu",),
    storage: str | None = None,
) -> StudyProposals:
    options = StudyOptions(
        storage=storage or f"sqlite:///{folder / 'study.db'}",
        sampler=sampler,
        trials=trials,
        prune=prune,
        parts=4,
        seed=1,
    )
    settings = grid(space) if sampler == "grid" else None
    return StudyProposals(options, space, [Objective(one) for one in objectives], "key", settings)


def finish(study: StudyProposals, proposal: Proposal) -> None:
    score = score_of(proposal.setting)
    for part in range(1, 4):
        if not study.goes_on(proposal, part, score):
            study.finish(proposal, Outcome(None, parts=part, score=score))
            return
    study.finish(proposal, Outcome(trial(score, charged=round(100 * score))))


def work(study: StudyProposals, most: int = 1000) -> list[Setting]:
    tried = []
    while len(tried) < most and (proposal := study.next()) is not None:
        finish(study, proposal)
        tried.append(proposal.setting)
    return tried


@pytest.mark.parametrize("storage", ["sqlite:///{}/study.db", "journal:{}/study.log"])
def test_killed_and_resumed_it_draws_what_it_would_have_drawn(tmp_path: Path, storage: str) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    whole = open_study(tmp_path, storage=storage.format(tmp_path / "whole"), trials=14)
    work(whole)

    killed = StudyDies(tmp_path / "killed", storage.format(tmp_path / "killed"))
    for finished in (3, 0, 6):  # each run ends with a trial under way
        killed.run(finished)
    resumed = open_study(tmp_path, storage=storage.format(tmp_path / "killed"), trials=14)
    again = work(resumed)
    assert len(again) == 14 - 9
    assert [setting for setting, _ in resumed.finished()] == [
        setting for setting, _ in whole.finished()
    ]
    assert work(open_study(tmp_path, storage=storage.format(tmp_path / "killed"), trials=14)) == []


class StudyDies:
    """Commands that are killed while they have a trial under way."""

    CODE = """
import os, sys
from pathlib import Path
from tests.tuning.test_study import open_study, work
study = open_study(Path(sys.argv[1]), storage=sys.argv[2], trials=14)
work(study, int(sys.argv[3]))
assert study.next() is not None
os.kill(os.getpid(), 9)
"""

    def __init__(self, folder: Path, storage: str) -> None:
        self.arguments = [str(folder), storage]

    def run(self, finished: int) -> None:
        done = subprocess.run(
            [sys.executable, "-c", self.CODE, *self.arguments, str(finished)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == -9, done.stderr


def test_sampling_climbs_the_hill(tmp_path: Path) -> None:
    study = open_study(tmp_path, storage=f"journal:{tmp_path / 'study.log'}", trials=24)
    work(study)
    scores = [score_of(setting) for setting, _ in study.finished()]
    assert max(scores[10:]) > max(scores[:10])
    assert sum(scores[14:]) > sum(scores[:10])


def test_more_trials_go_on_from_those_there(tmp_path: Path) -> None:
    first = work(open_study(tmp_path, trials=5))
    second = work(open_study(tmp_path, trials=8))
    assert (len(first), len(second)) == (5, 3)
    assert not set(first) & set(second)


def test_a_grid_is_shared_by_two_commands(tmp_path: Path) -> None:
    one = open_study(tmp_path, space=GRID, sampler="grid")
    other = open_study(tmp_path, space=GRID, sampler="grid")
    tried: list[Setting] = []
    for study in (one, other, one, other, one, other):
        tried += work(study, 1)
    assert one.next() is other.next() is None
    assert sorted(map(str, tried)) == sorted(map(str, grid(GRID)))
    assert dict(one.finished()).keys() == set(grid(GRID))
    assert work(open_study(tmp_path, space=GRID, sampler="grid")) == []


def test_a_grid_that_several_enqueue_at_once_is_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = open_study(tmp_path, space=GRID, sampler="grid")
    with monkeypatch.context() as patched:
        patched.setattr(StudyProposals, "_trials", lambda self: [])
        other = open_study(tmp_path, space=GRID, sampler="grid")  # which sees nothing there yet
    assert one.progress() == (0, 6)
    under_way = one.next()
    assert under_way is not None
    tried = [under_way.setting, *work(other)]
    finish(one, under_way)
    assert sorted(map(str, tried)) == sorted(map(str, grid(GRID)))
    assert one.next() is other.next() is None
    assert one.progress() == (6, 6)
    assert len(one.finished()) == 6


def test_the_living_take_over_what_the_dead_have_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = open_study(tmp_path, space=GRID, sampler="grid")
    living = open_study(tmp_path, space=GRID, sampler="grid")
    left = dead.next()
    assert left is not None
    assert len(work(living)) == 5
    assert living.elsewhere() == [left.setting]
    monkeypatch.setattr(study_module, "is_lost", lambda attributes: True)
    assert work(living) == [left.setting]
    assert living.elsewhere() == []
    assert len(living.finished()) == 6


@pytest.mark.parametrize("storage", ["sqlite:///{}/study.db", "journal:{}/study.log"])
def test_who_was_taken_for_lost_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    given = storage.format(tmp_path)
    slow = open_study(tmp_path, space=GRID, sampler="grid", storage=given)
    other = open_study(tmp_path, space=GRID, sampler="grid", storage=given)
    first, second = slow.next(), slow.next()
    assert first is not None and second is not None
    with monkeypatch.context() as patched:
        patched.setattr(study_module, "is_lost", lambda attributes: True)
        assert len(work(other)) == 6
    slow.still_there()
    assert slow.goes_on(first, 1, 0.0)
    slow.finish(first, Outcome(trial(0.1)))
    slow.finish(second, Outcome(None, parts=1, score=0.1))
    assert slow.next() is None
    assert {found.scores["bleu"] for _, found in slow.finished()}.isdisjoint({0.1})
    assert slow.given_up() == []


def test_a_busy_command_says_that_it_is_there(tmp_path: Path) -> None:
    study = open_study(tmp_path)
    assert study.next() is not None
    [before] = [trial.user_attrs[LAST_SEEN] for trial in study._trials()]
    beaten = threading.Event()

    def beat() -> None:
        study.still_there()
        beaten.set()

    with Heartbeat(beat, (), seconds=0.01):
        assert beaten.wait(20)
    [after] = [trial.user_attrs[LAST_SEEN] for trial in study._trials()]
    assert after > before


def test_a_heart_goes_on_after_a_storage_failed_once() -> None:
    beats: list[float] = []
    beaten = threading.Event()

    def beat() -> None:
        beats.append(time.monotonic())
        if len(beats) == 1:
            raise OSError
        beaten.set()

    with Heartbeat(beat, (OSError,), seconds=0.01):
        assert beaten.wait(20)
    count = len(beats)
    time.sleep(0.1)
    assert len(beats) == count  # it has stopped


def test_hopeless_settings_are_given_up(tmp_path: Path) -> None:
    journal = f"journal:{tmp_path / 'study.log'}"
    study = open_study(tmp_path, storage=journal, trials=16, prune="median")
    work(study)
    finished, given_up = study.finished(), study.given_up()
    assert len(finished) + len(given_up) == 16
    assert len(given_up) >= 3
    best_given_up = max(outcome.score for _, outcome in given_up)
    assert best_given_up < max(found.scores["bleu"] for _, found in finished)
    assert all(outcome.parts == 1 for _, outcome in given_up)


def test_several_objectives(tmp_path: Path) -> None:
    study = open_study(tmp_path, trials=4, objectives=("bleu", "charged"))
    while (proposal := study.next()) is not None:
        study.finish(proposal, Outcome(trial(score_of(proposal.setting))))
    assert len(study.finished()) == 4


def test_another_space_is_another_study(tmp_path: Path) -> None:
    one, other = open_study(tmp_path), open_study(tmp_path, space={"beam": ["1", "2"]})
    assert one.name != other.name
    assert open_study(tmp_path, trials=99).name == one.name


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////no/such/folder/study.db"])
def test_a_storage_that_cannot_be_opened_is_named(tmp_path: Path, url: str) -> None:
    with pytest.raises((ValueError, OSError), match=f"--storage {url}: "):
        open_study(tmp_path, storage=url)


@pytest.mark.parametrize("url", ["sqlite:///{}/study", "journal:{}/study"])
@pytest.mark.parametrize("content", [b"no study\n" * 500, b"[1]\n[2]\n", b"{}\n{}\n", b"\xff\n\n"])
def test_a_damaged_storage_is_named(tmp_path: Path, url: str, content: bytes) -> None:
    (tmp_path / "study").write_bytes(content)
    url = url.format(tmp_path)
    with pytest.raises((ValueError, OSError), match=f"^--storage {url}: "):
        open_study(tmp_path, storage=url)


def test_a_full_disk_is_named_and_the_study_goes_on(tmp_path: Path) -> None:
    """Files may not grow meanwhile, as under a quota."""
    study = open_study(tmp_path, sampler="random", trials=60)
    size = (tmp_path / "study.db").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with (
            pytest.raises(WorkError, match=r"--storage URL: disk I/O error.*same command again"),
            explained_storage_errors("URL"),
        ):
            work(study)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    finished = len(study.finished())
    assert finished < 59
    resumed = open_study(tmp_path, sampler="random", trials=60)
    # the one under way is still this process's
    assert len(work(resumed)) + finished in (59, 60)


def test_who_is_there_and_who_is_lost() -> None:
    me = this_process()
    assert not is_lost({"owner": me, "last_seen": 0.0})
    assert is_lost({"owner": {**me, "begun": "1"}, "last_seen": 0.0})  # its number is used again
    away = {**me, "host": "elsewhere.invalid"}
    assert is_lost({"owner": away, "last_seen": 0.0})
    assert not is_lost({"owner": away, "last_seen": 4e9})
    assert is_lost({})
