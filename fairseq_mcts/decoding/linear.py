"""Linear layers as a stepper applies them: to a few rows, thousands of times.

On CPUs the order of the weights in memory decides how fast a few rows are multiplied by them, so it
is chosen once: large weights are packed by oneDNN, small ones are transposed for torch's own
product. Both give each row the same bits in every batch. Layers that read the same input become one
product. Whoever changes a model's weights has to make these anew.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_mcts.decoding import Network

RowFunction = Callable[[Tensor], Tensor]  # [n, C] -> [n, D]

# Packing pays for weights of more numbers than this (benchmarks/products.py). With AVX-512 that is
# nearly always. Without it, weights that no longer fit a core's own cache gain up to 1.6 × at 20
# rows, smaller ones lose up to 2 ×. Not by a measurement at run time: which of two products
# computes a row decides its last bits, and these must not change from one run to the next.
LARGE_WEIGHT = 2**17 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 2**20


def row_linear(
    *layers: Network, relu: bool = False, scales: Sequence[float] | None = None
) -> RowFunction:
    """All `layers` of one input side by side: [n, C] -> [n, sum of their outputs].

    `scales` are factors of their outputs. Only plain linear layers are taken apart; any other
    module is called as it is.
    """
    scales = scales or [1.0] * len(layers)
    if not all(_is_plain(layer) for layer in layers):
        return _with_relu(_one_after_the_other(layers, scales), relu)
    weight, bias = joined(layers, scales)
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return _with_relu(lambda x: F.linear(x, weight, bias), relu)
    if weight.numel() > LARGE_WEIGHT and _can_pack():
        return _with_relu(packed(weight, bias), relu)
    return _with_relu(transposed(weight, bias), relu)


def row_norm(norm: Network) -> RowFunction:
    """A layer norm without the detour through its module; any other module as it is."""
    if type(norm) is not nn.LayerNorm or _has_hooks(norm):
        return norm
    shape, weight, bias, epsilon = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)


def _has_hooks(module: Network) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)


def _is_plain(layer: Network) -> bool:
    return type(layer) is nn.Linear and not _has_hooks(layer)


def joined(layers: Sequence[nn.Linear], scales: Sequence[float]) -> tuple[Tensor, Tensor | None]:
    """One weight [D, C] and bias [D] for all layers; the weight itself if nothing is to be done."""
    if len(layers) == 1 and scales[0] == 1.0:
        bias = layers[0].bias
        return layers[0].weight.detach(), None if bias is None else bias.detach()
    weights, biases = [], []
    for layer, scale in zip(layers, scales, strict=True):
        bias = layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias
        weights.append(layer.weight.detach() * scale)
        biases.append(bias.detach() * scale)
    return torch.cat(weights), torch.cat(biases)


def _can_pack() -> bool:
    return (
        torch._C._has_mkldnn
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )


def packed(weight: Tensor, bias: Tensor | None) -> RowFunction:
    ordered = torch.ops.mkldnn._reorder_linear_weight(weight, None)
    multiply = torch.ops.mkldnn._linear_pointwise
    return lambda x: multiply(x, ordered, bias, "none", [], "")


def transposed(weight: Tensor, bias: Tensor | None) -> RowFunction:
    columns = weight.t().contiguous()  # [C, D]
    if bias is None:
        return lambda x: torch.mm(x, columns)
    return lambda x: torch.addmm(bias, x, columns)


def _one_after_the_other(layers: Sequence[Network], scales: Sequence[float]) -> RowFunction:
    if len(layers) == 1 and scales[0] == 1.0:
        return layers[0]
    return lambda x: torch.cat(
        [layer(x) * scale for layer, scale in zip(layers, scales, strict=True)], dim=-1
    )


def _with_relu(function: RowFunction, relu: bool) -> RowFunction:
    # not by oneDNN, whose relu makes zeros of NaN: broken weights would pass unnoticed
    return (lambda x: F.relu(function(x), inplace=True)) if relu else function
