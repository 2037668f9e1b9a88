"""What a worker measures in the time that it has."""

from fairseq_mcts.planning.measuring import Stopwatch, Turn
from fairseq_mcts.planning.rates import BatchCost


def measured(*batches: float, seconds: float) -> list[float]:
    """Which of the batches that take so long are done in time."""
    watch = Stopwatch(lambda turn: batches, lambda one: BatchCost(1, one, 5, 1, 5, {}, {}))
    costs, memory = watch.make(Turn(seconds), lambda spent: None)
    assert memory.bytes > 10**6
    return [cost.seconds for cost in costs]


def test_the_time_is_used_up() -> None:
    assert measured(*[2.0] * 100, seconds=9.0) == [2.0] * 5


def test_a_batch_that_takes_all_the_time_is_not_the_only_one() -> None:
    """Or a machine that stood still would be taken for a slow one."""
    assert measured(20.0, 18.0, 22.0, 20.0, seconds=9.0) == [20.0, 18.0, 22.0]


def test_a_standstill_leaves_the_time_for_others() -> None:
    standing = [860.0, 2.0, 2.0, 70.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert measured(*standing, seconds=9.0) == standing[:-2]


def test_there_may_be_fewer_batches() -> None:
    assert measured(1.0, 1.0, seconds=60.0) == [1.0, 1.0]
