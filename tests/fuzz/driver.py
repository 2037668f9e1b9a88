"""Runs numbered cases with a bound on each, and tells what came of them."""

from __future__ import annotations

import faulthandler
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fuzz.choices import Choices, SeededChoices

#: runs the case that the choices make; what became of it, in a word
RunCase = Callable[[Choices], str]
_SHOWN = 20  # findings that are printed whole
_EVERY = 300.0  # seconds between two lines of progress
_LONGEST = 6 * 3600.0  # seconds that a case may wait for anything


@dataclass
class Findings:
    """What some cases of one kind came to."""

    kind: str
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: float = 0.0

    def __str__(self) -> str:
        outcomes = ", ".join(f"{count:,} {name}" for name, count in sorted(self.outcomes.items()))
        return (
            f"{self.kind}: {self.outcomes.total():,} cases ({outcomes}) in {self.seconds:,.0f} s, "
            f"the slowest took {self.slowest:.2f} s of computing; {len(self.faults)} faults"
        )


def run_cases(kind: str, run_case: RunCase, numbers: range, *, seed: int, bound: float) -> Findings:
    """Runs the cases of these numbers, and goes on after a fault.

    A case that takes more than `bound` seconds of the process's own time, or waits for `_LONGEST`,
    ends the process with a traceback, also from within compiled code; its number is in the file
    that is named first.
    """
    found = Findings(kind)
    begun = told = time.monotonic()
    faulthandler.register(signal.SIGPROF, chain=True)  # whose own way is to end the process
    with tempfile.NamedTemporaryFile("w", prefix="fuzz-", suffix=".log") as current:
        print(f"{kind}: the case at work is named in {current.name}", flush=True)
        for number in numbers:
            current.seek(0)
            current.write(f"{kind}, seed {seed}, case {number:12}\n")
            current.flush()
            started = time.process_time()
            try:
                with _bounded(bound):
                    found.outcomes[run_case(SeededChoices(seed, number))] += 1
            except (Exception, SystemExit) as error:
                found.outcomes["faults"] += 1
                found.faults.append(f"{kind}, seed {seed}, case {number}: {error!r}")
                _tell_fault(found)
            found.slowest = max(found.slowest, time.process_time() - started)
            now = time.monotonic()
            found.seconds = now - begun
            if now - told > _EVERY:
                told = now
                print(found, flush=True)
    print(found, flush=True)
    return found


@contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Ends the process if what is done meanwhile does not end.

    By its own time: on a busy machine, or if it is stopped for a while, a case may take any time.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(_LONGEST, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def _tell_fault(found: Findings) -> None:
    print(found.faults[-1][:1000], flush=True)
    if len(found.faults) <= _SHOWN:
        traceback.print_exc(file=sys.stdout)
