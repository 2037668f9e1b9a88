"""fairseq's console scripts, run as a user runs them, with the plugin."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
SCRIPTS = Path(sys.executable).parent


@dataclass(frozen=True)
class Fairseq:
    """Runs `fairseq-<command>` in one folder, with the plugin."""

    folder: Path
    user_dir: Path = REPOSITORY / "user_dir"

    def command(self, name: str, *options: str) -> list[str]:
        user_dir = [] if name == "score" else ["--user-dir", str(self.user_dir)]
        return [str(SCRIPTS / f"fairseq-{name}"), *user_dir, *options]

    def start(self, name: str, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(name, *options),
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)},
        )

    def run(self, name: str, *options: str, lines: str = "") -> str:
        """Return what the command prints; it must succeed and must not warn."""
        process = self.start(name, *options)
        out, err = process.communicate(lines)
        assert process.returncode == 0, f"{out[-2000:]}\n{err[-4000:]}"
        assert "Warning" not in err, err
        return out

    def fail(self, name: str, *options: str, lines: str = "") -> str:
        """Return what a command says on stderr that must fail."""
        process = self.start(name, *options)
        _, err = process.communicate(lines)
        assert process.returncode != 0
        return err
