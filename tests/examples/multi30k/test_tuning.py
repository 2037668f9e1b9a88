"""What sweeps choose, and how one builds on another."""

import itertools
from collections.abc import Mapping, Sequence

import pytest

from examples.common.runner import Stage
from examples.multi30k.layout import Layout
from examples.multi30k.tuning import (
    ALPHA,
    BACKUP,
    BEAM,
    EXPLORATION,
    ROLLOUT_EXPLORATION,
    TEMPERATURE,
    Sweep,
    ValueTuning,
    best_flags,
    sweep_stage,
    tune_beam,
)
from examples.multi30k.values import dual, hybrid
from tests.examples.multi30k.conftest import Trials

ALPHAS = {"vgbs-alpha": ("0.1", "0.5", "0.9")}


def sweep(layout: Layout, metric: str = "mlbertscore") -> Sweep:
    options = ("--search", "vgbs")
    return Sweep("some", metric, layout.value("model"), options, ALPHAS, 7)


def test_the_best_setting_is_chosen_and_of_equal_ones_the_first(
    layout: Layout, trials: Trials
) -> None:
    trials.write("some", ALPHAS, [0.5, 0.75, 0.75])
    assert best_flags(layout, sweep(layout)) == ("--vgbs-alpha", "0.5")


def test_an_unfinished_sweep_chooses_nothing(layout: Layout, trials: Trials) -> None:
    trials.write("some", {"vgbs-alpha": ("0.1", "0.9")}, [0.5, 0.6])
    with pytest.raises(FileNotFoundError, match=r"there is no trial of --vgbs-alpha 0.5"):
        best_flags(layout, sweep(layout))


def test_the_command_shows_metrics_that_are_not_optimised(layout: Layout) -> None:
    model = Stage("model", "model", ("train",), layout.value_folder("model"), reads=())
    command = sweep_stage(layout, sweep(layout), model).command
    metrics = [after for flag, after in itertools.pairwise(command) if flag == "--sweep-metric"]
    assert metrics == ["mlbertscore:model=encoder", "bleu", "bertscore:model=encoder", "chrf"]
    assert command[command.index("--sweep") + 1] == "vgbs-alpha=0.1,0.5,0.9"
    assert command[command.index("--gen-subset") + 1] == "valid"


def best_at(options: Mapping[str, Sequence[str]], position: int) -> list[float]:
    count = 1
    for values in options.values():
        count *= len(values)
    scores = [0.5] * count
    scores[position] = 0.9
    return scores


def test_one_sweep_finds_the_best_beam_for_each_metric(layout: Layout, trials: Trials) -> None:
    def run(sweep: Sweep) -> None:
        trials.write(sweep.name, BEAM, best_at(BEAM, 11), bleu=best_at(BEAM, 6))

    beams = tune_beam(layout, 5, run)
    fixed = ("--beam-normalization", "gnmt")
    assert beams["bleu"] == (*fixed, "--beam", "4", "--lenpen", "0.8")
    best_for_others = (*fixed, "--beam", "6", "--lenpen", "1.0")
    assert beams["bertscore"] == beams["mlbertscore"] == best_for_others


def test_mcts_tunes_backup_at_the_best_exploration(layout: Layout, trials: Trials) -> None:
    made: list[Sweep] = []
    outcomes = {
        "mcts-exploration": (EXPLORATION, 9),  # 1.1 and 6
        "mcts-backup": (BACKUP, 0),  # visits and mean
        "vgbs": (ALPHA, 6),  # 0.9
        "srv": (TEMPERATURE, 0),  # 0.25
        "sr": (TEMPERATURE, 3),  # 0.75
        "mcts-rollout": (ROLLOUT_EXPLORATION, 2),  # 3
    }

    def run(sweep: Sweep) -> None:
        made.append(sweep)
        options, best = outcomes[sweep.name.removeprefix("dual-mlbertscore-")]
        assert sweep.grid == options
        trials.write(sweep.name, options, best_at(options, best))

    trials.write("beam", BEAM, [0.5] * 24)
    chosen = ValueTuning(layout, dual("mlbertscore"), 5, run).tune()

    explored = ("--search", "mcts", "--mcts-temperature", "1.1", "--mcts-c-puct", "6")
    backup = next(one for one in made if one.name.endswith("backup"))
    assert backup.options == (*explored, "--search-budget", "50")
    mcts = (*explored, "--mcts-choose", "visits", "--mcts-backup", "mean")
    assert chosen == {
        "mcts": mcts,
        "vgbs": ("--search", "vgbs", "--vgbs-alpha", "0.9"),
        "srv": ("--search", "sr", "--sr-rank-by", "value", "--sr-temperature", "0.25"),
        "sr": ("--search", "sr", "--sr-rank-by", "metric", "--sr-temperature", "0.75"),
        "mcts-rollout": (
            *("--search", "mcts", "--mcts-temperature", "1.1", "--mcts-choose", "value"),
            *("--mcts-backup", "max", "--mcts-leaf", "rollout", "--mcts-c-puct", "3"),
        ),
        "mcts-terminal": (*mcts, "--mcts-terminal", "metric"),
    }
    assert {one.name for one in made if one.by_metric} == {
        "dual-mlbertscore-sr",
        "dual-mlbertscore-mcts-rollout",
    }


def test_no_search_asks_a_metric_that_needs_the_reference(layout: Layout, trials: Trials) -> None:
    def run(sweep: Sweep) -> None:
        assert not sweep.by_metric
        trials.write(sweep.name, sweep.grid, [0.5] * len(sweep.settings()))

    trials.write("beam", BEAM, [0.5] * 24)
    assert set(ValueTuning(layout, hybrid("bleu"), 5, run).tune()) == {"vgbs", "srv", "mcts"}


def test_what_costs_too_much_chrf_is_not_chosen(layout: Layout, trials: Trials) -> None:
    trials.write("some", ALPHAS, [0.5, 0.6, 0.7], chrf=[0.31, 0.295, 0.28])
    assert best_flags(layout, sweep(layout)) == ("--vgbs-alpha", "0.9")
    assert best_flags(layout, sweep(layout), least_chrf=0.29) == ("--vgbs-alpha", "0.5")
    assert best_flags(layout, sweep(layout), least_chrf=0.9) == ("--vgbs-alpha", "0.9")

    def run(one: Sweep) -> None:
        trials.write(one.name, ALPHA, [0.5] * 8 + [0.9], chrf=[0.295] * 8 + [0.28])

    trials.write("beam", BEAM, [0.5] * 24)  # chrF 0.30
    found = ValueTuning(layout, dual("mlbertscore"), 5, run).vgbs()
    assert found[-2:] == ("--vgbs-alpha", "0.0")
