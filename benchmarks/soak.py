"""Does a decoder that runs for long grow or slow down? 20,000 sentences through every search.

    python benchmarks/soak.py [--sentences 20000] [--only NAME …] [--json FILE]

Each search is a process of its own, with a tiny random network and sentences of a few tokens, so
that batches are many: what a batch leaves behind shows. Measured are the process's resident set
after a tenth of the sentences and after all of them, and the speed of the first tenth (without the
first batch, which compiles and warms up) and of the last, by the process's own time, so that other
work on the machine does not count. Every batch has sentences of its own, as
a corpus has: memories of texts and prefixes must not keep what no later sentence asks for.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import common
import networks
import torch
from random_metric import WordWorth
from torch import Tensor

from fairseq_mcts.search import make_decoder

BATCH = 100
LENGTHS = (2, 6)  # tokens of sources and of translations, without eos
MOST_GROWTH = 0.05
SEARCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "mcts": ("mcts", {"simulations": 5}),
    "mcts, rollouts": ("mcts", {"simulations": 3, "leaf": "rollout"}),
    "mcts, Gumbel root": ("mcts", {"simulations": 5, "root": "gumbel", "gumbel_scale": 1.0}),
    "vgbs": ("vgbs", {"beam": 3}),
    "beam": ("beam", {"beam": 3}),
    "sr, value": ("sr", {"samples": 5}),
    "sr, metric": ("sr", {"samples": 5, "rank_by": "metric"}),
    "sr, without replacement": ("sr", {"samples": 5, "without_replacement": True}),
    "mbr": ("mbr", {"samples": 5}),
}
FAIRSEQS_OWN = "fairseq's beam"
NAMES = (*SEARCHES, FAIRSEQS_OWN)


def resident_bytes() -> int:
    """Memory of this process that is not swapped out."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def batches(dictionary: Any, sentences: int, seed: int) -> Iterator[list[Tensor]]:
    """Random short sources, no two batches the same."""
    dice = torch.Generator().manual_seed(seed)
    low, high = LENGTHS
    eos = torch.tensor([dictionary.eos()])
    for begin in range(0, sentences, BATCH):
        count = min(BATCH, sentences - begin)
        lengths = torch.randint(low, high + 1, (count,), generator=dice)
        yield [
            torch.cat(
                [
                    torch.randint(
                        networks.SPECIAL_SYMBOLS, len(dictionary), (length,), generator=dice
                    ),
                    eos,
                ]
            )
            for length in sorted(lengths.tolist(), reverse=True)
        ]


def make_generator(name: str, model: Any) -> Any:
    lengths = networks.limits(min_len=LENGTHS[0], max_len_b=LENGTHS[1])
    if name == FAIRSEQS_OWN:
        return networks.fairseq_generator(model, 3, lengths)
    search, options = SEARCHES[name]
    decoder = make_decoder(search, options)
    metric = WordWorth() if decoder.needs_metric else None
    return networks.search_generator(model, decoder, lengths, metric=metric)


def soak(name: str, sentences: int, seed: int) -> dict[str, float]:
    """What one search does in this process."""
    model = networks.multiquery("dual_head_multiquery_transformer", "tiny", seed)
    generator = make_generator(name, model)
    tenth, done, ended = sentences // 10, 0, []
    resident = {}
    for sources in batches(model.encoder.dictionary, sentences, seed):
        found = generator.generate([model], networks.make_sample(model, sources))
        if len(found) != len(sources):
            raise AssertionError(f"{name}: {len(found)} results of {len(sources)} sentences")
        done += len(sources)
        ended.append((done, time.process_time()))
        if "tenth" not in resident and done >= tenth:
            resident["tenth"] = resident_bytes()
    resident["all"] = resident_bytes()
    return {
        "MiB after a tenth": resident["tenth"] / 2**20,
        "MiB at the end": resident["all"] / 2**20,
        "sentences/s first tenth": speed([one for one in ended if one[0] <= tenth]),
        "sentences/s last tenth": speed([one for one in ended if one[0] >= sentences - tenth]),
        "seconds": ended[-1][1] - ended[0][1],
    }


def speed(ended: Sequence[tuple[int, float]]) -> float:
    """Sentences a second, by how many were done when."""
    (first, begun), (last, end) = ended[0], ended[-1]
    return (last - first) / (end - begun)


def soak_elsewhere(name: str, options: argparse.Namespace) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--alone", name]
    command += ["--sentences", str(options.sentences), "--seed", str(options.seed)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(output.splitlines()[-1])
    return found


def main(arguments: Sequence[str] | None = None) -> common.Report | None:
    parser = common.make_parser(__doc__, timing=False)
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1, help="of weights and sentences")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    parser.add_argument("--alone", choices=NAMES, metavar="NAME", help="in this process, as JSON")
    options = common.parse(parser, arguments)
    if options.sentences < 20 * BATCH:
        parser.error(f"--sentences {options.sentences}: a tenth must be 2 batches of {BATCH}")
    if options.alone is not None:
        print(json.dumps(soak(options.alone, options.sentences, options.seed)))
        return None
    report = common.Report("soak", options, {"batch": BATCH, "size": "tiny", "lengths": LENGTHS})
    for name in options.only:
        parts = soak_elsewhere(name, options)
        growth = parts["MiB at the end"] / parts["MiB after a tenth"]
        bar = common.at_most(1 + MOST_GROWTH)
        compared = f"{name}: resident set at the end / after a tenth"
        report.add(common.Comparison(compared, growth, bar, parts))
    report.write()
    return report


if __name__ == "__main__":
    main()
