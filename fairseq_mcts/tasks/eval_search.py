"""`--eval-search`: BLEU of a search on some validation sentences, while a model trains."""

import json
from argparse import Namespace
from typing import Any

import numpy as np
import torch
from fairseq.logging import metrics
from sacrebleu.metrics import BLEU
from torch import Tensor

from fairseq_mcts.tasks.search_config import decoder_options

_ORDER = 4
#: what is logged of a batch that is not decoded
NOTHING_DECODED = torch.zeros(2 * _ORDER + 2, dtype=torch.float64)


def check(cfg: Any) -> None:
    """Refuses what does not go together."""
    if cfg.eval_search is None:
        return
    if not cfg.eval_bleu:
        raise ValueError("--eval-search needs --eval-bleu and its options for text")
    if str(cfg.search) != "beam":
        raise ValueError(f"--search {cfg.search}: give either this or --eval-search")


def decoding_options(cfg: Any) -> tuple[Namespace, Namespace | None]:
    """What --eval-bleu decodes with, and what --eval-search does if it is wanted.

    The decoders' options on the command line are those of --eval-search: beside it, --eval-bleu
    itself goes without them.
    """
    options = json.loads(cfg.eval_bleu_args)
    if cfg.eval_search is None:
        return Namespace(**options), None
    unset = {one.name: one.default for one in decoder_options()}
    searching = {name: value for name, value in options.items() if name != "beam"}
    return Namespace(**unset | options), Namespace(**searching, search=cfg.eval_search)


def first_sentences(sample: dict[str, Any], count: int) -> dict[str, Any]:
    """The first `count` sentences of a batch."""
    return {
        **sample,
        "net_input": {name: rows[:count] for name, rows in sample["net_input"].items()},
        "target": sample["target"][:count],
        **(
            {"reference": {name: rows[:count] for name, rows in sample["reference"].items()}}
            if "reference" in sample
            else {}
        ),
    }


def key(cfg: Any) -> str:
    """Under which it is logged."""
    return f"_{cfg.eval_search}_bleu_parts"


def logged(bleu: Any) -> Tensor:
    """[2 · 4 + 2] what BLEUs of parts are added up by: counts, totals and both lengths."""
    parts = [*bleu.counts, *bleu.totals, bleu.sys_len, bleu.ref_len]
    return torch.tensor(parts, dtype=torch.float64)


def reduce(logging_outputs: list[dict[str, Any]], cfg: Any) -> None:
    """Logs `<search>_bleu` over everything that was decoded."""
    name = key(cfg)
    parts = [log[name].cpu().numpy() for log in logging_outputs if name in log]
    if not parts:
        return
    metrics.log_scalar(name, sum(parts))

    def bleu(meters: Any) -> float:
        total = np.asarray(meters[name].sum)
        score = BLEU.compute_bleu(
            correct=total[:_ORDER].tolist(),
            total=total[_ORDER : 2 * _ORDER].tolist(),
            sys_len=int(total[-2]),
            ref_len=int(total[-1]),
            smooth_method="exp",
        ).score
        return round(float(score), 2)

    metrics.log_derived(f"{cfg.eval_search}_bleu", bleu)
