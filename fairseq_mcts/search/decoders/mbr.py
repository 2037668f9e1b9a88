"""Minimum Bayes risk decoding (Kumar and Byrne 2004; Eikema and Aziz 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairseq_mcts.search.decoder import Decoder, Run
from fairseq_mcts.search.driver import Search
from fairseq_mcts.search.evaluator import SamplingFilter
from fairseq_mcts.search.mbr import Candidates, rank_by_pruning, rank_by_utility
from fairseq_mcts.search.options import (
    Count,
    DecoderOptions,
    OptionError,
    at_least_one,
    at_least_zero,
    mass,
    option,
    positive,
    refuse_wide_draws,
    switch,
    threshold,
)
from fairseq_mcts.search.registry import decoder_names, make_decoder, register_decoder
from fairseq_mcts.search.results import Hypothesis
from fairseq_mcts.search.sample_search import SampleSearch
from fairseq_mcts.search.scorer import Scorer
from fairseq_mcts.search.stochastic_beam_search import StochasticBeamSearch

SAMPLING = "sampling"
# options that other sources of candidates have no use for
_OF_SAMPLING = ("temperature", "top_k", "top_p", "epsilon", "without_replacement")


def _is_source(given: str) -> str | None:
    known = [SAMPLING, *decoder_names()]
    return None if given in known else f"{given!r} is none of {', '.join(map(repr, known))}"


def _is_confidence(given: float | None) -> str | None:
    fine = given is None or 0.0 < given < 1.0
    return None if fine else f"must lie between 0 and 1, is {given}"


@dataclass(frozen=True, kw_only=True)
class MbrOptions(DecoderOptions):
    """Options of minimum Bayes risk decoding."""

    samples: Count = option(
        50,
        "samples per sentence, seeded by --seed; or the budget of the decoder that finds the "
        "candidates",
        check=at_least_one,
    )
    candidates: str = option(
        SAMPLING,
        "where hypotheses, which are the references too, come from: sampling, or another decoder "
        "by its name, of which all finished sentences are taken",
        check=_is_source,
        grid=(SAMPLING, "beam"),
    )
    temperature: float = option(
        1.0,
        "temperature, of sampling only",
        check=positive,
        instead_of="temperature",
        grid=(0.5, 0.75, 1.0),
    )
    top_k: int = option(
        0,
        "sample from the k best tokens, of sampling only; 0: all",
        check=at_least_zero,
        instead_of="sampling_topk",
    )
    top_p: float = option(
        1.0,
        "sample from the best tokens that make up this mass, of sampling only",
        check=mass,
        instead_of="sampling_topp",
    )
    epsilon: float = option(
        0.02,
        "sample no token that is less probable than this, of sampling only",
        check=threshold,
        grid=(0.0, 0.02, 0.05),
    )
    without_replacement: bool = option(
        False,
        "sample no sentence twice (stochastic beam search), of sampling only",
        parse=switch,
    )
    weights: str = option(
        "count",
        "a reference weighs as often as it was drawn (without replacement: its inclusion weight), "
        "or by the model's probability of it",
        choices=("count", "probability"),
        grid=("count", "probability"),
    )
    references: str = option(
        "pairwise",
        "compare with each reference, or with one that is made of all (for metrics that can: bleu, "
        "chrf), which takes time in proportion to the candidates and not to their square",
        choices=("pairwise", "aggregated"),
        grid=("pairwise", "aggregated"),
    )
    prune: float | None = option(
        None,
        "compare with few references first and drop hypotheses that are worse than the best one "
        "with this confidence, for example 0.99, before going on with more; --nbest then gives "
        "only those that are left",
        check=_is_confidence,
        no_effect_with={"references": "aggregated"},
    )


@register_decoder("mbr")
class MbrDecoder(Decoder[MbrOptions]):
    """Minimum Bayes risk: the candidate that is most like all others, by a metric."""

    Options = MbrOptions
    budget_option = "samples"
    variants = {"MBR": {}}
    main_options = ("samples", "candidates")
    value_unless = {"candidates": (SAMPLING,)}
    uses_metric = True
    compares_finished = True

    def __init__(self, options: MbrOptions) -> None:
        super().__init__(options)
        refuse_wide_draws(options.samples, without_replacement=options.without_replacement)
        self._source = self._other_decoder()

    def _other_decoder(self) -> Decoder[Any] | None:
        """The decoder that finds the candidates, if they are not sampled here."""
        name = self.options.candidates
        if name == SAMPLING:
            return None
        if name == self.name:
            raise OptionError("candidates", "can't be its own source", value=name)
        source = make_decoder(name, budget=self.options.samples)
        if source.needs_metric or source.reranks:
            why = "chooses by a metric or a rule of its own, which would have no effect"
            raise OptionError("candidates", why, value=name)
        return source

    @property
    def needs_value(self) -> bool:
        return self._source is not None and self._source.needs_value

    @property
    def records_search(self) -> bool:  # type: ignore[override]
        return self._source is None or self._source.records_search

    def search(self, run: Run) -> Search:
        if self._source is not None:
            return self._source.search(run)
        options = self.options
        kind = StochasticBeamSearch if options.without_replacement else SampleSearch
        return kind(
            run,
            samples=options.samples,
            temperature=options.temperature,
            sampling=SamplingFilter(options.top_k, options.top_p, options.epsilon),
            rank_by="none",
        )

    def refuse_unread(self, given: Mapping[str, Any]) -> None:
        super().refuse_unread(given)
        if self._source is None:
            return
        source = ("candidates", self.options.candidates)
        for name in _OF_SAMPLING:
            if name in given:
                raise OptionError(name, "has no effect with {}", value=given[name], other=source)

    def rerank(
        self, finished: list[list[Hypothesis]], scorer: Scorer | None
    ) -> list[list[Hypothesis]]:
        assert scorer is not None  # it is not started without a metric
        options = self.options
        by_probability = options.weights == "probability"
        batch = [Candidates.of(one, by_probability=by_probability) for one in finished]
        if options.prune is not None:
            return rank_by_pruning(batch, scorer, confidence=options.prune)
        return rank_by_utility(batch, scorer, aggregated=options.references == "aggregated")

    @property
    def aggregating_option(self) -> str | None:
        return "references" if self.options.references == "aggregated" else None

    @property
    def scores_finished(self) -> bool:
        return False  # the search's own values stay as they are

    @property
    def reports_weights(self) -> bool:
        # by probability they are no inclusion weights
        options = self.options
        return options.without_replacement and options.weights == "count" and self._source is None

    @property
    def most_hypotheses(self) -> int | None:
        if self._source is not None:
            return self._source.most_hypotheses
        return int(np.min(self.options.samples))
