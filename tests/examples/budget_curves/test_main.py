"""All of it, smaller: stages in this process, and a page about what they found."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from examples.budget_curves import curves
from examples.budget_curves.__main__ import make_parser, make_plan, report
from examples.common.runner import Stage
from fairseq_mcts.cli import sweep
from tests.console import REPOSITORY
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained

ASKED = ["bellman", "gumbel-mean", "cautious-max", "sr-distinct", "mix-0.7", "mbr-chrf"]


class InThisProcess:
    """Runs stages without the start of a process for each."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def run(self, stages: Sequence[Stage]) -> None:
        for stage in stages:
            self.names.append(stage.name)
            stage.output.mkdir(parents=True)
            sweep.main(stage.command[1:])


@pytest.mark.slow(seconds=60)
def test_curves_of_a_small_model(
    trained: Trained,  # noqa: F811
    toy_encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(REPOSITORY)  # stages name the plugin from there
    text = f"--bpe sentencepiece --sentencepiece-model {trained.sentencepiece}"
    sizes = {"sentences": 9, "tuning-sentences": 4, "probing-sentences": 3, "tuning-budget": 3}
    args = make_parser().parse_args(
        [
            *("--data", str(trained.data), "--path", str(trained.dual), "--work", str(tmp_path)),
            *("--metric", f"mlbertscore:model={toy_encoder}", "--text", text, "--ways", *ASKED),
            *("--budgets", "1", "4", "--sample-budgets", "1", "3"),
            *(part for name, size in sizes.items() for part in (f"--{name}", str(size))),
        ]
    )
    plan = make_plan(args)
    runner = InThisProcess()
    found = {curve.way.name: curve for curve in curves.run(plan, runner)}

    assert set(found) == {*ASKED, "sr", "beam"}
    assert len(runner.names) == len(set(runner.names)) == 7 + 2 + 8
    assert list(found["bellman"].trials) == [1, 4]
    assert list(found["sr"].trials) == list(found["sr-distinct"].trials) == [1, 3]
    assert found["sr-distinct"].numbers[3] >= 3
    for curve in found.values():
        assert all(len(one.hypotheses) == 9 for one in curve.trials.values())
    # one simulation is greedy search, whatever is backed up; the charge of beam search is its size
    assert found["bellman"].trials[1].hypotheses == found["cautious-max"].trials[1].hypotheses
    assert found["mix-0.7"].flags == found["sr"].flags

    page = report("a test", plan, list(found.values())).read_text(encoding="utf-8")
    sections = re.findall(r"^## (.*)$", page, re.M)
    assert sections[:4] == ["mlbertscore", "bertscore", "bleu", "chrf"]
    assert {"Does it fall?", "A mix and its parts", "What values promise"} <= set(sections)
    for name in ("curves.svg", "v-mcts.svg"):
        assert (tmp_path / name).is_file() and f"({name})" in page
