"""How commands end early, and what several of them refuse."""

import io
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from fairseq_mcts.command_help import DEBUG


@contextmanager
def exit_on_errors(program: str, *, resumes: bool = True) -> Iterator[None]:
    """Ends the program with one line in place of a traceback: 2 for bad input, 130 for Ctrl-C."""
    _write_in_any_locale()
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        print(f"{program}: error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except MemoryError as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        what = str(error) or "an allocation failed"
        print(f"{program}: error: memory is too little: {what}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        advice = "; the same command goes on from here" if resumes else ""
        print(f"\n{program}: interrupted{advice}", file=sys.stderr)
        raise SystemExit(130) from None


def _write_in_any_locale() -> None:
    """Where the locale has no room for a letter, its number is written in place of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # surrogateescape: what Python takes in the locale C
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def naming(option: str) -> Iterator[None]:
    """Errors within are about this option, and say so."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        raise ValueError(f"{option}: {error}") from error


MOST_WORKERS = 4096


def refuse_below_one(options: Namespace, *names: str) -> None:
    """Refuses numbers below 1; options that are not given are fine."""
    for name in names:
        given = getattr(options, name)
        if given is not None and given < 1:
            raise ValueError(f"--{name.replace('_', '-')} {given}: must be at least 1")


def refuse_impossible_workers(options: Namespace) -> None:
    """Refuses numbers of workers that no machine or cluster has: each is a process."""
    refuse_below_one(options, "workers", "cpus_per_worker")
    refuse_above(MOST_WORKERS, options, "workers")


def refuse_above(most: int, options: Namespace, *names: str) -> None:
    """Refuses numbers that would take more memory than there is; not given ones are fine."""
    for name in names:
        given = getattr(options, name)
        if given is not None and given > most:
            raise ValueError(f"--{name.replace('_', '-')} {given}: must be at most {most:,}")
