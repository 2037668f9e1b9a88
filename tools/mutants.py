"""Do the tests notice if the code is wrong? `make mutants` spoils it, one place at a time.

    python -m tools.mutants [search/mbr.py …] [--sample 50] [--seed 1] [--jobs 2] [--work DIR]

Works by cosmic-ray, on a copy of the repository. Every place that can be spoilt is (an operator is
another one, a number is one more, a condition is its opposite, …), in one way each: cosmic-ray
knows ten for a plus. Each mutant is given to the tests of its package until one fails; those that
all tests pass survive, and are printed. Kernels run as plain Python (`tests/plain_kernels.py`): a
mutant need not be compiled. --sample takes so many mutants at random, of hours' worth of them, and
with --work the same command goes on where a killed one was. A mutant that makes the tests take
three times as long as they do on the code as it is counts as noticed: most such never end.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

REPOSITORY = Path(__file__).parents[1]
#: packages under the check, and the tests that must notice
TESTS = {
    "search": ("tests/search", "tests/fuzz/test_searches.py"),
    "criterions": ("tests/criterions",),
    "metrics": ("tests/metrics",),
}
PLAIN = ("-p", "tests.plain_kernels", "-W", "ignore::RuntimeWarning")
OF_COMPILER = "tests/search/test_kernel_cache.py"
#: the one way of spoiling each kind; others are hardly different, or change annotations only
WAYS = re.compile(
    "core/("
    "ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul|"
    "BitAnd_BitOr|BitXor_BitAnd|RShift_LShift|LShift_RShift)|"
    "ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Is_IsNot|IsNot_Is)|"
    "ReplaceUnaryOperator_(Delete_USub|Delete_Invert|Delete_Not)|"
    "ReplaceTrueWithFalse|ReplaceFalseWithTrue|ReplaceAndWithOr|ReplaceOrWithAnd|"
    "ReplaceBreakWithContinue|ReplaceContinueWithBreak|NumberReplacer|AddNot|ZeroIterationForLoop)"
)
HOUR = 3600  # seconds
PATIENCE = 3  # times what the tests take of the code as it is
LEAST_TIMEOUT = 60.0  # seconds
WANTED = 0.9  # share of mutants that are noticed


def files_of(given: Sequence[str]) -> dict[str, list[str]]:
    """The files to be spoilt by package, as paths in the repository."""
    found: dict[str, list[str]] = {}
    for package in TESTS:
        paths = sorted((REPOSITORY / "fairseq_mcts" / package).rglob("*.py"))
        names = [str(path.relative_to(REPOSITORY)) for path in paths]
        chosen = [name for name in names if not name.endswith(("__init__.py", "__main__.py"))]
        if given:
            chosen = [name for name in chosen if any(name.endswith(one) for one in given)]
        if chosen:
            found[package] = chosen
    return found


def copy_repository(folder: Path) -> None:
    """Everything that git knows, with what has changed since."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for name in listed:
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name)


def write_config(folder: Path, package: str, files: Sequence[str], timeout: float) -> str:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += [*PLAIN, f"--ignore={OF_COMPILER}", *TESTS[package]]
    content = (
        "[cosmic-ray]\n"
        f"module-path = {list(files)!r}\n"
        f"timeout = {timeout:.1f}\n"
        "excluded-modules = []\n"
        f"test-command = {shlex.join(command)!r}\n"
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    path = folder / f"{package}.toml"
    path.write_text(content, encoding="utf-8")
    return str(path)


def start_cosmic_ray(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    known = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(folder)}
    command = [str(Path(sys.executable).parent / "cosmic-ray"), *arguments]
    return subprocess.Popen(command, cwd=folder, env=known)


def finish(*started: subprocess.Popen[bytes]) -> None:
    """Waits for all of them; one that has failed ends the run."""
    codes = [process.wait() for process in started]
    if any(codes):
        raise SystemExit(f"cosmic-ray failed ({codes})")


def prepare(session: Path, folder: Path, config: str, options: Any, job: int) -> None:
    """Makes the list of a job's mutants, whole or not at all; one that is there is gone on with."""
    if session.exists():
        return
    unfinished = session.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    finish(start_cosmic_ray(folder, "init", config, str(unfinished)))
    with use_db(str(unfinished), WorkDB.Mode.open) as database:
        leave_out(database, options.sample, options.seed, job, options.jobs)
    unfinished.rename(session)


def leave_out(database: WorkDB, sample: int | None, seed: int, job: int, jobs: int) -> None:
    """Marks the mutants that are not tried, or by another job."""
    items = sorted(database.pending_work_items, key=lambda one: repr(one.mutations))
    tried = [one for one in items if WAYS.fullmatch(one.mutations[0].operator_name)]
    if sample is not None and sample < len(tried):
        tried = random.Random(seed).sample(tried, sample)
    kept = {one.job_id for one in tried[job::jobs]}
    for one in items:
        if one.job_id not in kept:
            database.set_result(one.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))


