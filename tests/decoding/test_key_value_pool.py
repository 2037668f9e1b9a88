"""The pool keeps what was written, grows without losing it, and counts its bytes."""

import pytest
import torch

from fairseq_mcts.decoding.key_value_pool import KeyValuePool


def make_pool() -> KeyValuePool:
    return KeyValuePool(2, (3, 4), torch.float32, torch.device("cpu"))


def rows(start: int, count: int) -> torch.Tensor:
    return torch.arange(start, start + count * 12.0).view(count, 3, 4)


def test_rows_come_back_along_paths_after_growing() -> None:
    pool = make_pool()
    pool.reserve(4)
    pool.write(1, torch.tensor([2, 0]), rows(0, 2), rows(100, 2))
    pool.reserve(50)
    pool.write(1, torch.tensor([49]), rows(200, 1), rows(300, 1))
    keys, values = pool.read(1, torch.tensor([[0, 49], [2, 2]]))
    assert keys.shape == values.shape == (2, 2, 3, 4)
    assert keys[0].equal(torch.stack([rows(0, 2)[1], rows(200, 1)[0]]))
    assert values[1].equal(torch.stack([rows(100, 2)[0]] * 2))


def test_the_slot_that_padding_reads_holds_zeros_so_that_it_can_be_masked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # unused memory may hold anything
    monkeypatch.setattr(
        torch.Tensor, "new_empty", lambda like, shape: like.new_full(shape, torch.nan)
    )
    pool = make_pool()
    pool.reserve(5)
    keys, values = pool.read(0, torch.tensor([[0]]))
    assert not keys.any() and not values.any()


def test_freed_slots_are_written_anew() -> None:
    pool = make_pool()
    pool.reserve(2)
    pool.write(0, torch.tensor([1]), rows(0, 1), rows(0, 1))
    pool.write(0, torch.tensor([1]), rows(50, 1), rows(60, 1))
    keys, values = pool.read(0, torch.tensor([[1]]))
    assert keys[0].equal(rows(50, 1)) and values[0].equal(rows(60, 1))


def test_pool_never_shrinks_and_knows_its_size() -> None:
    pool = make_pool()
    pool.reserve(8)
    pool.reserve(3)
    assert pool.capacity == 8
    held = sum(one.nbytes for tensors in (pool.keys, pool.values) for one in tensors)
    assert held == 8 * pool.bytes_per_slot
