"""fairseq's commands as processes of their own, without the seconds that importing takes each."""

import importlib
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import fairseq_mcts.register  # noqa: F401 - what the forked processes need not import again
from tests.cli.relabel import forked
from tests.console import Fairseq


@dataclass(frozen=True)
class ForkedFairseq(Fairseq):
    """Runs `fairseq-<command>` in one folder, with the plugin."""

    def launch(self, name: str, *options: str) -> Callable[[], forked.Ended]:
        """Start a command; what is returned waits for its end."""
        label = f"process-{time.monotonic_ns()}"
        process = self._fork(label, name, options)
        return partial(forked.wait, process, self.folder, label)

    def run(self, name: str, *options: str, lines: str = "") -> str:
        """Return what the command prints; it must succeed and must not warn."""
        assert not lines, "a forked process has no input"
        ended = self.launch(name, *options)()
        assert ended.code == 0, f"{ended.out[-2000:]}\n{ended.err[-4000:]}"
        assert "Warning" not in ended.err, ended.err
        return ended.out

    def fail(self, name: str, *options: str) -> str:
        """Return what a command says on stderr that must fail."""
        ended = self.launch(name, *options)()
        assert ended.code != 0
        return ended.err

    def kill_at(self, text: str, name: str, *options: str) -> None:
        """Start a command and kill it as soon as it has printed a text."""
        label = f"process-{time.monotonic_ns()}"
        process = self._fork(label, name, options)
        output = self.folder / f"{label}.out"
        while not (output.exists() and text in output.read_text()):
            assert not os.waitpid(process, os.WNOHANG)[0], f"ended without {text}"
            time.sleep(0.02)
        os.kill(process, signal.SIGKILL)
        assert forked.wait(process, self.folder, label).code == forked.KILLED

    def _fork(self, label: str, name: str, options: tuple[str, ...]) -> int:
        arguments = self.command(name, *options)[1:]
        return forked.start(partial(_command, name), self.folder, arguments, label)


def _command(name: str) -> None:
    # the handlers of pytest; the command's own are made when its module is imported, here and now
    logging.getLogger().handlers.clear()
    sys.modules.pop(f"fairseq_cli.{name}", None)
    importlib.import_module(f"fairseq_cli.{name}").cli_main()