def tried_and_untried(database: WorkDB) -> tuple[int, int]:
    """How many mutants of a job have been tried, and how many are left."""
    skipped = sum(one.worker_outcome == WorkerOutcome.SKIPPED for _, one in database.results)
    return database.num_results - skipped, database.num_work_items - database.num_results


def survivors(database: WorkDB) -> Iterator[tuple[Any, str]]:
    """The mutants that no test has noticed: where, and what was changed."""
    results = dict(database.results)
    for item in database.work_items:
        result = results.get(item.job_id)
        if result is not None and result.test_outcome == TestOutcome.SURVIVED:
            yield item.mutations[0], result.diff or ""


def check(package: str, files: Sequence[str], work: Path, options: Any) -> tuple[int, int]:
    """Tries the mutants of a package; how many there were, and how many survived."""
    folders = [work / f"job-{job}" for job in range(options.jobs)]
    for folder in folders:  # anew: a mutant of a run that was killed may still be there
        copy_repository(folder)
    begun = time.monotonic()
    # cosmic-ray's own limit is there for tests that never end by themselves
    finish(start_cosmic_ray(folders[0], "baseline", write_config(work, package, files, 6 * HOUR)))
    seconds = time.monotonic() - begun
    config = write_config(work, package, files, max(LEAST_TIMEOUT, PATIENCE * seconds))
    sessions = [work / f"{package}-{job}.sqlite" for job in range(options.jobs)]
    for job, (session, folder) in enumerate(zip(sessions, folders, strict=True)):
        prepare(session, folder, config, options, job)
    done, left = (sum(counts) for counts in zip(*map(progress, sessions), strict=True))
    print(
        f"{package}: {done + left} mutants of {len(files)} files, {done} of them tried before; "
        f"the tests take {seconds:.0f} s",
        flush=True,
    )
    pairs = zip(sessions, folders, strict=True)
    finish(*(start_cosmic_ray(folder, "exec", config, str(one)) for one, folder in pairs))
    found = 0
    for session in sessions:
        with use_db(str(session), WorkDB.Mode.open) as database:
            for mutation, diff in survivors(database):
                lines = [line for line in diff.splitlines() if re.match("[-+][^-+]", line)]
                print(f"survived: {mutation.module_path}:{mutation.start_pos[0]}")
                print("\n".join(f"    {line}" for line in lines))
                found += 1
    return done + left, found


def progress(session: Path) -> tuple[int, int]:
    with use_db(str(session), WorkDB.Mode.open) as database:
        return tried_and_untried(database)


def settle(work: Path, options: Any) -> None:
    """Refuses a folder with a run of other code or options: their results would be mixed."""
    digest = hashlib.sha256()
    for name in ("fairseq_mcts", "tests"):
        for path in sorted((REPOSITORY / name).rglob("*.py")):
            digest.update(path.read_bytes())
    chosen = {name: getattr(options, name) for name in ("files", "sample", "seed", "jobs")}
    settings = json.dumps({**chosen, "code": digest.hexdigest()}, indent=1)
    path = work / "settings.json"
    if path.is_file() and path.read_text(encoding="utf-8") != settings:
        raise SystemExit(f"--work {work}: holds a run of other code, or with other options")
    path.write_text(settings, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the survivors and the share that was noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="ends of paths (default: all)")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of each package")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="mutants that are tried at once")
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help="keeps what is tried: a killed run goes on there"
    )
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        work = options.work and options.work.resolve()
        if work is None:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-")))
        work.mkdir(parents=True, exist_ok=True)
        settle(work, options)
        counts = [
            check(package, files, work, options)
            for package, files in files_of(options.files).items()
        ]
    tried, left = (sum(column) for column in zip(*counts, strict=True))
    print(f"{tried - left} of {tried} mutants were noticed ({1 - left / tried:.1%})")
    return 0 if 1 - left / tried >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
