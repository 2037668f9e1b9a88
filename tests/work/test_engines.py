"""The same chunks from every engine, whatever happens to workers."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path

import pytest

from fairseq_mcts.work import (
    Advance,
    Chunk,
    DamagedChunkError,
    Engine,
    Here,
    Job,
    Processes,
    Staff,
    WorkError,
    make_all,
    settings_digest,
)
from fairseq_mcts.work.failure import Failure
from fairseq_mcts.work.pool import Given, Pool
from fairseq_mcts.work.worker_process import ADVANCE, SECONDS_BETWEEN_ADVANCES, Advances
from tests.work.toy import NAMES, Squares, make_job

ENGINES: list[Engine] = [Here(), Processes(1), Processes(2)]
COMMAND = """
import sys
from pathlib import Path
from fairseq_mcts.work import Processes, Staff
from tests.work.toy import Squares, make_job
job = make_job(Path(sys.argv[1]))
job.store.begin(job.settings, {})
with Staff(Processes(2), Squares(seconds=600)) as staff:
    staff.workers()
    print("ready", flush=True)
    job.make_chunks(staff)
"""


def squares(job: Job) -> list[int]:
    digest = settings_digest(job.settings)
    chunks = [job.store.read(one.number, digest, NAMES) for one in job.chunks]
    return [number for arrays in chunks for number in arrays["squares"].tolist()]


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_all_chunks_are_made_and_none_twice(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = make_job(tmp_path)
    job.store.begin(job.settings, {})
    with Staff(engine, Squares()) as staff:
        job.make_chunks(staff)
        written = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        job.store.discard(2)
        job.make_chunks(staff)
    assert squares(job) == [number**2 for number in range(23)]
    assert "toy: 23/23 rows (100.0%)" in capsys.readouterr().err
    after = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert [path for path in after if after[path] != written[path]] == [job.store.path(2)]


def test_nothing_is_started_where_nothing_is_left(tmp_path: Path) -> None:
    job = make_job(tmp_path)
    job.store.begin(job.settings, {})
    with Staff(Here(), Squares()) as staff:
        job.make_chunks(staff)
    with Staff(Here(), Squares(refused=True)) as staff:
        job.make_chunks(staff)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_the_next_task_may_depend_on_results(engine: Engine) -> None:
    """2, 4, 16, 256: each is the square of the one before."""
    with Staff(engine, Squares()) as staff:
        workers = staff.workers()
        assert workers.idle() >= 1 and not workers.is_busy()
        workers.give(Chunk("toy", 0, range(2, 3)))
        found = []
        while workers.is_busy():
            for chunk, arrays in workers.receive(lambda rows: None):
                [square] = arrays["squares"].tolist()
                found.append(square)
                if square < 256:
                    workers.give(Chunk("toy", chunk.number + 1, range(square, square + 1)))
        assert found == [4, 16, 256]
        assert workers.idle() >= 1


def test_tasks_wait_for_workers() -> None:
    with Staff(Processes(1), Squares()) as staff:
        workers = staff.workers()
        for number in range(3):
            workers.give(Chunk("toy", number, range(number, number + 1)))
        assert workers.idle() == 0
        found = []
        while workers.is_busy():
            found += [chunk.number for chunk, _ in workers.receive(lambda rows: None)]
    assert found == [0, 1, 2]


def test_who_reads_slowly_makes_workers_wait() -> None:
    """Results do not pile up: memory stays the same however many tasks there are."""
    begun: list[Chunk] = []

    class Tasks(list[Chunk]):
        def __iter__(self) -> Iterator[Chunk]:
            for chunk in super().__iter__():
                begun.append(chunk)
                yield chunk

    tasks = Tasks(Chunk("toy", number, range(number, number + 1)) for number in range(30))
    ahead = []
    with Staff(Processes(2), Squares()) as staff:
        for read, _ in enumerate(make_all(staff.workers(), tasks, lambda rows: None)):
            time.sleep(0.03)  # many times what a task takes
            ahead.append(len(begun) - read)
    assert len(ahead) == len(tasks)
    assert max(ahead) <= 2 * 3  # a task or two of each worker, and what is being read


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_what_work_refuses_is_said_before_anything_is_made(engine: Engine) -> None:
    with (
        Staff(engine, Squares(refused=True)) as staff,
        pytest.raises(ValueError, match=r"^--nothing: can't be squared$"),
    ):
        staff.workers()


def test_a_fault_of_a_worker_ends_the_command_with_its_traceback(tmp_path: Path) -> None:
    with (
        Staff(Processes(2), Squares(faulty=True)) as staff,
        pytest.raises(RuntimeError, match=r"(?s)a worker failed:.*ZeroDivisionError: a fault"),
    ):
        list(make_all(staff.workers(), make_job(tmp_path).chunks, lambda rows: None))


def test_memory_that_is_too_little_for_a_worker_is_said_in_a_line() -> None:
    for error, what in ((MemoryError(), "an allocation failed"), (MemoryError("1 TiB"), "1 TiB")):
        told = Failure.of(error).error()
        assert isinstance(told, WorkError)
        assert str(told) == f"memory of a worker is too little: {what}"


def test_lost_workers_are_replaced_and_their_chunks_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = make_job(tmp_path / "chunks")
    job.store.begin(job.settings, {})
    with Staff(Processes(2), Squares(deadly=(0, 3), once_in=tmp_path)) as staff:
        job.make_chunks(staff)
    assert squares(job) == [number**2 for number in range(23)]
    told = capsys.readouterr().err
    assert told.count("a worker was lost (killed by SIGKILL); another takes its place") == 2
    assert "toy: 23/23 rows (100.0%)" in told


def test_a_chunk_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    advanced: list[int] = []
    with (
        Staff(Processes(1), Squares(deadly=(1,))) as staff,
        pytest.raises(WorkError, match=r"3 workers were lost at rows 4 to 7 of toy, .*SIGKILL"),
    ):
        list(make_all(staff.workers(), make_job(tmp_path).chunks, advanced.append))
    assert sum(advanced) == 4  # of the chunk before: what lost workers told is taken back


def test_starts_that_are_lost_do_not_end_what_others_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second place is given up after three, and the first one makes everything."""
    job = make_job(tmp_path / "chunks")
    job.store.begin(job.settings, {})
    notes = tmp_path / "notes"
    notes.mkdir()
    # chunks after the first take a moment more, in which the last loss is heard of
    with Staff(Processes(2), Squares(0.1, first_in=notes, deaths=3)) as staff:
        job.make_chunks(staff)
    assert squares(job) == [number**2 for number in range(23)]
    told = re.findall(r"a worker was lost while it started \(.*\); (.*)", capsys.readouterr().err)
    assert told == ["another takes its place", "another takes its place", "others go on"]


