"""fairseq_mcts: machine translation that decodes for the metric its user cares about."""

__version__ = "0.1.0"
