"""The searches on networks equal the pure algorithms driven by full forward passes."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from fairseq_mcts.decoding.member import Member, make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.search import Hypothesis, Run, decode, make_decoder, run_decoder
from fairseq_mcts.search.constraints import make_constraints
from tests.decoding.networks import (
    BATCH,
    TRANSFORMERS,
    VOCABULARY,
    FullForward,
    dual_head,
    fairseq_transformer,
    lstm,
    multiquery_policy,
    policy_with_comparing_value,
    policy_with_value,
    sources,
)
from tests.models.toys import EOS, SOURCE_WORDS


def length_metric(sentence: int, tokens: tuple[int, ...]) -> float:
    """Any deterministic function of the text."""
    return ((sum(tokens) * 37 + len(tokens) * 11 + sentence) % 101) / 101


SEARCHES: dict[str, dict[str, Any]] = {
    "mcts_mean": {"search": "mcts", "simulations": 12, "temperature": 0.9},
    "mcts_max": {"search": "mcts", "simulations": 12, "backup": "max", "choose": "value"},
    "mcts_roll": {
        "search": "mcts",
        "simulations": 6,
        "leaf": "rollout",
        "terminal": "metric",
        "metric": length_metric,
    },
    "vgbs": {"search": "vgbs", "beam": 3, "alpha": 0.5, "temperature": 1.3},
    "beam": {"search": "beam", "beam": 4},
    "sr_value": {"search": "sr", "samples": 8, "temperature": 0.7},
    "sr_metric": {
        "search": "sr",
        "samples": 8,
        "top_k": 12,
        "top_p": 0.9,
        "epsilon": 0.01,
        "rank_by": "metric",
        "metric": length_metric,
    },
}
COMMON: dict[str, Any] = {
    "eos": EOS,
    "max_len": 9,
    "min_len": 2,
    "forbidden": VOCABULARY.forbidden,
    "prefixes": [(), (7,), (), (8, 9), ()],
    "no_repeat_ngram_size": 2,
}


def on_network(
    policies: Sequence[Any], values: Sequence[Any], options: dict[str, Any]
) -> list[list[Hypothesis]]:
    given = dict(options)
    constraints = make_constraints(len(BATCH.src_lengths), **COMMON)
    metric, highest = given.pop("metric", None), given.pop("highest_value", np.inf)
    decoder = make_decoder(given.pop("search"), given)
    evaluator = NetworkEvaluator(make_members(policies, values, VOCABULARY), VOCABULARY)
    evaluator.begin(sources(BATCH))
    run = Run(constraints, n_best=2, highest_value=highest)
    return run_decoder(decoder, run, evaluator, metric).hypotheses


def assert_same(
    found: list[list[Hypothesis]], expected: list[list[Hypothesis]], tolerance: float = 2e-4
) -> None:
    for ours, truth in zip(found, expected, strict=True):
        assert [one.tokens for one in ours] == [one.tokens for one in truth]
        for one, other in zip(ours, truth, strict=True):
            np.testing.assert_allclose(
                one.positional_logprobs, other.positional_logprobs, atol=tolerance
            )
            assert (one.value is None) == (other.value is None)
            if one.value is not None:
                assert one.value == pytest.approx(other.value, abs=tolerance)
            assert one.evaluations == other.evaluations


@pytest.mark.parametrize("name", SEARCHES)
def test_multiquery_network_equals_full_passes(name: str) -> None:
    model = dual_head()
    options = SEARCHES[name]
    expected = decode(
        FullForward([model], [model], BATCH), len(BATCH.src_lengths), n_best=2, **COMMON, **options
    )
    assert_same(on_network([model], [model], options), expected)


@pytest.mark.parametrize("name", ["mcts_mean", "vgbs", "sr_value"])
@pytest.mark.parametrize("variant", TRANSFORMERS)
def test_fairseq_transformer_equals_full_passes(variant: str, name: str) -> None:
    policy, value = fairseq_transformer(**TRANSFORMERS[variant]), dual_head()
    options = SEARCHES[name]
    expected = decode(
        FullForward([policy], [value], BATCH), len(BATCH.src_lengths), n_best=2, **COMMON, **options
    )
    assert_same(on_network([policy], [value], options), expected)


@pytest.mark.parametrize("name", ["mcts_mean", "mcts_max", "vgbs", "sr_value"])
@pytest.mark.parametrize("policy", [multiquery_policy, fairseq_transformer])
def test_values_that_compare_with_the_source_equal_full_passes(
    policy: Callable[[], Any], name: str
) -> None:
    model = policy_with_comparing_value(policy())
    options = SEARCHES[name]
    full = FullForward([model], [model], BATCH)
    expected = decode(full, len(BATCH.src_lengths), n_best=2, **COMMON, **options)
    assert_same(on_network([model], [model], options), expected)
    assert np.std([one.value for several in expected for one in several]) > 0.005


@pytest.mark.parametrize("name", SEARCHES)
def test_ensembles_average_probabilities_and_values(name: str) -> None:
    policies = [multiquery_policy(), fairseq_transformer(), dual_head()]
    values = [dual_head(seed=4), policies[2]]
    options = SEARCHES[name]
    expected = decode(
        FullForward(policies, values, BATCH), len(BATCH.src_lengths), n_best=2, **COMMON, **options
    )
    assert_same(on_network(policies, values, options), expected)


@pytest.mark.parametrize("name", ["mcts_mean", "vgbs"])
def test_unknown_decoder_is_recomputed_with_a_warning(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    policy, value = lstm(), dual_head()
    options = SEARCHES[name]
    expected = decode(
        FullForward([policy], [value], BATCH), len(BATCH.src_lengths), n_best=2, **COMMON, **options
    )
    with caplog.at_level(logging.WARNING):
        found = on_network([policy], [value], options)
    assert "slow" in caplog.text and "LSTMDecoder" in caplog.text
    assert_same(found, expected)


def test_vgbs_reads_only_the_policies_of_beams_that_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model = dual_head()
    read = 0
    scores = Member.scores

    def counting(member: Member, features: Any) -> Any:
        nonlocal read
        read += len(features)
        return scores(member, features)

    monkeypatch.setattr(Member, "scores", counting)
    results = on_network([model], [model], {"search": "vgbs", "beam": 4, "alpha": 0.5})
    evaluated = sum(hypotheses[0].evaluations.made for hypotheses in results)
    # of 16 or more proposals a step 4 go on
    assert 0 < read < evaluated / 2


@pytest.mark.parametrize("kind", ["dual head", "tower"])
def test_vgbs_leaves_out_what_no_value_of_the_head_can_save(kind: str) -> None:
    model = dual_head() if kind == "dual head" else policy_with_value(fairseq_transformer())
    evaluator = NetworkEvaluator(make_members([model], [model], VOCABULARY), VOCABULARY)
    head = model.decoder.value_head
    assert head.high < evaluator.highest_value < head.high + 0.001
    options = {"search": "vgbs", "beam": 4, "alpha": 0.3}
    everything = on_network([model], [model], options)
    pruned = on_network([model], [model], {**options, "highest_value": evaluator.highest_value})
    for all_evaluated, some_evaluated in zip(everything, pruned, strict=True):
        assert [one.tokens for one in some_evaluated] == [one.tokens for one in all_evaluated]
        assert [one.score for one in some_evaluated] == [one.score for one in all_evaluated]
        assert some_evaluated[0].evaluations.made < all_evaluated[0].evaluations.made


def test_values_of_a_head_without_a_range_have_no_bound() -> None:
    class OwnHead(torch.nn.Module):
        def forward(self, features: torch.Tensor) -> tuple[None, torch.Tensor]:
            return None, features.sum(dim=-1)

    model, other = fairseq_transformer(), dual_head()
    model.decoder.value_head = OwnHead()
    evaluator = NetworkEvaluator(make_members([model], [model, other], VOCABULARY), VOCABULARY)
    assert evaluator.highest_value == np.inf


@pytest.mark.parametrize("make_model", [dual_head, fairseq_transformer])
@torch.no_grad()
def test_sentences_encoded_by_length_are_what_they_are_in_one_batch(
    make_model: Callable[[], Any],
) -> None:
    model = make_model()
    on_device = Placement(torch.device("cpu"), torch.float32, on_host=False)
    by_length, in_one_batch = (
        Member(model, VOCABULARY, policy=True, value=False, placement=placement)
        for placement in (None, on_device)
    )
    dice = torch.Generator().manual_seed(2)
    given = [
        torch.cat([torch.randint(4, SOURCE_WORDS, (length,), generator=dice), torch.tensor([EOS])])
        for length in (3, 28, 0, 19, 15, 16, 5)
    ]
    found, expected = by_length.encode(given), in_one_batch.encode(given)
    for name in ("encoder_out", "encoder_padding_mask"):
        assert found[name][0].shape == expected[name][0].shape
    assert torch.equal(found["encoder_padding_mask"][0], expected["encoder_padding_mask"][0])
    for sentence, source in enumerate(given):
        torch.testing.assert_close(
            found["encoder_out"][0][: len(source), sentence],
            expected["encoder_out"][0][: len(source), sentence],
        )
