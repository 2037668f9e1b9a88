"""MLBERTScore: BERTScore of hypothesis and SOURCE through a multilingual encoder."""

from fairseq_mcts.metrics.bertscore import BertScore, BertScoreConfig
from fairseq_mcts.metrics.registry import register_metric


@register_metric("mlbertscore", config=BertScoreConfig)
class MLBertScore(BertScore):
    """MLBERTScore (Leblond et al., 2021): how well the words of source and translation match.

    It never sees a reference, so it may steer a search. The encoder must know both languages.
    Cost as of `bertscore`.
    """

    privileged = False
