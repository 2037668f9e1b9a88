"""The pictures of curves that were made up."""

import re
from pathlib import Path

from examples.budget_curves.plots import plot, plot_v_mcts
from examples.budget_curves.scores import Scores
from fairseq_mcts.metrics import build_metric
from tests.examples.budget_curves.fakes import curve, trial

TEXTS = ["ein Hund läuft", "die Katze schläft"]
WAYS = ("bellman", "gumbel-mean", "cautious-max", "sr", "beam")


def labels(picture: Path) -> list[str]:
    """The texts of the picture."""
    return re.findall(r"<text[^>]*>([^<]+)</text>", picture.read_text(encoding="utf-8"))


def test_a_panel_for_each_group_and_one_for_all_of_v_mcts(tmp_path: Path) -> None:
    curves = [curve(way, {4: trial(TEXTS), 50: trial(TEXTS)}) for way in WAYS[:-1]]
    curves.append(curve("beam", {8: trial(TEXTS)}))
    metrics = [build_metric("chrf"), build_metric("bleu")]
    scores = Scores(metrics, TEXTS, TEXTS, curves[-1])
    plot(curves, scores, metrics, tmp_path / "curves.svg")
    apart = labels(tmp_path / "curves.svg")
    assert apart.count("beam") == 4 and set(WAYS) < set(apart)
    assert "V-MCTS, pUCT" in apart
    assert plot_v_mcts(curves, scores, metrics, tmp_path / "v-mcts.svg")
    together = labels(tmp_path / "v-mcts.svg")
    assert together.count("beam") == 1
    assert {"bellman", "gumbel-mean", "cautious-max", "V-MCTS"} < set(together)
    assert "sr" not in together


def test_the_same_curves_give_the_same_file(tmp_path: Path) -> None:
    beam = curve("beam", {8: trial(TEXTS)})
    metrics = [build_metric("chrf")]
    curves = [curve("sr", {4: trial(TEXTS), 50: trial(TEXTS)}), beam]
    scores = Scores(metrics, TEXTS, TEXTS, beam)
    for name in ("one", "two"):
        plot(curves, scores, metrics, tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_no_picture_without_v_mcts(tmp_path: Path) -> None:
    beam = curve("beam", {8: trial(TEXTS)})
    metrics = [build_metric("chrf")]
    scores = Scores(metrics, TEXTS, TEXTS, beam)
    assert not plot_v_mcts([beam], scores, metrics, tmp_path / "v-mcts.svg")
    assert not (tmp_path / "v-mcts.svg").exists()
