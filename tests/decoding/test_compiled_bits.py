"""A run that compiles the kernels and one that loads them from the cache compute the same bits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = """
import hashlib
import numpy as np
from fairseq_mcts.decoding.slot_attention import attend_paths, attend_sources
from fairseq_mcts.search.draw_rows import draw_from_scores
from fairseq_mcts.search.read_rows import RowsRead, TokenRules, read_rows

dice = np.random.default_rng(1)
ROWS, SLOTS, HEADS, SIZE, WORDS, ACTIONS = 200, 700, 4, 64, 1000, 5


def numbers(*shape):
    return dice.standard_normal(shape).astype(np.float32)


def show(*arrays):
    print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest(), flush=True)


for length in (1, 7, 16, 31, 33, 40, 64, 100):
    paths = np.stack([dice.permutation(SLOTS - ROWS)[:length] for _ in range(ROWS)])
    paths[:, -1] = np.arange(SLOTS - ROWS, SLOTS)
    attended = np.empty((ROWS, HEADS, SIZE), np.float32)
    attend_paths(
        numbers(ROWS, (HEADS + 2) * SIZE),
        numbers(SLOTS, 1, SIZE),
        numbers(SLOTS, 1, SIZE),
        paths.astype(np.int32),
        np.full(ROWS, length - 1),
        attended,
    )
    show(attended)
    attend_sources(
        numbers(ROWS, HEADS, SIZE),
        numbers(7, length, HEADS, SIZE),
        numbers(7, length, HEADS, SIZE),
        np.full(7, length, np.int32),
        np.arange(ROWS, dtype=np.int32) % 7,
        attended,
    )
    show(attended)

no_tokens = np.zeros(0, np.int32)
for words in (WORDS, WORDS - 3):
    read = RowsRead(
        np.zeros(ROWS, np.int32),
        np.zeros((ROWS, ACTIONS), np.int32),
        np.zeros((ROWS, ACTIONS)),
        np.zeros((ROWS, ACTIONS)),
        np.zeros(ROWS),
    )
    only_token = np.where(np.arange(ROWS) % 3 == 0, 7, -1).astype(np.int32)
    scores = 3 * numbers(ROWS, words)
    drawn = draw_from_scores(
        scores, np.arange(ROWS, dtype=np.int32), dice.random(ROWS), 0.7
    )
    read_rows(
        scores,
        np.zeros(ROWS, np.bool_),
        np.ones(ROWS, np.bool_),
        only_token,
        no_tokens,
        no_tokens,
        TokenRules(2, np.array([1], np.int32), no_tokens, np.zeros(0)),
        0.8,
        False,
        read,
    )
    show(drawn, *read)
"""


@pytest.mark.slow
def test_compiled_and_loaded_kernels_give_the_same_bits(tmp_path: Path) -> None:
    def run() -> str:
        return subprocess.run(
            [sys.executable, "-c", KERNELS],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        ).stdout

    compiling = run()
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    loading = run()
    assert files
    assert files == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert compiling.splitlines() == loading.splitlines()
