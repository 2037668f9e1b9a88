"""The setting that a sweep chooses, with and without bounds on other metrics."""

import pytest

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.tuning.choice import choose, parse_bounds
from tests.tuning.trials import trial

METRICS = [build_metric("bleu"), build_metric("chrf")]
TRIALS = [
    trial(bleu=0.30, chrf=0.60),
    trial(bleu=0.34, chrf=0.585),
    trial(bleu=0.38, chrf=0.55),
    trial(bleu=0.34, chrf=0.59),
]


@pytest.mark.parametrize(
    ("bounds", "chosen"),
    [
        ([], 2),
        (["chrf=100"], 2),
        (["chrf=1.6"], 1),  # of the two equal ones the first
        (["chrf=1.2"], 3),
        (["chrf=0"], 0),
        (["chrf=1.2", "bleu=5"], 3),
    ],
)
def test_the_best_within_all_bounds_is_chosen(bounds: list[str], chosen: int) -> None:
    assert choose(TRIALS, "bleu", parse_bounds(bounds, METRICS)) == chosen


def test_bounds_that_no_setting_keeps_are_named() -> None:
    bounds = parse_bounds(["chrf=0.5", "bleu=1"], METRICS)
    with pytest.raises(ValueError, match=r"--keep chrf=0.5 --keep bleu=1: no setting"):
        choose(TRIALS, "bleu", bounds)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["ter=1"], r"--keep ter=1: ter is no --sweep-metric \(there are bleu, chrf\)"),
        (["chrf"], r"--keep chrf: expected METRIC=POINTS"),
        (["chrf=-1"], r"--keep chrf=-1: expected"),
        (["chrf=nan"], r"--keep chrf=nan: expected"),
        (["chrf=1", "chrf=2"], r"--keep chrf=2: chrf is given twice"),
    ],
)
def test_bad_bounds_are_refused_by_name(texts: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_bounds(texts, METRICS)
