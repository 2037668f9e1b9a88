"""Decoding in validation: `--eval-bleu`, and `--eval-search` on some sentences beside it."""

import json
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from fairseq.logging import metrics

from fairseq_mcts.metrics import Metric, build_metric, with_sources
from fairseq_mcts.search.registry import decoder_class
from fairseq_mcts.tasks.search_config import unset_search_fields


class DecodedTexts(NamedTuple):
    """What a search made of some sentences, as a reader sees it."""

    hypotheses: Sequence[str]
    references: Sequence[str]
    sources: Sequence[str]


class EvalSearch:
    """The search of --eval-search in the validations of a training."""

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg
        self._metric: Metric | None = None  # until something is decoded
        self._width = 0  # of the metric's statistics
        self.generator: Any = None
        self._left = cfg.eval_search_sentences  # to be decoded in this validation

    @property
    def is_wanted(self) -> bool:
        return self._cfg.eval_search is not None

    def check(self) -> None:
        """Refuses what does not go together."""
        if not self.is_wanted:
            if self._cfg.eval_search_metric is not None:
                raise ValueError("--eval-search-metric: has no effect without --eval-search")
            return
        if not self._cfg.eval_bleu:
            raise ValueError("--eval-search needs --eval-bleu and its options for text")
        search = self._cfg.search
        if search is not None and not decoder_class(str(search)).is_fairseqs_own:
            raise ValueError(f"--search {search}: give either this or --eval-search")

    def decoding_options(self) -> tuple[Namespace, Namespace | None]:
        """What --eval-bleu decodes with, and what --eval-search does if it is wanted.

        The decoders' options on the command line are those of --eval-search: beside it, --eval-bleu
        itself goes without them.
        """
        for flag, path in (
            ("--search-trees", self._cfg.search_trees),
            ("--search-json", self._cfg.search_json),
            ("--search-record", self._cfg.search_record),
        ):
            if path is not None:
                raise ValueError(
                    f"{flag} {path}: not in validations, each of which would overwrite what the "
                    "last has written; use fairseq-generate"
                )
        options = json.loads(self._cfg.eval_bleu_args)
        if not self.is_wanted:
            return Namespace(**options), None
        searching = {name: value for name, value in options.items() if name != "beam"}
        return (
            Namespace(**unset_search_fields() | options),
            Namespace(**searching, search=self._cfg.eval_search),
        )

    def use(self, generator: Any) -> None:
        """Decodes by this generator from now on."""
        self._metric = _build_metric(self._cfg)
        probe = self._metric.statistics(["a"], with_sources(["a"], ["a"]))  # [1, K]
        self._width = probe.shape[1]
        self.generator = generator

    def begin_validation(self) -> None:
        """Starts on the first sentences anew."""
        self._left = self._cfg.eval_search_sentences

    def log_batch(
        self,
        log: dict[str, Any],
        sample: dict[str, Any],
        decode: Callable[[Any, dict[str, Any]], DecodedTexts],
    ) -> None:
        """Decodes as many sentences of a batch as are still wanted.

        Every batch logs something, decoded or not: workers add up what they log entry by entry.
        """
        if self.generator is None or self._metric is None:
            return
        totals = np.zeros(self._width)  # [K]
        if self._left > 0:
            part = _first_sentences(sample, self._left)
            self._left -= len(part["target"])
            totals = _totals(self._metric, decode(self.generator, part))
        log[self._key] = torch.from_numpy(totals)

    def reduce(self, logging_outputs: list[dict[str, Any]]) -> None:
        """Logs `<search>_<metric>` over everything that was decoded."""
        metric = self._metric
        if metric is None:
            return
        parts = [log[self._key].cpu().numpy() for log in logging_outputs if self._key in log]
        if not parts:
            return
        metrics.log_scalar(self._key, sum(parts))
        metrics.log_derived(
            f"{self._cfg.eval_search}_{metric.name}",
            lambda meters: _reported(metric, meters[self._key].sum),
        )

    @property
    def _key(self) -> str:
        """Under which the parts of the score are logged."""
        return f"_{self._cfg.eval_search}_parts"


def _build_metric(cfg: Any) -> Metric:
    """The metric of --eval-search-metric; BLEU is that of --eval-bleu."""
    spec = cfg.eval_search_metric
    if spec is None:
        return build_metric("bleu", {"tokenize": "none"} if cfg.eval_tokenized_bleu else {})
    try:
        return build_metric(spec)
    except (OSError, ValueError) as error:
        raise ValueError(f"--eval-search-metric {spec}: {error}") from error


def _first_sentences(sample: dict[str, Any], count: int) -> dict[str, Any]:
    """The first `count` sentences of a batch, as far as decoding reads them."""
    return {
        **sample,
        "net_input": {name: rows[:count] for name, rows in sample["net_input"].items()},
        "target": sample["target"][:count],
    }


def _totals(metric: Metric, texts: DecodedTexts) -> Any:
    """[K] what scores of parts are added up by."""
    others = texts.references if metric.privileged else texts.sources
    if metric.reads_source:
        others = with_sources(texts.references, texts.sources)
    return metric.statistics(texts.hypotheses, others).sum(axis=0, dtype=np.float64)


def _reported(metric: Metric, totals: Any) -> float:
    totals = np.asarray(totals)  # [K]
    score = metric.aggregate(totals) if totals.any() else 0.0
    return round(score * metric.report_factor, metric.report_digits)
