"""Which lines of the package the tests reach: `make coverage`.

    python -m tools.coverage [--jobs 2] [--search-only]

The searches' kernels are compiled, and a tracer sees nothing of compiled code. So tests/search runs
first with the kernels as plain Python (`tests/plain_kernels.py`), then all other tests run as ever,
and both are added up. Commands that tests start as processes of their own are counted too. This
takes several times as long as the tests themselves, so CI does not do it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
#: least shares of lines, in %
BARS = {"fairseq_mcts/search/*": 98, "fairseq_mcts/*": 92}
#: they test the compiler's cache, which is not there in plain Python
OF_COMPILER = ("tests/search/test_kernel_cache.py",)


def run(arguments: Sequence[str], folder: Path, **environment: str) -> int:
    """A module of Python's; what it ended with."""
    known = {**os.environ, "COVERAGE_FILE": str(folder / ".coverage"), **environment}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, env=known, check=False).returncode


def test(folder: Path, jobs: int, *, search_only: bool) -> int:
    """Runs the tests under the tracer; how many of the two runs failed."""
    traced = ("coverage", "run", "-m", "pytest", "-q")
    plain = (*traced, "-p", "tests.plain_kernels", "-W", "ignore::RuntimeWarning")
    ignored = [f"--ignore={path}" for path in OF_COMPILER]
    failed = run(
        (*plain, *ignored, "tests/search", "tests/fuzz/test_searches.py"),
        folder,
        NUMBA_DISABLE_JIT="1",
    )
    if not search_only:
        several = ("-n", str(jobs), "--dist", "loadfile", "--no-loadscope-reorder")
        failed += run((*traced, *several, "--ignore=tests/search"), folder)
        failed += run((*traced, *OF_COMPILER), folder)
    return failed


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the tests")
    parser.add_argument("--search-only", action="store_true", help="fairseq_mcts/search alone")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the shares; how much is missing of what is wanted."""
    options = make_parser().parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="coverage-"))
    faults = test(folder, options.jobs, search_only=options.search_only)
    run(("coverage", "combine", "--quiet", str(folder)), folder)
    for files, bar in BARS.items():
        if options.search_only and "search" not in files:
            continue
        print(f"== {files}: at least {bar} %", flush=True)
        report = ("coverage", "report", f"--include={files}", "--skip-covered", "--show-missing")
        faults += run((*report, f"--fail-under={bar}"), folder)
    shutil.rmtree(folder)
    return faults


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
