"""Figures of scores, against numpy on everything at once."""

import numpy as np
import pytest

from fairseq_mcts.relabelling import merge
from fairseq_mcts.relabelling.summary import histogram_lines


@pytest.mark.parametrize("metric_range", [[0.0, 1.0], [None, None], [0.0, None]])
def test_figures_are_those_of_all_scores(
    metric_range: list[float | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "_BLOCK", 7)
    scores = np.random.default_rng(0).random(100, dtype=np.float32)
    scores[3], scores[5] = 0.0, 1.0

    figures = merge.score_figures(scores, metric_range)

    assert (figures["min"], figures["max"]) == (0.0, 1.0)
    assert figures["mean"] == pytest.approx(scores.astype(np.float64).mean(), rel=1e-12)
    counts, edges = np.histogram(scores.astype(np.float64), bins=20, range=(0, 1))
    assert figures["histogram"]["edges"] == pytest.approx(edges)
    assert figures["histogram"]["counts"] == counts.tolist()


def test_equal_scores_of_an_unbounded_metric_have_a_histogram_too() -> None:
    figures = merge.score_figures(np.full(5, 0.3, np.float32), [None, None])
    assert sum(figures["histogram"]["counts"]) == 5


def test_the_histogram_is_drawn_from_its_first_bin_to_its_last() -> None:
    histogram = {"edges": [0, 0.25, 0.5, 0.75, 1.0], "counts": [0, 10, 0, 30]}
    lines = histogram_lines(histogram, 40)
    assert len(lines) == 3
    assert [line.count("#") for line in lines] == [13, 0, 40]
    assert "0.250 – 0.500" in lines[0]
    assert lines[0].endswith(" 25.0% 10")
