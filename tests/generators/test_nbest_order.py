"""The hypotheses of a sentence come in the order of a score that is printed with each."""

from typing import Any

import pytest

import fairseq_mcts
from fairseq_mcts.hub import Translator
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow(seconds=30)

METRIC = {"search_metric": "vowels"}
SAMPLES = {"search": "sr", "sr_samples": 12}
DECODERS: dict[str, dict[str, Any]] = {
    "beam": {"beam": 5},
    "vgbs": {"search": "vgbs", "vgbs_beam": 5},
    "vgbs by value": {"search": "vgbs", "vgbs_beam": 5, "vgbs_alpha": 1.0},
    "vgbs without": {"search": "vgbs", "vgbs_beam": 5, "vgbs_alpha": 0.0},
    "sr by value": SAMPLES,
    "sr by metric": {**SAMPLES, "sr_rank_by": "metric", **METRIC},
    "sr without replacement": {**SAMPLES, "sr_without_replacement": True},
    "mbr": {"search": "mbr", "mbr_samples": 12, "search_metric": "chrf"},
    "mbr pruned": {"search": "mbr", "mbr_samples": 12, "search_metric": "chrf", "mbr_prune": 0.9},
    "mcts": {"search": "mcts", "mcts_simulations": 20},
    "mcts gumbel": {"search": "mcts", "mcts_simulations": 20, "mcts_root": "gumbel"},
    "mcts rollout": {"search": "mcts", "mcts_simulations": 20, "mcts_leaf": "rollout", **METRIC},
    "mcts terminal": {
        "search": "mcts",
        "mcts_simulations": 20,
        "mcts_terminal": "metric",
        **METRIC,
    },
}


@pytest.fixture(scope="module")
def translator(trained: Trained) -> Translator:
    options = {"data": trained.data, "sentencepiece_model": str(trained.sentencepiece)}
    return fairseq_mcts.load(trained.dual, bpe="sentencepiece", **options)


@pytest.mark.parametrize("name", DECODERS)
def test_order(name: str, translator: Translator, trained: Trained) -> None:
    sources = [translator.interface.encode(line) for line in trained.lines("test.en")[:8]]
    found = translator.interface.generate(sources, nbest=5, **DECODERS[name])
    assert any(len(hypotheses) > 2 for hypotheses in found)  # or there would be no order
    for hypotheses in found:
        ranked = hypotheses[:5]
        printed = [dict(getattr(one, "lines", ())) for one in ranked]
        scores = [printed_score(lines, one) for lines, one in zip(printed, ranked, strict=True)]
        if name.startswith("mcts"):  # what was chosen token by token is marked, and comes first
            assert ["N" in lines for lines in printed] == [True] + [False] * (len(printed) - 1)
            scores = scores[1:]
        assert scores == sorted(scores, reverse=True)


def printed_score(lines: dict[str, str], hypothesis: Any) -> float:
    """As docs/decoders.md tells it: the R, M or V line, or the H line of fairseq's own."""
    for letter in "RMV":
        if letter in lines:
            return float(lines[letter])
    return float(hypothesis["score"])
