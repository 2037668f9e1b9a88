"""Matches of tokens with their sources: the compiled kernel, tensor operations and plain loops."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from fairseq_mcts.decoding.match_rows import (
    MatchRows,
    SourceMatches,
    match_on_device,
    match_on_host,
)

HEADS, SIZE, SLOTS = 3, 8, 20
LENGTHS = (5, 1, 9)


def random_case(seed: int, rows: int) -> tuple[MatchRows, SourceMatches]:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) * 0.5

    dice = np.random.default_rng(seed)
    slots = torch.from_numpy(dice.permutation(SLOTS)[: 2 * rows])
    sources = SourceMatches(
        said=F.normalize(normal(len(LENGTHS), HEADS, max(LENGTHS), SIZE), dim=-1),
        promised=normal(len(LENGTHS), HEADS, max(LENGTHS), SIZE),
        lengths=torch.tensor(LENGTHS),
        best=normal(SLOTS, HEADS, max(LENGTHS)).clamp(-1, 1),
    )
    given = MatchRows(
        said=F.normalize(normal(rows, HEADS, SIZE), dim=-1),
        promised=normal(rows, HEADS, SIZE),
        sentences=dice.integers(0, len(LENGTHS), rows).astype(np.int32),
        slots=slots[:rows],
        parents=slots[rows:],
        is_empty=torch.from_numpy(dice.random(rows) < 0.2),
        is_word=torch.from_numpy(dice.random(rows) < 0.7),
    )
    return given, sources


def slow_matches(rows: MatchRows, sources: SourceMatches) -> tuple[np.ndarray, np.ndarray]:
    """[n, 3, H] and the best matches [n, H, S] of the rows, by the definition."""
    found = np.zeros((len(rows.said), 3, HEADS))
    kept = np.zeros((len(rows.said), HEADS, max(LENGTHS)))
    for row, sentence in enumerate(rows.sentences):
        length = LENGTHS[sentence]
        for head in range(HEADS):
            said, covered, of_token = [], [], -1.0
            for place in range(length):
                match = -1.0
                if rows.is_word[row]:
                    match = float(rows.said[row, head] @ sources.said[sentence, head, place])
                of_token = max(of_token, match)
                if not rows.is_empty[row]:
                    match = max(match, float(sources.best[rows.parents[row], head, place]))
                kept[row, head, place] = match
                product = float(rows.promised[row, head] @ sources.promised[sentence, head, place])
                said.append(match)
                covered.append(max(match, product / (1 + abs(product))))
            found[row, :, head] = of_token, np.mean(said), np.mean(covered)
    return found, kept


@pytest.mark.parametrize("match", [match_on_host, match_on_device])
@pytest.mark.parametrize("seed", range(10))
def test_matches_are_those_of_the_definition(match: object, seed: int) -> None:
    rows, sources = random_case(seed, rows=1 + seed)
    expected, kept = slow_matches(rows, sources)
    before = sources.best.clone()
    found = match(rows, sources)  # type: ignore[operator]
    np.testing.assert_allclose(found.view(-1, 3, HEADS), expected, atol=1e-5)
    for row, slot in enumerate(rows.slots.tolist()):
        length = LENGTHS[rows.sentences[row]]
        stored = sources.best[slot, :, :length]
        np.testing.assert_allclose(stored, kept[row, :, :length], atol=1e-5)
    others = [slot for slot in range(SLOTS) if slot not in rows.slots.tolist()]
    assert torch.equal(sources.best[others], before[others])


def test_broken_numbers_come_out_as_such() -> None:
    rows, sources = random_case(3, rows=4)
    rows.is_word[:] = True
    rows.said[2] = torch.nan
    found = match_on_host(rows, sources)
    assert found[2].isnan().all()
    assert not found[[0, 1, 3]].isnan().any()
