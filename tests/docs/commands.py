"""The commands of all pages: which there are, what is smaller in a test, and what is not run."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fairseq_mcts.command_help import COMMANDS, PROGRAM
from fairseq_mcts.user_dir import USER_DIR
from tests.docs.command_server import REPOSITORY

#: pages that are followed from the first to the last block by a test of their own
FOLLOWED = {
    "docs/add-a-decoder.md": "tests/docs/test_add_a_decoder.py",
    "docs/add-a-metric.md": "tests/docs/test_add_a_metric.py",
    "docs/fast-architecture.md": "tests/docs/test_fast_architecture.py",
    "examples/existing_checkpoint/README.md": "tests/examples/existing_checkpoint/test_readme.py",
}
#: pages whose commands are alternatives: each begins without what the others have made
ALTERNATIVES = ("docs/scale.md",)
#: what is smaller than on the page, so that a command takes a second or two
SMALLER = {
    r"--limit-sources \d+:\d+": "--limit-sources 10:14",
    r"--limit-sources \d+(?!:)\b": "--limit-sources 6",
    r"--samples 16": "--samples 2",
    r"--(search-budget|mcts-simulations) \d+": r"--\1 4",
    r"--(mbr|sr)-samples \d+": r"--\1-samples 6",
    r"--nbest 20": "--nbest 6",
    r"--sweep-sentences \d+": "--sweep-sentences 6",
    r"--sweep vgbs-alpha=\S+": "--sweep vgbs-alpha=0.3,0.9",
    r"--sweep length-bonus-bonus": "--sweep length-bonus-bonus=0,0.2",
    r"mcts-simulations=5\.\.100:log": "mcts-simulations=2..6:log",
    r"--trials \d+": "--trials 3",
    r"--(total-num|max)-update \d+": r"--\1-update 3",
    r"--warmup-updates \d+": "--warmup-updates 1",
    r"--max-epoch \d+": "--max-update 2",
    r"--workers 8": "--workers 2",
    r"_transformer_(base|small)\b": "_transformer_tiny",
    r"^(fairseq-mcts.plan) ": r"\1 --seconds 1 ",
    r"^fairseq-mcts relabel ": "fairseq-mcts relabel --subset valid ",
    r"^python -m examples\.expert_iteration ": "python -m examples.expert_iteration --rounds 0 "
    "--first-sources 4 --further-sources 2 --first-updates 2 --further-updates 2 "
    "--policy-updates 2 --judged-sources 4 --budget 2 ",
}
_TEXT = "--bpe sentencepiece --sentencepiece-model sp.model"
#: what an ellipsis stands for
ELLIPSES = {
    "fairseq-generate": "data-bin --user-dir user_dir --task translation_mcts --path value.pt "
    f"{_TEXT}",
    "fairseq-mcts-generate": f"data-bin --path value.pt --search mcts {_TEXT}",
    "fairseq-mcts-relabel": f"data-bin --path policy.pt --metric bleu {_TEXT}",
    "fairseq-mcts-sweep": "data-bin --path value.pt --search vgbs --sweep vgbs-alpha=0.3,0.9 "
    f"--sweep-metric bleu {_TEXT}",
    "fairseq-train": "--optimizer adam --lr 0.001 --max-tokens 1000 --max-update 2 --save-dir more",
}
#: what a shell would put in
EXPANSIONS = {
    '"$(python -m fairseq_mcts.user_dir)"': str(USER_DIR),
    '"$(which fairseq-train)"': "fairseq-train",
    "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT": "0/1",
    "$SLURM_CPUS_PER_TASK": "2",
}


class NotRun(NamedTuple):
    """A command that no test can run."""

    pattern: str
    reason: str


NOT_RUN = (
    NotRun(r"pip install", "changes the environment; tests/test_packaging.py installs the wheel"),
    NotRun(r"make (test|setup)$", "is what runs this test, and its set-up"),
    NotRun(
        r"(make demo$|\.venv/bin/python -m examples\.demo)",
        "ten minutes; tests/examples/demo runs a smaller one",
    ),
    NotRun(r"make (fuzz|coverage|mutants)\b", "an hour or more; tests/fuzz has some of the cases"),
    NotRun(r"python -m tools\.coverage", "an hour or more"),
    NotRun(r"(ONEDNN_\S+ )?python benchmarks/", "some minutes; tests/benchmarks runs smaller ones"),
    NotRun(r"\.venv/bin/pre-commit install$", "changes the clone's hooks"),
    NotRun(r".* --engine ray --ray-address auto$", "needs a cluster; tests/work starts one"),
    NotRun(
        r"python -m examples\.budget_curves",
        "half an hour; tests/examples/budget_curves runs a smaller one",
    ),
    NotRun(r"python -m examples\.multi30k", "trains for a day; tests/examples/multi30k has parts"),
)


class Command(NamedTuple):
    """One command of a page, as it stands there."""

    page: str
    text: str

    @property
    def not_run(self) -> NotRun | None:
        return next((one for one in NOT_RUN if re.match(one.pattern, self.text)), None)

    def words(self) -> list[str]:
        """As a test runs it."""
        text = self.text.removeprefix("srun ")
        for written, meant in EXPANSIONS.items():
            text = text.replace(written, meant)
        program = text.split()[0]
        text = text.replace("…", ELLIPSES.get(program, "…"))
        text = re.sub(r"\[(--.*?)\]", r"\1", text)  # options that may be left out are given
        for pattern, smaller in SMALLER.items():
            text = re.sub(pattern, smaller, text)
        return shlex.split(text, comments=True)


HELP = "--help"


def page_names() -> list[str]:
    """All pages that hold commands, relative to the repository."""
    found = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]
    found += sorted((REPOSITORY / "docs").glob("*.md"))
    found += sorted((REPOSITORY / "examples").glob("*/README.md"))
    return [path.relative_to(REPOSITORY).as_posix() for path in found]


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Language and text of every block of code."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    yield from re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)


def commands(page: str) -> list[Command]:
    """All commands of a page, in their order."""
    found: list[Command] = [] if page != HELP else examples_of_help()
    for language, text in () if page == HELP else blocks(page):
        if language == "bash" or (not language and text.startswith("make ")):
            found += [Command(page, line) for line in _logical_lines(text)]
    return found


def examples_of_help() -> list[Command]:
    """The examples that the commands' --help shows."""
    return [
        Command(HELP, f"{PROGRAM} {name} {example}")
        for name, command in COMMANDS.items()
        for example in command.examples
    ]


def split_commands(text: str) -> list[list[str]]:
    """Commands of a script, word by word."""
    return [shlex.split(line) for line in _logical_lines(text)]


def _logical_lines(text: str) -> list[str]:
    joined = re.sub(r" *\\\n *", " ", text)
    lines = (re.sub(r"\s+# .*$", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def python_files(page: str, folder: Path) -> list[Path]:
    """Writes the Python of a page, each block to a file."""
    found = []
    for number, (language, text) in enumerate(blocks(page)):
        if language == "python":
            path = folder / f"block_{number}.py"
            path.write_text(text, encoding="utf-8")
            found.append(path)
    return found
