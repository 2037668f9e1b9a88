"""How commands that resume their work end early."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def exit_on_errors(program: str) -> Iterator[None]:
    """Ends the program with one line in place of a traceback: 2 for bad input, 130 for Ctrl-C."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print(f"\n{program}: interrupted; the same command goes on from here", file=sys.stderr)
        raise SystemExit(130) from None
