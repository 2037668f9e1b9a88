"""The driver of the long run: it goes on after a fault, and ends with a case that does not end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.console import REPOSITORY
from tests.fuzz.choices import Choices
from tests.fuzz.driver import run_cases

SPIN = """
from tests.fuzz.driver import run_cases

def spin(choices):
    while choices.integer(0, 1) < 2:
        pass

run_cases("spins", spin, range(7, 9), seed=3, bound=0.3)
"""


def test_faults_are_counted_and_named() -> None:
    def odd(choices: Choices) -> str:
        if choices.integer(0, 3) == 0:
            raise KeyError("nothing of that name")
        return "fine"

    found = run_cases("numbers", odd, range(40), seed=3, bound=30)
    assert found.outcomes["fine"] + found.outcomes["faults"] == 40
    assert 1 < len(found.faults) == found.outcomes["faults"] < 25
    assert all("numbers, seed 3, case " in fault for fault in found.faults)
    again = run_cases("numbers", odd, range(40), seed=3, bound=30)
    assert again.faults == found.faults


def test_a_case_that_does_not_end_is_named() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SPIN],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode != 0
    assert "in spin" in ended.stderr
    [name] = [line.rpartition(" ")[2] for line in ended.stdout.splitlines() if "named in" in line]
    assert "spins, seed 3, case            7" in Path(name).read_text(encoding="utf-8")
    Path(name).unlink()
