"""fairseq-train with the criterions value and hybrid: what validation says, what is saved."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fairseq.data.indexed_dataset import make_dataset

import tests.generators.vowels  # noqa: F401 - registers the metric
from fairseq_mcts.data.scored_folder import SplitNames
from tests.training.conftest import SMALL, STEPS
from tests.training.scored_corpus import json_logs, saved_state

pytestmark = pytest.mark.slow

QUALITIES = (
    *("mae", "mae_finished", "mae_of_mean", "pearson", "pearson_finished", "kendall_finished"),
    *("ece", "mae_part1", "mae_part2", "mae_part3", "mae_part4", "mae_part5"),
)
UPDATES_PER_EPOCH = 7
EVAL_BLEU = (
    *("--eval-bleu", "--eval-bleu-args", '{"beam": 1, "max_len_b": 12}', "--eval-tokenized-bleu"),
    *("--eval-search", "mcts", "--mcts-simulations", "3", "--eval-search-sentences", "5"),
)


@pytest.fixture(scope="module")
def trained(fairseq: Any, policy: str, value_options: Any) -> str:
    """The log of training towards a teacher, with everything that validation can do."""
    output: str = fairseq.run(
        "train",
        *value_options("dual", "--teacher-path", policy, "--finetune-from-model", policy),
        *(*EVAL_BLEU, "--max-epoch", "4", "--tensorboard-logdir", "boards"),
        *("--best-checkpoint-metric", "value_mae", "--keep-best-checkpoints", "1"),
    )
    return output


def test_validation_measures_policy_and_value(trained: str) -> None:
    logs = json_logs(trained, "valid")
    assert len(logs) == 4
    for log in logs:
        for name in QUALITIES:
            assert np.isfinite(log[f"valid_value_{name}"])
        assert log["valid_ppl"] > 1
        assert log["valid_kl_loss"] >= 0
    assert logs[-1]["valid_value_mae"] < logs[0]["valid_value_mae"]
    assert logs[-1]["valid_value_mae"] < logs[-1]["valid_value_mae_of_mean"]
    assert logs[-1]["valid_value_loss"] < logs[0]["valid_value_loss"]
    # the value head alone is new: the policy starts as its teacher
    assert logs[0]["valid_kl_loss"] < 0.5
    assert "value_head: it keeps its initial weights" in trained


def test_best_checkpoint_is_the_one_with_the_least_error(trained: str, fairseq: Any) -> None:
    errors = [log["valid_value_mae"] for log in json_logs(trained, "valid")]
    best = saved_state(fairseq.folder / "dual" / "checkpoint_best.pt")
    assert best["extra_state"]["best"] == pytest.approx(min(errors), abs=1e-3)
    updates = best["optimizer_history"][-1]["num_updates"]
    assert updates == UPDATES_PER_EPOCH * (int(np.argmin(errors)) + 1)


def test_checkpoints_keep_the_values_of_the_last_validation_alone(
    trained: str, fairseq: Any, scored: Path
) -> None:
    state = saved_state(fairseq.folder / "dual" / "checkpoint_last.pt")
    meters = {key: meter for _, key, _, meter in state["extra_state"]["metrics"]["valid"]}
    samples = make_dataset(str(scored / "valid.en-de.de"), impl="mmap")
    positions = sum(len(sample) + 1 for sample in samples)  # each holds its closing eos
    assert len(meters["_values"]["tensor"]) == positions


def test_training_logs_the_losses(trained: str) -> None:
    logs = json_logs(trained, "train")
    assert len(logs) == 4
    for name in ("loss", "policy_loss", "kl_loss", "nll_loss", "value_loss", "ppl"):
        assert np.isfinite(logs[-1][f"train_{name}"])
    # the loss is in bits, its parts in nats
    parts = logs[-1]["train_policy_loss"] + logs[-1]["train_value_loss"]
    assert logs[-1]["train_loss"] == pytest.approx(parts / np.log(2), rel=0.01)


def test_bleu_is_that_of_the_trained_model_against_the_references(
    trained: str, fairseq: Any
) -> None:
    generated = fairseq.run(
        "generate",
        *("scored", "--task", "translation_mcts", "--path", "dual/checkpoint_last.pt", "--cpu"),
        *("--gen-subset", "valid", "--beam", "1", "--max-len-b", "12"),
        *("--scoring", "sacrebleu", "--sacrebleu-tokenizer", "none"),
    )
    log = json_logs(trained, "valid")[-1]
    assert f"BLEU = {log['valid_bleu']:.2f} " in generated
    assert 0 <= log["valid_mcts_bleu"] <= 100


def test_validate_repeats_what_training_said(trained: str, fairseq: Any) -> None:
    output = fairseq.run(
        "validate",
        *("scored", "--task", "translation_mcts", "--path", "dual/checkpoint_last.pt", "--cpu"),
        *("--valid-subset", "valid", "--max-tokens", "500", "--log-format", "json"),
        *("--seed", "7"),  # which sentences are the first ones that --eval-search decodes
    )
    [log] = json_logs(output, "valid")
    reported = json_logs(trained, "valid")[-1]
    names = [f"value_{name}" for name in QUALITIES] + ["loss", "kl_loss", "bleu", "mcts_bleu"]
    for name in names:
        assert log[f"valid_{name}"] == pytest.approx(reported[f"valid_{name}"], abs=2e-3)


def test_a_search_for_a_metric_is_validated_too(fairseq: Any) -> None:
    settings = {"search": "sr", "options": {"sr-samples": 2, "sr-rank-by": "metric"}}
    (fairseq.folder / "sr.json").write_text(json.dumps(settings))
    output = fairseq.run(
        "train",
        *("bin", "--task", "translation_mcts", "--arch", "multiquery_transformer_tiny", *SMALL),
        *("--criterion", "cross_entropy", *STEPS, "--max-update", "1", "--no-save"),
        *("--eval-bleu", "--eval-bleu-args", '{"beam": 1, "max_len_b": 6}', "--eval-search", "sr"),
        *("--eval-search-sentences", "4", "--search-settings", "sr.json"),
        *("--search-metric", "vowels", "--search-post-process", "sentencepiece"),
    )
    [log] = json_logs(output, "valid")
    assert 0 <= log["valid_sr_bleu"] <= 100


def test_checkpoints_are_chosen_by_any_metric_of_a_search(fairseq: Any) -> None:
    output = fairseq.run(
        "train",
        *("bin", "--task", "translation_mcts", "--arch", "multiquery_transformer_tiny", *SMALL),
        *("--criterion", "cross_entropy", *STEPS, "--max-epoch", "3", "--save-dir", "by-chrf"),
        *("--eval-bleu", "--eval-bleu-args", '{"beam": 1, "max_len_b": 6}', "--eval-search", "mbr"),
        *("--mbr-samples", "2", "--search-metric", "chrf", "--eval-search-metric", "chrf"),
        *("--eval-search-sentences", "4", "--search-post-process", "sentencepiece"),
        *("--best-checkpoint-metric", "mbr_chrf", "--maximize-best-checkpoint-metric"),
    )
    scores = [log["valid_mbr_chrf"] for log in json_logs(output, "valid")]
    assert len(scores) == 3 and max(scores) > 0
    best = saved_state(fairseq.folder / "by-chrf" / "checkpoint_best.pt")
    assert best["extra_state"]["best"] == pytest.approx(max(scores), abs=1e-3)


def test_value_range_is_that_of_the_metric_or_of_the_training_scores(
    trained: str, fairseq: Any, scored: Path
) -> None:
    scores = np.load(SplitNames(scored, "train", "en", "de").score)
    edges = saved_state(fairseq.folder / "dual" / "checkpoint_last.pt")["model"][
        "decoder.value_head.bucket_edges"
    ]
    assert len(edges) == 51
    # the metric says how high scores can be, but not how low
    assert (float(edges[0]), float(edges[-1])) == (scores.min(), 1.0)
    assert scores.min() > 0  # so that this tells it from the range without data


def test_tensorboard_gets_the_same_numbers(trained: str, fairseq: Any) -> None:
    try:
        from tensorboard.backend.event_processing import event_accumulator
    except ImportError:
        assert "tensorboard not found, please install with: pip install tensorboard" in trained
        return
    board = event_accumulator.EventAccumulator(str(fairseq.folder / "boards" / "valid"))
    board.Reload()
    errors = [log["valid_value_mae"] for log in json_logs(trained, "valid")]
    assert [event.value for event in board.Scalars("value_mae")] == pytest.approx(errors, abs=1e-4)


@pytest.mark.parametrize("policy_loss", ["reverse-kl", "nll"])
def test_other_policy_losses(
    fairseq: Any, policy: str, value_options: Any, policy_loss: str
) -> None:
    teacher = ("--teacher-path", policy) if policy_loss == "reverse-kl" else ()
    output = fairseq.run(
        "train",
        *value_options(policy_loss, *teacher, "--policy-loss", policy_loss, "--max-epoch", "3"),
    )
    first, _, last = json_logs(output, "valid")
    assert last["valid_policy_loss"] < first["valid_policy_loss"]
    assert last["valid_value_loss"] < first["valid_value_loss"]
    assert ("valid_kl_loss" in last) == (policy_loss == "reverse-kl")


def test_hybrid(fairseq: Any, policy: str, value_options: Any) -> None:
    output = fairseq.run(
        "train",
        *value_options("hybrid", "--teacher-path", policy, criterion="hybrid"),
        *("--max-epoch", "3", "--best-checkpoint-metric", "cheating_value_mae"),
    )
    first, _, last = json_logs(output, "valid")
    for name in QUALITIES:
        assert np.isfinite(last[f"valid_value_{name}"])
        assert np.isfinite(last[f"valid_cheating_value_{name}"])
    for name in ("policy_loss", "value_loss", "cheating_value_loss"):
        assert last[f"valid_{name}"] < first[f"valid_{name}"]
    assert last["valid_distance"] > 0
