"""The searches' kernels as plain Python, so that tools see which of their lines run.

    NUMBA_DISABLE_JIT=1 python -m pytest -p tests.plain_kernels tests/search

Without the compiler, entries of numpy's structured arrays have no attributes, which the kernels
read as numba does (`tree.prefixes[slot].depth`): here the arrays are made of numpy's records, which
have. `tools.coverage` and `tools.mutants` run the tests in this way; it is many times slower.
"""

from __future__ import annotations

import importlib
import os
import pkgutil

import numpy as np

import fairseq_mcts.search


def use_records() -> None:
    """Replaces the types of all entries, in every module that has a name for one."""
    assert os.environ.get("NUMBA_DISABLE_JIT") == "1", "set NUMBA_DISABLE_JIT=1"
    package = fairseq_mcts.search
    names = [one.name for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    for name in names:
        if name.endswith("__main__"):
            continue
        module = importlib.import_module(name)
        for constant, value in list(vars(module).items()):
            if isinstance(value, np.dtype) and value.names and value.type is np.void:
                setattr(module, constant, np.dtype((np.record, value)))


use_records()
