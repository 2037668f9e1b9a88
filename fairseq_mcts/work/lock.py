"""One command at a time in an output folder, one for each shard of it, or several that share it.

The locks are the operating system's (flock): they end with their process, however it ends. A
command that does all the work holds the folder alone. Shards hold it together, and each its own
number alone; commands that share their work otherwise hold it together, too. Who holds a file alone
has written into it who that is.
"""

import contextlib
import fcntl
import functools
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from fairseq_mcts.work.chunk import Shard
from fairseq_mcts.work.errors import WorkError
from fairseq_mcts.work.store import explained_if_full

_LOCK = "lock"
_ENDING = ".lock"
# others hold a file for a moment, to see whether they could or because they are about to share it
_SECONDS_TO_TRY = 0.5
_SECONDS_BETWEEN_TRIES = 0.02


@contextmanager
def locked(
    folder: Path, what: Path, shard: Shard | None = None, *, shared: bool = False
) -> Iterator[None]:
    """Holds the lock of work on `what`, whose lock files lie in `folder`; refused if another does.

    The files are removed at the end, unless others still hold the folder: shards, or those that
    say `shared` as well.
    """
    with ExitStack() as stack:
        alone = shard is None and not shared
        common = _hold(folder / (_LOCK + _ENDING), what, alone=alone)
        stack.callback(_release, common, folder / (_LOCK + _ENDING))
        if shard is not None:
            path = folder / f"shard-{shard.index}-of-{shard.count}{_ENDING}"
            own = _hold(path, what, alone=True)
            stack.callback(_release, own, path)
        yield


def refuse_held(folder: Path, what: Path, shard: Shard | None = None) -> None:
    """Refuses work that `locked` would refuse now; writes nothing."""
    wanted = {folder / (_LOCK + _ENDING): shard is None}
    if shard is not None:
        wanted[folder / f"shard-{shard.index}-of-{shard.count}{_ENDING}"] = True
    for path, alone in wanted.items():
        if path.exists():
            with contextlib.suppress(FileNotFoundError), _open(path) as stream:
                if not _try_a_while(stream, alone=alone):
                    raise _refusal(folder, what)


def _hold(path: Path, what: Path, *, alone: bool) -> IO[bytes]:
    with explained_if_full(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            stream = path.open("a+b")
            try:
                if not alone:
                    _clear(stream)
                if not _try_a_while(stream, alone=alone):
                    raise _refusal(path.parent, what)
                if _is_at(path, stream):  # another command may have removed it in between
                    if alone:
                        _sign(stream)
                    return stream
            except BaseException:
                stream.close()
                raise
            stream.close()


def _sign(stream: IO[bytes]) -> None:
    stream.truncate(0)
    stream.write(_this_process().encode())
    stream.flush()


def _clear(stream: IO[bytes]) -> None:
    """Removes what a command that was killed has written: it holds nothing any more."""
    if os.fstat(stream.fileno()).st_size and _try(stream, alone=True):
        stream.truncate(0)


def _release(stream: IO[bytes], path: Path) -> None:
    # only who holds it alone may remove it, and no other that has its name now
    if _try(stream, alone=True) and _is_at(path, stream):
        path.unlink(missing_ok=True)
    stream.close()


def _is_at(path: Path, stream: IO[bytes]) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _open(path: Path) -> IO[bytes]:
    """A lock file that is there; where locks are those of NFS, it has to be open for writing."""
    return path.open("r+b")


def _try_a_while(stream: IO[bytes], *, alone: bool) -> bool:
    deadline = time.monotonic() + _SECONDS_TO_TRY
    while not _try(stream, alone=alone):
        if time.monotonic() > deadline:
            return False
        time.sleep(_SECONDS_BETWEEN_TRIES)
    return True


def _try(stream: IO[bytes], *, alone: bool) -> bool:
    try:
        fcntl.flock(stream, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # file systems without locks: Lustre mounted without flock, say
        _tell_once(f"{stream.name}: can't be locked ({error}); go on without")
    return True


@functools.cache
def _tell_once(what: str) -> None:
    print(what, file=sys.stderr)


def _refusal(folder: Path, what: Path) -> WorkError:
    holders = []
    for path in sorted(folder.glob(f"*{_ENDING}")):
        with contextlib.suppress(OSError), _open(path) as stream:
            if not _try(stream, alone=True) and (holder := stream.read().decode()):
                holders.append(holder)
    who = "; ".join(holders) or "another process"
    return WorkError(f"{what}: another command is at work there: {who}. Wait for it, or end it")


def _this_process() -> str:
    begun = time.strftime("%Y-%m-%d %H:%M:%S")
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return f"process {os.getpid()} on {socket.gethostname()} since {begun} ({command[:300]})"
