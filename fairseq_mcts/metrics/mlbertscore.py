"""MLBERTScore: BERTScore of hypothesis and SOURCE through a multilingual encoder."""

from dataclasses import dataclass

from fairseq_mcts.metrics.bertscore import BertScore, BertScoreConfig
from fairseq_mcts.metrics.registry import register_metric


@dataclass
class MLBertScoreConfig(BertScoreConfig):
    """Options of `mlbertscore`: those of `bertscore`; the encoder must know both languages."""


@register_metric("mlbertscore", config=MLBertScoreConfig)
class MLBertScore(BertScore):
    """MLBERTScore (Leblond et al., 2021): how well the words of source and translation match.

    It never sees a reference, so it may steer a search. Cost as of `bertscore`.
    """

    privileged = False
