"""BLEU by sacrebleu: smoothed per sentence for values and search, plain per corpus for reports."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sacrebleu.metrics import BLEU

from fairseq_mcts.metrics.base import MetricConfig
from fairseq_mcts.metrics.registry import register_metric
from fairseq_mcts.metrics.sacrebleu_metric import SacrebleuMetric


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


def _check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"bleu: {option}={value!r} must be one of {', '.join(sorted(choices))}")
