"""Linear layers as a stepper applies them: to a few rows, thousands of times.

On CPUs the order of the weights in memory decides how fast a few rows are multiplied by them, so it
is chosen once: large weights are packed by oneDNN, small ones are transposed for torch's own
product. Both give each row the same bits in every batch. Layers that read the same input become one
product. The functions hold copies of the weights: after a change of weights, new ones are needed.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_mcts.models.network import Network

RowFunction = Callable[[Tensor], Tensor]  # [n, C] -> [n, D]
Product = Callable[[Tensor, Tensor | None], RowFunction]  # of a weight [D, C] and a bias [D]

# Packing pays for weights of more numbers than this (benchmarks/products.py). With AVX-512 that is
# nearly always. Without it, weights that no longer fit a core's own cache gain up to 1.6 × at 20
# rows, smaller ones lose up to 2 ×. Not by a measurement at run time: which of two products
# computes a row decides its last bits, and these must not change from one run to the next.
LARGE_WEIGHT = 2**17 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 2**20


def row_linear(
    product: Product, layers: Sequence[Network], scales: Sequence[float], *, relu: bool
) -> RowFunction:
    """The concatenated outputs of all `layers`, times `scales`: [n, C] -> [n, sum of outputs].

    Plain linear layers become one product; modules of any other type are called.
    """
    if all(_is_plain(layer, nn.Linear) for layer in layers):
        function = product(*joined(layers, scales))
    else:
        function = _concatenated(layers, scales)
    # not by oneDNN, whose relu makes zeros of NaN: broken weights would pass unnoticed
    return (lambda x: F.relu(function(x), inplace=True)) if relu else function


def row_norm(norm: Network) -> RowFunction:
    """A layer norm without its module's overhead; modules of any other type are called."""
    if not _is_plain(norm, nn.LayerNorm):
        return norm
    shape, weight, bias, epsilon = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)


def _is_plain(module: Network, kind: type[nn.Module]) -> bool:
    """Whether a module computes what `kind` does: no subclass, no hooks."""
    return type(module) is kind and not (module._forward_hooks or module._forward_pre_hooks)


def joined(layers: Sequence[nn.Linear], scales: Sequence[float]) -> tuple[Tensor, Tensor | None]:
    """One weight [D, C] and bias [D] for all layers; no copy of a single layer's weight."""
    if len(layers) == 1 and scales[0] == 1.0:
        bias = layers[0].bias
        return layers[0].weight.detach(), None if bias is None else bias.detach()
    weights, biases = [], []
    for layer, scale in zip(layers, scales, strict=True):
        bias = layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias
        weights.append(layer.weight.detach() * scale)
        biases.append(bias.detach() * scale)
    return torch.cat(weights), torch.cat(biases)


def product_on_host(weight: Tensor, bias: Tensor | None) -> RowFunction:
    """For float32 weights in the host's memory."""
    if weight.numel() > LARGE_WEIGHT and _can_pack():
        return packed(weight, bias)
    return transposed(weight, bias)


def product_on_device(weight: Tensor, bias: Tensor | None) -> RowFunction:
    """For weights of any type on any device."""
    return lambda x: F.linear(x, weight, bias)


def _can_pack() -> bool:
    return (
        torch._C._has_mkldnn
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )


def packed(weight: Tensor, bias: Tensor | None) -> RowFunction:
    """oneDNN's product."""
    ordered = torch.ops.mkldnn._reorder_linear_weight(weight, None)
    multiply = torch.ops.mkldnn._linear_pointwise
    return lambda x: multiply(x, ordered, bias, "none", [], "")


def transposed(weight: Tensor, bias: Tensor | None) -> RowFunction:
    """torch's own product."""
    columns = weight.t().contiguous()  # [C, D]
    if bias is None:
        return lambda x: torch.mm(x, columns)
    return lambda x: torch.addmm(bias, x, columns)


def _concatenated(layers: Sequence[Network], scales: Sequence[float]) -> RowFunction:
    return lambda x: torch.cat(
        [layer(x) * scale for layer, scale in zip(layers, scales, strict=True)], dim=-1
    )
