"""chrF by sacrebleu, per sentence and per corpus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from sacrebleu.metrics import CHRF

from fairseq_mcts.metrics.base import FloatArray, Metric, MetricConfig
from fairseq_mcts.metrics.registry import register_metric


@dataclass
class ChrFConfig(MetricConfig):
    """Options of `chrf`; the defaults are sacrebleu's own (`word_order=2` gives chrF++)."""

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False


@register_metric("chrf", config=ChrFConfig)
class ChrF(Metric):
    """chrF (Popović, 2015) against one reference: F-score of character n-grams.

    Effective-order smoothing at both levels, as sacrebleu does by default.
    Time and memory are linear in the length of the texts.
    """

    privileged = True
    report_factor = 100.0
    report_digits = 2
    config: ChrFConfig

    def __init__(self, config: ChrFConfig) -> None:
        super().__init__(config)
        if config.char_order < 1 or config.word_order < 0 or config.beta < 1:
            raise ValueError(
                "chrf: char_order and beta must be at least 1 and word_order at least 0, got "
                f"{config.char_order}, {config.beta} and {config.word_order}"
            )
        self._chrf = CHRF(
            char_order=config.char_order,
            word_order=config.word_order,
            beta=config.beta,
            lowercase=config.lowercase,
            whitespace=config.whitespace,
        )
        self._chrf.num_refs = 1  # its signature needs to know before anything was scored

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        known: dict[tuple[str, str], float] = {}  # a search asks for the same text often
        for pair in zip(hypotheses, others, strict=True):
            if pair not in known:
                chrf = self._chrf.sentence_score(pair[0], [pair[1]]).score
                known[pair] = min(chrf / self.report_factor, 1.0)
        return [known[pair] for pair in zip(hypotheses, others, strict=True)]

    def statistics(self, hypotheses: Sequence[str], others: Sequence[str]) -> FloatArray:
        self.check_pairs(hypotheses, others)
        counts = self._chrf._extract_corpus_statistics(hypotheses, [others])
        return np.asarray(counts, dtype=np.float64)  # [N, 3 * (char_order + word_order)]

    def aggregate(self, totals: FloatArray) -> float:
        counts = [int(total) for total in totals]
        score = self._chrf._compute_score_from_stats(counts).score
        return min(float(score) / self.report_factor, 1.0)

    def signature(self) -> str:
        return cast(str, self._chrf.get_signature().format())
