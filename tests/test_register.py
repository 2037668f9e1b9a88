"""Registration, and the folder for `--user-dir` in a clone; test_packaging has the other one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
#: a user that nobody knows, who may read everything but write nothing of others: Python itself may
#: lie in a folder of root's
STRANGER = (
    *("setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"),
    *("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"),
)


def test_plugin_is_known_to_fairseq_and_a_second_registration_changes_nothing() -> None:
    from fairseq.models import ARCH_MODEL_REGISTRY
    from fairseq.tasks import TASK_REGISTRY

    from fairseq_mcts.register import register

    register()
    task = TASK_REGISTRY["translation_mcts"]
    model = ARCH_MODEL_REGISTRY["multiquery_transformer_tiny"]
    register()

    assert TASK_REGISTRY["translation_mcts"] is task
    assert ARCH_MODEL_REGISTRY["multiquery_transformer_tiny"] is model


def test_fairseq_loads_the_folder_of_a_clone_from_anywhere_and_twice(tmp_path: Path) -> None:
    folder = str(REPOSITORY / "user_dir")
    code = f"""
from argparse import Namespace
from fairseq import tasks, utils
utils.import_user_module(Namespace(user_dir={folder!r}))
utils.import_user_module.memo.clear()
utils.import_user_module(Namespace(user_dir={folder!r}))
print(tasks.TASK_REGISTRY["translation_mcts"].__name__)
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert result.stdout.strip() == "TranslationMctsTask", result.stderr


def test_importing_the_package_loads_neither_torch_nor_fairseq() -> None:
    code = "import fairseq_mcts, sys; print({'torch', 'fairseq', 'numpy'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
    )
    assert result.stdout.strip() == "set()"


def test_a_user_without_home_and_name_can_use_it(tmp_path: Path) -> None:
    """As containers give them: a number, no HOME, and an installation that can't be written."""
    try:
        subprocess.run([*STRANGER, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can become another user")
    code = """
from pathlib import Path
try:
    Path.home()
except RuntimeError:
    from fairseq_mcts.register import register
    register()
    from fairseq_mcts.search.kernel_cache import CACHE_FOLDER
    print(CACHE_FOLDER.parent)
"""
    environment = {name: one for name, one in os.environ.items() if "HOME" not in name}
    environment.pop("NUMBA_CACHE_DIR", None)
    tmp_path.chmod(0o1777)
    result = subprocess.run(
        [*STRANGER, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**environment, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(tmp_path)},
    )
    assert result.stdout.strip() == f"{tmp_path}/fairseq_mcts-54321", result.stderr
