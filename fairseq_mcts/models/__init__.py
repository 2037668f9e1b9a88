"""The architectures; importing this package registers them with fairseq."""

from fairseq_mcts.models.dual_head_transformer import DualHeadMultiQueryTransformerModel
from fairseq_mcts.models.multiquery_transformer import MultiQueryTransformerModel
from fairseq_mcts.models.policy_with_value import PolicyWithValueModel
from fairseq_mcts.models.sizes import register_sizes

__all__ = [
    "DualHeadMultiQueryTransformerModel",
    "MultiQueryTransformerModel",
    "PolicyWithValueModel",
]

register_sizes()
