"""The benchmarks that start commands, or a trainer, at a toy size."""

from pathlib import Path

import commands
import headline
import pytest
import start_up
import threads
import value_training

TOY = ("--size", "tiny", "--repeats", "1")


def test_costs_are_those_of_processes() -> None:
    work = "sum(range(3_000_000))"
    busy = commands.cost(["python", "-c", work])
    idle = commands.cost(["python", "-c", f"import time; time.sleep(0.3); {work}"])
    assert busy.cpu > 0
    assert idle.wall > 0.3 and idle.cpu < busy.cpu + 0.3
    with pytest.raises(RuntimeError, match="no such option"):
        commands.cost(["python", "-c", "raise SystemExit('no such option')"])


def test_the_least_of_all_rounds_counts() -> None:
    costs = iter([(9.0, 9.0), (3.0, 1.0), (2.0, 1.5)])
    found = commands.alternate({"one": lambda: commands.Cost(*next(costs))}, 2)
    assert found == {"one": commands.Cost(2.0, 1.0)}
    found = commands.alternate({"one": lambda: commands.Cost(5.0, 4.0)}, 1, warm_up=False)
    assert found == {"one": commands.Cost(5.0, 4.0)}


def test_hypotheses_are_read_off_the_lines(tmp_path: Path) -> None:
    lines = ["S-1\tein", "H-1\t-0.5\ta b", "H-1\t-0.7\tc", "D-1\t-0.5\ta b", "H-0\t-0.1\td"]
    (tmp_path / "generate-test.txt").write_text("\n".join(lines))
    assert commands.hypotheses(tmp_path, "test") == {0: "d", 1: "a b"}


@pytest.mark.slow(seconds=60)
def test_starting_with_and_without_the_plugin() -> None:
    report = start_up.main((*TOY, "--no-warm-up"))
    assert [one.outputs_equal for one in report.comparisons] == [True, True]


@pytest.mark.slow(seconds=60)
def test_searches_beside_fairseqs_beam() -> None:
    few = ("--sentences", "5", "--simulations", "3", "--no-warm-up")
    report = headline.main((*TOY, *few))
    assert [one.figure > 0 for one in report.comparisons] == [True, True]
    assert "5 sentences" in report.comparisons[0].compared


@pytest.mark.slow(seconds=60)
def test_threads_and_processes() -> None:
    few = ("--sentences", "8", "--chunk", "2", "--simulations", "2")
    report = threads.main((*TOY, *few))
    assert len(report.comparisons) == 6


def test_passes_of_training_give_its_gradients() -> None:
    few = ("--sentences", "6", "--max-tokens", "200", "--updates", "2")
    report = value_training.main((*TOY, *few))
    assert [one.outputs_equal for one in report.comparisons] == [True, True]


def test_other_gradients_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = value_training.Pass.run

    def doubled(one: value_training.Pass) -> None:
        run(one)
        run(one)

    monkeypatch.setattr(value_training.Pass, "run", doubled)
    few = ("--sentences", "6", "--max-tokens", "200", "--updates", "1")
    report = value_training.main((*TOY, *few))
    assert {one.verdict for one in report.comparisons} == {"NOT met: outputs differ"}
