"""Criterions for training values; importing this registers them."""

from fairseq_mcts.criterions import hybrid, value

__all__ = ["hybrid", "value"]
