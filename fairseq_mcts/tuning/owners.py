"""Which process has a trial under way, and whether it is still there."""

import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OWNER = "owner"  # names of attributes of a trial
LAST_SEEN = "last_seen"
_LOST_SECONDS = 600.0  # after which a process of another machine counts as lost


def this_process() -> dict[str, Any]:
    """Tells this process from all others."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "begun": _begun(os.getpid())}


def is_lost(attributes: Mapping[str, Any]) -> bool:
    """Whether nobody works on a trial with these attributes any more."""
    owner, last_seen = attributes.get(OWNER), attributes.get(LAST_SEEN)
    if owner is None:  # killed before it could say who it is
        return True
    if owner["host"] == socket.gethostname():
        return bool(_begun(owner["pid"]) != owner["begun"])
    return last_seen is not None and time.time() - last_seen > _LOST_SECONDS


def _begun(pid: int) -> str | None:
    """When a process has begun, None if there is none: numbers of processes are used again."""
    try:
        behind_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        state, *fields = behind_name.split()
        return None if state == "Z" else fields[18]
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    try:  # no Linux
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return ""
