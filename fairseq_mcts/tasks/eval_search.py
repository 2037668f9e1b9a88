"""Decoding in validation: `--eval-bleu`, and `--eval-search` on some sentences beside it."""

import json
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from fairseq.logging import metrics
from sacrebleu.metrics import BLEU
from torch import Tensor

from fairseq_mcts.search.registry import decoder_class
from fairseq_mcts.tasks.search_config import unset_search_fields

_ORDER = 4
# what is logged of a batch that is not decoded
_NOTHING_DECODED = torch.zeros(2 * _ORDER + 2, dtype=torch.float64)


class EvalSearch:
    """The search of --eval-search in the validations of a training."""

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg
        self._key = f"_{cfg.eval_search}_bleu_parts"  # under which parts of its BLEU are logged
        self.generator: Any = None
        self._left = cfg.eval_search_sentences  # to be decoded in this validation

    @property
    def is_wanted(self) -> bool:
        return self._cfg.eval_search is not None

    def check(self) -> None:
        """Refuses what does not go together."""
        if not self.is_wanted:
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

    def begin_validation(self) -> None:
        """Starts on the first sentences anew."""
        self._left = self._cfg.eval_search_sentences

    def log_batch(
        self, log: dict[str, Any], sample: dict[str, Any], bleu: Callable[[Any, Any], Any]
    ) -> None:
        """Decodes as many sentences of a batch as are still wanted.

        `bleu(generator, sample)` decodes and compares. Every batch logs something, decoded or not:
        workers add up what they log entry by entry.
        """
        if self.generator is None:
            return
        log[self._key] = _NOTHING_DECODED
        if self._left > 0:
            part = _first_sentences(sample, self._left)
            self._left -= len(part["target"])
            log[self._key] = _bleu_parts(bleu(self.generator, part))

    def reduce(self, logging_outputs: list[dict[str, Any]]) -> None:
        """Logs `<search>_bleu` over everything that was decoded."""
        parts = [log[self._key].cpu().numpy() for log in logging_outputs if self._key in log]
        if not parts:
            return
        metrics.log_scalar(self._key, sum(parts))
        metrics.log_derived(
            f"{self._cfg.eval_search}_bleu", lambda meters: _bleu(meters[self._key].sum)
        )


def _first_sentences(sample: dict[str, Any], count: int) -> dict[str, Any]:
    """The first `count` sentences of a batch, as far as decoding reads them."""
    return {
        **sample,
        "net_input": {name: rows[:count] for name, rows in sample["net_input"].items()},
        "target": sample["target"][:count],
    }


def _bleu_parts(bleu: Any) -> Tensor:
    """[2 · 4 + 2] what BLEUs of parts are added up by: counts, totals and both lengths."""
    parts = [*bleu.counts, *bleu.totals, bleu.sys_len, bleu.ref_len]
    return torch.tensor(parts, dtype=torch.float64)


def _bleu(parts: Any) -> float:
    total = np.asarray(parts)  # [2 · 4 + 2]
    score = BLEU.compute_bleu(
        correct=total[:_ORDER].tolist(),
        total=total[_ORDER : 2 * _ORDER].tolist(),
        sys_len=int(total[-2]),
        ref_len=int(total[-1]),
        smooth_method="exp",
    ).score
    return round(float(score), 2)
