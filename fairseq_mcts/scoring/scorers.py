"""fairseq scorers for `--scoring`, thin shells around `fairseq_mcts.metrics`."""

# fairseq reads these dataclasses' annotations and knows Optional alone.
# ruff: noqa: UP045

from dataclasses import dataclass, field
from typing import Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.scoring import BaseScorer, register_scorer

from fairseq_mcts.metrics import build_metric, parse_metric_spec, with_sources
from fairseq_mcts.scoring.sources import SOURCES


@dataclass
class MetricScorerConfig(FairseqDataclass):  # type: ignore[misc]
    """Options common to all scorers of this package."""

    scorer_options: str = field(
        default="",
        metadata={"help": "options of the metric: option=value,option=value (e.g. lowercase=yes)"},
    )


@dataclass
class EncoderScorerConfig(MetricScorerConfig):
    """Options of scorers that compare token vectors of an encoder."""

    scorer_model: Optional[str] = field(
        default=None,
        metadata={
            "help": "the encoder: a local transformers folder (works without a network) or a hub "
            "name; default: bert-base-multilingual-cased"
        },
    )
    scorer_layer: Optional[int] = field(
        default=None,
        metadata={
            "help": "layer whose vectors are compared; default: bert-score's choice for public "
            "models, otherwise the last"
        },
    )
    scorer_batch_size: int = field(
        default=64, metadata={"help": "texts that are encoded at a time"}
    )
    scorer_device: Optional[str] = field(
        default=None, metadata={"help": "torch device of the encoder; default: a GPU if present"}
    )


@dataclass
class NamedMetricScorerConfig(MetricScorerConfig):
    """Options of the scorer for any registered metric."""

    scorer_metric: str = field(
        default="bleu",
        metadata={"help": "name of a registered metric, for example of one in your --user-dir"},
    )


#: Options of a metric that have flags of their own.
ENCODER_OPTIONS = ("model", "layer", "batch_size", "device")


class MetricScorer(BaseScorer):  # type: ignore[misc]
    """Collects a corpus sentence by sentence and scores it at the end."""

    metric_name: str

    def __init__(self, cfg: MetricScorerConfig) -> None:
        super().__init__(cfg)
        flags = {name: getattr(cfg, f"scorer_{name}", None) for name in ENCODER_OPTIONS}
        self.metric = build_metric(
            f"{self.metric_name}:{cfg.scorer_options}",
            {name: given for name, given in flags.items() if given is not None},
        )
        self._takes_sources = self.metric.reads_source or not self.metric.privileged
        if self._takes_sources:
            SOURCES.open()

    def add_string(self, ref: str, pred: str) -> None:
        """One sentence; what it is compared with is the reference, its source, or both."""
        if self._takes_sources:
            source = SOURCES.take()
            [ref] = with_sources([ref], [source]) if self.metric.privileged else [source]
        self.ref.append(ref)
        self.pred.append(pred)

    def score(self, order: int = 4) -> float:
        """The corpus score on the customary scale (BLEU to 100, BERTScore to 1).

        `order` belongs to fairseq's interface; it names BLEU's longest n-gram and must stay 4.
        """
        if order != 4:
            raise ValueError(f"{self.metric.name}: order={order}; use --scorer-options instead")
        return self.metric.corpus_score(self.pred, self.ref) * self.metric.report_factor

    def result_string(self, order: int = 4) -> str:
        score = f"{self.score(order):.{self.metric.report_digits}f}"
        return f"{self.metric.name} = {score} | {self.metric.signature()}"


# BERTScore here takes any local encoder; fairseq's own `bert_score` needs the hub. For
# MLBERTScore the task must announce its sources, as translation_mcts does.
for scorer_name, metric_name, config in (
    ("mcts_bleu", "bleu", MetricScorerConfig),
    ("mcts_chrf", "chrf", MetricScorerConfig),
    ("mcts_bertscore", "bertscore", EncoderScorerConfig),
    ("mlbertscore", "mlbertscore", EncoderScorerConfig),
):
    scorer = type(f"{scorer_name}_scorer", (MetricScorer,), {"metric_name": metric_name})
    register_scorer(scorer_name, dataclass=config)(scorer)


@register_scorer("mcts_metric", dataclass=NamedMetricScorerConfig)
class NamedMetricScorer(MetricScorer):
    """Any registered metric by its name."""

    def __init__(self, cfg: NamedMetricScorerConfig) -> None:
        self.metric_name, options = parse_metric_spec(cfg.scorer_metric)
        if options:
            raise ValueError(
                f"--scorer-metric {cfg.scorer_metric}: give options by --scorer-options"
            )
        super().__init__(cfg)
