"""fairseq_mcts: machine translation that decodes for the metric its user cares about."""

__version__ = "0.2.0.dev0"
