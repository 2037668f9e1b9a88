"""Attention to ancestors and to sources: compiled and in tensor operations it is the same."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from fairseq.modules import MultiheadAttention

from fairseq_mcts.decoding.key_value_pool import KeyValuePool
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.row_attention import MultiHeadRows, MultiQueryRows
from fairseq_mcts.decoding.source_keys import SourceKeysOnDevice, SourceKeysOnHost
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.models.multiquery_attention import MultiQueryAttention
from fairseq_mcts.search.tree import NO_NODE

WIDTH, HEADS, SLOTS = 32, 4, 60
ON_HOST = Placement(torch.device("cpu"), torch.float32)
ON_DEVICE = Placement(torch.device("cpu"), torch.float32, on_host=False)
DEPTHS = [0, 3, 11, 15, 7]


def make_batch(dice: np.random.Generator, sentences: Sequence[int] = range(5)) -> StepBatch:
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
        numpy_slots=np.array(own, np.int32),
        parents=np.full(len(DEPTHS), NO_NODE, np.int32),  # not read here
        tokens=torch.zeros(len(DEPTHS), dtype=torch.long),
        depths=torch.tensor(DEPTHS),
        longest=max(DEPTHS) + 1,
        sentences=np.array(sentences, np.int32),
        numpy_paths=paths,
        dtype=torch.float32,
    )


def make_rows(kind: str) -> Any:
    torch.manual_seed(3)
    if kind == "multi-query":
        return MultiQueryRows(MultiQueryAttention(WIDTH, HEADS, WIDTH // HEADS).eval())
    return MultiHeadRows(MultiheadAttention(WIDTH, HEADS, self_attention=True).eval())


def random_joint(rows: Any) -> torch.Tensor:
    """Queries, keys and values of the rows of a batch."""
    return torch.randn(len(DEPTHS), WIDTH + 2 * math.prod(rows.key_shape))


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
    joint = random_joint(rows)
    compiled, by_tensors = filled_pool(rows.key_shape), filled_pool(rows.key_shape)
    found = ON_HOST.attend_path(rows, joint, compiled, 1, batch)
    expected = ON_DEVICE.attend_path(rows, joint, by_tensors, 1, batch)
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
    found = ON_HOST.attend_path(rows, random_joint(rows), pool, 0, batch)
    assert found.isnan().any(dim=1).tolist() == reads.tolist()


SOURCE_LENGTHS = [16, 1, 7, 13, 4, 30]


def make_sources(rows: Any) -> tuple[list[tuple[torch.Tensor, torch.Tensor]], torch.Tensor]:
    """Keys and values of two layers, garbage behind each source's end, and where that is."""
    shape = (len(SOURCE_LENGTHS), 32, *rows.key_shape)
    is_padding = torch.arange(32) >= torch.tensor(SOURCE_LENGTHS)[:, None]
    keys_values = [(torch.randn(shape), torch.randn(shape)) for _ in range(2)]
    for tensors in keys_values:
        for tensor in tensors:
            tensor[is_padding] *= 1e4
    return keys_values, is_padding


@pytest.mark.parametrize("sentences", [[0, 1, 2, 3, 4], [5, 5, 2, 2, 2], [3, 0, 3, 1, 0]])
@pytest.mark.parametrize("kind", ["multi-query", "multi-head"])
@torch.no_grad()
def test_both_ways_attend_alike_to_sources(kind: str, sentences: list[int]) -> None:
    rows, batch = make_rows(kind), make_batch(np.random.default_rng(5), sentences)
    query = torch.randn(len(sentences), WIDTH)
    given = make_sources(rows)
    compiled, by_tensors = SourceKeysOnHost(*given), SourceKeysOnDevice(*given)
    for layer in (0, 1, 0):
        found = compiled.attend(rows, layer, query, batch)
        torch.testing.assert_close(found, by_tensors.attend(rows, layer, query, batch))
        for row, sentence in enumerate(sentences):
            alone = make_batch(np.random.default_rng(5), [sentence] * len(sentences))
            repeated = query[[row] * len(sentences)]
            assert torch.equal(compiled.attend(rows, layer, repeated, alone)[0], found[row])


@torch.no_grad()
def test_what_the_kernel_does_not_know_takes_tensor_operations() -> None:
    keys_values, is_padding = make_sources(make_rows("multi-query"))
    make_source_keys = ON_HOST.make_source_keys
    assert isinstance(make_source_keys(keys_values, is_padding), SourceKeysOnHost)
    half = Placement(torch.device("cpu"), torch.float16)
    halves = [(keys.half(), values.half()) for keys, values in keys_values]
    assert isinstance(half.make_source_keys(halves, is_padding), SourceKeysOnDevice)
    is_padding[0, 3] = True  # and tokens behind it
    assert isinstance(make_source_keys(keys_values, is_padding), SourceKeysOnDevice)


@pytest.mark.parametrize("kind", ["multi-query", "multi-head"])
@torch.no_grad()
def test_tensor_operations_follow_the_sentences_of_each_batch(kind: str) -> None:
    """Some of them, all of them, others, the same again."""
    rows = make_rows(kind)
    given = make_sources(rows)
    compiled, by_tensors = SourceKeysOnHost(*given), SourceKeysOnDevice(*given)
    for sentences in ([1, 2], [0, 1, 2, 3, 4, 5], [5, 0], [0, 5, 5], [4]):
        count = len(sentences)
        batch = replace(
            make_batch(np.random.default_rng(5)),
            slots=torch.arange(count),
            sentences=np.array(sentences, np.int32),
        )
        query = torch.randn(count, WIDTH)
        for layer in range(2):
            found = by_tensors.attend(rows, layer, query, batch)
            torch.testing.assert_close(found, compiled.attend(rows, layer, query, batch))


@pytest.mark.parametrize("kind", ["multi-query", "multi-head"])
@pytest.mark.parametrize("fault", ["NaN in its last key", "no tokens, as a softmax over nothing"])
@torch.no_grad()
def test_a_faulty_source_shows_in_its_rows(kind: str, fault: str) -> None:
    """The evaluator refuses NaN."""
    rows, batch = make_rows(kind), make_batch(np.random.default_rng(5), [0, 2, 2, 3, 4])
    keys_values, is_padding = make_sources(rows)
    if fault.startswith("NaN"):
        keys_values[0][0][2, SOURCE_LENGTHS[2] - 1] = torch.nan
    else:
        is_padding[2] = True
    query = torch.randn(5, WIDTH)
    found = ON_HOST.make_source_keys(keys_values, is_padding).attend(rows, 0, query, batch)
    assert found.isnan().any(dim=1).tolist() == [False, True, True, False, False]


@torch.no_grad()
def test_long_sources_are_read_to_their_end() -> None:
    """More weights of all heads together than exponentials are taken at a time."""
    rows, batch = make_rows("multi-query"), make_batch(np.random.default_rng(5), [0, 1, 1, 0, 1])
    shape = (2, 1030, *rows.key_shape)
    keys_values = [(torch.randn(shape), torch.randn(shape))]
    is_padding = torch.arange(1030) >= torch.tensor([[1030], [515]])
    query = torch.randn(5, WIDTH)
    compiled, by_tensors = (
        kind(keys_values, is_padding).attend(rows, 0, query, batch)
        for kind in (SourceKeysOnHost, SourceKeysOnDevice)
    )
    torch.testing.assert_close(compiled, by_tensors)
