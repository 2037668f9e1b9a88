"""Which translations change if the network computes in bf16 or fp16 instead of float32, and why.

    python benchmarks/precision.py DATA --path dual_head.pt [--metric SPEC] [--sentences 500]

Every decoder translates the same sentences with the same checkpoint in all three types. Counted are
the sentences whose translation differs from that of float32. For the reason, the first token in
which two translations differ is looked at: `gap` is by how much float32 prefers its own token there
(log-probabilities of both after the same prefix), `rounding` is how far the other type's
log-probabilities of these two tokens are off. Where the gap is of the size of the rounding, the two
were as good as equal; where it is larger, a search has compared something else that was close. The
same is said of the values after either token; samples change where a draw lies near the edge
between two tokens, and from there on they are others.

A processor may have a type only by name (virtual machines do: the first product ends the process).
That is tried first, elsewhere, and such a type is left out; ONEDNN_MAX_CPU_ISA=AVX512_CORE then
computes it in other ways.
"""

from __future__ import annotations

import copy
import statistics
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import torch
from fairseq.dataclass.configs import GenerationConfig
from torch import Tensor
from trained import Trained, load

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
BATCH = 50
MAX_LENGTH = 40
WITH_METRIC = ("mcts, rollouts", "sr, metric", "mbr")
DECODERS: dict[str, dict[str, Any]] = {
    "greedy": {"search": "vgbs", "vgbs_alpha": 0.0, "vgbs_beam": 1},
    "beam 4": {"search": "vgbs", "vgbs_alpha": 0.0, "vgbs_beam": 4},
    "fairseq's beam 4": {"search": "beam", "beam": 4},
    "vgbs": {"search": "vgbs", "vgbs_beam": 3},
    "mcts": {"search": "mcts", "mcts_simulations": 10},
    "mcts, max": {"search": "mcts", "mcts_simulations": 10, "search_preset": "unprivileged"},
    "mcts, Gumbel root": {"search": "mcts", "mcts_simulations": 10, "mcts_root": "gumbel"},
    "mcts, rollouts": {"search": "mcts", "mcts_simulations": 4, "mcts_leaf": "rollout"},
    "sr, value": {"search": "sr", "sr_samples": 8},
    "sr, metric": {"search": "sr", "sr_samples": 8, "sr_rank_by": "metric"},
    "mbr": {"search": "mbr", "mbr_samples": 8},
}


@dataclass(frozen=True)
class Side:
    """A network in one type, and the sentences."""

    trained: Trained
    model: Any

    def translate(self, given: dict[str, Any]) -> list[list[int]]:
        """The tokens of the best hypothesis of each sentence."""
        task = self.trained.task
        torch.manual_seed(1)
        args = Namespace(**{**vars(GenerationConfig()), "max_len_b": MAX_LENGTH, **given})
        generator = task.build_generator([self.model], args)
        found: dict[int, list[int]] = {}
        rows = self.trained.rows
        for begin in range(0, len(rows), BATCH):
            sample = task.dataset(self.trained.subset).collater(rows[begin : begin + BATCH])
            hypotheses = task.inference_step(generator, [self.model], sample)
            for number, several in zip(sample["id"].tolist(), hypotheses, strict=True):
                found[number] = several[0]["tokens"].tolist()
        return [found[int(row["id"])] for row in rows]

    @torch.no_grad()
    def opinions(self, source: Tensor, prefix: Sequence[int], tokens: Sequence[int]) -> Tensor:
        """[2, n] log-probabilities of some next tokens and values after them, by whole passes."""
        eos, count = self.trained.task.target_dictionary.eos(), len(tokens)
        previous = torch.tensor([[eos, *prefix, token] for token in tokens])  # [n, T]
        sources = source[None].expand(count, -1)
        output = self.model(sources, torch.full((count,), len(source)), previous)
        logprobs = self.model.get_normalized_probs(output, log_probs=True)[0, -2]  # [V]
        return torch.stack([logprobs[list(tokens)].float(), output[1]["value"][:, -1].float()])


