"""The metrics as fairseq scorers: `fairseq-generate --scoring mlbertscore …`.

Importing this package registers them.
"""

from fairseq_mcts.scoring import scorers

__all__ = ["scorers"]
