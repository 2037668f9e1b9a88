"""Plain sampling, as relabelling draws translations: a decoder without a name on command lines."""

from dataclasses import dataclass

from fairseq_mcts.search import Decoder, DecoderOptions, Run, option
from fairseq_mcts.search.options import at_least_one, positive
from fairseq_mcts.search.sample_search import SampleSearch


@dataclass(frozen=True, kw_only=True)
class SamplesOptions(DecoderOptions):
    """Options of sampling."""

    samples: int = option(1, "translations of each source", check=at_least_one)
    temperature: float = option(1.0, "temperature of sampling", check=positive)


class Samples(Decoder[SamplesOptions]):
    """Samples of the policy as they are drawn, repetitions too."""

    name = "sampling"
    Options = SamplesOptions
    uses_value = False

    def search(self, run: Run) -> SampleSearch:
        return SampleSearch(
            run, samples=self.options.samples, temperature=self.options.temperature, rank_by="none"
        )
