"""Counts what would make the host wait for a device, on tensors of the host's memory."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ATEN = torch.ops.aten
# operations whose results' numbers or shapes the host has to know
_WAITING = {
    _ATEN._local_scalar_dense.default,  # item, bool, int, float
    _ATEN.nonzero.default,
    _ATEN.masked_select.default,
    _ATEN._unique2.default,
    _ATEN.equal.default,
    _ATEN.repeat_interleave.Tensor,
}
_COPYING = ("cpu", "tolist")  # methods; without a copy between memories they are no operations


class Counter(TorchDispatchMode):  # type: ignore[misc, no-any-unimported]
    """How often the host would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if operation in _WAITING or _selects_by_mask(operation, args):
            self.waits.append(str(operation))
        return operation(*args, **(kwargs or {}))


def _selects_by_mask(operation: Any, args: Any) -> bool:
    """Whether a result's shape depends on a mask; storing one number by a mask is no such thing."""
    if operation is _ATEN.index.Tensor:
        return any(one is not None and one.dtype == torch.bool for one in args[1])
    if operation in (_ATEN.index_put_.default, _ATEN._index_put_impl_.default):
        by_mask = any(one is not None and one.dtype == torch.bool for one in args[1])
        return by_mask and args[2].numel() > 1
    return False


def _waits_for_a_copy(*given: Any, **options: Any) -> bool:
    """Whether `to` may copy to another device, and returns when that and all before it is done."""
    named = any(isinstance(one, (torch.device, str)) for one in (*given, options.get("device")))
    return named and not options.get("non_blocking", False)


@contextmanager
def counting() -> Iterator[list[str]]:
    """The names of what waited, so far."""

    def noted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(tensor: torch.Tensor, *given: Any, **options: Any) -> Any:
            if name in _COPYING or _waits_for_a_copy(*given, **options):
                counter.waits.append(name)
            return method(tensor, *given, **options)

        return call

    counter = Counter()
    with ExitStack() as stack:
        for name in (*_COPYING, "to"):
            method = noted(name, getattr(torch.Tensor, name))
            stack.enter_context(mock.patch.object(torch.Tensor, name, method))
        stack.enter_context(counter)
        yield counter.waits
