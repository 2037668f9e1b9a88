"""--optimised: what a decoding went by is read in every form, and all that it touches is marked."""

from __future__ import annotations

from pathlib import Path

import pytest

import tests.generators.vowels  # noqa: F401 - registers a metric that compares with the source
from fairseq_mcts.cli.optimised import read_optimised
from fairseq_mcts.metrics import build_metric

SYSTEMS = ("beam", "mcts", "lr=0.1")


def marked(argument: str, *specs: str, encoder: str | None = None) -> dict[str, list[str]]:
    """Of each system of which something was said, the metrics that are marked."""
    metrics = [build_metric(spec) for spec in specs]
    found = read_optimised([argument], SYSTEMS, "beam", metrics, encoder)
    return {
        name: [metric.name for metric in metrics if one.touches(metric)]
        for name, one in found.items()
    }


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("mcts=bleu", {"mcts": ["bleu"]}),
        ("bleu:tokenize=char", {"mcts": ["bleu"], "lr=0.1": ["bleu"]}),
        ("lr=0.1=chrf", {"lr=0.1": ["chrf"]}),
        ("mcts=none", {"mcts": []}),
        # of a mix each part
        ("mcts=mix:vowels=0.7,likelihood=0.3", {"mcts": ["vowels"]}),
        ("mix:bleu=1,chrf=2,combine=min", {"mcts": ["bleu", "chrf"], "lr=0.1": ["bleu", "chrf"]}),
    ],
)
def test_every_form(argument: str, expected: dict[str, list[str]]) -> None:
    assert marked(argument, "bleu", "chrf", "vowels") == expected


def test_a_mix_among_the_metrics() -> None:
    metrics = ("mix:bleu=0.5,chrf=0.5", "bleu", "vowels")
    assert marked("mcts=mix", *metrics) == {"mcts": ["mix", "bleu"]}
    assert marked("mcts=chrf", *metrics) == {"mcts": ["mix"]}
    assert marked("mcts=vowels", *metrics) == {"mcts": ["vowels"]}


def test_one_encoder_is_one_judge(toy_encoder: Path) -> None:
    metrics = (f"bertscore:model={toy_encoder}", "chrf")
    for spec in ("mlbertscore", f"mlbertscore:model={toy_encoder}"):
        given = None if ":" in spec else str(toy_encoder)
        assert marked(f"mcts={spec}", *metrics, encoder=given) == {"mcts": ["bertscore"]}
    mix = f"mcts=mix:mlbertscore=0.7,likelihood=0.3,mlbertscore.model={toy_encoder}"
    assert marked(mix, *metrics) == {"mcts": ["bertscore"]}
    assert marked("mcts=mlbertscore:model=another", *metrics) == {"mcts": []}


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ("x=mix:bleu=1", "the systems are beam, mcts, lr=0.1"),
        ("x=bleu", "the systems are beam, mcts, lr=0.1"),
        ("mcts=blue", "unknown metric 'blue'"),
        ("mcts=mix", "mix: names no metrics"),
        ("mcts=mix:blue=1", "unknown metric 'blue'"),
        ("mcts=mix:bleu=often", "expected its weight, a number"),
    ],
)
def test_refusals_name_the_flag(argument: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^--optimised {argument}: .*{complaint}"):
        marked(argument, "bleu")
