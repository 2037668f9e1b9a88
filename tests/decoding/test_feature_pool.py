"""The pool keeps what was written, grows without losing it, and counts its bytes."""

import torch

from fairseq_mcts.decoding.feature_pool import FeaturePool


def rows(start: int, count: int) -> torch.Tensor:
    return torch.arange(start, start + count * 5.0).view(count, 5)


def test_rows_come_back_after_growing() -> None:
    pool = FeaturePool()
    pool.write(torch.tensor([2, 0]), rows(0, 2), capacity=3)
    pool.write(torch.tensor([39]), rows(100, 1), capacity=40)
    kept = pool.read(torch.tensor([0, 39, 2, 0]))
    assert kept.equal(torch.stack([rows(0, 2)[1], rows(100, 1)[0], rows(0, 2)[0], rows(0, 2)[1]]))


def test_freed_slots_are_written_anew() -> None:
    pool = FeaturePool()
    pool.write(torch.tensor([1]), rows(0, 1), capacity=2)
    pool.write(torch.tensor([1]), rows(50, 1), capacity=2)
    assert pool.read(torch.tensor([1])).equal(rows(50, 1))


def test_pool_takes_memory_only_if_it_is_used() -> None:
    pool = FeaturePool()
    assert pool.bytes_per_slot == 0
    pool.write(torch.tensor([0]), rows(0, 1).half(), capacity=1)
    assert pool.bytes_per_slot == 5 * 2
