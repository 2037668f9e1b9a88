"""What must hold of every search, whatever the model, the limits and the options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fairseq_mcts.search import Decoder, make_decoder
from tests.fuzz.search_cases import SearchCase
from tests.search.toy_models import Prefix

Results = list[list[Any]]
#: of `decode` itself; each complaint names one of these or an option of the decoder
CALL_OPTIONS = (
    "search",
    "n_best",
    "budget",
    "forbidden",
    "prefixes",
    "min_len",
    "max_len",
    "metric",
)
NO_TOKEN = "no token is allowed"


class Fault(AssertionError):
    """A case that came out as it must not."""


def check_search(case: SearchCase, alone: int) -> bool:
    """Runs a case, the same in reverse order, and one sentence (number `alone`) by itself.

    Whether it was decoded; if not, it was refused by an error that names its cause.
    """
    everyone = range(case.num_sentences)
    together, reverse = _outcome(case), _outcome(case.of([*reversed(everyone)]))
    single = _outcome(case.of([alone]))
    if isinstance(together, str):
        if reverse != together:
            raise Fault(f"refused as {together!r}, then {reverse!r}")
        others = (_outcome(case.of([index])) for index in everyone if index != alone)
        if not isinstance(single, str) and not any(isinstance(one, str) for one in others):
            raise Fault(f"refused together ({together}), but no sentence of it alone")
        return False
    if isinstance(reverse, str) or reverse[::-1] != together:
        raise Fault(f"in order {together}, in reverse {reverse}")
    if single != [together[alone]]:
        raise Fault(f"alone {single}, together {together[alone]}")
    return True


def _outcome(case: SearchCase) -> Results | str:
    """Hypotheses that hold what they promise, or the complaint of a refusal that names why."""
    try:
        results, evaluate = case.run()
    except (TypeError, ValueError) as error:
        return _checked_refusal(case, error)
    _require(len(results) == case.num_sentences, "not a list for each sentence", results)
    decoder = make_decoder(case.search, case.options, budget=case.budget)
    for index, hypotheses in enumerate(results):
        _check_list(case, decoder, hypotheses)
        for one in hypotheses:
            _check_limits(case, index, one.tokens)
            _check_numbers(case, index, one)
        counts, asked = hypotheses[0].evaluations, evaluate.asked[index]
        guesses = bool(getattr(decoder.options, "prefetch", None))
        stated = counts.made <= len(asked) if guesses else counts.made == len(asked)
        if len(set(asked)) != len(asked) or not stated:
            raise Fault(f"{counts} stated, but evaluated was {asked}")
        _check_budget(decoder, case, index, hypotheses[0])
    return results


def _checked_refusal(case: SearchCase, error: Exception) -> str:
    complaint = str(error)
    if NO_TOKEN in complaint:
        problem = case.problem
        words = problem.model.vocab - 1
        dead_end = problem.no_repeat_ngram_size > 0 or (
            len(problem.forbidden) == words
            and problem.min_len not in (0, (0,) * case.num_sentences)
        )
        _require(dead_end and "sentence" in complaint, "refused without need", complaint)
        return NO_TOKEN  # which prefix is met first depends on who else is in the batch
    named = [name for name in (*CALL_OPTIONS, *case.options) if name in complaint]
    if not named:
        raise Fault(f"an error that names nothing: {error!r}") from error
    return complaint.partition("[")[0]  # up to the number of a sentence: prefixes[2]


def _check_list(case: SearchCase, decoder: Decoder[Any], hypotheses: Sequence[Any]) -> None:
    unranked = getattr(decoder.options, "rank_by", None) == "none"
    texts = {one.tokens for one in hypotheses}
    _require(1 <= len(hypotheses) <= case.n_best, "too few or too many hypotheses", hypotheses)
    _require(unranked or len(texts) == len(hypotheses), "a hypothesis comes twice", hypotheses)
    scores = [one.score for one in hypotheses]
    if case.search == "mcts":
        scores = scores[1:]  # the first is what the search has chosen
    _require(unranked or scores == sorted(scores, reverse=True), "not the best first", scores)


def _check_limits(case: SearchCase, index: int, tokens: Prefix) -> None:
    problem, eos = case.problem, case.problem.model.eos
    min_len, max_len = problem.lengths(index)
    forced = problem.forced(index)
    _require(tokens[-1] == eos and eos not in tokens[:-1], "does not end once", tokens)
    _require(min_len <= len(tokens) - 1 <= max_len, "too short or too long", tokens)
    _require(not set(tokens) & set(problem.forbidden), "a forbidden token", tokens)
    _require(tokens[: len(forced)] == forced, "without its prefix", tokens)
    size = problem.no_repeat_ngram_size
    if size:
        free = range(len(forced), len(tokens) - 1)  # ends of n-grams that the search has chosen
        for end in (one for one in free if one + 1 >= size):
            gram = tokens[end + 1 - size : end + 1]
            before = [tokens[begin : begin + size] for begin in range(end + 1 - size)]
            _require(gram not in before, "an n-gram comes twice", tokens)


def _check_numbers(case: SearchCase, index: int, one: Any) -> None:
    model, sentence = case.problem.model, case.problem.sentence_ids[index]
    expected = [
        float(model(sentence, one.tokens[:place])[0][token])
        for place, token in enumerate(one.tokens)
    ]
    _require(list(one.positional_logprobs) == expected, "other log-probabilities", expected)
    _require(math.isclose(one.logprob, sum(expected), abs_tol=1e-9), "another sum", one.logprob)
    for number in (one.score, one.weight, 0.0 if one.value is None else one.value):
        _require(math.isfinite(number), "not finite", one)


def _check_budget(decoder: Decoder[Any], case: SearchCase, index: int, best: Any) -> None:
    _, max_len = case.problem.lengths(index)
    spent, most = best.evaluations.charged, most_charged(decoder, index, best, max_len + 1)
    _require(spent <= most, f"charged more than {most}", spent)
    if decoder.name == "mcts":
        simulations = _count(decoder, index, "simulations")
        if decoder.options.leaf == "value":
            _require(spent == len(best.tokens) * (1 + simulations), "charged otherwise", spent)
        for step in best.steps:
            visits = sum(count for count, _ in step.children.values())
            _require(visits == simulations, f"not {simulations} simulations", visits)


def most_charged(decoder: Decoder[Any], index: int, best: Any, steps: int) -> int:
    """What a sentence of at most so many tokens, eos included, can be charged."""
    options = decoder.options
    if decoder.name == "mbr":
        if options.candidates == "sampling":
            return _count(decoder, index, "samples") * steps
        source = make_decoder(options.candidates, budget=_count(decoder, index, "samples"))
        # the search may have finished a longer sentence than the one that was chosen
        return most_charged(source, index, None, steps)
    if decoder.name == "sr":
        return _count(decoder, index, "samples") * (steps + 1)
    if decoder.name in ("beam", "vgbs"):
        beam = _count(decoder, index, "beam")
        # a beam proposes one more token where eos is among the best
        return steps * (beam + (beam * (beam + 1) if decoder.needs_value else 0))
    assert decoder.name == "mcts"
    tokens = steps if best is None else len(best.tokens)
    of_rollout = steps if options.leaf == "rollout" else 0
    return tokens * (1 + _count(decoder, index, "simulations")) * (1 + of_rollout)


def _count(decoder: Decoder[Any], index: int, name: str) -> int:
    """An option of which each sentence may have its own."""
    given = getattr(decoder.options, name)
    return int(given[index] if isinstance(given, list) else given)


def _require(holds: bool, what: str, found: Any) -> None:
    if not holds:
        raise Fault(f"{what}: {found}")
