"""The vocabulary of the demo's encoder."""

from examples.demo.wordpieces import SPECIAL_SYMBOLS, build_vocabulary


def test_vocabulary_is_complete_and_independent_of_order(toy_pairs) -> None:
    texts = [*toy_pairs.sources, *toy_pairs.targets]
    vocabulary = build_vocabulary(texts, max_words=20)
    assert vocabulary == build_vocabulary(texts[::-1], max_words=20)
    assert tuple(vocabulary[:5]) == SPECIAL_SYMBOLS
    assert len(set(vocabulary)) == len(vocabulary)
    assert {"ü", "##ü", "ß", "##ß", "!", "der"} <= set(vocabulary)
