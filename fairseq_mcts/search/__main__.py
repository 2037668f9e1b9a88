"""`python -m fairseq_mcts.search`: compiles the kernels of all searches ahead of time."""

import numpy as np

from fairseq_mcts.search.compiled import CACHE_FOLDER
from fairseq_mcts.search.decode import decode


def _coin(sentences: list[int], prefixes: list[tuple[int, ...]]) -> tuple[object, object]:
    return np.full((len(sentences), 3), np.log(1 / 3)), np.full(len(sentences), 0.5)


def compile_kernels() -> None:
    """Runs every search once on a model of three tokens."""
    common = {"eos": 2, "max_len": 3, "no_repeat_ngram_size": 2}
    for search in ("mcts", "vgbs", "beam", "sr"):
        decode(_coin, 1, search=search, **common)  # type: ignore[arg-type]
    decode(_coin, 1, search="mcts", leaf="rollout", metric=lambda *_: 0.5, trace=True, **common)  # type: ignore[arg-type]


if __name__ == "__main__":
    compile_kernels()
    print(f"search kernels are compiled in {CACHE_FOLDER}")
