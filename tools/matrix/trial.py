"""Builds one environment, installs the plugin into it, and tries it out."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools.matrix.environments import BUILD_TOOLS, Environment

REPOSITORY = Path(__file__).parents[2]
PACKAGED = ("fairseq_mcts", "setup.py", "pyproject.toml", "README.md", "LICENSE")
SHOWN = ("torch", "numpy", "hydra-core", "omegaconf", "numba")


@dataclass
class Outcome:
    """What became of an environment."""

    name: str
    python: str = ""
    fairseq: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)  # packages that the plugin's install changed
    added: list[str] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)  # that decoded all lines
    tests: str = ""  # pytest's last line
    fault: str = ""  # what failed, if anything

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> "Outcome":
        return Outcome(**json.loads(path.read_text(encoding="utf-8")))


class StepError(Exception):
    """A command that failed; says which, and where its output is."""


@dataclass(frozen=True)
class Trial:
    """The steps, each of which leaves a log in `folder`."""

    environment: Environment
    interpreter: str
    fairseq: str  # what pip installs
    folder: Path
    tests: Sequence[str]  # for pytest; none: not run

    def run(self) -> Outcome:
        """Goes as far as it gets; an environment that is built already is used as it is."""
        outcome = Outcome(self.environment.name, fairseq=self.fairseq)
        try:
            self._build()
            before = self._freeze("before")
            self._install_plugin()
            after = self._freeze("after")
            outcome.python = self._step("version", self._python, "--version").split()[-1]
            outcome.versions = {name: after[name] for name in SHOWN if name in after}
            outcome.changed = [
                name for name, version in before.items() if after.get(name) != version
            ]
            outcome.added = sorted(after.keys() - before.keys())
            outcome.searches = self._pipeline()
            outcome.tests = self._run_tests()
        except StepError as error:
            outcome.fault = str(error)
        return outcome

    @property
    def _python(self) -> str:
        return str(self.folder / "venv" / "bin" / "python")

    def _build(self) -> None:
        """What the owner of the environment had installed."""
        if (self.folder / "built").exists():
            return
        one = self.environment
        self._step("venv", self.interpreter, "-m", "venv", "--clear", str(self.folder / "venv"))
        # omegaconf 2.0, which fairseq asks for, has metadata that pip 24.1 refuses
        self._pip("pip", "pip<24.1")
        self._pip("torch", *one.torch.split(), *one.others, *BUILD_TOOLS)
        # fairseq compiles against that torch, so pip must not build with another one
        self._pip("fairseq", "--no-build-isolation", self.fairseq, *one.torch.split(), *one.others)
        (self.folder / "built").touch()

    def _install_plugin(self) -> None:
        """As users do, from a copy without what builds leave in a checkout."""
        self._step("uninstall", self._python, "-m", "pip", "uninstall", "-y", "fairseq_mcts")
        source = self.folder / "source"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir()
        for name in PACKAGED:
            path = REPOSITORY / name
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, source / name)
        self._pip("plugin", "--no-build-isolation", str(source))

    def _freeze(self, name: str) -> dict[str, str]:
        """Versions of all packages but the plugin."""
        lines = self._step(f"freeze-{name}", self._python, "-m", "pip", "freeze").splitlines()
        pairs = (re.split(r"==| @ ", line, maxsplit=1) for line in lines)
        versions = {pair[0].lower(): pair[-1] for pair in pairs}
        return {name: one for name, one in versions.items() if name != "fairseq-mcts"}

    def _pipeline(self) -> list[str]:
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        script = Path(__file__).with_name("pipeline.py")
        output = self._step("pipeline", self._python, str(script), str(work))
        searches: list[str] = json.loads(output.splitlines()[-1])["searches"]
        return searches

    def _run_tests(self) -> str:
        if not self.tests:
            return "not run"
        self._pip("pytest", "pytest>=8", "hypothesis>=6.100")
        output = self._step(
            "tests",
            *(self._python, "-m", "pytest", "-q", "-m", "not slow", "-W", "ignore", *self.tests),
            cwd=REPOSITORY,
            may_fail=True,
        )
        return re.sub(r" in [\d.]+s.*", "", output.strip().splitlines()[-1])

    def _pip(self, name: str, *options: str) -> None:
        self._step(name, self._python, "-m", "pip", "install", "--quiet", *options)

    def _step(
        self, name: str, *command: str, cwd: Path | None = None, may_fail: bool = False
    ) -> str:
        """What a command prints to stdout; its log also has stderr."""
        print(f"   {self.environment.name}: {name}", flush=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        log = self.folder / f"{name}.log"
        log.write_text(f"{command}\n{result.stdout}\n{result.stderr}", encoding="utf-8")
        if result.returncode and not may_fail:
            raise StepError(f"{name} failed, see {log}")
        return result.stdout
