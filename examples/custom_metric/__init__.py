"""A --user-dir with a metric of one's own beside everything that fairseq_mcts registers."""

from fairseq_mcts.register import register

from .length_ratio import LengthRatio

register()

__all__ = ["LengthRatio"]
