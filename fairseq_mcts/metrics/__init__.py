"""Metrics of translation quality: for decoding, for relabelling, for reports.

Importing this package loads neither torch nor fairseq; the encoders behind BERTScore, MLBERTScore
and COMET are loaded when such a metric is built.

    from fairseq_mcts.metrics import build_metric
    metric = build_metric("mlbertscore:model=path/to/encoder,layer=3")
    metric.score(hypotheses, sources)  # one float in [0, 1] per pair
"""

from fairseq_mcts.metrics.base import (
    Metric,
    MetricConfig,
    PairMatches,
    with_sources,
)
from fairseq_mcts.metrics.bertscore import BertScore
from fairseq_mcts.metrics.bleu import Bleu
from fairseq_mcts.metrics.bootstrap import PairedResult, paired_bootstrap
from fairseq_mcts.metrics.chrf import ChrF
from fairseq_mcts.metrics.comet import Comet, CometQE
from fairseq_mcts.metrics.likelihood import Likelihood
from fairseq_mcts.metrics.mix import Mix
from fairseq_mcts.metrics.mlbertscore import MLBertScore
from fairseq_mcts.metrics.registry import (
    build_metric,
    metric_class,
    metric_names,
    parse_metric_spec,
    register_metric,
)
from fairseq_mcts.metrics.text import TextDecoder, text_decoders

__all__ = [
    "BertScore",
    "Bleu",
    "ChrF",
    "Comet",
    "CometQE",
    "Likelihood",
    "MLBertScore",
    "Metric",
    "MetricConfig",
    "Mix",
    "PairMatches",
    "PairedResult",
    "TextDecoder",
    "build_metric",
    "metric_class",
    "metric_names",
    "paired_bootstrap",
    "parse_metric_spec",
    "register_metric",
    "text_decoders",
    "with_sources",
]
