"""rank_by="none": all samples in the order drawn, for training data."""

from collections import Counter

import numpy as np

from fairseq_mcts.search import decode

EOS = 0
VOCABULARY = 4


def evaluate(sentences: object, prefixes: list[tuple[int, ...]]) -> tuple[object, object]:
    """eos with 1/2, else one of three words; the first two as probable as the third."""
    row = np.log([0.5, 0.125, 0.125, 0.25])
    return np.tile(row, (len(prefixes), 1)), np.zeros(len(prefixes))


def samples(count: int, **options: object) -> list[tuple[int, ...]]:
    [results] = decode(
        evaluate,
        1,
        search="sr",
        eos=EOS,
        max_len=5,
        samples=count,
        rank_by="none",
        **{"n_best": count, "seed": 3, **options},  # type: ignore[arg-type]
    )
    for hypothesis in results:
        assert hypothesis.value is None
        assert np.isclose(hypothesis.logprob, sum(hypothesis.positional_logprobs))
    return [hypothesis.tokens for hypothesis in results]


def test_repetitions_stay_with_the_frequency_of_their_probability() -> None:
    drawn = samples(2000)
    assert len(drawn) == 2000
    share = {tokens: count / 2000 for tokens, count in Counter(drawn).items()}
    assert abs(share[(EOS,)] - 1 / 2) < 0.04
    assert abs(share[(3, EOS)] - 1 / 8) < 0.03
    assert abs(share[(1, EOS)] - 1 / 16) < 0.02


def test_order_is_that_of_drawing() -> None:
    drawn = samples(50)
    assert samples(20) == drawn[:20]  # more samples only add to what fewer are
    assert samples(50, n_best=7) == drawn[:7]
    assert samples(50, seed=4) != drawn
    assert len(set(drawn)) < len(drawn)


def test_sentences_of_a_batch_do_not_mind_each_other() -> None:
    together = decode(
        evaluate,
        3,
        search="sr",
        eos=EOS,
        max_len=[5, 2, 5],
        seed=[3, 9, 3],
        samples=[10, 4, 10],
        rank_by="none",
        n_best=10,
    )
    tokens = [[hypothesis.tokens for hypothesis in results] for results in together]
    assert tokens[0] == tokens[2] == samples(10)
    assert len(tokens[1]) == 4
