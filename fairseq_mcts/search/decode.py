"""The entry point for any model: `decode`."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fairseq_mcts.search.compiled import announce_compilation
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.decoder import Decoder, Run
from fairseq_mcts.search.driver import drive
from fairseq_mcts.search.evaluator import Evaluator
from fairseq_mcts.search.faults import FaultySentenceError
from fairseq_mcts.search.function_evaluator import EvaluateFunction, FunctionEvaluator
from fairseq_mcts.search.options import OptionError
from fairseq_mcts.search.recording import SearchRecorder
from fairseq_mcts.search.registry import make_decoder
from fairseq_mcts.search.results import Decoded, Hypothesis
from fairseq_mcts.search.scorer import Metric, Scorer
from fairseq_mcts.search.snapshot import TreeWatcher


def run_decoder(
    decoder: Decoder[Any], run: Run, evaluator: Evaluator, metric: Metric | None = None
) -> Decoded:
    """Decodes the sentences of `run` with the model behind `evaluator`."""
    for name, given in (("trace", run.trace), ("watcher", run.watcher is not None)):
        if given and not decoder.builds_trees:
            raise ValueError(f"{name}: search={decoder.name!r} builds no search tree")
    if run.recorder is not None and not decoder.records_search:
        raise ValueError(f"recorder: search={decoder.name!r} can't be recorded")
    if decoder.needs_metric and metric is None:
        asking = decoder.metric_option
        if asking is None:
            raise OptionError("search", "needs a metric", value=decoder.name)
        raise OptionError(asking, "needs a metric", value=getattr(decoder.options, asking))
    if not decoder.needs_metric:
        metric = None  # nothing would ask it
    aggregating = decoder.aggregating_option
    if aggregating is not None and not hasattr(metric, "aggregated"):
        raise OptionError(
            aggregating,
            "needs a metric that can aggregate references",
            value=getattr(decoder.options, aggregating),
        )
    scorer = Scorer(metric) if metric is not None else None
    search = decoder.search(replace(run, n_best=None) if decoder.reranks else run)
    results: list[list[Hypothesis]] = []
    try:
        timing = drive(search, evaluator, scorer)
        results = search.results()
        if decoder.reranks:
            begun = time.perf_counter()
            everything = decoder.rerank(results, scorer)
            _show_ranking(run, everything)
            results = [ranked[: run.n_best] for ranked in everything]
            timing.search += time.perf_counter() - begun
    except FaultySentenceError as error:
        for sentence in error.reasons:
            found = results[sentence] if results else search.finished_so_far(sentence)
            if (best := _best_so_far(sentence, found, scorer)) is not None:
                error.best_so_far[sentence] = best
        raise
    if decoder.reranks and scorer is not None:
        timing.search -= scorer.seconds - timing.metric
        scorer.write_timing(timing)
    return Decoded(results, timing, search.tree.capacity, search.num_bytes)


def _show_ranking(run: Run, everything: Sequence[Sequence[Hypothesis]]) -> None:
    """Shows a recorder the scores of all finished sentences, not of the best alone."""
    for sentence, ranked in enumerate(everything):
        if run.recorder is not None and run.recorder.wants(sentence):
            run.recorder.see_ranking(sentence, ranked)


def _best_so_far(
    sentence: int, found: Sequence[Hypothesis], scorer: Scorer | None
) -> Hypothesis | None:
    """The best of finished sentences: by the metric if some were scored, else by the value, else by
    the model's log-probability per token."""

    def rank(one: Hypothesis) -> tuple[bool, float, bool, float, float]:
        score = None if scorer is None else scorer.known(sentence, one.tokens)
        has_score, has_value = score is not None, one.value is not None
        likelihood = one.logprob / len(one.tokens)
        return has_score, score or 0.0, has_value, one.value or 0.0, likelihood

    best = max(found, key=rank, default=None)
    if best is None or scorer is None:
        return best
    score = scorer.known(sentence, best.tokens)  # the value of a hypothesis is the metric's then
    return replace(best, value=score, score=best.logprob if score is None else score)


def decode(
    evaluate: EvaluateFunction,
    num_sentences: int,
    *,
    search: str | Decoder[Any] = "mcts",
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
    metric: Metric | None = None,
    highest_value: float = math.inf,
    at_once: int | None = None,
    trace: bool = False,
    watcher: TreeWatcher | None = None,
    recorder: SearchRecorder | None = None,
    **options: Any,
) -> list[list[Hypothesis]]:
    """Decodes `num_sentences` sentences with the model that `evaluate` stands for.

    `evaluate(sentences, prefixes)` is given n sentence numbers and n prefixes (token tuples, ()
    for the empty one) and returns log-probabilities [n, V] of the next token and values [n] of
    the prefixes. For a prefix that ends in `eos` only the value is read. It is never asked twice
    for a prefix that is still remembered.

    Args:
        search: the name of a registered decoder, whose own options follow as keywords; or a
            `Decoder` that has its options already.
        eos: the token that ends a sentence.
        max_len: at most so many tokens before `eos`; like `min_len`, `seed`, `budget` and the
            decoders' counts, one number or one for each sentence.
        min_len: at least so many tokens before `eos`.
        seed: of whatever is drawn, the same whatever else is in the batch.
        forbidden: tokens that are never produced (padding, say).
        prefixes: tokens that each sentence must start with.
        no_repeat_ngram_size: no sequence of so many tokens twice in a sentence; 0: no such rule.
        n_best: at most so many hypotheses per sentence.
        budget: evaluations per output token that the paper would charge: sets the decoder's own
            count to the smallest that is charged so many.
        preset: the paper's settings for a "privileged" or an "unprivileged" metric.
        metric: scores finished sentences, where the decoder's options ask for it: a function of
            (sentence, tokens), or with an attribute `batched = True` of lists of both. A decoder
            that compares sentences with one another (mbr) asks a function of (sentence,
            hypothesis, reference); `search.scorer` has all forms.
        highest_value: no value of the model is greater; saves evaluations, changes no result.
        at_once: sentences that are searched at the same time; the next joins when one is finished.
            Changes no result. All of them unless given.
        trace: keep each output token's search, where the decoder builds search trees.
        watcher: is shown whole search trees, those it wants to see.
        recorder: is told everything that a search does, see `search.recording`.

    Returns:
        For each sentence its hypotheses, best first.
    """
    if num_sentences < 0:
        raise ValueError(f"num_sentences: must not be negative, is {num_sentences}")
    for name, given in (("budget", budget), ("seed", seed)):
        if isinstance(given, Sequence) and len(given) != num_sentences:
            raise ValueError(f"{name}: {len(given)} numbers for {num_sentences} sentences")
    if isinstance(search, Decoder):
        decoder = search
        if options or preset is not None or budget is not None:
            raise TypeError("options, preset and budget belong to a decoder that is named")
    else:
        decoder = make_decoder(search, options, preset=preset, budget=budget)
    if metric is not None and not decoder.may_use_metric():
        raise TypeError(f"search={decoder.name!r} has no use for a metric")
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
    announce_compilation()
    run = Run(
        constraints,
        seed=seed,
        n_best=n_best,
        trace=trace,
        watcher=watcher,
        recorder=recorder,
        highest_value=highest_value,
        at_once=at_once,
    )
    return run_decoder(decoder, run, FunctionEvaluator(evaluate, constraints), metric).hypotheses
