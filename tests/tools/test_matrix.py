"""What `make matrix` writes, and what it does with an environment that can't be built."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import REPOSITORY
from tools.matrix.__main__ import QUICK_TESTS, reason_not_to_try
from tools.matrix.environments import ENVIRONMENTS, Environment
from tools.matrix.table import BEGIN, END, as_markdown, write_into
from tools.matrix.trial import Outcome, Trial


def test_every_outcome_has_a_row_and_every_untried_one_a_reason(tmp_path: Path) -> None:
    good = Outcome("one", "3.11.7", "fairseq==0.12.2", {"torch": "2.6.0"}, searches=["beam", "sr"])
    bad = Outcome("two", changed=["numpy"], fault="fairseq failed, see two/fairseq.log")
    table = as_markdown([good, bad], {"three": "no Python 3.12 here"})
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows[0][:4] == ["environment", "Python", "fairseq", "torch"]
    assert rows[2][:4] == ["one", "3.11.7", "fairseq==0.12.2", "2.6.0"]
    assert rows[2][-4:-2] == ["none", "2 decoders"] and rows[2][-1] == "works"
    assert rows[3][-4] == "numpy" and rows[3][-1].startswith("fairseq failed")
    assert rows[4][-1] == "not tried: no Python 3.12 here"
    assert len({len(row) for row in rows}) == 1

    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_into(page, table)
    write_into(page, table)
    assert page.read_text() == f"before\n{BEGIN}\n\n{table}\n\n{END}\nafter\n"
    page.write_text("no marks")
    with pytest.raises(ValueError, match=r"^--write .*page\.md: has no line"):
        write_into(page, table)


def test_outcomes_are_kept(tmp_path: Path) -> None:
    outcome = Outcome("one", versions={"torch": "2.6.0"}, added=["numba"], tests="9 passed")
    outcome.save(tmp_path / "outcome.json")
    assert Outcome.load(tmp_path / "outcome.json") == outcome


def test_an_environment_that_can_not_be_built_says_where_its_log_is(tmp_path: Path) -> None:
    environment = Environment("none", "3.11", "torch", "fairseq")
    trial = Trial(environment, "/bin/false", "fairseq", tmp_path / "none", ())
    log = tmp_path / "none" / "venv.log"
    assert trial.run().fault == f"venv failed, see {log}"
    assert log.exists()


def test_what_can_not_be_tried_is_told() -> None:
    [main] = [one for one in ENVIRONMENTS if "{fairseq}" in one.fairseq]
    assert reason_not_to_try(main, None) == "needs --fairseq DIR"
    assert reason_not_to_try(main, Path("here")) is None or "no Python" in str(
        reason_not_to_try(main, Path("here"))
    )
    unknown = Environment("old", "2.0", "torch", "fairseq")
    assert reason_not_to_try(unknown, None) == "no Python 2.0 here"


def test_the_page_has_its_marks_and_the_tests_exist() -> None:
    text = (REPOSITORY / "docs" / "fairseq.md").read_text(encoding="utf-8")
    assert text.index(BEGIN) < text.index(END)
    assert all((REPOSITORY / path).exists() for path in QUICK_TESTS)


def test_a_folder_without_fairseq_is_refused(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "tools.matrix", "--fairseq", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )
    assert result.returncode == 1
    assert result.stderr.strip().endswith(f"--fairseq {tmp_path}: no setup.py")
