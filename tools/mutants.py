"""Do the tests notice if the code is wrong? `make mutants` spoils it, one place at a time.

    python -m tools.mutants [search/mbr.py …] [--sample 50] [--seed 1]

Works by cosmic-ray, on a copy of the repository. Every place that can be spoilt is (an operator is
another one, a number is one more, a condition is its opposite, …), in one way each: cosmic-ray
knows ten for a plus. Each mutant is given to the tests of its package until one fails; those that
all tests pass survive, and are printed. Kernels run as plain Python (`tests/plain_kernels.py`): a
mutant need not be compiled. --sample takes so many mutants at random, of hours' worth of them.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
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
TIMEOUT = 1800  # seconds; a mutant that never ends counts as noticed
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


def write_config(folder: Path, package: str, files: Sequence[str]) -> Path:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += [*PLAIN, f"--ignore={OF_COMPILER}", *TESTS[package]]
    content = (
        "[cosmic-ray]\n"
        f"module-path = {list(files)!r}\n"
        f"timeout = {TIMEOUT}\n"
        "excluded-modules = []\n"
        f"test-command = {shlex.join(command)!r}\n"
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    path = folder / f"{package}.toml"
    path.write_text(content, encoding="utf-8")
    return path


def cosmic_ray(folder: Path, *arguments: str) -> None:
    known = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(folder)}
    command = [str(Path(sys.executable).parent / "cosmic-ray"), *arguments]
    subprocess.run(command, cwd=folder, env=known, check=True)


def leave_out(database: WorkDB, sample: int | None, seed: int) -> int:
    """Marks the mutants that are not tried; how many are."""
    items = list(database.pending_work_items)
    tried = [one for one in items if WAYS.fullmatch(one.mutations[0].operator_name)]
    if sample is not None and sample < len(tried):
        tried = random.Random(seed).sample(tried, sample)
    kept = {one.job_id for one in tried}
    for one in items:
        if one.job_id not in kept:
            database.set_result(one.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    return len(tried)


def survivors(database: WorkDB) -> Iterator[tuple[Any, str]]:
    """The mutants that no test has noticed: where, and what was changed."""
    results = dict(database.results)
    for item in database.work_items:
        result = results.get(item.job_id)
        if result is not None and result.test_outcome == TestOutcome.SURVIVED:
            yield item.mutations[0], result.diff or ""


def check(package: str, files: Sequence[str], folder: Path, options: Any) -> tuple[int, int]:
    """Tries the mutants of a package; how many there were, and how many survived."""
    config = str(write_config(folder, package, files))
    session = str(folder / f"{package}.sqlite")
    cosmic_ray(folder, "init", config, session)
    with use_db(session, WorkDB.Mode.open) as database:
        tried = leave_out(database, options.sample, options.seed)
    print(f"{package}: {tried} mutants of {len(files)} files", flush=True)
    cosmic_ray(folder, "baseline", config)
    cosmic_ray(folder, "exec", config, session)
    with use_db(session, WorkDB.Mode.open) as database:
        left = list(survivors(database))
    for mutation, diff in left:
        lines = [line for line in diff.splitlines() if re.match("[-+][^-+]", line)]
        print(f"survived: {mutation.module_path}:{mutation.start_pos[0]}")
        print("\n".join(f"    {line}" for line in lines))
    return tried, len(left)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the survivors and the share that was noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="ends of paths (default: all)")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of each package")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        copy_repository(folder)
        counts = [
            check(package, files, folder, options)
            for package, files in files_of(options.files).items()
        ]
    tried, left = (sum(column) for column in zip(*counts, strict=True))
    print(f"{tried - left} of {tried} mutants were noticed ({1 - left / tried:.1%})")
    return 0 if 1 - left / tried >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
