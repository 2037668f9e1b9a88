"""chrF by sacrebleu, per sentence and per corpus."""

from dataclasses import asdict, dataclass

from sacrebleu.metrics import CHRF

from fairseq_mcts.metrics.base import MetricConfig
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
