"""Linear layers as a stepper applies them: to a few rows, thousands of times.

On CPUs oneDNN multiplies by weights that were brought into its own order once, which is faster for
few rows and wide outputs and gives each row the same bits in every batch. Layers that read the same
input become one product. Whoever changes a model's weights has to make these anew.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_mcts.decoding import Network

RowFunction = Callable[[Tensor], Tensor]  # [..., C] -> [..., D]


def row_linear(*layers: Network, relu: bool = False) -> RowFunction:
    """All `layers` of one input side by side: [..., C] -> [..., sum of their outputs].

    Only plain linear layers are taken apart; any other module is called as it is.
    """
    if not all(_is_plain(layer) for layer in layers):
        return _with_relu(_one_after_the_other(layers), relu)
    weight = torch.cat([layer.weight.detach() for layer in layers]) if len(layers) > 1 else None
    if weight is None:
        weight = layers[0].weight.detach()
    bias = _joined_bias(layers)
    if _can_pack(weight):
        return _packed(weight, bias, relu)
    return _with_relu(lambda x: F.linear(x, weight, bias), relu)


def weights_version(models: Sequence[nn.Module]) -> tuple[tuple[int, int], ...]:
    """Changes whenever a weight of the models does."""
    return tuple(
        (parameter.data_ptr(), parameter._version)
        for model in models
        for parameter in model.parameters()
    )


def _is_plain(layer: Network) -> bool:
    hooks = ("_forward_hooks", "_forward_pre_hooks")
    return type(layer) is nn.Linear and not any(getattr(layer, name) for name in hooks)


def _joined_bias(layers: Sequence[nn.Linear]) -> Tensor | None:
    if all(layer.bias is None for layer in layers):
        return None
    return torch.cat(
        [
            layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias
            for layer in layers
        ]
    ).detach()


def _can_pack(weight: Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and torch._C._has_mkldnn
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )


def _packed(weight: Tensor, bias: Tensor | None, relu: bool) -> RowFunction:
    ordered = torch.ops.mkldnn._reorder_linear_weight(weight, None)
    multiply = torch.ops.mkldnn._linear_pointwise
    activation = "relu" if relu else "none"
    return lambda x: multiply(x, ordered, bias, activation, [], "")


def _one_after_the_other(layers: Sequence[Network]) -> RowFunction:
    if len(layers) == 1:
        return layers[0]
    return lambda x: torch.cat([layer(x) for layer in layers], dim=-1)


def _with_relu(function: RowFunction, relu: bool) -> RowFunction:
    return (lambda x: F.relu(function(x))) if relu else function
