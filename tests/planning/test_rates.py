"""What follows from measured batches."""

import math

import pytest

from fairseq_mcts.planning.rates import BatchCost, Rates, project, slowdown
from fairseq_mcts.planning.table import as_text, duration, size


def batch(sentences: int, seconds: float, length: int = 10) -> BatchCost:
    return BatchCost(
        sentences=sentences,
        seconds=seconds,
        source_tokens=length * sentences,
        rows=sentences,
        tokens=length * sentences,
        evaluations={"charged": 50 * length * sentences, "made": 20 * length * sentences},
        disk={"lines": 100 * sentences, "text": 30 * sentences},
    )


def rates(*costs: BatchCost, together: int = 2, slowdown: float = 1.25) -> Rates:
    return Rates(
        costs=costs,
        together=together,
        slowdown=slowdown,
        start_seconds=7.0,
        memory_bytes=10**9,
        gpu_bytes=0,
        threads=1,
    )


def test_seconds_are_counted_by_sentence_and_not_by_batch() -> None:
    measured = rates(batch(90, 9.0), batch(10, 3.0))
    assert measured.per_sentence("seconds") == pytest.approx(0.12)


def test_workers_share_a_machine_and_then_take_more() -> None:
    measured = rates(batch(100, 20.0))
    alone, two, five = (project(measured, 1000, workers) for workers in (1, 2, 5))
    assert alone.seconds == pytest.approx(7 + 200)
    assert two.seconds == pytest.approx(7 + 200 * 1.25 / 2)
    assert five.seconds == pytest.approx(7 + 200 * 1.25 / 5)
    assert [one.machines for one in (alone, two, five)] == [1, 1, 3]
    assert [one.memory_bytes for one in (alone, two, five)] == [10**9, 2 * 10**9, 2 * 10**9]
    assert alone.disk == {"lines": 100_000, "text": 30_000}
    assert alone.evaluations["made"] == 200_000


def test_slowdown_grows_evenly_up_to_what_was_tried() -> None:
    measured = rates(batch(100, 20.0), together=5, slowdown=2.0)
    assert project(measured, 1000, 3).seconds == pytest.approx(7 + 200 * 1.5 / 3)


def test_long_sentences_take_longer_and_that_is_no_uncertainty() -> None:
    by_length = [batch(50, 0.1 * length, length) for length in range(10, 60)]
    by_chance = [batch(50, 0.1 * length, 10 + length * 7 % 50) for length in range(10, 60)]
    assert rates(*by_length).relative_error() < 0.01
    assert rates(*by_chance).relative_error() > 0.03
    assert math.isnan(rates(by_length[0]).relative_error())


def test_a_standstill_decides_nothing() -> None:
    """A machine that stood still while one batch was measured alone, and two others at once."""
    alone = [batch(32, 1.4), batch(32, 1.5), batch(32, 24.0), batch(32, 1.6)]
    at_once = [
        [batch(32, 1.5), batch(32, 860.0), batch(32, 1.7)],
        [batch(32, 1.5), batch(32, 858.0), batch(32, 1.6)],
    ]
    slower = slowdown(alone, at_once)
    assert 1 < slower < 1.2
    measured = rates(*alone, slowdown=slower)
    one, two = (project(measured, 1000, workers) for workers in (1, 2))
    assert one.seconds == pytest.approx(7 + 1000 * 4.5 / 96)
    assert two.seconds < one.seconds < one.high < 60
    text = as_text(measured, [one, two])
    assert "measured on 96 sentences in 3 parts" in text
    assert "not counted: 1 of 4 parts, which took many times as long as most" in text


def test_of_two_batches_the_slow_one_is_unusual() -> None:
    assert rates(batch(32, 100.0), batch(32, 1.0)).per_sentence("seconds") == 1 / 32


def test_batches_of_long_sentences_are_usual() -> None:
    costs = [batch(32, 0.1 * length, length) for length in (2, 5, 10, 50, 100)]
    assert rates(*costs).usual == costs


def test_company_makes_nobody_faster() -> None:
    alone = [batch(32, 2.0), batch(32, 2.0)]
    assert slowdown(alone, [[batch(32, 1.9)], [batch(32, 1.8), batch(32, 1.7)]]) == 1.0


def test_readable_units() -> None:
    assert duration(95) == "95.0 s"
    assert duration(3600) == "60.0 min"
    assert duration(86400 * 5) == "5.0 days"
    assert size(19.2e9) == "19.2 GB"


def test_one_batch_tells_no_uncertainty() -> None:
    measured = rates(batch(100, 20.0))
    text = as_text(measured, [project(measured, 41_000_000, 2)])
    assert "5.00 sentences/s by one process" in text
    assert "1.60 times one" in text
    assert " ? " in text
    assert "evaluations per token: 50.0 charged, 20.0 made" in text


def test_relabelling_tells_rows_and_what_it_writes() -> None:
    relabelled = batch(100, 20.0)._replace(
        rows=300, evaluations={}, disk={"data": 10_000, "chunks": 30_000}
    )
    measured = rates(relabelled, together=1, slowdown=1.0)
    text = as_text(measured, [project(measured, 41_000_000, 1)])
    assert "translations 10.0 in 3.0 rows" in text
    assert "evaluations" not in text and "at once" not in text
    assert "4.1 GB" in text and "12.3 GB" in text
    assert "data: the folder with scores; chunks: beside it" in text
