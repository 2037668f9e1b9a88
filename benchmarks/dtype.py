"""Would int8 or bf16 weights pay? Speed of the stepper's products, and of a whole search in int8.

    python benchmarks/dtype.py [--size small|base] [DATA --path dual_head.pt] [--json FILE]

First the products of one decoding step (32 rows) by the package's own float32, by int8 with
dynamic quantisation (fbgemm) and by bf16. Then, if a trained model is given, V-MCTS with int8
products in place of float32 ones: the speed-up and the share of sentences whose translation stays
the same. The quantisation of activations takes one scale for all rows of a batch, so the result for
a sentence then depends on its neighbours, which no other decoder of this package allows: the share
of unchanged sentences is therefore also measured between two batch sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import common
import networks
import torch
from leaves import Translator
from torch import Tensor, nn
from trained import load

from fairseq_mcts.decoding.linear import RowFunction, joined
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.models.sizes import SIZES

ROWS = 32


def int8_linear(
    *layers: nn.Linear, relu: bool = False, scales: Sequence[float] | None = None
) -> RowFunction:
    """What `Placement.linear` does, with int8 weights (a scale per output) and activations."""
    weight, bias = joined(layers, scales or [1.0] * len(layers))
    steps = weight.abs().amax(dim=1).clamp_min(1e-8) / 127
    quantised = torch.quantize_per_channel(
        weight, steps, torch.zeros(len(weight), dtype=torch.long), 0, torch.qint8
    )
    packed = torch.ops.quantized.linear_prepack(quantised, bias)
    multiply = torch.ops.quantized.linear_dynamic

    def apply(x: Tensor) -> Tensor:
        product = multiply(x.contiguous(), packed, True)
        return product.relu_() if relu else product

    return apply


def int8_steppers() -> AbstractContextManager[object]:
    """Decoders made meanwhile multiply in int8."""
    return mock.patch.object(Placement, "linear", staticmethod(int8_linear))


def apply_often(function: RowFunction, x: Tensor) -> None:
    for _ in range(50):
        function(x)


@torch.no_grad()
def compare_products(report: common.Report, options: Any) -> None:
    size = SIZES[options.size]
    float32_linear = Placement(torch.device("cpu"), torch.float32).linear
    width, inner = int(size["decoder_embed_dim"]), int(size["decoder_ffn_embed_dim"])
    for inputs, outputs in (
        (width, inner),
        (inner, width),
        (width, networks.VOCABULARIES[options.size]),
    ):
        layer = nn.Linear(inputs, outputs)
        half = nn.Linear(inputs, outputs).bfloat16()
        x = torch.randn(ROWS, inputs)
        applied: dict[str, tuple[RowFunction, Tensor]] = {
            "float32": (float32_linear(layer), x),
            "int8": (int8_linear(layer), x),
            "bf16": (half, x.bfloat16()),
        }
        repeated = {
            name: partial(apply_often, function, rows) for name, (function, rows) in applied.items()
        }
        seconds = common.alternate(repeated, options)
        report.add_point(
            inputs=inputs,
            outputs=outputs,
            int8_speed_up=seconds["float32"] / seconds["int8"],
            bf16_speed_up=seconds["float32"] / seconds["bf16"],
        )


def compare_searches(report: common.Report, options: Any) -> None:
    translator = Translator(load(options.path, options.data, options.subset, options.sentences))

    def translations(batch_size: int, *, int8: bool) -> list[list[int]]:
        with int8_steppers() if int8 else nullcontext():
            return translator.decode_in_batches(batch_size, options.simulations)

    float32 = translations(ROWS, int8=False)
    int8, other_batches = translations(ROWS, int8=True), translations(7, int8=True)
    seconds = common.alternate(
        {
            "float32": lambda: translations(ROWS, int8=False),
            "int8": lambda: translations(ROWS, int8=True),
        },
        options,
    )
    report.add(
        common.Comparison(
            "V-MCTS: float32 / int8",
            seconds["float32"] / seconds["int8"],
            None,
            {
                **{f"{name} seconds": took for name, took in seconds.items()},
                "share unchanged": share_of_equal(float32, int8),
                "share equal with batches of 7": share_of_equal(int8, other_batches),
            },
        )
    )


def share_of_equal(some: list[list[int]], others: list[list[int]]) -> float:
    return sum(one == other for one, other in zip(some, others, strict=True)) / len(some)


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="folder of fairseq-preprocess")
    parser.add_argument("--path", type=Path, help="checkpoint with a value head")
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=50)
    options = common.parse(parser, arguments)
    if (options.data is None) != (options.path is None):
        parser.error("DATA and --path belong together")
    report = common.Report("dtype", options, {"rows": ROWS})
    compare_products(report, options)
    if options.path is not None:
        compare_searches(report, options)
    report.write()
    return report


if __name__ == "__main__":
    main()
