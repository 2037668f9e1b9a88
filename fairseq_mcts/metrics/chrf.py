"""chrF by sacrebleu, per sentence and per corpus."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from sacrebleu.metrics import CHRF

from fairseq_mcts.metrics.base import FloatArray, MetricConfig
from fairseq_mcts.metrics.ngrams import Counts, NgramMatches, Symbols, count_ngrams, numbered
from fairseq_mcts.metrics.registry import register_metric
from fairseq_mcts.metrics.sacrebleu_metric import SacrebleuMetric


@dataclass
class ChrFConfig(MetricConfig):
    """Options of `chrf`; the defaults are sacrebleu's own (`word_order=2` gives chrF++)."""

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False


@register_metric("chrf", config=ChrFConfig)
class ChrF(SacrebleuMetric):
    """chrF (Popović, 2015): F-score of character n-grams.

    Effective-order smoothing at both levels, as sacrebleu does by default.
    """

    config: ChrFConfig

    def __init__(self, config: ChrFConfig) -> None:
        if config.char_order < 1 or config.word_order < 0 or config.beta < 1:
            raise ValueError(
                "chrf: char_order and beta must be at least 1 and word_order at least 0, got "
                f"{config.char_order}, {config.beta} and {config.word_order}"
            )
        chrf = CHRF(**asdict(config))
        super().__init__(config, of_corpus=chrf, of_sentence=chrf)

    def count(self, texts: Sequence[str]) -> list[Counts]:
        """Characters first, then words."""
        config = self.config
        texts = [text.lower() for text in texts] if config.lowercase else texts
        counts = count_ngrams([self._characters(text) for text in texts], config.char_order)
        if config.word_order:
            words = numbered([self._of_sentence._remove_punctuation(text) for text in texts])
            counts += count_ngrams(words, config.word_order)
        return counts

    def _characters(self, text: str) -> Symbols:
        text = text if self.config.whitespace else "".join(text.split())
        return np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.int64)

    def score_of_matches(self, matches: NgramMatches) -> FloatArray:
        counted = (matches.hypotheses > 0) & (matches.references > 0)  # [N, H, R] the others: both
        orders = np.maximum(counted.sum(axis=0), 1)  # [H, R] that texts so short have
        precision, recall = (
            (matches.shared / np.where(counted, totals, 1.0) * counted).sum(axis=0) / orders
            for totals in (matches.hypotheses, matches.references)
        )
        factor = self.config.beta**2
        total = factor * precision + recall
        found: FloatArray = (1 + factor) * precision * recall / np.where(total > 0, total, 1.0)
        return found
