"""How commands end early, and what several of them refuse."""

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

DEBUG = "FAIRSEQ_MCTS_DEBUG"
"""Environment variable, set by `fairseq-mcts --debug`: errors come with their traceback."""


@contextmanager
def exit_on_errors(program: str, *, resumes: bool = True) -> Iterator[None]:
    """Ends the program with one line in place of a traceback: 2 for bad input, 130 for Ctrl-C."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        print(f"{program}: error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        advice = "; the same command goes on from here" if resumes else ""
        print(f"\n{program}: interrupted{advice}", file=sys.stderr)
        raise SystemExit(130) from None


def refuse_below_one(options: Namespace, *names: str) -> None:
    """Refuses numbers below 1; options that are not given are fine."""
    for name in names:
        given = getattr(options, name)
        if given is not None and given < 1:
            raise ValueError(f"--{name.replace('_', '-')} {given}: must be at least 1")
