"""Values below their means: against mixtures of distributions written out bucket by bucket."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.decoding.caution import bucket_moments, parse_value_read, read_values
from fairseq_mcts.decoding.member import make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.models.value_head import bucket_means, make_bucket_edges
from fairseq_mcts.search import Hypothesis, Run, decode, make_decoder, run_decoder
from fairseq_mcts.search.constraints import make_constraints
from tests.decoding.networks import (
    BATCH,
    VOCABULARY,
    FullForward,
    cautious_value,
    dual_head,
    fairseq_transformer,
    policy_with_comparing_value,
    policy_with_value,
    sources,
)
from tests.models.toys import EOS

COMMON: dict[str, Any] = {"eos": EOS, "max_len": 7, "forbidden": VOCABULARY.forbidden}
SEARCHES: dict[str, dict[str, Any]] = {
    "mcts": {"search": "mcts", "simulations": 12, "backup": "max", "choose": "value"},
    "vgbs": {"search": "vgbs", "beam": 3, "alpha": 0.7},
    "sr": {"search": "sr", "samples": 8},
}
MODELS: dict[str, Callable[[], Any]] = {
    "plain head": dual_head,
    "tower": lambda: policy_with_value(fairseq_transformer()),
    "comparing": lambda: policy_with_comparing_value(fairseq_transformer()),
}


@given(
    seed=st.integers(0, 2**31),
    members=st.integers(1, 3),
    buckets=st.sampled_from((2, 7, 500)),
    caution=st.sampled_from((0.0, 0.25, 1.0, 3.0)),
)
@settings(max_examples=1000, deadline=None, derandomize=True, database=None)
def test_the_mixture_bucket_by_bucket(
    seed: int, members: int, buckets: int, caution: float
) -> None:
    dice = torch.Generator().manual_seed(seed)
    given_members = []
    for number in range(members):
        edges = make_bucket_edges(-0.5 * number, 1.0, buckets)
        given_members.append((4 * torch.randn(5, buckets, generator=dice), edges))
    moments = [
        bucket_moments(logits, bucket_means(edges), with_variance=caution > 0)
        for logits, edges in given_members
    ]
    found = read_values(moments, caution)
    for row in range(5):
        plain = [(logits[row].double().numpy(), e.double().numpy()) for logits, e in given_members]
        assert found[row].item() == pytest.approx(cautious_value(plain, caution), abs=2e-5)
    assert found.dtype == torch.float32


def test_means_are_read_without_variances() -> None:
    moments = bucket_moments(torch.zeros(2, 4), torch.arange(4.0), with_variance=False)
    assert moments.variance is None
    assert read_values([moments], 0.0) is moments.mean


def test_networks_that_disagree_are_trusted_less() -> None:
    """Two that are sure, of different things: the mixture is as wide as they are apart."""
    sure = torch.tensor([[50.0, 0.0, 0.0], [0.0, 0.0, 50.0]])
    scores = torch.tensor([0.0, 0.5, 1.0])
    each = [bucket_moments(row[None], scores, with_variance=True) for row in sure]
    assert read_values([each[1], each[1]], 1.0).item() == pytest.approx(1.0)
    assert read_values(each, 1.0).item() == pytest.approx(0.0)  # 0.5 - 0.5


def search(
    policies: Sequence[Any], values: Sequence[Any], options: dict[str, Any], caution: float
) -> tuple[list[list[Hypothesis]], float]:
    """What is found, and the bound on values that the search was told."""
    given = dict(options)
    members = make_members(policies, values, VOCABULARY, with_variance=caution > 0)
    evaluator = NetworkEvaluator(members, VOCABULARY, caution=caution)
    evaluator.begin(sources(BATCH))
    decoder = make_decoder(given.pop("search"), given)
    constraints = make_constraints(len(BATCH.src_lengths), **COMMON)
    run = Run(constraints, n_best=2, highest_value=evaluator.highest_value)
    return run_decoder(decoder, run, evaluator).hypotheses, evaluator.highest_value


def assert_like_full_passes(
    policies: Sequence[Any], values: Sequence[Any], options: dict[str, Any], caution: float
) -> None:
    full = FullForward(policies, values, BATCH, caution)
    expected = decode(full, len(BATCH.src_lengths), n_best=2, **COMMON, **options)
    found, highest = search(policies, values, options, caution)
    for ours, truth in zip(found, expected, strict=True):
        assert [one.tokens for one in ours] == [one.tokens for one in truth]
        for one, other in zip(ours, truth, strict=True):
            assert one.value == pytest.approx(other.value, abs=2e-4)
            assert one.value is not None and one.value <= highest


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("kind", MODELS)
def test_searches_by_cautious_values_equal_full_passes(kind: str, name: str) -> None:
    model = MODELS[kind]()
    assert_like_full_passes([model], [model], SEARCHES[name], caution=0.8)


@pytest.mark.parametrize("name", SEARCHES)
def test_ensembles_of_values_are_mixtures(name: str) -> None:
    model = dual_head()
    assert_like_full_passes([model], [model, dual_head(seed=4)], SEARCHES[name], caution=0.8)


def test_caution_lowers_values_and_changes_translations() -> None:
    model = dual_head()
    read = [search([model], [model], SEARCHES["mcts"], caution)[0] for caution in (0.0, 2.0)]
    tokens = [[row[0].tokens for row in rows] for rows in read]
    assert tokens[0] != tokens[1]
    best = [np.mean([row[0].value for row in rows]) for rows in read]
    assert best[1] < best[0] - 0.01


def test_a_head_without_a_distribution_is_refused() -> None:
    class OwnHead(torch.nn.Module):
        def forward(self, features: torch.Tensor) -> tuple[None, torch.Tensor]:
            return None, features.sum(dim=-1)

    model = fairseq_transformer()
    model.decoder.value_head = OwnHead()
    make_members([model], [model], VOCABULARY)
    with pytest.raises(ValueError, match=r"^--value-read lower: a value head of type OwnHead"):
        make_members([model], [model], VOCABULARY, with_variance=True)


@pytest.mark.parametrize(
    ("text", "caution"), [("mean", 0.0), ("lower:0.5", 0.5), ("lower:0", 0.0), ("lower:2", 2.0)]
)
def test_readings_have_names(text: str, caution: float) -> None:
    assert parse_value_read(text) == caution


@pytest.mark.parametrize(
    "text", ["", "lower", "lower:", "lower:-1", "lower:nan", "lower:inf", "mean:1", "upper:1"]
)
def test_other_readings_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^--value-read {text}: must be mean or lower:κ"):
        parse_value_read(text)
