"""Grown completions on toy models: every label is the score of plain greedy decoding."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_mcts.relabelling.completion_search import (
    CompletionSearch,
    Growth,
    Translation,
)
from fairseq_mcts.relabelling.rows import LabelledRow
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.driver import drive
from fairseq_mcts.search.function_evaluator import FunctionEvaluator
from fairseq_mcts.search.scorer import Scorer
from tests.search.toy_models import ENDINGS, POLICIES, ToyMetric, ToyModel

MIN_LEN = 1


class Toy:
    """A toy model, its limits and a metric."""

    def __init__(self, seed: int, vocab: int, policy: str, ending: str, max_len: int) -> None:
        self.model = ToyModel(vocab, eos=0, seed=seed, policy=policy, ending=ending)
        self.metric = ToyMetric(seed)
        self.max_len = max_len
        self.asked: list[tuple[int, tuple[int, ...]]] = []
        self.rows_of_calls: list[int] = []
        self.told: dict[tuple[int, tuple[int, ...]], float] = {}  # log-probabilities
        self.capacity = 0  # of the tree at the end

    def grow(
        self,
        sentences: Sequence[int],
        growth: Growth,
        found: Sequence[Sequence[tuple[int, ...]]] | None = None,
        at_once: int | None = None,
        with_logprobs: bool = False,
    ) -> list[list[LabelledRow]]:
        def evaluate(numbers: Any, prefixes: Any) -> Any:
            self.asked += [
                (sentences[one], two) for one, two in zip(numbers, prefixes, strict=True)
            ]
            self.rows_of_calls.append(len(numbers))
            answers = [self.model(sentences[n], p) for n, p in zip(numbers, prefixes, strict=True)]
            return np.array([row for row, _ in answers]), np.zeros(len(answers))

        constraints = make_constraints(len(sentences), eos=0, max_len=self.max_len, min_len=MIN_LEN)
        seeds = [10 + one for one in sentences]
        translations = found and [
            [Translation(tokens, self.logprobs(sentence, tokens)) for tokens in of_sentence]
            for sentence, of_sentence in zip(sentences, found, strict=True)
        ]
        search = CompletionSearch(
            constraints, growth, seeds, translations, at_once, with_logprobs=with_logprobs
        )
        evaluator = FunctionEvaluator(evaluate, constraints)

        def score(sentence: int, tokens: tuple[int, ...], logprob: float) -> float:
            self.told[sentences[sentence], tokens] = logprob
            return self.score(sentences[sentence], tokens)

        score.reads_logprob = True  # type: ignore[attr-defined]
        drive(search, evaluator, Scorer(score))
        self.capacity = search.tree.capacity
        assert search.tree.free_count[0] == self.capacity  # all is forgotten
        return search.labelled_rows()

    def score(self, sentence: int, tokens: tuple[int, ...]) -> float:
        return self.metric.score(sentence, tokens)

    def logprobs(self, sentence: int, tokens: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(
            float(self.model(sentence, tokens[:place])[0][token])
            for place, token in enumerate(tokens)
        )

    def best(self, sentence: int, prefix: tuple[int, ...]) -> list[int]:
        """All tokens that may follow, the best first."""
        if len(prefix) == self.max_len:
            return [0]
        row = self.model(sentence, prefix)[0]
        allowed = range(0 if len(prefix) >= MIN_LEN else 1, len(row))
        return sorted(allowed, key=lambda token: (-row[token], token))

    def greedy(self, sentence: int, prefix: tuple[int, ...]) -> tuple[int, ...]:
        """The prefix and what plain greedy decoding makes of it."""
        while not prefix or prefix[-1] != 0:
            prefix = (*prefix, self.best(sentence, prefix)[0])
        return prefix


toys = st.builds(
    Toy,
    seed=st.integers(0, 10**6),
    vocab=st.integers(2, 9),
    policy=st.sampled_from(POLICIES),
    ending=st.sampled_from(ENDINGS),
    max_len=st.integers(1, 7),
)
growths = st.builds(
    Growth,
    rounds=st.integers(1, 4),
    rows_per_round=st.integers(1, 3),
    best_tokens=st.integers(1, 5),
)


@settings(max_examples=150, deadline=None)
@given(toys, growths)
def test_labels_are_the_scores_of_greedy_completions(toy: Toy, growth: Growth) -> None:
    for sentence, rows in enumerate(toy.grow(range(3), growth)):
        assert len({row.tokens for row in rows}) == len(rows)
        assert len(rows) <= 1 + growth.rounds * growth.rows_per_round
        assert rows[0].tokens == toy.greedy(sentence, ())
        assert (rows[0].method, rows[0].first) == ("greedy", 0)
        for number, row in enumerate(rows):
            assert row.score == toy.score(sentence, row.tokens)
            for length in range(row.first, len(row.tokens) + 1):
                assert toy.greedy(sentence, row.tokens[:length]) == row.tokens
            if number:
                assert row.method == "completion"
                *kept, token = row.tokens[: row.first]
                mothers = [
                    one
                    for one in rows[:number]
                    if list(one.tokens[: len(kept)]) == kept and one.tokens[len(kept)] != token
                ]
                assert mothers
                assert token in (0, *toy.best(sentence, tuple(kept))[: growth.best_tokens])
    assert len(set(toy.asked)) == len(toy.asked)  # no prefix is evaluated twice


@settings(max_examples=100, deadline=None)
@given(toys, growths, st.data())
def test_what_was_found_is_a_row_and_a_mother(toy: Toy, growth: Growth, data: Any) -> None:
    words = st.lists(st.integers(1, toy.model.vocab - 1), min_size=1, max_size=toy.max_len)
    found = data.draw(st.lists(words, min_size=1, max_size=3, unique_by=tuple))
    translations = [(*one, 0) for one in found]
    [rows] = toy.grow([5], growth, [translations])
    assert {row.tokens for row in rows} >= {*translations, toy.greedy(5, ())}
    assert len({row.tokens for row in rows}) == len(rows)
    for row in rows:
        assert row.score == toy.score(5, row.tokens)
        # those found have no greedy prefix, unless they are a greedy completion themselves
        for length in range(row.first, len(row.tokens)):
            assert toy.greedy(5, row.tokens[:length]) == row.tokens
    assert len(set(toy.asked)) == len(toy.asked)


@settings(max_examples=150, deadline=None)
@given(toys, growths, st.data())
def test_a_metric_that_reads_them_is_told_true_log_probabilities(
    toy: Toy, growth: Growth, data: Any
) -> None:
    words = st.lists(st.integers(1, toy.model.vocab - 1), min_size=1, max_size=toy.max_len)
    found = [(*one, 0) for one in data.draw(st.lists(words, max_size=2, unique_by=tuple))]
    [rows] = toy.grow([5], growth, [found], with_logprobs=True)
    assert {tokens for _, tokens in toy.told} == {row.tokens for row in rows}
    for (sentence, tokens), logprob in toy.told.items():
        assert logprob == pytest.approx(sum(toy.logprobs(sentence, tokens)), rel=1e-12)


def test_a_metric_that_reads_none_has_early_ends_among_unlikely_tokens_too() -> None:
    few = Growth(best_tokens=1)
    kept = Toy(4, 30, "flat", "never", 12)
    kept.grow(range(40), few)
    assert any(math.isnan(logprob) for logprob in kept.told.values())
    without = Toy(4, 30, "flat", "never", 12)
    without.grow(range(40), few, with_logprobs=True)
    assert not any(math.isnan(logprob) for logprob in without.told.values())


@settings(max_examples=50, deadline=None)
@given(toys, growths)
def test_sentences_of_a_batch_do_not_mind_each_other(toy: Toy, growth: Growth) -> None:
    found = [[(1, 0)], [], [(1, 1, 0)[-toy.max_len - 1 :]]]
    together = toy.grow([3, 4, 8], growth, found)
    alone = [toy.grow([one], growth, [of])[0] for one, of in zip((3, 4, 8), found, strict=True)]
    assert together == alone


@settings(max_examples=100, deadline=None)
@given(toys, growths, st.integers(1, 4))
def test_sentences_join_others_without_a_change(toy: Toy, growth: Growth, at_once: int) -> None:
    sentences = range(7)
    found = [[(1, 0)] if one % 3 == 0 else [] for one in sentences]
    together = toy.grow(sentences, growth, found)
    asked, toy.asked = toy.asked, []
    assert toy.grow(sentences, growth, found, at_once) == together
    assert sorted(toy.asked) == sorted(asked)


def test_joining_fills_calls_and_keeps_the_tree_small() -> None:
    toy = Toy(4, 30, "flat", "fair", 12)
    toy.grow(range(64), Growth())
    whole = toy.capacity
    toy.rows_of_calls = []
    toy.grow(range(64), Growth(), at_once=4)
    assert toy.capacity < whole / 2
    first = toy.rows_of_calls[: len(toy.rows_of_calls) // 2]
    assert min(first) > 4  # of the 8 that 4 sentences have in a round


def test_prefixes_of_what_was_found_get_their_true_promise() -> None:
    """Half of the rows that grow from a found sentence complete a prefix of it as it is."""
    toy = Toy(3, 30, "flat", "never", 12)
    found = tuple([*range(1, 13), 0])
    rows = toy.grow([0], Growth(rounds=1, rows_per_round=90), [[found]])[0]
    promised = [row for row in rows if row.tokens[: row.first] == found[: row.first] and row.first]
    assert len(promised) > 5
    assert found in {row.tokens for row in rows}


def test_rows_end_early_now_and_then() -> None:
    toy = Toy(4, 30, "flat", "never", 12)
    rows = [row for rows in toy.grow(range(40), Growth()) for row in rows]
    early = sum(len(row.tokens) < 12 for row in rows)
    assert 0.04 < early / len(rows) < 0.15
