"""Several objectives."""

import pytest

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.objectives import (
    Objective,
    judge,
    pareto_front,
    parse_objectives,
    refuse_pruning,
)
from fairseq_mcts.tuning.tables import front_as_text
from tests.tuning.trials import trial

BLEU, CHARGED = Objective("bleu"), Objective("charged")
METRICS = [build_metric("bleu"), build_metric("chrf")]


def test_nobody_beats_the_front() -> None:
    trials = [
        trial(0.3, charged=100),
        trial(0.4, charged=300),
        trial(0.35, charged=300),  # as dear as the one before, and worse
        trial(0.2, charged=50),
        trial(0.2, charged=60),
        trial(0.4, charged=300),  # no better than its equal
    ]
    assert pareto_front(trials, [BLEU, CHARGED]) == [0, 1, 3]
    assert pareto_front(trials, [BLEU]) == [1]


def test_one_metric_among_the_objectives_decides() -> None:
    names = (["chrf"], None, ["bleu"], ["made"], ["chrf", "bleu"])
    judges = [judge(parse_objectives(some, METRICS), METRICS).name for some in names]
    assert judges == ["chrf", "bleu", "bleu", "bleu", "bleu"]


def test_evaluations_give_nothing_up() -> None:
    refuse_pruning("median", [BLEU])
    refuse_pruning(None, [CHARGED, BLEU])
    with pytest.raises(ValueError, match="--prune median: not with --objective charged: "):
        refuse_pruning("median", [CHARGED])
    with pytest.raises(ValueError, match="--prune halving: not with several objectives"):
        refuse_pruning("halving", [BLEU, CHARGED])


def test_the_front_comes_with_flags() -> None:
    settings = [Setting((("beam", number),)) for number in "123"]
    trials = [trial(0.3, charged=100), trial(0.4, charged=300), trial(0.1, charged=200)]
    text = front_as_text(settings, trials, METRICS, [BLEU, CHARGED])
    assert [line.split() for line in text.splitlines()[1:]] == [
        ["bleu", "charged", "flags"],
        ["40.00", "30.0", "--beam", "2"],
        ["30.00", "10.0", "--beam", "1"],
    ]


def test_objectives_are_named() -> None:
    assert parse_objectives(None, METRICS) == [BLEU]
    assert parse_objectives(["chrf", "made"], METRICS) == [Objective("chrf"), Objective("made")]
    with pytest.raises(ValueError, match="--objective ter: is none of bleu, chrf, charged, made"):
        parse_objectives(["ter"], METRICS)
    with pytest.raises(ValueError, match="the same is asked for twice"):
        parse_objectives(["bleu", "bleu"], METRICS)
