"""Decoding algorithms on prefix trees, for any model: no torch, no fairseq.

from fairseq_mcts.search import decode
results = decode(evaluate, num_sentences, search="mcts", eos=2, max_len=30)
"""

from fairseq_mcts.search.decode import decode, make_search
from fairseq_mcts.search.results import Evaluations, Hypothesis, Step, Timing
from fairseq_mcts.search.snapshot import TreeSnapshot, TreeWatcher

__all__ = [
    "Evaluations",
    "Hypothesis",
    "Step",
    "Timing",
    "TreeSnapshot",
    "TreeWatcher",
    "decode",
    "make_search",
]
