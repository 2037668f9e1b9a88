"""Follows a page of the documentation as a reader would: writes its files, runs its commands."""

import os
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def follow(page: str, folder: Path) -> str:
    """Writes each python block to the file that its first line names and runs each bash block, in
    their order; returns all that was printed. Anything that fails is an error."""
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    printed = []
    for language, block in re.findall(r"^```(python|bash)\n(.*?)^```$", text, re.M | re.S):
        if language == "python":
            file = folder / block.split("\n")[0].removeprefix("# ")
            file.parent.mkdir(exist_ok=True)
            file.write_text(block, encoding="utf-8")
        else:
            printed.append(_run(block, folder))
    return "".join(printed)


def _run(commands: str, folder: Path) -> str:
    scripts = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env={
            **os.environ,
            "PATH": os.pathsep.join([scripts, os.environ["PATH"]]),
            "PYTHONPATH": str(REPOSITORY),
            "OMP_NUM_THREADS": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout
