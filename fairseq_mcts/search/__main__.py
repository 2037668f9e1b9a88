"""`python -m fairseq_mcts.search`: compiles the kernels of all searches ahead of time."""

import numpy as np

from fairseq_mcts.search.decode import decode
from fairseq_mcts.search.draw_distinct import draw_distinct
from fairseq_mcts.search.draw_rows import draw_from_scores
from fairseq_mcts.search.kernel_cache import CACHE_FOLDER
from fairseq_mcts.search.policy import draw_tokens
from fairseq_mcts.search.read_rows import RowsRead, TokenRules, read_rows
from fairseq_mcts.search.registry import decoder_names, make_decoder


def _coin(sentences: list[int], prefixes: list[tuple[int, ...]]) -> tuple[object, object]:
    return np.full((len(sentences), 3), np.log(1 / 3)), np.full(len(sentences), 0.5)


def compile_kernels() -> None:
    """Runs every search once on a model of three tokens."""
    for search in decoder_names():
        decoder = make_decoder(search)
        if not decoder.needs_metric:
            trace = decoder.builds_trees
            decode(_coin, 1, search=decoder, eos=2, max_len=3, no_repeat_ngram_size=2, trace=trace)
    _compile_readout()


def _compile_readout() -> None:
    """What reads a network's scores, which are float32."""
    scores, row, token = np.zeros((1, 3), np.float32), np.zeros(1, np.int32), np.int32(2)
    none, penalty = np.zeros(0, np.int32), np.zeros(0, np.float64)
    logprobs, weights = np.zeros((2, 1, 1))
    read = RowsRead(row.copy(), row[:, None].copy(), logprobs, weights, np.zeros(1))
    rules = TokenRules(int(token), none, none, penalty)
    read_rows(scores, row != 0, row == 0, row - 1, none, none, rules, 0.5, True, read)
    draw_from_scores(scores, row, np.zeros(1), 0.5)
    draw_tokens(scores, row, np.zeros(1), 0.5, 1, 0.5, 0.1)
    draw_distinct(scores, row, np.zeros(1), 0.5, 1, 0.5, 0.1)


if __name__ == "__main__":
    compile_kernels()
    print(f"search kernels are compiled in {CACHE_FOLDER}")
