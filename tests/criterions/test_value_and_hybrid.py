"""The criterions on a real model equal a slow reference: sentence by sentence, token by token."""

import math
from typing import Any

import pytest
import torch
from fairseq.logging import metrics
from torch import Tensor

from fairseq_mcts.criterions import value_quality
from fairseq_mcts.criterions.hybrid import HybridCriterion, HybridCriterionConfig
from fairseq_mcts.criterions.teacher import Teacher
from fairseq_mcts.criterions.value import (
    ValueCriterion,
    ValueCriterionConfig,
    reading_the_source,
)
from tests.models.toys import DUAL, EOS, PAD, TARGET_WORDS, make_model, toy_task

SOURCE_WORDS = range(4, 14)
SAMPLE_WORDS = range(14, 24)
REFERENCE_WORDS = range(24, 34)  # in references only: their embeddings show who gets a gradient


def sentences(words: range, count: int, seed: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 7, (count,), generator=generator).tolist()
    return [
        torch.randint(words.start, words.stop, (length,), generator=generator).tolist()
        for length in lengths
    ]


class Rows:
    """Random sentences, as rows and as a padded batch."""

    def __init__(self, seed: int, count: int = 5) -> None:
        self.sources = sentences(SOURCE_WORDS, count, seed)
        self.samples = sentences(SAMPLE_WORDS, count, seed + 100)
        self.references = sentences(REFERENCE_WORDS, count, seed + 200)
        self.scores = torch.rand(count, generator=torch.Generator().manual_seed(seed))

    def batch(self) -> dict[str, Any]:
        inputs = pad([[EOS, *sample, EOS] for sample in self.samples], left=False)
        target = pad([[*sample, EOS, PAD] for sample in self.samples], left=False)
        source = pad([[*source, EOS] for source in self.sources], left=True)
        reference = pad([[*one, EOS] for one in self.references], left=True)
        return {
            "net_input": {"src_tokens": source, "src_lengths": source.ne(PAD).sum(1)},
            "scored": {
                "prev_output_tokens": inputs,
                "target": target,
                "score": self.scores,
                "reference": {"src_tokens": reference, "src_lengths": reference.ne(PAD).sum(1)},
                "ntokens": sum(len(sample) + 1 for sample in self.samples),
                "source": torch.arange(len(self.samples)),
                "first": torch.zeros(len(self.samples), dtype=torch.int64),
            },
            "nsentences": len(self.samples),
            "id": torch.arange(len(self.samples)),
        }


def pad(rows: list[list[int]], *, left: bool) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor(
        [
            [PAD] * (width - len(row)) + row if left else row + [PAD] * (width - len(row))
            for row in rows
        ]
    )


def make_criterion(kind: Any, config: Any, **options: Any) -> Any:
    """With the paper's losses, which `slow_losses` computes, unless options say otherwise."""
    for name, value in {"sentence_avg": False, "value_preset": "paper", **options}.items():
        setattr(config, name, value)
    return kind(config, toy_task(joined=True)).eval()


@torch.no_grad()
def slow_losses(model: Any, teacher: Any, rows: Rows, options: dict[str, Any]) -> dict[str, float]:
    """Every loss as a plain sum over single positions of single sentences."""
    sums = dict.fromkeys(("kl", "nll", "value", "cheating", "distance"), 0.0)
    counts = {"policy": 0, "value": 0, "all": 0}
    edges = model.decoder.value_head.bucket_edges
    for source, sample, reference, score in zip(
        rows.sources, rows.samples, rows.references, rows.scores.tolist(), strict=True
    ):
        inputs = [EOS, *sample, EOS]
        bucket = min(int(score * (len(edges) - 1)), len(edges) - 2)
        for position in range(len(inputs)):
            prefix = torch.tensor([inputs[: position + 1]])
            regular = run(model, source, prefix)
            cheating = run(model, reference, prefix)
            counts["all"] += 1
            gap = regular["features"] - cheating["features"]
            sums["distance"] += float((gap**2).mean())
            if options.get("value_positions") != "finished" or position == len(inputs) - 1:
                counts["value"] += 1
                sums["value"] -= float(regular["value_logprobs"][bucket])
                sums["cheating"] -= float(cheating["value_logprobs"][bucket])
            if position < len(inputs) - 1:
                counts["policy"] += 1
                following = [*sample, EOS][position]
                sums["nll"] -= float(regular["logprobs"][following])
                wise = run(teacher, source, prefix)["logprobs"]
                for word in range(TARGET_WORDS + 4):
                    ours, theirs = float(regular["logprobs"][word]), float(wise[word])
                    if options.get("policy_loss") == "reverse-kl":
                        ours, theirs = theirs, ours
                    sums["kl"] += math.exp(ours) * (ours - theirs)
    tokens = counts["policy"]
    for name in ("value", "cheating"):
        sums[name] *= tokens / counts["value"]
    sums["distance"] *= tokens / counts["all"]
    return sums


