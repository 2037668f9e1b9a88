"""Trained models for the tests of the decoders, made once for all processes of a test run."""

import os

import pytest

import tests.generators.vowels  # noqa: F401 - registers the metric
from fairseq_mcts.register import register
from tests.generators.trained import Trained, prepare


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Models, data and console scripts."""
    register()
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # under xdist each process has a folder of its own in a common one
    return prepare(shared / "trained")
