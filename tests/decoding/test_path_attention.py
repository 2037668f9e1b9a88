"""Attention to ancestors: compiled and in tensor operations it is the same."""

from typing import Any

import numpy as np
import pytest
import torch
from fairseq.modules import MultiheadAttention

from fairseq_mcts.decoding.key_value_pool import KeyValuePool
from fairseq_mcts.decoding.row_attention import MultiHeadRows, MultiQueryRows
from fairseq_mcts.decoding.step_batch import SentenceGroups, StepBatch
from fairseq_mcts.models.multiquery_attention import MultiQueryAttention
from fairseq_mcts.search.tree import NO_NODE

WIDTH, HEADS, SLOTS = 32, 4, 60
DEPTHS = [0, 3, 11, 15, 7]


def make_batch(dice: np.random.Generator) -> StepBatch:
    """Rows of different depths, whose paths share nothing with one another's own slots."""
    paths = np.full((len(DEPTHS), 16), NO_NODE, np.int32)
    for row, depth in enumerate(DEPTHS):
        paths[row, :depth] = dice.choice(SLOTS - len(DEPTHS), depth, replace=False)
        paths[row, depth] = SLOTS - len(DEPTHS) + row
    own = [path[depth] for path, depth in zip(paths, DEPTHS, strict=True)]
    return StepBatch(
        num_requested=len(DEPTHS),
        start_token=2,
        slots=torch.tensor(own, dtype=torch.long),
        tokens=torch.zeros(len(DEPTHS), dtype=torch.long),
        depths=torch.tensor(DEPTHS),
        longest=max(DEPTHS) + 1,
        groups=SentenceGroups(np.arange(len(DEPTHS), dtype=np.int32), torch.device("cpu")),
        numpy_paths=paths,
        dtype=torch.float32,
    )


def make_rows(kind: str) -> Any:
    torch.manual_seed(3)
    if kind == "multi-query":
        return MultiQueryRows(MultiQueryAttention(WIDTH, HEADS, WIDTH // HEADS).eval())
    return MultiHeadRows(MultiheadAttention(WIDTH, HEADS, self_attention=True).eval())


def filled_pool(key_shape: tuple[int, ...]) -> KeyValuePool:
    pool = KeyValuePool(2, key_shape, torch.float32, torch.device("cpu"))
    pool.reserve(SLOTS)
    torch.manual_seed(4)
    for rows in (*pool.keys, *pool.values):
        rows.normal_()
    return pool


@pytest.mark.parametrize("kind", ["multi-query", "multi-head"])
@torch.no_grad()
def test_both_ways_attend_alike_and_remember_the_same(kind: str) -> None:
    rows, batch = make_rows(kind), make_batch(np.random.default_rng(5))
    x = torch.randn(len(DEPTHS), WIDTH)
    compiled, by_tensors = filled_pool(rows.key_shape), filled_pool(rows.key_shape)
    found = rows.attend_path(x, compiled, 1, batch)
    joint = rows._all(x)
    expected = rows._attend_path_on_device(joint, by_tensors, 1, batch)
    torch.testing.assert_close(found, expected)
    for layer in range(2):
        assert torch.equal(compiled.keys[layer], by_tensors.keys[layer])
        assert torch.equal(compiled.values[layer], by_tensors.values[layer])


@torch.no_grad()
def test_nan_in_a_key_shows_in_the_rows_below_it() -> None:
    rows, batch = make_rows("multi-query"), make_batch(np.random.default_rng(5))
    pool = filled_pool(rows.key_shape)
    pool.keys[0][batch.numpy_paths[2, 0]] = torch.nan
    reads = (batch.numpy_paths == batch.numpy_paths[2, 0]).any(axis=1)
    found = rows.attend_path(torch.randn(len(DEPTHS), WIDTH), pool, 0, batch)
    assert found.isnan().any(dim=1).tolist() == reads.tolist()