def run(model: Any, source: list[int], prefix: Tensor) -> dict[str, Tensor]:
    tokens = torch.tensor([[*source, EOS]])
    output = model(tokens, torch.tensor([len(source) + 1]), prefix)
    return {
        "logprobs": model.get_normalized_probs(output, log_probs=True)[0, -1],
        "value_logprobs": torch.log_softmax(output[1]["value_logits"][0, -1], dim=-1),
        "features": output[1]["features"][0, -1],
    }


@pytest.fixture
def model() -> Any:
    return make_model(DUAL, joined=True, share_all_embeddings=True, value_buckets=20, dropout=0.0)


@pytest.fixture
def teacher() -> Any:
    return make_model(DUAL, joined=True, seed=9, value_buckets=20)


class GivenTeacher:
    """A teacher that is at hand instead of in a file."""

    def __init__(self, model: Any) -> None:
        self._model = model

    @torch.no_grad()
    def logprobs(self, net_input: dict[str, Tensor]) -> Tensor:
        return self._model.get_normalized_probs(self._model(**net_input), log_probs=True)


def test_a_teacher_encodes_a_source_once(teacher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []
    encode = teacher.encoder.forward

    def noting(src_tokens: Tensor, **given: Any) -> Any:
        encoded.append(len(src_tokens))
        return encode(src_tokens, **given)

    monkeypatch.setattr(teacher.encoder, "forward", noting)
    of_file = Teacher.__new__(Teacher)
    of_file._models = [teacher.eval()]
    sample = Rows(1).batch()
    shared = {**reading_the_source(sample), "source_of_row": torch.tensor([0, 0, 3, 1, 1])}
    each = {**shared, "source_of_row": torch.arange(5)}
    for name in ("src_tokens", "src_lengths"):
        each[name] = shared[name][shared["source_of_row"]]
        shared[name] = shared[name][:4]
    found, expected = of_file.logprobs(shared), of_file.logprobs(each)
    assert encoded == [4, 5]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("policy_loss", ["kl", "reverse-kl", "nll"])
@pytest.mark.parametrize("positions", ["every", "finished"])
def test_value_criterion(
    model: Any, teacher: Any, seed: int, policy_loss: str, positions: str
) -> None:
    rows = Rows(seed)
    options = {"policy_loss": policy_loss, "value_positions": positions, "value_weight": 0.3}
    criterion = make_criterion(
        ValueCriterion, ValueCriterionConfig(), **{**options, "policy_loss": "nll"}
    )
    criterion.cfg.policy_loss = policy_loss
    criterion._teacher = None if policy_loss == "nll" else GivenTeacher(teacher)
    loss, sample_size, log = criterion(model, rows.batch())
    slow = slow_losses(model, teacher, rows, options)
    policy = slow["nll" if policy_loss == "nll" else "kl"]
    assert sample_size == rows.batch()["scored"]["ntokens"]
    assert float(log["policy_loss"]) == pytest.approx(policy, rel=1e-4)
    assert float(log["nll_loss"]) == pytest.approx(slow["nll"], rel=1e-4)
    assert float(log["value_loss"]) == pytest.approx(slow["value"], rel=1e-4)
    assert float(loss) == pytest.approx(policy + 0.3 * slow["value"], rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_hybrid_criterion(model: Any, teacher: Any, seed: int) -> None:
    rows = Rows(seed)
    criterion = make_criterion(HybridCriterion, HybridCriterionConfig(), policy_loss="nll")
    loss, _, log = criterion(model, rows.batch())
    slow = slow_losses(model, teacher, rows, {})
    assert float(log["cheating_value_loss"]) == pytest.approx(slow["cheating"], rel=1e-4)
    assert float(log["distance"]) == pytest.approx(slow["distance"], rel=1e-4)
    expected = slow["nll"] + 0.1 * slow["value"] + slow["cheating"] + 0.1 * slow["distance"]
    assert float(loss) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("padding", [0, 4])
def test_padding_is_never_counted(model: Any, padding: int) -> None:
    batch = Rows(1).batch()
    wide = {**batch, "scored": dict(batch["scored"])}
    for name in ("prev_output_tokens", "target"):
        rows = batch["scored"][name]
        wide["scored"][name] = torch.nn.functional.pad(rows, (0, padding), value=PAD)
    criterion = make_criterion(HybridCriterion, HybridCriterionConfig(), policy_loss="nll")
    assert float(criterion(model, wide)[0]) == pytest.approx(float(criterion(model, batch)[0]))


def reference_word_gradient(model: Any, **weights: float) -> float:
    """Largest gradient of the embeddings of words that only the references hold."""
    criterion = make_criterion(
        HybridCriterion,
        HybridCriterionConfig(),
        policy_loss="nll",
        # softmax over the vocabulary would reach every row of a tied embedding
        policy_weight=0.0,
        **weights,
    )
    model.zero_grad()
    criterion(model, Rows(2).batch())[0].backward()
    return float(model.encoder.embed_tokens.weight.grad[list(REFERENCE_WORDS)].abs().max())


def test_distance_sends_no_gradient_into_the_cheating_pathway(model: Any) -> None:
    off = {"value_weight": 0.0, "cheating_value_weight": 0.0, "distance_weight": 0.0}
    assert reference_word_gradient(model, **{**off, "distance_weight": 1.0}) == 0.0
    assert float(model.encoder.embed_tokens.weight.grad.abs().max()) > 0.0  # but into the other
    assert reference_word_gradient(model, **{**off, "cheating_value_weight": 1.0}) > 0.0


def test_reference_as_encoder_input(model: Any, teacher: Any) -> None:
    rows = Rows(3)
    criterion = make_criterion(
        ValueCriterion,
        ValueCriterionConfig(),
        policy_weight=0.0,
        value_weight=1.0,
        value_encoder_input="reference",
    )
    loss, _, _ = criterion(model, rows.batch())
    assert float(loss) == pytest.approx(slow_losses(model, teacher, rows, {})["cheating"], rel=1e-4)


def test_validation_measures_values(model: Any) -> None:
    criterion = make_criterion(HybridCriterion, HybridCriterionConfig(), policy_loss="nll")
    with torch.no_grad(), metrics.aggregate("valid") as aggregator:
        logs = [criterion(model, Rows(seed).batch())[2] for seed in (1, 2)]
        criterion.reduce_metrics(logs[:1])
        criterion.reduce_metrics(logs[1:])
    found = aggregator.get_smoothed_values()
    rows = torch.cat([log["_values"] for log in logs])
    errors = (rows[:, 0] - rows[:, 1]).abs()
    finished = rows[:, 3].bool()
    assert len(rows) == sum(len(s) + 2 for seed in (1, 2) for s in Rows(seed).samples)
    assert int(finished.sum()) == 10
    assert found["value_mae"] == pytest.approx(float(errors.mean()), abs=1e-4)
    assert found["value_mae_finished"] == pytest.approx(float(errors[finished].mean()), abs=1e-4)
    for name in ("mae_of_mean", "pearson", "kendall_finished", "ece", "mae_part1", "mae_part5"):
        assert math.isfinite(found[f"value_{name}"])
        assert math.isfinite(found[f"cheating_value_{name}"])
    assert found["ppl"] > 1


def test_validation_compares_the_samples_of_one_source(model: Any) -> None:
    criterion = make_criterion(ValueCriterion, ValueCriterionConfig(), policy_loss="nll")
    rows = Rows(1)
    rows.sources = [rows.sources[0]] * len(rows.sources)
    with torch.no_grad(), metrics.aggregate(new_root=True) as aggregator:
        log = criterion(model, rows.batch())[2]
        criterion.reduce_metrics([log])
    found = aggregator.get_smoothed_values()
    judged = log["_values"]
    values, scores = judged[judged[:, 3].bool(), :2].T
    assert found["value_pearson_within"] == pytest.approx(
        value_quality.pearson(values, scores), abs=1e-4
    )
    chosen = scores[values.argmax()]
    assert found["value_best_gain"] == pytest.approx(float(chosen - scores.mean()), abs=1e-4)
    assert found["score_best_gain"] == pytest.approx(float(scores.max() - scores.mean()), abs=1e-4)
    assert found["value_best_overrated"] == pytest.approx(float(values.max() - chosen), abs=1e-4)
    assert "likelihood_best_gain" not in found  # this model does not tell it

    rows.sources = [
        [*source, word] for word, source in zip(SOURCE_WORDS, rows.sources, strict=False)
    ]
    with torch.no_grad(), metrics.aggregate(new_root=True) as aggregator:
        criterion.reduce_metrics([criterion(model, rows.batch())[2]])
    assert "value_pearson_within" not in aggregator.get_smoothed_values()


@pytest.mark.parametrize(
    ("kind", "config", "options", "joined", "message"),
    [
        (ValueCriterion, ValueCriterionConfig, {}, True, "--teacher-path"),
        (HybridCriterion, HybridCriterionConfig, {"policy_loss": "nll"}, False, "joined-dict"),
        (
            ValueCriterion,
            ValueCriterionConfig,
            {"value_encoder_input": "reference", "policy_loss": "nll"},
            True,
            "--policy-weight 0",
        ),
        (
            ValueCriterion,
            ValueCriterionConfig,
            {"value_encoder_input": "reference", "policy_weight": 0.0},
            False,
            "joined-dict",
        ),
        (ValueCriterion, ValueCriterionConfig, {"value_weight": -1.0}, True, "--value-weight"),
    ],
)
def test_refusals(kind: Any, config: Any, options: Any, joined: bool, message: str) -> None:
    chosen = config()
    for name, value in options.items():
        setattr(chosen, name, value)
    with pytest.raises(ValueError, match=message):
        kind(chosen, toy_task(joined=joined))


def test_data_without_scores_is_refused(model: Any) -> None:
    batch = Rows(1).batch()
    del batch["scored"]
    criterion = make_criterion(ValueCriterion, ValueCriterionConfig(), policy_loss="nll")
    with pytest.raises(ValueError, match="fairseq-mcts-relabel"):
        criterion(model, batch)
