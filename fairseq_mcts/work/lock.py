"""One command at a time in an output folder, one for each shard of it, or several that share it.

The locks are the operating system's (flock): they end with their process, however it ends. A
command that does all the work holds the folder alone. Shards hold it together, and each its own
number alone; commands that share their work otherwise hold it together, too.
"""

import contextlib
import fcntl
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

_LOCK = "lock"
_ENDING = ".lock"


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
            with path.open("rb") as stream:
                if not _try(stream, alone=alone):
                    raise _refusal(folder, what)


def _hold(path: Path, what: Path, *, alone: bool) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        stream = path.open("a+b")
        if not _try(stream, alone=alone):
            stream.close()
            raise _refusal(path.parent, what)
        # another command may have removed the file between the two steps
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(stream.fileno()).st_ino == path.stat().st_ino:
                break
        stream.close()
    if alone:
        stream.truncate(0)
        stream.write(_this_process().encode())
        stream.flush()
    return stream


def _release(stream: IO[bytes], path: Path) -> None:
    # only who holds it alone may remove it
    if _try(stream, alone=True):
        path.unlink(missing_ok=True)
    stream.close()


def _try(stream: IO[bytes], *, alone: bool) -> bool:
    try:
        fcntl.flock(stream, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # file systems without locks: Lustre mounted without flock, say
        print(f"{stream.name}: can't be locked ({error}); go on without", file=sys.stderr)
    return True


def _refusal(folder: Path, what: Path) -> WorkError:
    holders = []
    for path in sorted(folder.glob(f"*{_ENDING}")):
        with contextlib.suppress(FileNotFoundError), path.open("rb") as stream:
            if not _try(stream, alone=True) and (holder := stream.read().decode()):
                holders.append(holder)
    who = "; ".join(holders) or "another process"
    return WorkError(f"{what}: another command is at work there: {who}. Wait for it, or end it")


def _this_process() -> str:
    begun = time.strftime("%Y-%m-%d %H:%M:%S")
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return f"process {os.getpid()} on {socket.gethostname()} since {begun} ({command[:300]})"
