"""BERTScore against the reference, by token vectors of a transformers encoder."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairseq_mcts.metrics.base import (
    FloatArray,
    Group,
    IntArray,
    Metric,
    MetricConfig,
    PairMatches,
)
from fairseq_mcts.metrics.registry import register_metric
from fairseq_mcts.metrics.system_output import read_lines

if TYPE_CHECKING:
    from fairseq_mcts.metrics.embedder import PairScorer

DEFAULT_ENCODER = "bert-base-multilingual-cased"


@dataclass
class BertScoreConfig(MetricConfig):
    """Options of `bertscore` and `mlbertscore`."""

    # Local folder or hub name of the encoder.
    model: str = DEFAULT_ENCODER
    # Layer whose vectors are compared; None: bert-score's choice for known models, else the last.
    layer: int | None = None
    batch_size: int = 64
    # torch device; None: the GPU if there is one.
    device: str | None = None
    # Weigh tokens by inverse document frequency, taken from `idf_file` (one text a line), from
    # what `fit_idf` is given, or, for the score of a whole corpus, from its own sources/references.
    idf: bool = False
    idf_file: str | None = None
    # Rescale with a baseline: bert-score's own for `lang` and a public model, or `baseline_file`.
    rescale: bool = False
    lang: str | None = None
    baseline_file: str | None = None
    # Negative precision, recall and rescaled F1 count as 0, so that scores stay in [0, 1]. F1 of
    # a negative and a positive number explodes near P = -R; bert-score reports it nevertheless,
    # and so does clamp=False. The two agree wherever precision and recall are not negative.
    clamp: bool = True
    # Memory for the vectors of sources or references.
    cache_mb: int = 256


class PrecisionRecallF1(NamedTuple):
    """The three numbers of bert-score for one pair."""

    precision: float
    recall: float
    f1: float


@register_metric("bertscore", config=BertScoreConfig)
class BertScore(Metric):
    """BERTScore F1 (Zhang et al., 2020) of hypothesis and reference.

    Equal to the bert-score package (see `clamp` for the exception). Time: one encoder pass per
    new text, and length × length × width per new pair. Memory: the encoder, `cache_mb` for
    vectors, and the scores of the last quarter of a million pairs.
    """

    privileged = True
    config: BertScoreConfig

    def __init__(self, config: BertScoreConfig) -> None:
        super().__init__(config)
        if config.idf_file is not None and not config.idf:
            raise ValueError(f"{self.name}: idf_file is given but idf is off")
        if config.baseline_file is not None and not config.rescale:
            raise ValueError(f"{self.name}: baseline_file is given but rescale is off")
        if not config.clamp:
            self.range = (float("-inf"), float("inf"))
        self.needs_whole_corpus = config.idf and config.idf_file is None
        self._pairs = _pair_scorer(config)
        # slow tokenizers do not tell where in a text their pieces are
        self.matches_tokens = self._pairs.embedder.encoder.fast_tokenizer
        self._idf_source: str | None = None
        if config.idf_file is not None:
            self.fit_idf(read_lines(config.idf_file), source=Path(config.idf_file).name)
        self._baseline = _read_baseline(config, self.layer) if config.rescale else None

    @property
    def layer(self) -> int:
        """The layer whose vectors are compared."""
        return self._pairs.embedder.encoder.layer

    def fit_idf(self, texts: Sequence[str], source: str = "given") -> None:
        """Takes inverse document frequencies from `texts`, as bert-score does from references."""
        if not self.config.idf:
            raise ValueError(f"{self.name}: frequencies are given but idf is off")
        self._pairs.fit_idf(texts)
        self._idf_source = f"{source}[{len(texts)}]"

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [triple.f1 for triple in self.precision_recall_f1(hypotheses, others)]

    def precision_recall_f1(
        self, hypotheses: Sequence[str], others: Sequence[str]
    ) -> list[PrecisionRecallF1]:
        """All three numbers of each pair."""
        self.check_pairs(hypotheses, others)
        self._demand_idf()
        pairs = self._pairs.precision_recall(hypotheses, others)
        numbers = self._finish(*np.array(pairs, np.float64).reshape(-1, 2).T)
        return [PrecisionRecallF1(*row) for row in np.stack(numbers, axis=1).tolist()]

    def pairwise(self, groups: Sequence[Group]) -> list[FloatArray]:
        """Encodes each text once, and matches all pairs of a group together."""
        self._demand_idf()
        texts = [(group.hypotheses, group.others) for group in groups]
        return [
            self._finish(*(one.cpu().double().numpy() for one in numbers))[2]
            for numbers in self._pairs.all_precisions_recalls(texts)
        ]

    def token_matches(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[PairMatches]:
        if not self.matches_tokens:
            return super().token_matches(hypotheses, others)
        self.check_pairs(hypotheses, others)
        spans = {text: self._pairs.embedder.encoder.spans(text) for text in {*hypotheses, *others}}
        pairs = zip(hypotheses, others, strict=True)
        found = self._pairs.similarities(hypotheses, others)
        return [
            _of_pieces(similarities, *(spans[text] for text in pair))
            for pair, similarities in zip(pairs, found, strict=True)
        ]

    def expect_matches(self) -> None:
        self._pairs.keeps_similarities = self.matches_tokens

    def _demand_idf(self) -> None:
        if self.config.idf and self._idf_source is None:
            raise ValueError(
                f"{self.name}: idf=yes needs texts to count in: give idf_file=PATH or call fit_idf"
            )

    def _finish(self, precision: FloatArray, recall: FloatArray) -> list[FloatArray]:
        """Precision, recall and F1, clamped and rescaled, from plain precision and recall."""
        if self.config.clamp:
            precision, recall = np.maximum(precision, 0.0), np.maximum(recall, 0.0)
        total = precision + recall
        f1 = 2 * precision * recall / np.where(total != 0, total, 1.0) * (total != 0)
        numbers = [precision, recall, f1]
        if self._baseline is not None:
            numbers = [(x - b) / (1 - b) for x, b in zip(numbers, self._baseline, strict=True)]
        if self.config.clamp:  # float32 can round a perfect match to just above 1
            numbers = [np.clip(one, 0.0, 1.0) for one in numbers]
        return numbers

    def statistics(self, hypotheses: Sequence[str], others: Sequence[str]) -> FloatArray:
        # A corpus brings the texts to count in along, as with bert-score's own `score`.
        if self.config.idf and self._idf_source is None:
            self.fit_idf(others, source=f"{self.compares_with}s")
        return super().statistics(hypotheses, others)

    @property
    def judge(self) -> str:
        from fairseq_mcts.metrics.encoder import fingerprint

        return fingerprint(self.config.model)

    @classmethod
    def judge_of(cls, options: Mapping[str, Any]) -> str | None:
        from fairseq_mcts.metrics.encoder import fingerprint

        return fingerprint(options["model"]) if "model" in options else None

    def signature(self) -> str:
        baseline = self.config.baseline_file or self.config.lang
        parts = {
            "against": self.compares_with,
            "model": self.judge,
            "layer": self.layer,
            "idf": self._idf_source or "no",
            "rescale": baseline if self.config.rescale else "no",
            "clamp": "yes" if self.config.clamp else "no",
            "bert-score": version("bert-score"),
            "transformers": version("transformers"),
        }
        return "|".join(f"{key}:{value}" for key, value in parts.items())


def _of_pieces(
    similarities: npt.NDArray[np.float32],  # [T, U] special symbols too
    spans: IntArray,  # [T, 2]
    other_spans: IntArray,  # [U, 2]
) -> PairMatches:
    """Without special symbols."""
    own, other = (one[:, 1] > one[:, 0] for one in (spans, other_spans))
    pieces = similarities[np.ix_(own, other)].astype(np.float64)
    return PairMatches(pieces, spans[own], other_spans[other])


def _pair_scorer(config: BertScoreConfig) -> "PairScorer":
    # Here and not above: building such a metric is what needs torch and transformers.
    try:
        from fairseq_mcts.metrics.embedder import PairScorer, shared_embedder
    except ImportError as error:
        raise ImportError(
            f'BERTScore needs {error.name}: pip install "fairseq_mcts[metrics]"'
        ) from error
    sizes = (config.batch_size, config.cache_mb)
    return PairScorer(shared_embedder(config.model, config.layer, config.device, *sizes))


def _read_baseline(config: BertScoreConfig, layer: int) -> PrecisionRecallF1:
    """The baseline of `layer` from bert-score's tables (columns LAYER, P, R, F) or the user's."""
    if config.baseline_file is not None:
        path = Path(config.baseline_file)
    elif config.lang is None:
        raise ValueError("rescale=yes needs lang=XX (of bert-score's tables) or baseline_file=PATH")
    else:
        import bert_score

        tables = Path(bert_score.__file__).parent / "rescale_baseline"
        path = tables / config.lang / f"{config.model}.tsv"
        if not path.is_file():
            path = tables / config.lang / f"{Path(config.model).name}.tsv"
    if not path.is_file():
        raise FileNotFoundError(
            f"no baseline for the encoder {config.model} and language {config.lang}: looked for "
            f"{path}; give a table of your own as baseline_file=PATH"
        )
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if int(float(row["LAYER"])) == layer:
                return PrecisionRecallF1(float(row["P"]), float(row["R"]), float(row["F"]))
    raise ValueError(f"{path} has no line for layer {layer}")
