"""Run `decode` and a reference on the same toy problem and hold the answers against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairseq_mcts.search import decode
from tests.search.reference_mcts import MctsResult
from tests.search.reference_rules import Answer, Rules
from tests.search.toy_models import Prefix, ToyEvaluator, ToyProblem

TOLERANCE = 1e-12


def rules_of(problem: ToyProblem, index: int = 0) -> Rules:
    min_len, max_len = problem.lengths(index)
    return Rules(
        vocab=problem.model.vocab,
        eos=problem.model.eos,
        max_len=max_len,
        min_len=min_len,
        forbidden=problem.forbidden,
        forced=problem.forced(index),
        no_repeat_ngram_size=problem.no_repeat_ngram_size,
    )


def run(problem: ToyProblem, **options: Any) -> tuple[list[list[Any]], ToyEvaluator]:
    """The hypotheses of every sentence of the problem, and the record of what was evaluated."""
    evaluate = problem.evaluator()
    results = decode(evaluate, len(problem.sentence_ids), **{**problem.decode_options(), **options})
    assert len(results) == len(problem.sentence_ids)
    return results, evaluate


def by_sentence_id(problem: ToyProblem, metric: Any) -> Any:
    """A metric that is asked with sentence numbers, answered for the model's names of them."""

    class Renamed:
        batched = metric.batched

        def __call__(self, sentence: Any, tokens: Any) -> Any:
            if metric.batched:
                return metric([problem.sentence_ids[s] for s in sentence], tokens)
            return metric(problem.sentence_ids[sentence], tokens)

    return Renamed()


def near(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= TOLERANCE


def assert_same_sentence(hypothesis: Any, answer: Answer) -> None:
    assert hypothesis.tokens == answer.tokens
    assert len(hypothesis.positional_logprobs) == len(answer.tokens)
    for found, expected in zip(
        hypothesis.positional_logprobs, answer.positional_logprobs, strict=True
    ):
        assert near(found, expected)
    assert near(hypothesis.logprob, answer.logprob)
    assert near(hypothesis.value, answer.value)
    assert near(hypothesis.score, answer.score)


def assert_same_list(hypotheses: Sequence[Any], answers: Sequence[Answer]) -> None:
    assert [h.tokens for h in hypotheses] == [a.tokens for a in answers]
    for hypothesis, answer in zip(hypotheses, answers, strict=True):
        assert_same_sentence(hypothesis, answer)


def assert_same_accounts(
    hypotheses: Sequence[Any], charged: int, needed: Sequence[Prefix], asked: Sequence[Prefix]
) -> None:
    """Charged by the paper's rule; made: exactly the prefixes that are needed, each once."""
    for hypothesis in hypotheses:
        assert hypothesis.evaluations.charged == charged
        assert hypothesis.evaluations.made == len(asked)
    assert len(set(asked)) == len(asked), "a prefix was evaluated twice"
    assert set(asked) == set(needed)


def assert_same_steps(hypothesis: Any, reference: MctsResult) -> None:
    assert hypothesis.visits == tuple(step.children[step.token][0] for step in reference.steps)
    assert [step.token for step in hypothesis.steps] == [step.token for step in reference.steps]
    for found, expected in zip(hypothesis.steps, reference.steps, strict=True):
        visits = {token: child[0] for token, child in found.children.items()}
        assert visits == {token: child[0] for token, child in expected.children.items()}
        for token, (_, value) in found.children.items():
            assert near(value, expected.children[token][1])


def assert_same_extra_sentences(hypotheses: Sequence[Any], others: Sequence[Answer]) -> None:
    """The head of `others` by value, then log-probability; the order of equals is left open."""
    known = {answer.tokens: answer for answer in others}
    assert len({h.tokens for h in hypotheses}) == len(hypotheses)
    for hypothesis, at_this_rank in zip(hypotheses, others, strict=False):
        assert_same_sentence(hypothesis, known[hypothesis.tokens])
        assert near(hypothesis.score, at_this_rank.score)
        assert near(hypothesis.logprob, at_this_rank.logprob)
