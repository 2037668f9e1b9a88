"""Sampling and reranking: S+R by a metric, S+RV by the value (Leblond et al. 2021, section 4.3)."""

from dataclasses import dataclass

import numpy as np

from fairseq_mcts.search.decoder import Decoder, Run
from fairseq_mcts.search.evaluator import SamplingFilter
from fairseq_mcts.search.options import (
    Count,
    DecoderOptions,
    at_least_one,
    at_least_zero,
    mass,
    option,
    positive,
    refuse_wide_draws,
    switch,
    threshold,
)
from fairseq_mcts.search.registry import register_decoder
from fairseq_mcts.search.sample_search import SampleSearch
from fairseq_mcts.search.stochastic_beam_search import StochasticBeamSearch


@dataclass(frozen=True, kw_only=True)
class SrOptions(DecoderOptions):
    """Options of sampling and reranking."""

    samples: Count = option(50, "samples per sentence; seeded by --seed", check=at_least_one)
    temperature: float = option(
        1.0,
        "temperature of sampling",
        check=positive,
        instead_of="temperature",
        grid=(0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95),
    )
    top_k: int = option(
        0, "sample from the k best tokens; 0: all", check=at_least_zero, instead_of="sampling_topk"
    )
    top_p: float = option(
        1.0,
        "sample from the best tokens that make up this mass",
        check=mass,
        instead_of="sampling_topp",
    )
    epsilon: float = option(0.0, "sample no token that is less probable than this", check=threshold)
    without_replacement: bool = option(
        False,
        "draw no sentence twice (stochastic beam search); hypotheses have inclusion weights then",
        parse=switch,
    )
    rank_by: str = option(
        "value",
        "rank samples by the value after eos or by the metric",
        # unranked: all samples in the order drawn, with their repetitions
        choices=("value", "metric", "none"),
        flag_choices=("value", "metric"),
    )


@register_decoder("sr")
class SrDecoder(Decoder[SrOptions]):
    """Sample translations, then rank them by the value or by a metric."""

    Options = SrOptions
    budget_option = "samples"
    presets = {"privileged": {"temperature": 0.25}, "unprivileged": {"temperature": 0.75}}
    variants = {"S+RV": {"rank_by": "value"}, "S+R": {"rank_by": "metric"}}
    main_options = ("samples", "temperature")
    value_unless = {"rank_by": ("metric", "none")}
    metric_if = {"rank_by": ("metric",)}
    instead_of = "sampling"
    records_search = True

    def __init__(self, options: SrOptions) -> None:
        super().__init__(options)
        refuse_wide_draws(options.samples, without_replacement=options.without_replacement)

    def search(self, run: Run) -> SampleSearch | StochasticBeamSearch:
        options = self.options
        kind = StochasticBeamSearch if options.without_replacement else SampleSearch
        return kind(
            run,
            samples=options.samples,
            temperature=options.temperature,
            sampling=SamplingFilter(options.top_k, options.top_p, options.epsilon),
            rank_by=options.rank_by,
        )

    @property
    def reports_weights(self) -> bool:
        return self.options.without_replacement

    @property
    def most_hypotheses(self) -> int:
        return int(np.min(self.options.samples))
