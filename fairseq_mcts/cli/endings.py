"""How commands end that do long work: with what was wrong, or with how to go on."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def clear_endings(program: str) -> Iterator[None]:
    """Bad input ends the program with 2 and one line instead of a traceback, Ctrl-C with 130."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print(f"\n{program}: interrupted; the same command goes on from here", file=sys.stderr)
        raise SystemExit(130) from None
