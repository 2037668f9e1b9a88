"""The value head's formulas and its range, which must survive every change of precision."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_mcts.models.value_head import (
    ValueHead,
    bucket_means,
    expected_value,
    hl_gauss_target,
    make_bucket_edges,
    target_bucket,
)
from tests.models.toys import skip_unless_cpu_can

unit = st.floats(0, 1, width=32)


def test_buckets_share_the_range_equally() -> None:
    edges = make_bucket_edges(-1.0, 3.0, 4)
    assert edges.tolist() == [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert bucket_means(edges).tolist() == [-0.5, 0.5, 1.5, 2.5]


@pytest.mark.parametrize(
    ("low", "high", "buckets", "message"),
    [
        (1.0, 1.0, 10, "--value-min must be below --value-max"),
        (0.0, float("nan"), 10, "--value-min must be below --value-max"),
        (0.0, 1.0, 1, "--value-buckets must be at least 2"),
        (1.0, 1.0 + 1e-6, 500, "too many for the range"),
    ],
)
def test_impossible_ranges_are_refused(low: float, high: float, buckets: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_bucket_edges(low, high, buckets)


def test_borders_belong_to_the_upper_bucket_and_the_top_to_the_last() -> None:
    edges = make_bucket_edges(0.0, 1.0, 4)
    scores = torch.tensor([[0.0, 0.2499], [0.25, 0.5], [0.9999, 1.0]])
    assert target_bucket(scores, edges).tolist() == [[0, 0], [1, 2], [3, 3]]


def test_scores_outside_the_range_belong_to_its_ends() -> None:
    edges = make_bucket_edges(0.0, 1.0, 4)
    assert target_bucket(torch.tensor([-5.0, 7.0]), edges).tolist() == [0, 3]


@given(score=unit, buckets=st.integers(2, 700))
def test_a_score_lies_in_its_bucket(score: float, buckets: int) -> None:
    edges = make_bucket_edges(0.0, 1.0, buckets)
    bucket = int(target_bucket(torch.tensor(score), edges))
    assert edges[bucket] <= score <= edges[bucket + 1]


@given(score=unit, sigma=st.floats(0.1, 20))
def test_hl_gauss_is_a_distribution_around_the_score(score: float, sigma: float) -> None:
    edges = make_bucket_edges(0.0, 1.0, 500)
    target = hl_gauss_target(torch.tensor([score]), edges, sigma)
    assert target.shape == (1, 500)
    assert (target >= 0).all()
    assert target.sum().item() == pytest.approx(1, abs=1e-5)
    assert target[0, target_bucket(torch.tensor([score]), edges)] >= target.max() - 1e-4


def test_hl_gauss_keeps_the_mean_away_from_the_ends() -> None:
    edges = make_bucket_edges(0.0, 1.0, 500)
    scores = torch.linspace(0.05, 0.95, 91)
    mean = hl_gauss_target(scores, edges) @ bucket_means(edges)
    torch.testing.assert_close(mean, scores, atol=1e-5, rtol=0)


def test_narrow_hl_gauss_is_one_hot() -> None:
    edges = make_bucket_edges(0.0, 1.0, 10)
    scores = torch.tensor([0.05, 0.35, 0.95])
    one_hot = torch.nn.functional.one_hot(target_bucket(scores, edges), 10).float()
    torch.testing.assert_close(hl_gauss_target(scores, edges, 0.05), one_hot)


def test_hl_gauss_far_outside_the_range_sits_at_its_end() -> None:
    edges = make_bucket_edges(0.0, 1.0, 10)
    target = hl_gauss_target(torch.tensor([-100.0, 100.0]), edges)
    assert target.isfinite().all()
    assert target.argmax(dim=-1).tolist() == [0, 9]


def test_hl_gauss_refuses_no_width() -> None:
    with pytest.raises(ValueError, match="must be positive, got 0"):
        hl_gauss_target(torch.tensor([0.5]), make_bucket_edges(0.0, 1.0, 10), 0.0)


@given(
    logits=st.lists(st.floats(-1e4, 1e4, width=32), min_size=8, max_size=8),
    low=st.floats(-5, 0.5),
    span=st.floats(0.1, 7),
)
def test_values_lie_in_the_range(logits: list[float], low: float, span: float) -> None:
    means = bucket_means(make_bucket_edges(low, low + span, 8))
    value = expected_value(torch.tensor(logits), means).item()
    assert low <= value <= low + span


@pytest.mark.parametrize("score", [0.0, 0.2511, 0.5, 0.737, 1.0])
@pytest.mark.parametrize("soft", [False, True], ids=["one-hot", "hl-gauss"])
def test_a_constant_score_can_be_learned(score: float, soft: bool) -> None:
    """Cross-entropy on the target leads to the score itself, up to a bucket's width."""
    torch.manual_seed(0)
    head = ValueHead(4, low=0.0, high=1.0, buckets=50)
    features = torch.randn(16, 4)
    scores = torch.full((16,), score)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.5)
    target = (hl_gauss_target if soft else target_bucket)(scores, head.bucket_edges)
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(head(features)[0], target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.testing.assert_close(head(features)[1], scores, atol=0.02, rtol=0)


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16], ids=str)
def test_the_range_survives_half_precision(precision: torch.dtype) -> None:
    skip_unless_cpu_can(precision)
    head = ValueHead(4, low=0.1234567, high=0.9876543, buckets=500)
    edges = head.bucket_edges.clone()
    head.to(precision)
    assert head.projection.weight.dtype == precision
    assert head.bucket_edges.dtype == torch.float32
    assert torch.equal(head.bucket_edges, edges)
    assert torch.equal(head.float().bucket_edges, edges)

    logits, value = head.to(precision)(torch.randn(3, 2, 4, dtype=precision))
    assert logits.dtype == precision
    assert value.dtype == torch.float32
    exact = logits.double().softmax(-1) @ bucket_means(edges).double()
    torch.testing.assert_close(value.double(), exact, atol=1e-6, rtol=0)


def test_the_range_travels_with_the_weights() -> None:
    trained = ValueHead(4, low=0.0, high=1.0, buckets=20)
    trained.set_range(-0.25, 0.75)
    assert (trained.low, trained.high, trained.num_buckets) == (-0.25, 0.75, 20)
    loaded = ValueHead(4, low=0.0, high=1.0, buckets=20)
    loaded.load_state_dict(trained.state_dict())
    assert torch.equal(loaded.bucket_edges, trained.bucket_edges)
    features = torch.randn(2, 4)
    assert torch.equal(loaded(features)[1], trained(features)[1])