def is_computable(kind: str) -> bool:
    """Whether a product in this type works here, which another process finds out."""
    dtype = str(TYPES[kind])
    code = f"import torch; torch.nn.Linear(64, 64).to({dtype})(torch.ones(9, 64).to({dtype}))"
    tried = subprocess.run([sys.executable, "-c", code], check=False, stderr=subprocess.DEVNULL)
    if tried.returncode:
        print(f"{kind}: left out, this machine can't compute it (exit code {tried.returncode})")
    return tried.returncode == 0


def first_difference(one: Sequence[int], other: Sequence[int]) -> int:
    """Where two translations part; both end in eos, so neither is the beginning of the other."""
    return next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)


def reasons(exact: Side, rough: Side, ours: list[list[int]], theirs: list[list[int]]) -> Any:
    """Gaps and rounding errors at the first differences, medians over the sentences that differ."""
    gaps, errors = [], []  # of log-probabilities and of values
    for row, one, other in zip(exact.trained.rows, ours, theirs, strict=True):
        if one == other:
            continue
        place = first_difference(one, other)
        asked = (row["source"], one[:place], [one[place], other[place]])
        right, wrong = exact.opinions(*asked), rough.opinions(*asked)  # [2, 2]
        gaps.append((right[:, 0] - right[:, 1]).abs().tolist())
        errors.append((right - wrong).abs().amax(dim=1).tolist())
    found: dict[str, float] = {}
    for kind, name in enumerate(("log p", "value") if gaps else ()):
        pairs = [(gap[kind], error[kind]) for gap, error in zip(gaps, errors, strict=True)]
        found[f"{name}: median gap"] = statistics.median(gap for gap, _ in pairs)
        found[f"{name}: median rounding"] = statistics.median(error for _, error in pairs)
        close = sum(gap <= 2 * error for gap, error in pairs)
        found[f"{name}: gap within twice the rounding"] = close
    return found


def compare(
    report: common.Report, sides: dict[str, Side], names: Sequence[str], metric: str | None
) -> None:
    for name in names:
        options = DECODERS[name]
        if name in WITH_METRIC and metric is None:
            print(f"{name}: left out, it needs --metric")
            continue
        text = {"search_post_process": "sentencepiece", "search_metric": metric}
        given = {**options, **(text if name in WITH_METRIC else {})}
        expected = sides["float32"].translate(given)
        for kind in [one for one in TYPES if one in sides]:
            begun = time.perf_counter()
            found = sides[kind].translate(given)
            seconds = time.perf_counter() - begun
            changed = sum(one != other for one, other in zip(expected, found, strict=True))
            report.add_point(
                decoder=name,
                type=kind,
                changed=changed,
                sentences=len(found),
                **reasons(sides["float32"], sides[kind], expected, found),
                seconds=seconds,
            )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__, timing=False)
    parser.add_argument("data", type=Path, help="folder of fairseq-preprocess")
    parser.add_argument("--path", type=Path, required=True, help="checkpoint with a value head")
    parser.add_argument("--metric", help="for decoders that go by one, for example mlbertscore:…")
    parser.add_argument("--only", nargs="+", choices=tuple(DECODERS), default=tuple(DECODERS))
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=500)
    options = common.parse(parser, arguments)
    loaded = load(options.path, options.data, options.subset, options.sentences)
    # as fairseq's commands do: texts of metrics have subwords alone
    loaded.task.build_tokenizer(Namespace(tokenizer=None))
    # copies before anything is decoded: members that are kept between batches belong to one type
    sides = {"float32": Side(loaded, loaded.model)}
    for kind, dtype in TYPES.items():
        if not is_computable(kind):
            continue
        sides[kind] = Side(loaded, copy.deepcopy(loaded.model).to(dtype))
    report = common.Report("precision", options, {"max length": MAX_LENGTH, "batch": BATCH})
    compare(report, sides, options.only, options.metric)
    report.write()
    return report


if __name__ == "__main__":
    main()
