"""COMET quality estimation: a learned judge of (source, translation) pairs, without a reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fairseq_mcts.metrics.base import Metric, MetricConfig
from fairseq_mcts.metrics.cache import LruCache
from fairseq_mcts.metrics.registry import register_metric


@dataclass
class CometQEConfig(MetricConfig):
    """Options of `comet_qe`."""

    # A checkpoint file (.ckpt) or the hub name of a reference-free model.
    model: str = "Unbabel/wmt22-cometkiwi-da"
    batch_size: int = 16
    gpus: int = 0
    # Older models give scores outside [0, 1], which no value head can learn as they are: they are
    # cut off at 0 and 1 unless this is switched off.
    clamp: bool = True


@register_metric("comet_qe", config=CometQEConfig)
class CometQE(Metric):
    """COMET without references (Rei et al., 2022), through the package unbabel-comet.

    Time: one pass of a large encoder per new pair. Scores of the last pairs are remembered.
    """

    privileged = False
    config: CometQEConfig

    def __init__(self, config: CometQEConfig, checkpoint: Any = None) -> None:
        """`checkpoint`: unbabel-comet's model if it is loaded already; else `config.model` is."""
        super().__init__(config)
        self._model = load_comet(config.model) if checkpoint is None else checkpoint
        if self._model.requires_references():
            raise ValueError(
                f"comet_qe: the model {config.model} needs references; choose a quality-estimation "
                "model such as Unbabel/wmt22-cometkiwi-da"
            )
        if not config.clamp:
            self.range = (float("-inf"), float("inf"))
        self._known: LruCache[tuple[str, str], float] = LruCache(1 << 18)

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        pairs = list(zip(hypotheses, others, strict=True))
        scores, new = self._known.partition(pairs)
        if new:
            scores.update(zip(new, self._predict(new), strict=True))
            for pair in new:
                self._known.put(pair, scores[pair])
        return [scores[pair] for pair in pairs]

    def _predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        prediction = self._model.predict(
            [{"src": source, "mt": hypothesis} for hypothesis, source in pairs],
            batch_size=self.config.batch_size,
            gpus=self.config.gpus,
            progress_bar=False,
        )
        scores = [float(score) for score in prediction.scores]
        if self.config.clamp:
            scores = [min(max(score, 0.0), 1.0) for score in scores]
        return scores

    def signature(self) -> str:
        try:
            package = version("unbabel-comet")
        except PackageNotFoundError:  # a checkpoint object was handed in
            package = "none"
        clamp = "yes" if self.config.clamp else "no"
        return f"against:source|model:{self.config.model}|clamp:{clamp}|unbabel-comet:{package}"


def load_comet(model: str) -> Any:
    """Loads a checkpoint file, or a model by its hub name."""
    try:
        comet = import_module("comet")
    except ImportError as error:
        hint = 'pip install "fairseq_mcts[comet]"'
        raise ImportError(f"comet_qe needs unbabel-comet: {hint}") from error
    path = Path(model).expanduser()
    if path.suffix == ".ckpt" and not path.is_file():
        raise FileNotFoundError(f"comet_qe: no checkpoint file {model}; give model=PATH or a name")
    return comet.load_from_checkpoint(str(path) if path.is_file() else comet.download_model(model))
