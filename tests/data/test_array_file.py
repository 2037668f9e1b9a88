"""numpy reads what is written, and would have written the same bytes."""

import os
import resource
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from fairseq_mcts.data.array_file import ArrayFileWriter
from fairseq_mcts.data.scored_folder import ROW


@pytest.mark.parametrize("dtype", [np.float32, ROW])
def test_the_file_equals_that_of_numpy(tmp_path: Path, dtype: npt.DTypeLike) -> None:
    array = np.zeros(10, dtype)
    array[...] = np.arange(10).astype(np.float32) if dtype is np.float32 else (7, 3, 1)
    writer = ArrayFileWriter(tmp_path / "ours.npy", dtype, 10)
    for part in (slice(0, 1), slice(1, 1), slice(1, 10)):
        writer.add(array[part])
    writer.finish()
    np.save(tmp_path / "theirs.npy", array)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()


def test_elements_of_another_type_are_turned_into_its_own(tmp_path: Path) -> None:
    writer = ArrayFileWriter(tmp_path / "ours.npy", np.float32, 2)
    writer.add(np.array([0.5, 2.0], np.float64))
    writer.flush()
    assert np.load(tmp_path / "ours.npy").tolist() == [0.5, 2.0]


def test_no_room_is_an_error_and_takes_no_more_than_is_written(tmp_path: Path) -> None:
    """In a process that may write no more than so many bytes to a file, as under a quota."""
    process = os.fork()
    if not process:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
            writer = ArrayFileWriter(tmp_path / "ours.npy", np.float32, 10**9)
            writer.add(np.zeros(100, np.float32))  # there is room for what is there
            writer.flush()
            code = 2
            writer.add(np.zeros(10_000, np.float32))
            writer.flush()
        except OSError:
            code = 0 if code == 2 else 3
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
