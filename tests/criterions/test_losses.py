"""The losses equal slow, obvious versions: one token at a time, no vectorisation."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from fairseq_mcts.criterions import losses
from fairseq_mcts.models.value_head import make_bucket_edges

BATCH, LENGTH, WORDS, BUCKETS, FEATURES = 5, 7, 11, 13, 6


@pytest.fixture(params=range(5))
def generator(request: pytest.FixtureRequest) -> torch.Generator:
    return torch.Generator().manual_seed(request.param)


def random_logprobs(generator: torch.Generator) -> Tensor:
    logits = 3 * torch.randn(BATCH, LENGTH, WORDS, generator=generator, dtype=torch.float64)
    return torch.log_softmax(logits, dim=-1)


def random_mask(generator: torch.Generator) -> Tensor:
    """Rows of different lengths; the first is full, one has a single position."""
    lengths = torch.randint(1, LENGTH + 1, (BATCH,), generator=generator)
    lengths[0], lengths[-1] = LENGTH, 1
    return torch.arange(LENGTH)[None, :] < lengths[:, None]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_policy_nll(generator: torch.Generator, smoothing: float) -> None:
    logprobs, counted = random_logprobs(generator), random_mask(generator)
    target = torch.randint(0, WORDS, (BATCH, LENGTH), generator=generator)
    expected = 0.0
    for row in range(BATCH):
        for position in range(LENGTH):
            if counted[row, position]:
                for word in range(WORDS):
                    wanted = smoothing / WORDS
                    if word == target[row, position]:
                        wanted += 1 - smoothing
                    expected -= wanted * float(logprobs[row, position, word])
    found = losses.policy_nll(logprobs, target, counted, smoothing)
    assert float(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("from_teacher", [False, True])
def test_policy_kl(generator: torch.Generator, from_teacher: bool) -> None:
    student, teacher = random_logprobs(generator), random_logprobs(generator)
    counted = random_mask(generator)
    expected = 0.0
    for row in range(BATCH):
        for position in range(LENGTH):
            if counted[row, position]:
                for word in range(WORDS):
                    p = float(student[row, position, word])
                    q = float(teacher[row, position, word])
                    left, right = (q, p) if from_teacher else (p, q)
                    expected += math.exp(left) * (left - right)
    found = losses.policy_kl(student, teacher, counted, from_teacher=from_teacher)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_policy_kl_of_equal_policies_is_zero(generator: torch.Generator) -> None:
    logprobs, counted = random_logprobs(generator), random_mask(generator)
    assert float(losses.policy_kl(logprobs, logprobs, counted, from_teacher=False)) == 0.0


@pytest.mark.parametrize("sigma", [None, 0.75, 3.0])
def test_value_cross_entropy(generator: torch.Generator, sigma: float | None) -> None:
    logits = torch.randn(BATCH, LENGTH, BUCKETS, generator=generator)
    scores = torch.rand(BATCH, generator=generator)
    scores[0], scores[1] = 0.0, 1.0  # the ends of the range
    weights = random_mask(generator) * torch.rand(BATCH, LENGTH, generator=generator)
    edges = make_bucket_edges(0.0, 1.0, BUCKETS)
    expected = 0.0
    for row in range(BATCH):
        target = one_target(float(scores[row]), edges.tolist(), sigma)
        for position in range(LENGTH):
            if weights[row, position]:
                total = sum(math.exp(float(one)) for one in logits[row, position])
                for bucket in range(BUCKETS):
                    logprob = float(logits[row, position, bucket]) - math.log(total)
                    expected -= float(weights[row, position]) * target[bucket] * logprob
    found = losses.value_cross_entropy(logits, scores, edges, weights, sigma)
    assert float(found) == pytest.approx(expected, rel=1e-4)


def test_error_within_sources_does_not_count_how_hard_a_source_is(
    generator: torch.Generator,
) -> None:
    values = torch.rand(BATCH, LENGTH, generator=generator)
    scores = torch.rand(BATCH, generator=generator, dtype=torch.float64)
    weights = random_mask(generator) * (1 + torch.rand(BATCH, LENGTH, generator=generator))
    source_of_row = torch.tensor([0, 0, 1, 1, 1])
    expected = 0.0
    for source in (0, 1):
        weighted = [
            (float(weights[row, position]), float(values[row, position] - scores[row]))
            for row in range(BATCH)
            for position in range(LENGTH)
            if source_of_row[row] == source
        ]
        mean = sum(w * error for w, error in weighted) / sum(w for w, _ in weighted)
        expected += sum(w * (error - mean) ** 2 for w, error in weighted)
    found = losses.error_within_sources(values, scores, weights, source_of_row)
    assert float(found) == pytest.approx(expected, rel=1e-4)
    shifted = values + torch.tensor([0.3, -0.2])[source_of_row].unsqueeze(1)
    again = losses.error_within_sources(shifted, scores, weights, source_of_row)
    assert float(again) == pytest.approx(expected, rel=1e-3)


def one_target(score: float, edges: list[float], sigma: float | None) -> list[float]:
    """The distribution over the buckets that a score asks for."""
    if sigma is None:
        for bucket in range(len(edges) - 1):
            if score < edges[bucket + 1] or bucket == len(edges) - 2:
                return [float(one == bucket) for one in range(len(edges) - 1)]
    assert sigma is not None
    width = (edges[-1] - edges[0]) / (len(edges) - 1)
    mass = [0.5 * (1 + math.erf((edge - score) / (sigma * width * math.sqrt(2)))) for edge in edges]
    parts = [above - below for below, above in itertools.pairwise(mass)]
    return [part / sum(parts) for part in parts]


def test_feature_distance_moves_only_the_regular_side(generator: torch.Generator) -> None:
    counted = random_mask(generator)
    regular = torch.randn(BATCH, LENGTH, FEATURES, generator=generator, requires_grad=True)
    cheating = torch.randn(BATCH, LENGTH, FEATURES, generator=generator, requires_grad=True)
    expected = 0.0
    for row in range(BATCH):
        for position in range(LENGTH):
            if counted[row, position]:
                for one in range(FEATURES):
                    difference = (regular[row, position, one] - cheating[row, position, one]).item()
                    expected += difference**2 / FEATURES
    found = losses.feature_distance(regular, cheating, counted)
    assert float(found) == pytest.approx(expected, rel=1e-5)
    found.backward()
    assert cheating.grad is None
    assert regular.grad is not None
    assert bool((regular.grad[counted] != 0).all())
    assert bool((regular.grad[~counted] == 0).all())


def test_last_positions(generator: torch.Generator) -> None:
    counted = random_mask(generator)
    found = losses.last_positions(counted)
    for row in range(BATCH):
        length = int(counted[row].sum())
        assert found[row].nonzero().flatten().tolist() == [length - 1]


def test_match_error(generator: torch.Generator) -> None:
    shape = (2, BATCH, LENGTH, 5)
    found, wanted = torch.randn(shape, generator=generator).double().unbind()
    wanted = wanted.masked_fill(torch.rand(shape[1:], generator=generator) < 0.6, math.nan)
    pairs: list[float] = []
    best: dict[str, list[float]] = {"sample": [], "source": []}
    for own, other in zip(found.numpy(), wanted.numpy(), strict=True):  # [T, S]
        errors = ((own - other) ** 2).flat
        pairs += [error for error in errors if not math.isnan(error)]
        for side, rows in (("sample", (own, other)), ("source", (own.T, other.T))):
            for a, b in zip(*rows, strict=True):
                known = [place for place, one in enumerate(b) if not math.isnan(one)]
                if known:
                    best[side].append((max(a) - max(b[known])) ** 2)
    expected = sum(sum(one) / len(one) for one in (pairs, *best.values()))
    assert float(losses.match_error(found, wanted)) == pytest.approx(expected, rel=1e-5)


def test_unknown_matches_teach_nothing() -> None:
    found = torch.tensor([[[0.5, 1.0, 0.5], [0.5] * 3]], requires_grad=True)
    wanted = torch.full((1, 2, 3), math.nan)
    assert float(losses.match_error(found, wanted)) == 0.0
    wanted[0, 0, 1] = 0.0
    losses.match_error(found, wanted).backward()
    assert found.grad is not None
    # of the pair, of the best match of its sample token and of that of its source token
    assert found.grad.tolist() == [[[0.0, 6.0, 0.0], [0.0] * 3]]
