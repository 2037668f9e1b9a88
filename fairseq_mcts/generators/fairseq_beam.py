"""fairseq's own beam search, counted; with GNMT's length normalisation if wanted."""

from collections.abc import Callable
from typing import Any

from fairseq.sequence_generator import SequenceGenerator

from fairseq_mcts.generators import output_lines
from fairseq_mcts.generators.statistics import DecodingStatistics
from fairseq_mcts.search import Decoder


class GnmtBeamGenerator(SequenceGenerator):  # type: ignore[misc]
    """Beam search whose finished sentences are ranked by sum / ((5 + t) / 6)^θ (Wu et al. 2016).

    fairseq divides by t^lenpen. The choice only concerns finished sentences, so they are found
    by fairseq's unnormalised search and ranked anew.
    """

    def __init__(self, models: Any, tgt_dict: Any, **options: Any) -> None:
        super().__init__(models, tgt_dict, **{**options, "normalize_scores": False})

    def _generate(self, sample: dict[str, Any], *args: Any, **options: Any) -> Any:
        finished = super()._generate(sample, *args, **options)
        for hypotheses in finished:
            for hypothesis in hypotheses:
                length = len(hypothesis["tokens"])
                hypothesis["score"] = hypothesis["score"] / ((5 + length) / 6) ** self.len_penalty
            hypotheses.sort(key=lambda hypothesis: -float(hypothesis["score"]))
        return finished


def build_fairseq_beam(
    build: Callable[[type | None], SequenceGenerator],
    decoder: Decoder[Any],
    generator_class: type | None,
) -> SequenceGenerator:
    """fairseq's generator, which `build` makes of the class it is given, as `decoder` sets it."""
    if decoder.options.normalization == "gnmt":
        if generator_class is not None:
            raise ValueError(f"{generator_class.__name__}: does not normalise as GNMT does")
        generator_class = GnmtBeamGenerator
    generator = build(generator_class)
    _count_evaluations(generator, DecodingStatistics(decoder.name))
    output_lines.install(generator.statistics)
    return generator


def _count_evaluations(generator: SequenceGenerator, statistics: DecodingStatistics) -> None:
    """Counts the decoder rows that fairseq's generator evaluates; it remembers none of them."""
    forward_decoder, generate = generator.model.forward_decoder, generator.generate

    def counting_decoder(tokens: Any, *args: Any, **options: Any) -> Any:
        statistics.charged += len(tokens)
        statistics.made += len(tokens)
        return forward_decoder(tokens, *args, **options)

    def counting_generate(models: Any, sample: dict[str, Any], **options: Any) -> Any:
        finished = generate(models, sample, **options)
        statistics.sentences += len(finished)
        statistics.tokens += sum(len(hypotheses[0]["tokens"]) for hypotheses in finished)
        return finished

    generator.statistics = statistics
    generator.model.forward_decoder = counting_decoder
    generator.generate = counting_generate
