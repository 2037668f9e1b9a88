"""Benchmarks are scripts that import one another by their bare names, as `python FILE` does."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """What every benchmark sets, and later tests expect."""
    import torch

    torch.set_num_threads(1)
