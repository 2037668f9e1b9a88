"""BLEU by sacrebleu: smoothed per sentence for values and search, plain per corpus for reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from sacrebleu.metrics import BLEU

from fairseq_mcts.metrics.base import FloatArray, Metric, MetricConfig
from fairseq_mcts.metrics.registry import register_metric


@dataclass
class BleuConfig(MetricConfig):
    """Options of `bleu`; the defaults are sacrebleu's own."""

    tokenize: str = "13a"
    lowercase: bool = False
    smooth_method: str = "exp"
    smooth_value: float | None = None  # of the methods "floor" and "add-k"
    max_ngram_order: int = 4


@register_metric("bleu", config=BleuConfig)
class Bleu(Metric):
    """BLEU (Papineni et al., 2002) against one reference.

    Sentences use the effective order, so that a three-word sentence is not judged by 4-grams that
    it cannot have; the corpus score does not, as sacrebleu's command line does not.
    Time and memory are linear in the length of the texts.
    """

    privileged = True
    report_factor = 100.0
    report_digits = 2
    config: BleuConfig

    def __init__(self, config: BleuConfig) -> None:
        super().__init__(config)
        _check_choice("tokenize", config.tokenize, BLEU.TOKENIZERS)
        _check_choice("smooth_method", config.smooth_method, BLEU.SMOOTH_DEFAULTS)
        if config.max_ngram_order < 1:
            raise ValueError(f"bleu: max_ngram_order={config.max_ngram_order} must be positive")
        self._corpus_bleu = _sacrebleu(config, effective_order=False)
        self._sentence_bleu = _sacrebleu(config, effective_order=True)

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        known: dict[tuple[str, str], float] = {}  # a search asks for the same text often
        for pair in zip(hypotheses, others, strict=True):
            if pair not in known:
                bleu = self._sentence_bleu.sentence_score(pair[0], [pair[1]]).score
                known[pair] = min(bleu / self.report_factor, 1.0)  # sacrebleu rounds up to 100.00…4
        return [known[pair] for pair in zip(hypotheses, others, strict=True)]

    def statistics(self, hypotheses: Sequence[str], others: Sequence[str]) -> FloatArray:
        self.check_pairs(hypotheses, others)
        counts = self._corpus_bleu._extract_corpus_statistics(hypotheses, [others])
        return np.asarray(counts, dtype=np.float64)  # [N, 2 + 2 * max_ngram_order]

    def aggregate(self, totals: FloatArray) -> float:
        counts = [int(total) for total in totals]
        score = self._corpus_bleu._compute_score_from_stats(counts).score
        return min(float(score) / self.report_factor, 1.0)

    def signature(self) -> str:
        """sacrebleu's signature of the corpus score."""
        return _signature(self._corpus_bleu)

    def sentence_signature(self) -> str:
        """sacrebleu's signature of the sentence scores."""
        return _signature(self._sentence_bleu)


def _sacrebleu(config: BleuConfig, *, effective_order: bool) -> BLEU:
    bleu = BLEU(
        tokenize=config.tokenize,
        lowercase=config.lowercase,
        smooth_method=config.smooth_method,
        smooth_value=config.smooth_value,
        max_ngram_order=config.max_ngram_order,
        effective_order=effective_order,
        force=True,  # whether text looks tokenised is the caller's business
    )
    bleu.num_refs = 1  # its signature needs to know before anything was scored
    return bleu


def _signature(bleu: BLEU) -> str:
    return cast(str, bleu.get_signature().format())


def _check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"bleu: {option}={value!r} must be one of {', '.join(sorted(choices))}")
