"""A sweep at work, with nothing that decodes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.tuning.grid import Setting, grid, parse_options
from fairseq_mcts.tuning.objectives import Objective
from fairseq_mcts.tuning.part_work import Decoded, Part
from fairseq_mcts.tuning.results import TrialStore
from fairseq_mcts.tuning.study import StudyOptions, StudyProposals
from fairseq_mcts.tuning.subject import Subject
from fairseq_mcts.tuning.trying import Trying
from fairseq_mcts.work import Advance, Staff
from fairseq_mcts.work.here import Here

SPACE = parse_options(["lenpen=1,2,3,4,5,6,7,8,9"], {"lenpen": []})
PARTS = 3


class Scored:
    """In place of networks: the higher the setting by chrF, the lower by BLEU."""

    def open(self) -> "Scored":
        return self

    def make(self, part: Part, advance: Advance) -> Decoded:
        [(_, value)] = part.proposal.setting.values
        scores = {"chrf": int(value) / 10, "bleu": 1 - int(value) / 10}
        return Decoded({0: "a translation"}, (None,), scores, tokens=1)


def subject_for(judge: str) -> Subject:
    metrics = {name: build_metric(name) for name in ("bleu", "chrf")}
    found: Any = SimpleNamespace(
        key=lambda setting: f"{setting}".removeprefix("--lenpen "),
        metrics=list(metrics.values()),
        judge=metrics[judge],
        parts=PARTS,
    )
    return cast(Subject, found)


@pytest.mark.parametrize(("judge", "given_up"), [("chrf", []), ("bleu", ["6", "7", "8", "9"])])
def test_settings_are_given_up_by_the_objective(
    tmp_path: Path, judge: str, given_up: list[str]
) -> None:
    """They come in the order of chrF, so that none is worse than those before it by that."""
    pytest.importorskip("optuna")
    options = StudyOptions(f"journal:{tmp_path / 'log'}", "grid", 0, "median", PARTS, 1)
    proposals = StudyProposals(options, SPACE, [Objective(judge)], "key", grid(SPACE))
    trying = Trying(subject_for(judge), TrialStore(tmp_path), proposals)
    with Staff(Here(), Scored()) as staff:
        trying.work_through(staff)
    assert [setting.values[0][1] for setting, _ in proposals.given_up()] == given_up
    best = "9" if judge == "chrf" else "1"
    assert Setting((("lenpen", best),)) in dict(proposals.finished())
