"""What searches with the present value find: translations that a value should know the score of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.value_head import has_value_head
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.relabelling.lengths import Lengths
from fairseq_mcts.search import Decoder
from fairseq_mcts.search.options import OptionError
from fairseq_mcts.search.registry import make_decoder


def parse_search(spec: str) -> Decoder[Any]:
    """The decoder that NAME:OPTION=VALUE,… stands for."""
    name, _, rest = spec.partition(":")
    given = {}
    try:
        infos = make_decoder(name).option_infos()
        for item in filter(None, rest.split(",")):
            option, equals, text = item.partition("=")
            if not equals or option not in infos:
                raise RelabellingError(
                    f"--searches {spec}: {item} is no OPTION=VALUE of {name}, which has "
                    + ", ".join(infos)
                )
            read: Callable[[str], Any] = infos[option].parse or infos[option].flag_type
            try:
                given[option] = read(text)
            except ValueError as error:
                raise RelabellingError(f"--searches {spec}: {item}: {error}") from error
        return make_decoder(name, given)
    except OptionError as error:
        raise RelabellingError(f"--searches {spec}: {error}") from error


@dataclass(frozen=True)
class Searches:
    """Which searches, and how many of the translations that each finds."""

    specs: tuple[str, ...] = ()  # see `parse_search`
    nbest: int = 4

    def decoders(self) -> list[Decoder[Any]]:
        """The searches themselves."""
        return [parse_search(spec) for spec in self.specs]

    def refuse_unfit(self, metric: Metric) -> None:
        """Refuses searches that can't do what is asked of them."""
        for spec, decoder in zip(self.specs, self.decoders(), strict=True):
            most = decoder.most_hypotheses
            if most is not None and self.nbest > most:
                raise RelabellingError(
                    f"--nbest {self.nbest}: --searches {spec} finds no more than {most}"
                )
            if decoder.needs_metric and metric.privileged and not decoder.compares_finished:
                raise RelabellingError(
                    f"--searches {spec}: goes by the metric, but --metric {metric.name} needs the "
                    "reference, which a search must not see"
                )

    def generators(
        self,
        models: Sequence[Network],
        value_models: Sequence[Network],  # none: the value heads of `models`
        dictionary: Any,
        *,
        lengths: Lengths,
        seed: int,
        metric: Metric,
        texts: TextDecoders,
    ) -> list[SearchGenerator]:
        """What searches with these models."""
        values = value_models or models
        return [
            SearchGenerator(
                models,
                dictionary,
                value_models=_with_heads(values) if decoder.needs_value else [],
                decoder=decoder,
                limits=Limits(lengths.a, lengths.b, max_len=lengths.most, n_best=self.nbest),
                seed=seed,
                metric=metric if decoder.needs_metric else None,
                text_decoders=lambda: texts,
            )
            for decoder in self.decoders()
        ]


def _with_heads(models: Sequence[Network]) -> Sequence[Network]:
    if not all(has_value_head(model) for model in models):
        raise RelabellingError(
            "--method search: the checkpoint of --value-path, or of --path if that is not given, "
            "has no value head that was trained"
        )
    return models
