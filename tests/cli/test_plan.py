"""fairseq-mcts-plan: a table and figures from a short measurement."""

import json
from pathlib import Path

import pytest

from fairseq_mcts.cli import plan
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained


@pytest.mark.slow
def test_measured_rates_are_projected(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan.main(
        [
            *(str(trained.data), "--path", str(trained.dual), "--cpu", "--batch-size", "20"),
            *("--post-process", "sentencepiece", "--search", "mcts", "--mcts-simulations", "4"),
            *("--sentences", "41e6", "--workers", "1,2", "--seconds", "1"),
            *("--json", str(tmp_path / "plan.json")),
        ]
    )
    assert "41,000,000" in capsys.readouterr().out
    figures = json.loads((tmp_path / "plan.json").read_text())
    measured, [one, two] = figures["measured"], figures["plan"]
    assert measured["together"] in (1, 2)  # by the cores of this machine
    assert measured["costs"][0]["charged"] >= measured["costs"][0]["made"] > 0
    assert 100e6 < measured["memory_bytes"] < 100e9
    assert one["seconds"] > 41e6 / 1e5
    assert one["line_bytes"] > one["text_bytes"] > 41e6
    assert two["workers"] == 2


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (("--sentences", "many"), "--sentences many: expected whole numbers"),
        (("--sentences", "10,0.5"), "--sentences 10,0.5: expected whole numbers"),
        (("--workers", "0"), "--workers 0: expected whole numbers"),
        (("--seconds", "0"), "--seconds 0.0: must be greater than 0"),
        (("--json", "no/plan.json"), "--json no/plan.json: there is no folder no"),
        (("--path", "none.pt", "--workers", "1"), "none.pt"),
        (("--search", "mcts", "--mcts-simulations", "0"), "--mcts-simulations: must be"),
    ],
)
def test_refusals_name_the_option(
    trained: Trained,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    complaint: str,
) -> None:
    with pytest.raises(SystemExit) as end:
        plan.main([str(trained.data), "--cpu", "--path", str(trained.dual), *more])
    assert end.value.code == 2
    assert complaint in capsys.readouterr().err
