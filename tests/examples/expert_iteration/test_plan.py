"""The rounds: new sources each time, all rows so far, the value of the round before."""

from dataclasses import replace
from pathlib import Path

import pytest

from examples.common.join_scored import link_split
from examples.common.value_rounds import Given, RoundSizes, ValueRounds
from examples.expert_iteration.plan import Plan
from examples.expert_iteration.results import values_of
from fairseq_mcts.cli.relabel import make_parser
from fairseq_mcts.register import register

GIVEN = Given(Path("data-bin"), Path("policy.pt"), "bleu", ("--post-process", "sentencepiece"))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(GIVEN, tmp_path, RoundSizes(rounds=2, first_sources=100, further_sources=30))


def test_relabelling_commands_are_accepted_and_take_new_sources(plan: Plan) -> None:
    register()
    found = []
    for number in range(3):
        name, *arguments = plan.rounds.relabel(number).command
        assert name == "fairseq-mcts-relabel"
        options = make_parser(arguments).parse_args(arguments)
        found.append((options.method, options.limit_sources, options.path))
    assert found == [
        ("completions", "0:100", "policy.pt"),
        ("search", "100:130", str(plan.rounds.value(0))),
        ("search", "130:160", str(plan.rounds.value(1))),
    ]


def test_each_round_trains_on_all_rows_from_the_value_before(plan: Plan) -> None:
    for number in range(3):
        joined, training = plan.rounds.join(number), plan.rounds.train(number)
        rows = joined.command[joined.command.index("--train") + 1 :]
        assert rows == tuple(str(plan.rounds.relabel(one).output) for one in range(number + 1))
        assert training.command[1] == str(joined.output)
        assert ("--finetune-from-model" in training.command) == (number > 0)
        if number:
            begin = training.command[training.command.index("--finetune-from-model") + 1]
            assert begin == str(plan.rounds.value(number - 1))


def test_every_stage_has_a_name_and_a_folder_of_its_own(plan: Plan) -> None:
    stages = plan.stages()
    assert len({stage.name for stage in stages}) == len(stages)
    assert len({stage.output for stage in stages}) == len(stages)
    known = {stage.name for stage in stages}
    assert {read.name for stage in stages for read in stage.reads or ()} <= known


def test_the_policy_learns_from_the_best_of_all_rounds(plan: Plan) -> None:
    best, training = plan.keep_best(), plan.train_policy()
    assert str(plan.rounds.join(2).output) in best.command
    assert training.command[1] == str(best.output)
    searched = plan.decode_new("vgbs").command
    assert searched[searched.index("--path") + 1] == str(plan.new_policy)
    assert searched[searched.index("--value-path") + 1] == str(plan.rounds.value(2))


def test_the_policy_may_stay_as_it_is(plan: Plan) -> None:
    names = [stage.name for stage in replace(plan, policy_updates=0).stages()]
    assert names == [stage.name for stage in plan.stages()][: len(names)]
    assert "policy" not in names and "decode-mcts-2" in names


def test_seeds_share_only_the_rows_of_the_policy(plan: Plan) -> None:
    first, second = plan.rounds, ValueRounds(GIVEN, plan.work, plan.sizes, seed=2)
    shared = {stage.name for stage in first.all_stages()} & {
        stage.name for stage in second.all_stages()
    }
    assert shared == {"samples", "rows-0"}
    assert first.relabel(0) == second.relabel(0)
    assert second.train(1).command[-2:] == ("--seed", "2")
    assert str(second.value(0)) in second.relabel(1).command


def test_splits_are_linked_under_other_names(tmp_path: Path) -> None:
    source, out = tmp_path / "rows-1", tmp_path / "joined"
    for folder in (source, out):
        folder.mkdir()
    (source / "train.en-de.en.bin").write_bytes(b"1")
    (source / "train.en-de.score.npy").write_bytes(b"2")
    link_split(source, "train", out, "train1")
    link_split(source, "train", out, "train1")  # an interrupted stage is simply run again
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {
        "train1.en-de.en.bin": b"1",
        "train1.en-de.score.npy": b"2",
    }
    with pytest.raises(FileNotFoundError, match="has no split valid"):
        link_split(source, "valid", out, "valid")


def test_values_are_those_of_the_best_hypotheses_in_order(tmp_path: Path) -> None:
    path = tmp_path / "generate-valid.txt"
    path.write_text("H-1\t-1\tx\nV-1\t0.5\nV-1\t0.4\nH-0\t-1\ty\nV-0\t0.25\n")
    assert values_of(path, 2) == [0.25, 0.5]
