"""The folders for `--user-dir`, as fairseq itself loads them."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def user_dir_of_an_installed_package() -> str:
    printed = subprocess.run(
        [sys.executable, "-m", "fairseq_mcts.user_dir"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    return printed.stdout.strip()


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


@pytest.mark.parametrize("place", ["clone", "package"])
def test_fairseq_loads_the_folder(place: str, tmp_path: Path) -> None:
    folder = str(REPOSITORY / "user_dir")
    environment = {**os.environ}
    environment.pop("PYTHONPATH", None)
    if place == "package":
        folder = user_dir_of_an_installed_package()
        environment["PYTHONPATH"] = str(REPOSITORY)
    code = f"""
from argparse import Namespace
from fairseq import tasks, utils
utils.import_user_module(Namespace(user_dir={folder!r}))
utils.import_user_module(Namespace(user_dir={folder + "/"!r}))
print(tasks.TASK_REGISTRY["translation_mcts"].__name__)
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert result.stdout.strip() == "TranslationMctsTask", result.stderr


def test_the_packaged_folder_has_nothing_beside_it_that_could_hide_a_users_module() -> None:
    """fairseq puts the parent of the folder first on `sys.path`."""
    folder = Path(user_dir_of_an_installed_package())
    modules = {path.stem for path in folder.parent.iterdir() if path.stem != "__pycache__"}
    assert modules == {"__init__", "__main__", "fairseq_mcts_plugin"}


def test_task_options_are_those_of_translation() -> None:
    from fairseq.dataclass.utils import gen_parser_from_dataclass

    from fairseq_mcts.tasks.translation_mcts import TranslationMctsConfig

    parser = argparse.ArgumentParser()
    gen_parser_from_dataclass(parser, TranslationMctsConfig())
    assert parser.parse_args(["bin", "--source-lang", "en"]).source_lang == "en"
