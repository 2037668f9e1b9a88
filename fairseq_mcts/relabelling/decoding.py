"""How rows are made of sources: the methods and their options."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.models.network import Network
from fairseq_mcts.relabelling.completion_search import Growth
from fairseq_mcts.relabelling.completions import Completions
from fairseq_mcts.relabelling.found import Searches
from fairseq_mcts.relabelling.lengths import Lengths
from fairseq_mcts.relabelling.rows import RowMaker
from fairseq_mcts.relabelling.sampling import Samples, SamplesOptions
from fairseq_mcts.relabelling.translations import Translations
from fairseq_mcts.search import Decoder, make_decoder
from fairseq_mcts.work import Settings

_NEXT_SEED = 1_000_003  # from one temperature to the next


@dataclass(frozen=True)
class Decoding:
    """A method and its options.

    greedy: the greedy translation. samples: so many at a temperature, each of them a row.
    completions: grown ones (see `completion_search`), and with them `samples`, whose scores count
    for the finished sentences alone, for what follows their prefixes was drawn. search: the same,
    and what searches with the present value find, from which completions grow too: so a value
    learns the true score of what it makes a search prefer.
    """

    method: str = "greedy"
    samples: int = 0
    temperatures: tuple[float, ...] = (1.0,)  # the samples take turns
    growth: Growth = field(default_factory=Growth)
    searches: Searches = field(default_factory=Searches)
    seed: int = 1
    max_len_a: float = 0.0
    max_len_b: int = 200

    @property
    def grows(self) -> bool:
        """Whether completions are grown."""
        return self.method in ("completions", "search")

    def refuse_unfit(self, metric: Metric) -> None:
        """Refuses searches that can't do what is asked of them."""
        if self.method == "search":
            self.searches.refuse_unfit(metric)

    def settings(self) -> Settings:
        """What a result depends on."""
        settings: Settings = {"method": self.method}
        if self.grows:
            settings |= self.growth._asdict()
        if self.method == "search":
            settings |= {"searches": list(self.searches.specs), "nbest": self.searches.nbest}
        if self.samples:
            settings |= {"samples": self.samples, "temperatures": list(self.temperatures)}
        if self.grows or self.samples:
            settings["seed"] = self.seed
        return settings | {"max_len_a": self.max_len_a, "max_len_b": self.max_len_b}

    def row_makers(
        self,
        models: Sequence[Network],
        value_models: Sequence[Network],
        dictionary: Any,
        metric: Metric,
        texts: TextDecoders,
    ) -> list[RowMaker]:
        """What makes the rows with these models."""
        lengths = Lengths.of((*models, *value_models), self.max_len_a, self.max_len_b)
        makers: list[RowMaker] = []
        if self.method == "greedy":
            decoder = make_decoder("beam", {"beam": 1})
            generator = self._generator(models, dictionary, decoder, lengths, self.seed)
            makers.append(Translations(generator, "greedy"))
        if self.grows:
            common: Any = {"lengths": lengths, "seed": self.seed, "metric": metric}
            searches = []
            if self.method == "search":
                searches = self.searches.generators(
                    models, value_models, dictionary, **common, texts=texts
                )
            makers.append(
                Completions(
                    models,
                    dictionary,
                    growth=self.growth,
                    target_text=texts.target,
                    searches=searches,
                    **common,
                )
            )
        for place, temperature in enumerate(self.temperatures):
            count = len(range(place, self.samples, len(self.temperatures)))
            if count:
                decoder = Samples(SamplesOptions(samples=count, temperature=temperature))
                seed = self.seed + place * _NEXT_SEED
                generator = self._generator(models, dictionary, decoder, lengths, seed, count)
                makers.append(Translations(generator, "sample", finished_only=self.grows))
        return makers

    def _generator(
        self,
        models: Sequence[Network],
        dictionary: Any,
        decoder: Decoder[Any],
        lengths: Lengths,
        seed: int,
        n_best: int = 1,
    ) -> SearchGenerator:
        limits = Limits(lengths.a, lengths.b, max_len=lengths.most, n_best=n_best)
        return SearchGenerator(
            models, dictionary, value_models=[], decoder=decoder, limits=limits, seed=seed
        )
