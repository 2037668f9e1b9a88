"""python -m tools.matrix --fairseq DIR: builds each environment and tries the plugin in it."""

import argparse
import shutil
from pathlib import Path

from tools.matrix.environments import ENVIRONMENTS, Environment
from tools.matrix.table import as_markdown, write_into
from tools.matrix.trial import Outcome, Trial

QUICK_TESTS = (
    *("tests/models", "tests/data", "tests/tasks", "tests/criterions", "tests/test_register.py"),
    *("tests/decoding", "tests/generators", "tests/metrics/test_registry.py"),
)


def make_parser() -> argparse.ArgumentParser:
    names = [one.name for one in ENVIRONMENTS]
    parser = argparse.ArgumentParser(prog="python -m tools.matrix", description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", choices=names, metavar="NAME", help=f"some of {', '.join(names)}")
    add("--fairseq", type=Path, metavar="DIR", help="checkout of fairseq, for its main branch")
    add("--out", type=Path, default=Path("work/matrix"), help="folder for environments and logs")
    add("--tests", nargs="*", default=QUICK_TESTS, help="what pytest runs; nothing: no tests")
    add("--write", type=Path, metavar="PAGE", help="page whose table is replaced")
    return parser


def interpreter(version: str) -> str | None:
    """A Python of this version, of the PATH or of pyenv."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


def reason_not_to_try(one: Environment, fairseq: Path | None) -> str | None:
    if interpreter(one.python) is None:
        return f"no Python {one.python} here"
    if one.source(fairseq) is None:
        return "needs --fairseq DIR"
    return None


def main() -> None:
    options = make_parser().parse_args()
    if options.fairseq is not None and not (options.fairseq / "setup.py").is_file():
        raise SystemExit(f"python -m tools.matrix: error: --fairseq {options.fairseq}: no setup.py")
    out = options.out.resolve()
    outcomes, untried = [], {}
    for one in ENVIRONMENTS:
        kept = out / one.name / "outcome.json"
        why = reason_not_to_try(one, options.fairseq)
        if options.only is not None and one.name not in options.only:
            if kept.exists():
                outcomes.append(Outcome.load(kept))
            else:
                untried[one.name] = "left out"
        elif why is not None:
            untried[one.name] = why
        else:
            python, source = interpreter(one.python), one.source(options.fairseq)
            trial = Trial(one, str(python), str(source), out / one.name, options.tests)
            outcome = trial.run()
            outcome.save(kept)
            outcomes.append(outcome)
    table = as_markdown(outcomes, untried)
    print(table)
    if options.write is not None:
        write_into(options.write, table)
    if any(one.fault for one in outcomes):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
