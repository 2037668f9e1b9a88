"""BLEU by sacrebleu: smoothed per sentence for values and search, plain per corpus for reports."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from sacrebleu.metrics import BLEU

from fairseq_mcts.metrics.base import FloatArray, MetricConfig
from fairseq_mcts.metrics.ngrams import Counts, NgramMatches, count_ngrams, numbered
from fairseq_mcts.metrics.registry import register_metric
from fairseq_mcts.metrics.sacrebleu_metric import SacrebleuMetric

_LOG_OF_ZERO = -9999999999.0  # sacrebleu's


@dataclass
class BleuConfig(MetricConfig):
    """Options of `bleu`; the defaults are sacrebleu's own."""

    tokenize: str = "13a"
    lowercase: bool = False
    smooth_method: str = "exp"
    smooth_value: float | None = None  # of the methods "floor" and "add-k"
    max_ngram_order: int = 4


@register_metric("bleu", config=BleuConfig)
class Bleu(SacrebleuMetric):
    """BLEU (Papineni et al., 2002).

    Sentences use the effective order, so that a three-word sentence is not judged by 4-grams that
    it cannot have; the corpus score does not, as sacrebleu's command line does not.
    """

    config: BleuConfig

    def __init__(self, config: BleuConfig) -> None:
        _check_choice("tokenize", config.tokenize, BLEU.TOKENIZERS)
        _check_choice("smooth_method", config.smooth_method, BLEU.SMOOTH_DEFAULTS)
        if config.max_ngram_order < 1:
            raise ValueError(f"bleu: max_ngram_order={config.max_ngram_order} must be positive")
        # force: whether text looks tokenised is the caller's business
        super().__init__(
            config,
            of_corpus=BLEU(**asdict(config), effective_order=False, force=True),
            of_sentence=BLEU(**asdict(config), effective_order=True, force=True),
        )

    def count(self, texts: Sequence[str]) -> list[Counts]:
        words = [self._of_sentence._preprocess_segment(text).split() for text in texts]
        return count_ngrams(numbered(words), self.config.max_ngram_order)

    def score_of_matches(self, matches: NgramMatches) -> FloatArray:
        """sacrebleu's `compute_bleu` with effective order, on all pairs at once."""
        method, value = self.config.smooth_method, self.config.smooth_value
        value = BLEU.SMOOTH_DEFAULTS[method] if value is None else value
        shape = matches.shared.shape[1:]
        logs, halvings, orders = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for order, (totals, shared) in enumerate(
            zip(matches.hypotheses, matches.shared, strict=True)
        ):
            added = value if method == "add-k" and order > 0 else 0.0
            present = np.broadcast_to(totals + added > 0, shape)  # longer n-grams it can't have
            right = shared + added
            wrong = present & (right == 0)
            if method == "exp":  # each order without a match counts half as much as the last
                halvings += wrong
                right = np.where(wrong, 0.5**halvings, right)
            elif method == "floor":
                right = np.where(wrong, value, right)
            with np.errstate(divide="ignore"):
                precision = np.log(right / np.where(present, totals + added, 1.0))
            logs += np.where(present, np.maximum(precision, _LOG_OF_ZERO), 0.0)
            orders += present
        lengths, reference_lengths = matches.hypotheses[0], matches.references[0]  # [H, 1], [1, R]
        excess = 1.0 - reference_lengths / np.maximum(lengths, 1.0)  # [H, R]
        brevity = np.exp(np.minimum(excess, 0.0))
        scores: FloatArray = brevity * np.exp(logs / np.maximum(orders, 1))
        return np.where(matches.shared.any(axis=0), scores, 0.0)


def _check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"bleu: {option}={value!r} must be one of {', '.join(sorted(choices))}")
