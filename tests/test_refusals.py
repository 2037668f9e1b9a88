"""Under fairseq's commands the plugin's refusals are one line, and faults keep their traceback."""

import sys
from argparse import Namespace
from collections.abc import Callable

import pytest

from fairseq_mcts.cli.errors import refuse_below_one
from fairseq_mcts.command_help import DEBUG
from fairseq_mcts.compat import DamagedCheckpointError
from fairseq_mcts.decoding.network_evaluator import SearchMemoryError
from fairseq_mcts.literals import evaluate
from fairseq_mcts.refusals import end_in_one_line, is_refusal


def defined_in(module: str, statement: str) -> Callable[[], None]:
    """A function of a module, which does this."""
    names = {"__name__": module}
    exec(f"def act():\n    {statement}", names)
    act: Callable[[], None] = names["act"]  # type: ignore[assignment] # a dictionary of texts
    return act


def raised_by(act: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as found:
        act()
    return found.value


def refuse() -> None:
    refuse_below_one(Namespace(beam=0), "beam")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Starts a program: what stands in for the interpreter's own hook prints this."""

    def start(program: str) -> None:
        monkeypatch.setattr(sys, "argv", [program])
        monkeypatch.setattr(sys, "excepthook", lambda *_: print("Traceback", file=sys.stderr))
        end_in_one_line()
        end_in_one_line()  # a second registration changes nothing

    monkeypatch.delenv(DEBUG, raising=False)
    return start


def shown(error: BaseException, capsys: pytest.CaptureFixture[str]) -> str:
    sys.excepthook(type(error), error, error.__traceback__)
    return capsys.readouterr().err


@pytest.mark.parametrize("program", ["/bin/fairseq-generate", "/lib/fairseq_cli/generate.py"])
def test_a_refusal_is_one_line_that_names_the_command(
    program: str, hook: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    hook(program)
    line = "fairseq-generate: error: --beam 0: must be at least 1 "
    assert shown(raised_by(refuse), capsys) == f"{line}({DEBUG}=1 shows the traceback)\n"


def test_the_traceback_comes_back(
    hook: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hook("fairseq-train")
    monkeypatch.setenv(DEBUG, "1")
    assert shown(raised_by(refuse), capsys) == "Traceback\n"


@pytest.mark.parametrize("program", ["", "program.py", "generate.py", "fairseq-mcts", "pytest"])
def test_other_programs_stay_as_they_are(
    program: str, hook: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    hook(program)
    assert shown(raised_by(refuse), capsys) == "Traceback\n"


@pytest.mark.parametrize(
    "statement", ["raise ValueError('x')", "raise FileNotFoundError('x')", "raise ImportError('x')"]
)
def test_refusals_are_raised_by_the_plugin(statement: str) -> None:
    assert is_refusal(raised_by(defined_in("fairseq_mcts.tasks.some", statement)))
    for other in ("fairseq.tasks.some", "fairseq_mcts_of_others", "__main__"):
        assert not is_refusal(raised_by(defined_in(other, statement)))


@pytest.mark.parametrize(
    "statement", ["int('x')", "open('/gone')", "raise TypeError('x')", "raise KeyboardInterrupt"]
)
def test_faults_are_no_refusals(
    statement: str, hook: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    hook("fairseq-generate")
    fault = raised_by(defined_in("fairseq_mcts.tasks.some", statement))
    assert not is_refusal(fault)
    assert shown(fault, capsys) == "Traceback\n"


def test_errors_of_the_plugins_own_kinds_are_refusals() -> None:
    assert is_refusal(raised_by(lambda: evaluate("open('x')")))
    for kind in (DamagedCheckpointError, SearchMemoryError):
        assert is_refusal(kind("x"))
