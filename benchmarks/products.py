"""Matrix products, which nearly all of decoding is: how fast, and how much of a beam search.

    python benchmarks/products.py [--size small|base] [--json FILE]

1. The weights of each kind of layer, packed by oneDNN or transposed for torch's product, as
   `fairseq_mcts/decoding/linear.py` may order them. Other memory is read in between, as by the
   other layers of a network.
2. A bound of `beam_by_evaluator.py`: fairseq's beam search over the matrix products alone of the
   same search here (by torch's profiler). Nothing that computes these products by the same
   libraries can be faster than fairseq by more than this.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence

import beam_by_evaluator
import common
import networks
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from fairseq_mcts.decoding import linear
from fairseq_mcts.models.sizes import SIZES, apply_size

ROWS = (4, 8, 20, 32, 64, 160)
TURNS = 15
OTHER_MEMORY = 3_000_000  # floats
PRODUCTS = ("aten::addmm", "aten::mm", "mkldnn::_linear_pointwise")


def layer_shapes(size: str) -> dict[str, tuple[int, int]]:
    """What a layer is for -> its (inputs, outputs)."""
    sizes = argparse.Namespace()
    apply_size(size, sizes)
    width, inner = int(SIZES[size]["decoder_embed_dim"]), int(sizes.decoder_ffn_embed_dim)
    return {
        "attention": (width, width),
        "widening": (width, inner),
        "narrowing": (inner, width),
        "output": (width, networks.VOCABULARIES[size]),
    }


def seconds_of(functions: Sequence[Callable[[Tensor], Tensor]], x: Tensor) -> list[float]:
    """Medians; the functions take turns."""
    clock, other = common.CLOCKS["wall"], torch.zeros(OTHER_MEMORY)
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(TURNS + 1):
        for found, function in zip(times, functions, strict=True):
            other.add_(1.0)
            begun = clock()
            function(x)
            found.append(clock() - begun)
    return [statistics.median(found[1:]) for found in times]


@torch.no_grad()
def compare_orders(report: common.Report, size: str) -> None:
    for name, (inputs, outputs) in layer_shapes(size).items():
        weight, bias = torch.randn(outputs, inputs), torch.randn(outputs)
        ways = [linear.packed(weight, bias), linear.transposed(weight, bias)]
        for rows in ROWS:
            packed, transposed = seconds_of(ways, torch.randn(rows, inputs))
            report.add_point(
                layer=name,
                inputs=inputs,
                outputs=outputs,
                rows=rows,
                packed_over_transposed=packed / transposed,
                gigaflops=2e-9 * rows * inputs * outputs / min(packed, transposed),
            )


def product_seconds(work: Callable[[], object]) -> float:
    """Time that `work` spends in matrix products of linear layers, the encoder's too."""
    work()
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        work()
    events = [event for event in profiled.key_averages() if event.key in PRODUCTS]
    return sum(event.self_cpu_time_total for event in events) / 1e6


def bound(options: argparse.Namespace, case: beam_by_evaluator.Case) -> common.Comparison:
    seconds = case.seconds(options)
    products = product_seconds(case.by_evaluator)
    return common.Comparison(
        f"fairseq's beam {options.beam} / the products of VGBS with α = 0, {case.name}",
        seconds["fairseq"] / products,
        None,
        {**{f"{side} s": value for side, value in seconds.items()}, "products s": products},
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    options, cases = beam_by_evaluator.parse(__doc__, arguments)
    report = common.Report("products", options, networks.settings())
    compare_orders(report, options.size)
    for case in cases:
        report.add(bound(options, case))
    report.write()
    return report


if __name__ == "__main__":
    main()
