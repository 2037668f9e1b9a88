"""A --user-dir with a decoder of one's own beside everything that fairseq_mcts registers."""

from fairseq_mcts.register import register

from .length_bonus import LengthBonus

register()

__all__ = ["LengthBonus"]