def test_starts_are_given_up_where_nobody_works(tmp_path: Path) -> None:
    (tmp_path / "first").touch()  # so all die
    with (
        Staff(Processes(2), Squares(first_in=tmp_path)) as staff,
        pytest.raises(WorkError, match=r"^3 workers were lost one after the other while they st"),
    ):
        staff.workers()
    assert 3 <= len(list(tmp_path.iterdir())) - 1 <= 6


class Starts(Pool[int, int]):
    """Workers that only start."""

    most_losses = 3

    def lose(self, lost_before: int) -> int:
        """One that was started so; returns what its successor is started with."""
        self._start_is_lost(lost_before, "no reason")
        return self._lost_starts

    def _num_free(self) -> int:
        return 0

    def _send(self, given: Given[int]) -> None:
        raise NotImplementedError

    def _listen(self, advance: Advance) -> list[tuple[int, int]]:
        raise NotImplementedError


def test_a_machine_that_is_lost_with_many_starts_counts_once() -> None:
    starts = Starts()
    for _ in range(64):
        assert starts.lose(0) == 1  # others may still load elsewhere
    assert starts.lose(1) == 2
    with pytest.raises(WorkError, match="3 workers were lost"):
        starts.lose(2)


def test_a_worker_tells_of_many_rows_at_a_time() -> None:
    ours, theirs = Pipe()
    advances = Advances(theirs)
    for _ in range(1000):
        advances(1)
    advances.tell()
    heard = []
    while ours.poll():
        heard.append(ours.recv())
    assert sum(rows for _, rows in heard) == 1000
    assert len(heard) < 20  # a word for each row would take the workers' cores
    time.sleep(1.1 * SECONDS_BETWEEN_ADVANCES)
    advances(3)
    assert ours.poll()
    assert ours.recv() == (ADVANCE, 3)
    advances.tell()
    assert not ours.poll()


def test_damaged_chunks_are_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = make_job(tmp_path)
    job.store.begin(job.settings, {})
    with Staff(Here(), Squares()) as staff:
        job.make_chunks(staff)
        for chunk in (1, 4):
            job.store.path(chunk).write_bytes(job.store.path(chunk).read_bytes()[:100])
        found = job.complete(staff, lambda: squares(job))
    assert found == [number**2 for number in range(23)]
    assert capsys.readouterr().err.count("It is made again now") == 2


def test_workers_end_with_a_command_that_is_killed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 60
    while any(_is_running(child) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_running(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_chunk_that_is_made_damaged_is_refused_at_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, joins = make_job(tmp_path), []
    job.store.begin(job.settings, {})

    def join() -> None:
        joins.append(job.store.finished())
        raise DamagedChunkError(1, "chunk 1 is damaged")

    with Staff(Here(), Squares()) as staff, pytest.raises(DamagedChunkError, match="chunk 1 is"):
        job.complete(staff, join)
    assert len(joins) == 2
    assert capsys.readouterr().err.count("It is made again now") == 1
