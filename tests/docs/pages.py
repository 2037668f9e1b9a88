"""Follows a page of the documentation as a reader would: writes its files, runs its commands."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
#: languages of blocks that are files, whose first line is a comment with the file's name
FILES = ("python", "diff")


class Block(NamedTuple):
    """A block of code in a page."""

    language: str
    text: str

    @property
    def file(self) -> str:
        """The name of the file that it is."""
        return self.text.partition("\n")[0].removeprefix("# ")


def blocks(page: str) -> list[Block]:
    """All blocks of a page of docs/ that name a language."""
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    return [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)]


def follow(
    page: str,
    folder: Path,
    wanted: Callable[[Block], bool] = lambda command: True,
    smaller: Callable[[str], str] = lambda text: text,
) -> str:
    """Writes the files of the page and runs those of its bash blocks that are `wanted`, in their
    order, each as `smaller` has it; returns all that was printed.

    Anything that fails is an error, and so is a command that does not print the text block which
    follows it.
    """
    printed: list[str] = []
    last: str | None = None  # what the last command printed; None if it was not wanted
    for block in blocks(page):
        if block.language in FILES:
            file = folder / block.file
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "bash":
            last = run(smaller(block.text), folder) if wanted(block) else None
            printed.append(last or "")
        elif block.language == "text" and last is not None:
            assert block.text in last, f"expected\n{block.text}\nfound\n{last}"
    return "".join(printed)


def run(commands: str, folder: Path, package: Path = REPOSITORY) -> str:
    """What the commands print in `folder`, where Python finds fairseq_mcts in `package`; they must
    succeed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=environment(package),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def environment(package: Path = REPOSITORY) -> dict[str, str]:
    """In which commands find their scripts, and Python finds fairseq_mcts in `package`."""
    scripts = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PYTHONPATH": str(package),
        "PATH": os.pathsep.join([scripts, os.environ["PATH"]]),
        "OMP_NUM_THREADS": "1",
    }
