"""Rows by sentence and back: whatever their order, nothing is lost or mixed up."""

import numpy as np
import pytest
import torch

from fairseq_mcts.decoding.step_batch import SentenceGroups

CPU = torch.device("cpu")


@pytest.mark.parametrize("multiple", [1, 2, 4])
@pytest.mark.parametrize(
    "sentences",
    [
        [3],
        [0, 1, 2, 5],  # one row each
        [0, 0, 4, 4, 7, 7],  # two rows each
        [0, 0, 1, 1, 1, 2],  # as many rows as two each would be, but unequal
        [0, 1, 1, 3, 3, 3, 3],
        [2, 0, 2, 1, 0],  # out of order
    ],
)
def test_rows_come_back_and_groups_hold_their_own(sentences: list[int], multiple: int) -> None:
    groups = SentenceGroups(np.array(sentences, np.int32), CPU)
    rows = torch.arange(len(sentences) * 3, dtype=torch.float32).view(-1, 3)
    assert groups.sentences.tolist() == sorted(set(sentences))

    grouped = groups.gather(rows, multiple)
    assert len(grouped) == len(set(sentences))
    assert grouped.shape[1] % multiple == 0
    assert torch.equal(groups.scatter(grouped, multiple), rows)
    for sentence, group in zip(groups.sentences.tolist(), grouped, strict=True):
        own = {row for row, one in enumerate(sentences) if one == sentence}
        assert {int(row[0]) // 3 for row in group} == own


def test_the_same_sentences_are_known_by_their_bytes() -> None:
    one = SentenceGroups(np.array([1, 4, 4], np.int32), CPU)
    same = SentenceGroups(np.array([4, 1], np.int32), CPU)
    other = SentenceGroups(np.array([1, 5], np.int32), CPU)
    assert one.sentence_bytes == same.sentence_bytes != other.sentence_bytes
