"""The wheel that `pip install` builds: what is in it, what it asks for, and that it works."""

import os
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the package in it, unpacked from its wheel."""
    folder = tmp_path_factory.mktemp("packaging")
    source = folder / "source"
    source.mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    for name in ("examples", "fairseq_mcts", "tests", "user_dir"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, source / name, ignore=ignored)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--wheel-dir", str(folder), str(source)),
        ],
        check=True,
    )
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site-packages")
    return folder / "site-packages"


@pytest.fixture(scope="module")
def metadata(site_packages: Path) -> Message:
    [path] = site_packages.glob("*.dist-info/METADATA")
    return Parser().parsestr(path.read_text(encoding="utf-8"))


def test_the_wheel_holds_the_package_and_nothing_else(site_packages: Path) -> None:
    names = {path.name for path in site_packages.iterdir() if path.suffix != ".dist-info"}
    assert names == {"fairseq_mcts"}
    assert (site_packages / "fairseq_mcts" / "py.typed").exists()
    assert (site_packages / "fairseq_mcts" / "report" / "page" / "report.html").exists()
    assert not list(site_packages.rglob("__pycache__"))


def test_requirements_leave_fairseq_torch_and_numpy_to_the_user(metadata: Message) -> None:
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert not [line for line in required if line.startswith("fairseq")]
    for package in ("torch", "numpy"):
        [line] = [line for line in required if line.startswith(package)]
        assert "==" not in line
        assert "<" not in line


def test_extras_version_and_licence(metadata: Message) -> None:
    from fairseq_mcts import __version__

    assert metadata["Version"] == __version__
    assert set(metadata.get_all("Provides-Extra", [])) == {
        *("fairseq", "metrics", "comet", "text", "report", "explore", "tune", "ray", "docs", "dev"),
    }
    assert "MIT" in (metadata["License"] or metadata["License-Expression"])


def run(site_packages: Path, *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=site_packages.parent,
        env={**os.environ, "PYTHONPATH": str(site_packages)},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_fairseq_loads_the_folder_that_the_installed_package_names(site_packages: Path) -> None:
    folder = run(site_packages, "-m", "fairseq_mcts.user_dir")
    assert Path(folder).is_relative_to(site_packages)
    # fairseq puts the parent first on sys.path: nothing there may hide a module of the user
    assert {path.name for path in Path(folder).parent.iterdir()} - {"__pycache__"} == {
        "__init__.py",
        "__main__.py",
        "fairseq_mcts_plugin",
    }

    code = f"""
from argparse import Namespace
from fairseq import models, tasks, utils
utils.import_user_module(Namespace(user_dir={folder!r}))
assert "multiquery_transformer_base" in models.ARCH_MODEL_REGISTRY
import fairseq_mcts
print(fairseq_mcts.__file__, tasks.TASK_REGISTRY["translation_mcts"].__name__)
"""
    path, task = run(site_packages, "-c", code).split()
    assert Path(path).is_relative_to(site_packages)
    assert task == "TranslationMctsTask"
