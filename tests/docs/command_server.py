"""Runs commands as their console scripts would, without importing torch and fairseq for each.

A process imports the heavy packages once and forks for every command. It imports nothing that
registers the plugin: each command has to do that by itself.
"""

import importlib
import json
import logging
import os
import re
import runpy
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

REPOSITORY = Path(__file__).parents[2]
PRELOADED = (
    *("torch", "transformers", "numba", "sacrebleu", "sentencepiece", "optuna", "fairseq"),
    *("fairseq.models.transformer", "fairseq.trainer"),
)


class Printed(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


class CommandServer:
    """The process that forks."""

    def __init__(self, scratch: Path) -> None:
        self._out, self._err = scratch / "out", scratch / "err"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.docs.command_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
        )

    def __enter__(self) -> "CommandServer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def run(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> Printed:
        """What a command, the name of a console script or `python -m MODULE` first, has printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {
            "words": list(words),
            "folder": str(folder),
            "environment": dict(environment or {}),
            "out": str(self._out),
            "err": str(self._err),
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the server of commands has died"
        out, err = (path.read_text(encoding="utf-8") for path in (self._out, self._err))
        return Printed(int(answer), out, err)


def console_scripts() -> dict[str, Any]:
    """Entry points by the names of the commands."""
    return {point.name: point for point in entry_points(group="console_scripts")}


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever packages print when they are imported
    for name in PRELOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)


def _become(asked: dict[str, Any]) -> NoReturn:
    """Runs the command and ends the process, as an interpreter would."""
    for path, descriptor in ((os.devnull, 0), (asked["out"], 1), (asked["err"], 2)):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, flags, 0o600), descriptor)
    os.chdir(asked["folder"])
    os.environ.update(asked["environment"])
    if not re.fullmatch(r"fairseq-(?!mcts)\S+", asked["words"][0]):
        # the plugin's commands import fairseq without what it does to logging; fairseq's do not
        root = logging.getLogger()
        root.handlers.clear()
        root.setLevel(logging.WARNING)
    code = 0
    try:
        _call(asked["words"])
    except SystemExit as end:
        code = _exit_code(end.code)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _exit_code(given: Any) -> int:
    if given is None or isinstance(given, int):
        return given or 0
    print(given, file=sys.stderr)
    return 1


def _call(words: list[str]) -> None:
    if words[0] == "python":
        flag, name, *arguments = words[1:]
        sys.argv = [name, *arguments]
        sys.path.insert(0, os.getcwd())
        if flag == "-m":
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            assert flag == "--file", flag
            runpy.run_path(name, run_name="__main__")
        return
    sys.argv = list(words)
    sys.exit(console_scripts()[words[0]].load()())


if __name__ == "__main__":
    _serve()
