"""Chunks on disk: whole or not there, and of the right settings."""

import errno
import os
import re
import resource
from pathlib import Path

import numpy as np
import pytest

from fairseq_mcts.work import ChunkStore, DamagedChunkError, WorkError, settings_digest

SETTINGS = {"metric": {"name": "bleu"}, "rows": 3}
DIGEST = settings_digest(SETTINGS)


@pytest.fixture
def store(tmp_path: Path) -> ChunkStore:
    store = ChunkStore(tmp_path / "chunks" / "train")
    store.begin(SETTINGS, {"data": "somewhere"})
    return store


def test_what_was_written_is_read(store: ChunkStore) -> None:
    store.write(7, SETTINGS, {"scores": np.arange(3.0), "more": np.zeros(0)})
    assert store.finished() == {7}
    assert store.read(7, DIGEST, ("scores",))["scores"].tolist() == [0, 1, 2]
    store.begin(SETTINGS, {"data": "elsewhere"})
    assert store.settings() == (SETTINGS, {"data": "somewhere"})


def test_other_settings_are_refused_by_name(store: ChunkStore) -> None:
    with pytest.raises(WorkError, match=r'metric\.name was "bleu", is now "chrf"'):
        store.begin({**SETTINGS, "metric": {"name": "chrf"}}, {})


def test_a_chunk_of_other_settings_is_not_read(store: ChunkStore) -> None:
    store.write(1, {**SETTINGS, "rows": 4}, {"scores": np.arange(3.0)})
    with pytest.raises(DamagedChunkError, match=r"00000001\.npz was made with other settings"):
        store.read(1, DIGEST, ("scores",))


@pytest.mark.parametrize("place", [None, 0.02, 0.5, 0.98])
def test_a_damaged_chunk_is_named(store: ChunkStore, place: float | None) -> None:
    """Cut off, or with a byte that is another, at its begin, in its middle or at its end."""
    store.write(1, SETTINGS, {"scores": np.arange(1000.0)})
    content = bytearray(store.path(1).read_bytes())
    if place is None:
        content = content[: len(content) // 2]
    else:
        content[int(len(content) * place)] ^= 0xFF
    store.path(1).write_bytes(content)
    with pytest.raises(DamagedChunkError, match=r"chunk-00000001\.npz is damaged") as error:
        store.read(1, DIGEST, ("scores",))
    assert error.value.chunk == 1
    store.discard(1)
    assert store.finished() == set()


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "I/O"), OSError(errno.ESTALE, "stale"), MemoryError()], ids=repr
)
def test_an_error_that_passes_costs_no_chunk(
    store: ChunkStore, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    store.write(1, SETTINGS, {"scores": np.arange(3.0)})

    def load(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(np, "load", load)
    with pytest.raises(type(error)):  # a DamagedChunkError would have it deleted
        store.read(1, DIGEST, ("scores",))


def test_a_full_disk_is_named_and_leaves_nothing_behind(store: ChunkStore) -> None:
    """In a process that may write no more than so many bytes to a file, as under a quota."""
    arrays = {"scores": np.random.default_rng(0).random(10_000)}
    process = os.fork()
    if not process:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
            store.write(1, SETTINGS, arrays)
        except WorkError as error:
            is_named = "no room left to write" in str(error) and "same command" in str(error)
            code = 0 if is_named else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert [path.name for path in store.folder.iterdir()] == ["settings.json"]
    store.write(1, SETTINGS, arrays)
    assert store.finished() == {1}


def test_removing_leaves_the_stores_of_other_splits(store: ChunkStore) -> None:
    other = ChunkStore(store.folder.with_name("valid"))
    other.begin(SETTINGS, {})
    store.remove()
    assert other.is_begun() and not store.is_begun()
    other.remove()
    assert not other.folder.parent.exists()


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"settings": 3}', '{"origin": {}}', "\0\0"])
def test_settings_that_tell_nothing_are_named(store: ChunkStore, content: str) -> None:
    path = store.folder / "settings.json"
    path.write_text(content)
    with pytest.raises(WorkError, match=rf"^{path}: does not tell how the chunks beside it"):
        store.refuse_other(SETTINGS)


@pytest.mark.parametrize("name", ["chunk-copy.npz", "chunk-7.npz", "chunk-00000001 (1).npz"])
def test_stray_files_are_named_and_kept(store: ChunkStore, name: str) -> None:
    (store.folder / name).write_text("somebody's")
    (store.folder / "notes.txt").write_text("are of no concern")
    with pytest.raises(WorkError, match=f"{re.escape(name)}: is no chunk; move it out"):
        store.finished()


@pytest.mark.slow
def test_any_flipped_byte_is_noticed_or_changes_nothing(store: ChunkStore) -> None:
    scores = np.arange(50.0)
    store.write(1, SETTINGS, {"scores": scores})
    whole = store.path(1).read_bytes()
    noticed = 0
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= 0x55
        store.path(1).write_bytes(content)
        try:
            found = store.read(1, DIGEST, ("scores",))["scores"]
        except DamagedChunkError:
            noticed += 1
        else:
            assert np.array_equal(found, scores)
    assert noticed > len(whole) * 0.6  # the rest is what archives say twice, and dates
