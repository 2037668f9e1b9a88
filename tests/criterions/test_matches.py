"""The first comparison of a value head learns the metric's matches, and nothing else does."""

import math
from typing import Any

import pytest
import torch

from fairseq_mcts.criterions.hybrid import HybridCriterion, HybridCriterionConfig
from fairseq_mcts.criterions.value import ValueCriterion, ValueCriterionConfig
from tests.criterions.test_value_and_hybrid import Rows, make_criterion
from tests.decoding.networks import policy_with_comparing_value
from tests.models.toys import DUAL, POLICY, make_model

WEIGHT = 3.0


@pytest.fixture
def model() -> Any:
    """Its head makes three comparisons."""
    policy = make_model(POLICY, joined=True, share_all_embeddings=True, dropout=0.0)
    return policy_with_comparing_value(policy)


def criterion(**options: Any) -> Any:
    return make_criterion(ValueCriterion, ValueCriterionConfig(), policy_weight=0.0, **options)


def batch_with_matches(seed: int = 1) -> dict[str, Any]:
    """Random ones; those of start symbol, eos and padding are never known, nor all of the rest."""
    rows = Rows(seed)
    batch = rows.batch()
    generator = torch.Generator().manual_seed(seed)
    length, width = (
        batch[part][name].shape[1]
        for part, name in (("scored", "prev_output_tokens"), ("net_input", "src_tokens"))
    )
    table = torch.full((len(rows.samples), length, width), math.nan)
    for row, (words, of_sample) in enumerate(zip(rows.sources, rows.samples, strict=True)):
        begin = width - len(words) - 1  # sources are padded on the left
        known = torch.rand(len(of_sample), len(words), generator=generator)
        table[row, 1 : 1 + len(of_sample), begin:-1] = known
    table[2] = math.nan
    table[0, 1] = math.nan
    batch["scored"]["similarities"] = table
    return batch


def slow_match_error(model: Any, batch: dict[str, Any]) -> float:
    """From the head's own parts, one pair of tokens after the other, prefix by prefix."""
    scored = batch["scored"]
    output = model(
        **batch["net_input"],
        prev_output_tokens=scored["prev_output_tokens"],
        source_of_row=scored["source"],
    )[1]
    squares: dict[str, list[float]] = {"pair": [], "sample": [], "source": []}
    tables = zip(output["similarities"].tolist(), scored["similarities"].tolist(), strict=True)
    for found, wanted in tables:
        for a, b in zip(found, wanted, strict=True):
            known = [(one, other) for one, other in zip(a, b, strict=True) if not math.isnan(other)]
            squares["pair"] += [(one - other) ** 2 for one, other in known]
            if known:
                squares["sample"].append((max(a) - max(other for _, other in known)) ** 2)
        for a, b in zip(zip(*found, strict=True), zip(*wanted, strict=True), strict=True):
            of_source = [one for one in b if not math.isnan(one)]
            if of_source:
                squares["source"].append((max(a) - max(of_source)) ** 2)
    return sum(sum(some) / len(some) for some in squares.values())


def test_the_error_is_added_with_its_weight(model: Any) -> None:
    batch = batch_with_matches()
    without, _, log = criterion(match_weight=0.0, value_weight=0.5)(model, batch)
    assert "match_loss" not in log
    loss, _, log = criterion(match_weight=WEIGHT, value_weight=0.5)(model, batch)
    error = slow_match_error(model, batch) * batch["scored"]["ntokens"]
    assert float(log["match_loss"]) == pytest.approx(error, rel=1e-4)
    assert float(loss - without) == pytest.approx(0.5 * WEIGHT * error, rel=1e-3)


def test_similarities_of_a_row_are_those_of_its_own_tokens(model: Any) -> None:
    """The same alone and beside others, and of each prefix."""
    rows = Rows(4)
    whole = rows.batch()
    fed = whole["scored"]["prev_output_tokens"]
    together = model(**whole["net_input"], prev_output_tokens=fed)[1]
    for row, (source, sample) in enumerate(zip(rows.sources, rows.samples, strict=True)):
        width = len(source) + 1
        tokens = whole["net_input"]["src_tokens"][row : row + 1, -width:]
        lengths = torch.tensor([width])
        for words in range(1, len(sample) + 1):
            prefix = fed[row : row + 1, : words + 1]
            alone = model(tokens, lengths, prefix)[1]
            torch.testing.assert_close(
                alone["similarities"][0], together["similarities"][row, : words + 1, -width:]
            )


def test_only_the_first_comparison_is_drawn(model: Any) -> None:
    batch = batch_with_matches()
    head = model.decoder.value_head
    extra = model(**batch["net_input"], prev_output_tokens=batch["scored"]["prev_output_tokens"])[1]
    known = ~batch["scored"]["similarities"].isnan()
    extra["similarities"][known].square().sum().backward()
    size, compared = head.sizes.head_size, head.sizes.heads * head.sizes.head_size
    said = head.said.weight.grad.abs().sum(dim=1)  # [H · d]
    assert bool((said[:size] > 0).all())
    assert not said[size:].any()
    keys = head.source_out.weight.grad.abs().sum(dim=1)  # [2 · H · d] said, promised
    assert bool((keys[:size] > 0).all())
    assert not keys[size : 2 * compared].any()
    for part in (head.promised, head.pool, head.value_in, head.value_out, head.projection):
        assert part.weight.grad is None or not part.weight.grad.any()


def test_training_brings_matches_closer(model: Any) -> None:
    batch = batch_with_matches()
    learn = criterion(match_weight=10.0, value_weight=1.0).train()
    optimiser = torch.optim.Adam(model.decoder.value_head.parameters(), lr=0.01)
    errors = []
    for _ in range(30):
        loss, _, log = learn(model, batch)
        errors.append(float(log["match_loss"]))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert errors[-1] < 0.3 * errors[0]


def test_what_can_not_be_learned_is_refused_only_if_asked_for(model: Any) -> None:
    asked = criterion(match_weight=WEIGHT).train()
    by_default = criterion(value_preset="within-sources").train()
    plain = make_model(DUAL, joined=True, share_all_embeddings=True, value_buckets=20)
    for network, batch, message in (
        (plain, batch_with_matches(), "--match-weight 3.0: the value head compares nothing"),
        (model, Rows(1).batch(), "--match-weight 3.0: the data has no similarities"),
    ):
        with pytest.raises(ValueError, match=message):
            asked(network, batch)
        assert "match_loss" not in by_default(network, batch)[2]
        asked.eval()(network, batch)  # validation data may do without
        asked.train()
    assert "match_loss" in by_default(model, batch_with_matches())[2]
    with pytest.raises(ValueError, match="--match-weight must not be negative"):
        criterion(match_weight=-1.0)
    with pytest.raises(ValueError, match="--match-weight: not with --value-encoder-input"):
        criterion(match_weight=1.0, value_encoder_input="reference")


def test_a_pathway_that_reads_references_has_no_matches(model: Any) -> None:
    model.policy_is_frozen = False
    options = {"policy_loss": "nll", "match_weight": WEIGHT}
    hybrid = make_criterion(HybridCriterion, HybridCriterionConfig(), **options)
    batch = batch_with_matches()
    log = hybrid(model, batch)[2]
    error = slow_match_error(model, batch) * batch["scored"]["ntokens"]
    assert float(log["match_loss"]) == pytest.approx(error, rel=1e-4)
