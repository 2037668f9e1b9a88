"""--mcts-prefetch: on unless it is set to 0; the translations stay the same."""

from typing import Any

import pytest

from tests.generators.harness import METRIC, Setup, load
from tests.generators.trained import Trained

MCTS = {"search": "mcts", "mcts_simulations": 10, "max_len_b": 12}
SENTENCES = (3, 40)


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


def found(setup: Setup, **options: Any) -> tuple[list[Any], Any]:
    """All that is known of the translations, and the statistics of the run."""
    generator = setup.generator(**MCTS, **options)
    dataset = setup.task.dataset("test")
    sample = dataset.collater([dataset[one] for one in SENTENCES])
    hypotheses = setup.task.inference_step(generator, setup.models, sample)
    shown = ("score", "value", "visits", "evaluations")
    return [
        [one["tokens"].tolist(), *(one[name] for name in shown)] for [one] in hypotheses
    ], generator.statistics


def test_it_saves_calls_by_default_and_changes_nothing(setup: Setup) -> None:
    plain, without = found(setup, mcts_prefetch=0)
    usual, with_guesses = found(setup)
    assert usual == plain
    assert with_guesses.timing.network_calls < 0.8 * without.timing.network_calls
    assert with_guesses.timing.network_rows > without.timing.network_rows == without.made
    assert with_guesses.made == without.made
    in_vain = with_guesses.timing.network_rows - with_guesses.made
    assert f", {in_vain:,} more in advance that were never needed" in with_guesses.summary()[0]
    assert "never needed" not in without.summary()[0]


def test_more_guesses_make_fewer_calls(setup: Setup) -> None:
    few, many = (found(setup, mcts_prefetch=size) for size in (3, 16))
    assert few[0] == many[0]
    assert many[1].timing.network_calls < few[1].timing.network_calls


def test_rollouts_would_not_look_at_it(setup: Setup) -> None:
    with pytest.raises(ValueError, match=r"^--mcts-prefetch 4: has no effect with --mcts-leaf"):
        setup.generator(**MCTS, **METRIC, mcts_leaf="rollout", mcts_prefetch=4)
