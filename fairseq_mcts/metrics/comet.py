"""COMET: learned judges of translations, with and without a reference."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairseq_mcts.metrics.base import Metric, MetricConfig, SourcedReference
from fairseq_mcts.metrics.cache import LruCache
from fairseq_mcts.metrics.registry import register_metric

if TYPE_CHECKING:
    from fairseq_mcts.metrics.comet_model import CometModel, Sample


@dataclass
class CometConfig(MetricConfig):
    """Options of `comet`."""

    # A checkpoint file (.ckpt), the folder of a model, or a name on the hub.
    model: str = "Unbabel/wmt22-comet-da"
    # Folder of the encoder's tokenizer and configuration, where that which the checkpoint names
    # is not on this machine.
    encoder: str | None = None
    batch_size: int = 16
    device: str | None = None  # default: a GPU if present
    # Older models give scores outside [0, 1], which no value head can learn as they are: they are
    # cut off at 0 and 1 unless this is switched off.
    clamp: bool = True


@dataclass
class CometQEConfig(CometConfig):
    """Options of `comet_qe`."""

    model: str = "Unbabel/wmt22-cometkiwi-da"


class _Comet(Metric):
    """A model of unbabel-comet (Rei et al., 2020, 2022).

    Time: one pass of a large encoder per new pair. Scores of the last pairs are remembered.
    """

    config: CometConfig

    def __init__(self, config: CometConfig) -> None:
        from fairseq_mcts.metrics.comet_model import comet_version, load_comet  # loads torch

        super().__init__(config)
        self._version = comet_version()
        self._model = load_comet(
            self.name,
            config.model,
            config.encoder,
            batch_size=config.batch_size,
            device=config.device,
        )
        self._refuse_other_kinds(self._model)
        if not config.clamp:
            self.range = (float("-inf"), float("inf"))
        self._known: LruCache[Any, float] = LruCache(1 << 18)

    @abstractmethod
    def _refuse_other_kinds(self, model: "CometModel") -> None:
        """Refuses a model that reads other texts than this metric has."""

    @abstractmethod
    def _sample(self, hypothesis: str, other: str) -> "Sample":
        """What the model reads of a pair."""

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        samples = [self._sample(*pair) for pair in zip(hypotheses, others, strict=True)]
        keys = [tuple(sample.values()) for sample in samples]
        by_key = dict(zip(keys, samples, strict=True))
        scores, new = self._known.partition(keys)
        if new:
            found = self._model.predict([by_key[key] for key in new])
            for key, score in zip(new, found, strict=True):
                scores[key] = min(max(score, 0.0), 1.0) if self.config.clamp else score
                self._known.put(key, scores[key])
        return [scores[key] for key in keys]

    def signature(self) -> str:
        clamp = "yes" if self.config.clamp else "no"
        return (
            f"against:{self.compares_with}|model:{self.config.model}|clamp:{clamp}|"
            f"unbabel-comet:{self._version}"
        )


@register_metric("comet_qe", config=CometQEConfig)
class CometQE(_Comet):
    """Quality estimation: judges by the source alone, and may steer a search."""

    privileged = False

    def _refuse_other_kinds(self, model: "CometModel") -> None:
        if model.needs_references:
            raise ValueError(
                f"comet_qe: the model {self.config.model} needs references; choose a quality-"
                "estimation model such as Unbabel/wmt22-cometkiwi-da, or the metric comet"
            )

    def _sample(self, hypothesis: str, other: str) -> "Sample":
        return {"src": other, "mt": hypothesis}


@register_metric("comet", config=CometConfig)
class Comet(_Comet):
    """Judges by the reference and the source: for relabelling, MBR and reports."""

    privileged = True
    reads_source = True

    def _refuse_other_kinds(self, model: "CometModel") -> None:
        if "ref" not in model.reads:
            raise ValueError(
                f"comet: the model {self.config.model} ({model.class_name}) reads no references; "
                "use the metric comet_qe"
            )

    def _sample(self, hypothesis: str, other: str) -> "Sample":
        return {"src": SourcedReference.source_of(self.name, other), "mt": hypothesis, "ref": other}
