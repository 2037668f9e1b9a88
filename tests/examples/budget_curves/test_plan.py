"""The ways and their stages: what is tuned, on what, and what is decoded with which numbers."""

import itertools
from pathlib import Path

import pytest

from examples.budget_curves.__main__ import make_parser, make_plan
from examples.budget_curves.plan import Plan
from examples.budget_curves.ways import EXTRA, Way, make_ways
from examples.common.mixes import mixed
from examples.common.runner import Stage
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.register import register
from fairseq_mcts.subset.options import check_options
from fairseq_mcts.subset.parsing import parse
from fairseq_mcts.tuning.grid import grid, parse_options
from fairseq_mcts.tuning.parser import make_parser as make_sweep_parser
from fairseq_mcts.tuning.sweepable import sweepable

GIVEN = ["--data", "data-bin", "--path", "value.pt", "--metric", "mlbertscore:model=DIR"]
GIVEN += ["--text", "--post-process sentencepiece", "--work", "work"]
NAMES = [way.name for way in make_ways("", "")]


def plan(*more: str) -> Plan:
    return make_plan(make_parser().parse_args([*GIVEN, *more]))


def options(stage: Stage) -> dict[str, str]:
    """Each word of a stage's command with the word behind it."""
    return dict(itertools.pairwise(stage.command))


def assert_accepted(stage: Stage) -> None:
    """By the sweep, with the first and last setting of its grid."""
    register()
    name, *arguments = stage.command
    assert name == "fairseq-mcts-sweep"
    parsed, _ = parse(make_sweep_parser, arguments)
    settings = grid(parse_options(parsed.sweep, sweepable()))
    for setting in (settings[0], settings[-1]):
        check_options(parse(make_sweep_parser, [*arguments, *setting.flags()])[1])


@pytest.mark.parametrize("name", NAMES)
def test_decoding_honours_every_option(name: str) -> None:
    made = plan("--ways", name)
    way = made.way(name)
    if way.tuned:
        assert_accepted(made.tune(way))
    assert_accepted(made.decode(way, (), [4, 300]))
    if way.charged_like:
        assert_accepted(made.probe(way, ("--sr-temperature", "0.5")))


def test_names_and_folders_are_their_own() -> None:
    made = plan()
    assert {way.name for way in made.ways} == set(NAMES) - set(EXTRA)
    stages = [made.tune(way) for way in made.ways if way.tuned]
    stages += [made.decode(way, (), [4]) for way in made.ways]
    assert len({stage.name for stage in stages}) == len(stages)
    assert len({stage.output for stage in stages}) == len(stages)


def test_what_is_asked_for_comes_with_what_it_needs() -> None:
    def names(*asked: str) -> set[str]:
        return {way.name for way in plan("--ways", *asked).ways}

    assert names("bellman") == {"bellman", "beam"}
    assert names("mix-0.7") == {"mix-0.7", "sr", "beam"}
    assert names("sr-distinct") == {"sr-distinct", "sr", "beam"}
    made = plan("--ways", "mix-0.7")
    assert made.decode(made.way("mix-0.7"), (), [4]).reads == (made.tune(made.way("sr")),)


def test_settings_are_chosen_on_other_sentences_than_are_translated() -> None:
    made = plan("--sentences", "40", "--tuning-sentences", "30", "--subset", "test1")
    way = made.way("bellman")
    tuning, decoding = options(made.tune(way)), options(made.decode(way, (), [1, 50]))
    assert (tuning["--gen-subset"], tuning["--sweep-sentences"]) == ("valid", "30")
    assert (decoding["--gen-subset"], decoding["--sweep-sentences"]) == ("test1", "40")
    assert tuning["--search-budget"] == "50"
    assert decoding["--sweep"] == "search-budget=1,50"


@pytest.mark.parametrize(
    ("name", "metrics", "kept"),
    [
        ("max", ["mlbertscore:model=DIR", "chrf"], "chrf=1"),
        ("beam", ["mlbertscore:model=DIR", "chrf"], None),
        ("mbr-chrf", ["chrf", "mlbertscore:model=DIR"], None),
        ("mbr-bertscore", ["bertscore:model=DIR", "mlbertscore:model=DIR"], None),
    ],
)
def test_what_chooses_settings(name: str, metrics: list[str], kept: str | None) -> None:
    made = plan()
    command = made.tune(made.way(name)).command
    pairs = list(itertools.pairwise(command))
    assert [after for flag, after in pairs if flag == "--sweep-metric"] == metrics
    assert dict(pairs).get("--keep") == kept


def test_budgets_of_samples_are_their_own() -> None:
    made = plan("--budgets", "16", "4", "4", "--sample-budgets", "2")
    assert made.budgets(made.way("gumbel-mean")) == (4, 16)
    assert made.budgets(made.way("mbr-chrf")) == (2,)


def test_a_mix_takes_the_options_of_its_metric(toy_encoder: Path) -> None:
    metric = build_metric(
        mixed(f"mlbertscore:model={toy_encoder},layer=2", 0.7), with_likelihood=True
    )
    assert metric.config.weights == {"mlbertscore": 0.7, "likelihood": 0.3}
    assert metric.parts["mlbertscore"].layer == 2
    assert mixed("vowels", 0.5) == "mix:vowels=0.5,likelihood=0.5"


def test_ways_without_options_to_tune_have_those_of_another() -> None:
    ways: dict[str, Way] = {way.name: way for way in make_ways("", "")}
    for way in ways.values():
        assert bool(way.tuned) != bool(way.like)
        assert ways[way.settings_of].tuned
