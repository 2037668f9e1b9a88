"""Trained models for the tests of the decoders, made once for all processes of a test run."""

import os

import pytest

from fairseq_mcts.register import register
from tests.generators.trained import Trained, prepare


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Models, data and console scripts."""
    register()
    shared = tmp_path_factory.getbasetemp()
    if (
        "PYTEST_XDIST_WORKER" in os.environ
    ):  # under xdist each process has a folder of its own in a common one
        shared = shared.parent
    return prepare(shared / "trained")
