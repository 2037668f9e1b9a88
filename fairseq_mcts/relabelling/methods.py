"""How relabelling makes translations of a source: decoders without a name on the command line."""

from dataclasses import dataclass

from fairseq_mcts.search import Decoder, DecoderOptions, Run, option
from fairseq_mcts.search import beam_kernels as kernels
from fairseq_mcts.search.beam_search import BeamSearch
from fairseq_mcts.search.options import at_least_one, positive
from fairseq_mcts.search.sample_search import SampleSearch


class Greedy(Decoder[DecoderOptions]):
    """The most probable token at every step."""

    name = "greedy"
    Options = DecoderOptions
    uses_value = False

    def search(self, run: Run) -> BeamSearch:
        return BeamSearch(run, width=1, rules=kernels.Rules(run.constraints.eos, kernels.BY_LENGTH))


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
            run,
            samples=self.options.samples,
            temperature=self.options.temperature,
            rank_by="none",
        )
