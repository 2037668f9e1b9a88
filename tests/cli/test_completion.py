"""The script of --print-completion, sourced by a real bash."""

import logging
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from fairseq_mcts.cli.completion import completion
from fairseq_mcts.command_help import COMMANDS

pytestmark = pytest.mark.slow(seconds=20)

#: calls what bash would call at the Tab key, and prints what it would offer
PRESS_TAB = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
function=$(complete -p "$1" | sed -E 's/.*-F ([^ ]+).*/\\1/')
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "completion.sh"
    path.write_text(completion("bash"), encoding="utf-8")
    return path


def offered(script: Path, *words: str) -> list[str]:
    command = ["bash", "-c", PRESS_TAB, "bash", str(script), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("fairseq-mcts", "re"), {"relabel", "report"}),
        (("fairseq-mcts", ""), set(COMMANDS)),
        (("fairseq-mcts", "sweep", "--sweep-o"), {"--sweep-out"}),
        (("fairseq-mcts", "generate", "--mcts-b"), {"--mcts-backup", "--mcts-below-root"}),
        (("fairseq-mcts", "generate", "--mcts-root", ""), {"puct", "gumbel"}),
        (("fairseq-mcts", "relabel", "--sentencepiece-m"), {"--sentencepiece-model"}),
        (("fairseq-mcts-relabel", "--method", "co"), {"completions"}),
        (("fairseq-mcts-report", "--max-"), {"--max-megabytes"}),
        (("fairseq-mcts-score", "--nothing"), set()),
    ],
)
def test_what_bash_offers(script: Path, words: tuple[str, ...], expected: set[str]) -> None:
    assert set(offered(script, *words)) == expected


def test_every_command_completes_under_both_names(script: Path) -> None:
    for name in COMMANDS:
        for words in (("fairseq-mcts", name), (f"fairseq-mcts-{name}",)):
            assert {"--help", "--version", "--debug"} <= set(offered(script, *words, "--"))


def test_the_process_logs_on_behind_it(script: Path) -> None:
    assert script.exists()
    assert logging.getLogger("fairseq_mcts").isEnabledFor(logging.ERROR)
    assert logging.root.manager.disable == logging.NOTSET


def test_completing_is_fast(script: Path) -> None:
    """No Python is started: fairseq alone would take seconds."""
    begun = time.perf_counter()
    offered(script, "fairseq-mcts", "generate", "--")
    assert time.perf_counter() - begun < 3  # of a busy machine; 0.1 s of an idle one
    assert "python" not in script.read_text(encoding="utf-8")


def test_zsh_accepts_its_script(tmp_path: Path) -> None:
    path = tmp_path / "_fairseq-mcts"
    text = completion("zsh")
    path.write_text(text, encoding="utf-8")
    assert text.startswith("#compdef fairseq-mcts\n")
    for name in COMMANDS:
        assert f"    {name}:'" in text
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n", str(path)], check=True)
