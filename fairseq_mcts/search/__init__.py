"""Decoding algorithms on prefix trees, for any model: no torch, no fairseq.

from fairseq_mcts.search import decode
results = decode(evaluate, num_sentences, search="mcts", eos=2, max_len=30)
"""

from fairseq_mcts.search import decoders as _decoders  # noqa: F401 - registers them
from fairseq_mcts.search.decode import decode, run_decoder
from fairseq_mcts.search.decoder import Decoder, Run
from fairseq_mcts.search.options import DecoderOptions, OptionError, option
from fairseq_mcts.search.registry import (
    decoder_class,
    decoder_names,
    make_decoder,
    register_decoder,
)
from fairseq_mcts.search.results import Decoded, Evaluations, Hypothesis, Step, Timing
from fairseq_mcts.search.scorer import Candidate, Comparison, Scorer
from fairseq_mcts.search.snapshot import TreeSnapshot, TreeWatcher

__all__ = [
    "Candidate",
    "Comparison",
    "Decoded",
    "Decoder",
    "DecoderOptions",
    "Evaluations",
    "Hypothesis",
    "OptionError",
    "Run",
    "Scorer",
    "Step",
    "Timing",
    "TreeSnapshot",
    "TreeWatcher",
    "decode",
    "decoder_class",
    "decoder_names",
    "make_decoder",
    "option",
    "register_decoder",
    "run_decoder",
]
