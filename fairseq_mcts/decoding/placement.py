"""Host or device: the one place that decides by which code a model is computed.

Kernels compiled for CPUs read tensors of the host's memory in place, row by row. On other devices
the same is done by tensor operations, and only a search's answers are copied to the host.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from fairseq_mcts.decoding.device_readout import read_on_device
from fairseq_mcts.decoding.encoding import all_together, by_padded_length
from fairseq_mcts.decoding.host_readout import read_on_host
from fairseq_mcts.decoding.linear import (
    RowFunction,
    product_on_device,
    product_on_host,
    row_linear,
    row_norm,
)
from fairseq_mcts.decoding.match_rows import match_on_device, match_on_host
from fairseq_mcts.decoding.row_attention import RowAttention
from fairseq_mcts.decoding.source_keys import (
    KeysValues,
    SourceKeys,
    SourceKeysOnDevice,
    source_keys_on_host,
)
from fairseq_mcts.models.network import Network


class Placement:
    """The code for models in one memory and number type, chosen once."""

    def __init__(
        self, device: torch.device, dtype: torch.dtype, *, on_host: bool | None = None
    ) -> None:
        """`on_host=False` chooses the code for devices, which runs in the host's memory too."""
        on_host = device.type == "cpu" if on_host is None else on_host
        compiled = on_host and dtype == torch.float32
        self.device, self.dtype = device, dtype
        self._product = product_on_host if compiled else product_on_device
        self.attend_path = (
            RowAttention.attend_path_on_host if compiled else RowAttention.attend_path_on_device
        )
        self.make_source_keys: Callable[[Sequence[KeysValues], Tensor], SourceKeys] = (
            source_keys_on_host if compiled else SourceKeysOnDevice
        )
        self.match_rows = match_on_host if compiled else match_on_device
        self.group_lengths = by_padded_length if on_host else all_together
        # scores are float32 always
        self.read_policies = read_on_host if on_host else read_on_device

    def linear(
        self, *layers: Network, relu: bool = False, scales: Sequence[float] | None = None
    ) -> RowFunction:
        """Linear layers of one input as one function; see `row_linear`."""
        return row_linear(self._product, layers, scales or [1.0] * len(layers), relu=relu)

    def function(self, module: Network) -> RowFunction:
        """A linear layer or a layer norm as a function of rows."""
        return self.linear(module) if isinstance(module, nn.Linear) else row_norm(module)


def placement_of(model: Network) -> Placement:
    """The code for a model, by the device and the type of its parameters."""
    parameter = next(model.parameters())
    return Placement(parameter.device, parameter.dtype)
