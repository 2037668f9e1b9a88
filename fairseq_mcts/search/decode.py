"""The entry point for any model: `decode`."""

from collections.abc import Sequence
from typing import Any

from fairseq_mcts.search.beam import BeamSearch
from fairseq_mcts.search.compiled import announce_compilation
from fairseq_mcts.search.constraints import Constraints, make_constraints
from fairseq_mcts.search.driver import Search, run
from fairseq_mcts.search.function_evaluator import EvaluateFunction, FunctionEvaluator
from fairseq_mcts.search.mcts import MctsSearch
from fairseq_mcts.search.options import BeamOptions, MctsOptions, Options, VgbsOptions, make_options
from fairseq_mcts.search.results import Hypothesis
from fairseq_mcts.search.sampling import SampleSearch
from fairseq_mcts.search.snapshot import TreeWatcher


def make_search(
    options: Options,
    constraints: Constraints,
    *,
    seed: int | Sequence[int] = 0,
    n_best: int = 1,
    trace: bool = False,
    watcher: TreeWatcher | None = None,
) -> Search:
    """The algorithm that `options` describe, ready to run."""
    if n_best < 1:
        raise ValueError(f"n_best: must be at least 1, is {n_best}")
    if isinstance(options, MctsOptions):
        return MctsSearch(constraints, options, n_best=n_best, trace=trace, watcher=watcher)
    for name, given in (("trace", trace), ("watcher", watcher is not None)):
        if given:
            raise ValueError(f"{name}: search={options.search!r} builds no search tree")
    if isinstance(options, (BeamOptions, VgbsOptions)):
        return BeamSearch(constraints, options, n_best=n_best)
    return SampleSearch(constraints, options, seed=seed, n_best=n_best)


def decode(
    evaluate: EvaluateFunction,
    num_sentences: int,
    *,
    search: str = "mcts",
    eos: int,
    max_len: int | Sequence[int],
    min_len: int | Sequence[int] = 0,
    seed: int | Sequence[int] = 0,
    forbidden: Sequence[int] = (),
    prefixes: Sequence[Sequence[int]] | None = None,
    no_repeat_ngram_size: int = 0,
    n_best: int = 1,
    budget: int | Sequence[int] | None = None,
    preset: str | None = None,
    trace: bool = False,
    watcher: TreeWatcher | None = None,
    **options: Any,
) -> list[list[Hypothesis]]:
    """Decodes `num_sentences` sentences with the model that `evaluate` stands for.

    `evaluate(sentences, prefixes)` is given n sentence numbers and n prefixes (token tuples, ()
    for the empty one) and returns log-probabilities [n, V] of the next token and values [n] of
    the prefixes. For a prefix that ends in `eos` only the value is read. It is never asked twice
    for a prefix that is still remembered.

    Args:
        search: "mcts", "vgbs", "beam" or "sr"; its own options follow as keywords (see `options`).
        eos: the token that ends a sentence.
        max_len: at most so many tokens before `eos`; like `min_len`, `seed`, `budget` and the
            counts `simulations`, `samples`, `beam`, one number or one for each sentence.
        min_len: at least so many tokens before `eos`.
        seed: of the samples of search="sr", the same whatever else is in the batch.
        forbidden: tokens that are never produced (padding, say).
        prefixes: tokens that each sentence must start with.
        no_repeat_ngram_size: no sequence of so many tokens twice in a sentence; 0: no such rule.
        n_best: at most so many hypotheses per sentence.
        budget: evaluations per output token that the paper would charge: sets simulations,
            samples or beam to it, for "vgbs" the beam to the smallest k with k + k² ≥ budget.
        preset: the paper's settings for a "privileged" or an "unprivileged" metric.
        trace: keep each output token's search (search="mcts" only).
        watcher: is shown whole search trees, those it wants to see (search="mcts" only).

    Returns:
        For each sentence its hypotheses, best first.
    """
    if num_sentences < 0:
        raise ValueError(f"num_sentences: must not be negative, is {num_sentences}")
    for name, given in (("budget", budget), ("seed", seed)):
        if isinstance(given, Sequence) and len(given) != num_sentences:
            raise ValueError(f"{name}: {len(given)} numbers for {num_sentences} sentences")
    chosen = make_options(search, options, preset=preset, budget=budget)
    metric = getattr(chosen, "metric", None)
    if metric is not None and not callable(metric):
        raise ValueError(f"metric: {metric!r} is no function of (sentence, tokens)")
    constraints = make_constraints(
        num_sentences,
        eos=eos,
        max_len=max_len,
        min_len=min_len,
        forbidden=forbidden,
        prefixes=prefixes,
        no_repeat_ngram_size=no_repeat_ngram_size,
    )
    algorithm = make_search(
        chosen, constraints, seed=seed, n_best=n_best, trace=trace, watcher=watcher
    )
    announce_compilation()
    run(algorithm, FunctionEvaluator(evaluate, constraints), metric)
    return algorithm.results()
