"""Paired bootstrap: sacrebleu's p-values for its metrics, sense for all others."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from fairseq_mcts.metrics import build_metric, paired_bootstrap


def outputs(texts: list[str], errors: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    spoilt = list(texts)
    for index in rng.choice(len(texts), size=errors, replace=False):
        words = spoilt[index].split()
        words[rng.integers(len(words))] = "falsch"
        spoilt[index] = " ".join(words)
    return spoilt


@pytest.mark.parametrize(("name", "theirs"), [("bleu", BLEU), ("chrf", CHRF)])
def test_same_p_value_as_sacrebleu(toy_pairs, name, theirs, monkeypatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    references = toy_pairs.targets[:80]
    baseline, system = outputs(references, 30, seed=1), outputs(references, 24, seed=2)
    test = PairedTest(
        [("baseline", baseline), ("system", system)],
        {name: theirs(references=[references])},
        references=None,
        test_type="bs",
        n_samples=200,
    )
    _, results = test()
    expected = next(iter(value for key, value in results.items() if key != "System"))[1]

    metric = build_metric(name)
    ours = paired_bootstrap(
        metric,
        metric.statistics(system, references),
        metric.statistics(baseline, references),
        resamples=200,
        seed=77,
    )
    assert ours.score * 100 == pytest.approx(expected.score, abs=1e-9)
    assert ours.p_value == pytest.approx(expected.p_value, abs=1e-12)
    assert 0.01 < ours.p_value < 0.99  # a test that says "certain" would prove nothing
    # sacrebleu sums in float32
    assert ours.mean * 100 == pytest.approx(expected.mean, abs=1e-4)
    assert ours.interval * 100 == pytest.approx(expected.ci, abs=1e-4)


def test_equal_systems_do_not_differ_and_a_far_better_one_does(toy_pairs) -> None:
    metric = build_metric("chrf")
    references = toy_pairs.targets[:100]
    poor = metric.statistics(outputs(references, 90, seed=1), references)
    good = metric.statistics(outputs(references, 5, seed=1), references)
    same = paired_bootstrap(metric, poor, poor, resamples=300, seed=1)
    assert same.p_value > 0.9 and same.difference == 0.0
    better = paired_bootstrap(metric, good, poor, resamples=300, seed=1)
    assert better.p_value < 0.01 and better.difference > 0
    assert better == paired_bootstrap(metric, good, poor, resamples=300, seed=1)
    assert better != paired_bootstrap(metric, good, poor, resamples=300, seed=2)


def test_bad_input_is_refused() -> None:
    metric = build_metric("chrf")
    rows = np.zeros((3, 18))
    with pytest.raises(ValueError, match="3 against 2"):
        paired_bootstrap(metric, rows, rows[:2])
    with pytest.raises(ValueError, match="resamples must be positive"):
        paired_bootstrap(metric, rows, rows, resamples=0)
