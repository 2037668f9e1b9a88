"""Where optuna keeps a study."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fairseq_mcts.work import WorkError

JOURNAL = "journal:"
_SQLITE = "sqlite:"
_SECONDS_TO_WAIT = 60  # for another process that writes to the same SQLite file
_TRIES = 5


def import_optuna(flag: str) -> Any:
    """optuna, which is an extra; quiet, since the sweep tells what it does itself."""
    try:
        import optuna
    except ImportError:
        raise ImportError(f"{flag}: needs optuna: pip install 'fairseq_mcts[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def open_storage(url: str) -> Any:
    """The storage of a URL of optuna's, or of journal:FILE."""
    optuna = import_optuna(f"--storage {url}")
    if url.startswith(JOURNAL):
        return _open_journal(url, optuna)
    from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError

    waits = {"connect_args": {"timeout": _SECONDS_TO_WAIT}} if url.startswith(_SQLITE) else None
    for last in range(_TRIES):
        try:
            return optuna.storages.RDBStorage(url, engine_kwargs=waits)
        except OperationalError as error:
            # commands that begin at the same moment all make the tables
            if last == _TRIES - 1 or "already exists" not in str(error.orig):
                raise OSError(f"--storage {url}: {error.orig}") from None
            time.sleep(1)
        except DatabaseError as error:  # SQLite's, of a file that is none or damaged
            raise OSError(f"--storage {url}: {error.orig}") from None
        except (ArgumentError, ImportError) as error:
            raise ValueError(f"--storage {url}: {error}") from None
    raise AssertionError


def _open_journal(url: str, optuna: Any) -> Any:
    from optuna.storages.journal import JournalFileBackend

    try:
        return optuna.storages.JournalStorage(JournalFileBackend(url.removeprefix(JOURNAL)))
    except (ValueError, LookupError, TypeError, AttributeError) as error:  # lines of anything
        raise ValueError(f"--storage {url}: is no whole journal ({error!r})") from error


@contextmanager
def explained_storage_errors(url: str) -> Iterator[None]:
    """Turns what a database can't do, on a full disk say, into one line."""
    errors = import_optuna(f"--storage {url}").exceptions
    try:
        yield
    except errors.StorageInternalError as error:
        reason = getattr(error.__cause__, "orig", error)
        raise WorkError(
            f"--storage {url}: {reason}. Is there room left? Give the same command again then: "
            "what is finished is kept"
        ) from error
