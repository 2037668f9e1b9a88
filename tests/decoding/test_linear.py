"""Linear layers of a stepper: joined, packed, and made anew when weights change."""

import pytest
import torch
from torch import Tensor, nn

from fairseq_mcts.decoding.linear import LARGE_WEIGHT, row_norm
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.step_batch import MIN_ROWS

CPU = torch.device("cpu")
row_linear = Placement(CPU, torch.float32).linear


def layers() -> list[nn.Linear]:
    torch.manual_seed(0)
    return [nn.Linear(24, 16), nn.Linear(24, 8, bias=False), nn.Linear(24, 40)]


def separately(modules: list[nn.Linear], x: Tensor) -> Tensor:
    return torch.cat([module(x) for module in modules], dim=-1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("on_host", [True, False])
@pytest.mark.parametrize("relu", [False, True])
@torch.no_grad()
def test_joined_layers_give_what_they_give_alone(
    dtype: torch.dtype, on_host: bool, relu: bool
) -> None:
    row_linear = Placement(CPU, dtype, on_host=on_host).linear
    modules = [module.to(dtype) for module in layers()]
    x = torch.randn(5, 24, dtype=dtype)
    expected = separately(modules, x)
    expected = expected.relu() if relu else expected
    torch.testing.assert_close(row_linear(*modules, relu=relu)(x), expected)
    alone = modules[1](x).relu() if relu else modules[1](x)
    torch.testing.assert_close(row_linear(modules[1], relu=relu)(x), alone)


@torch.no_grad()
def test_outputs_are_scaled() -> None:
    modules = layers()
    x = torch.randn(5, 24)
    scales = [0.3, 1.0, 2.0]
    expected = torch.cat([m(x) * s for m, s in zip(modules, scales, strict=True)], dim=-1)
    torch.testing.assert_close(row_linear(*modules, scales=scales)(x), expected)
    torch.testing.assert_close(row_linear(modules[0], scales=[0.3])(x), 0.3 * modules[0](x))
    special = Doubled(24, 8)
    torch.testing.assert_close(row_linear(special, scales=[0.3])(x), 0.3 * special(x))


@torch.no_grad()
def test_norms_give_what_their_modules_give() -> None:
    x = torch.randn(5, 24)
    norm = nn.LayerNorm(24)
    nn.init.normal_(norm.weight)
    assert torch.equal(row_norm(norm)(x), norm(x))
    hooked = nn.LayerNorm(24)
    hooked.register_forward_hook(lambda module, inputs, output: output + 1)
    assert torch.equal(row_norm(hooked)(x), hooked(x))


@pytest.mark.parametrize("outputs", [16, LARGE_WEIGHT // 24 + 16])
@torch.no_grad()
def test_rows_have_the_same_bits_in_every_batch(outputs: int) -> None:
    torch.manual_seed(0)
    apply = row_linear(nn.Linear(24, outputs))
    x = torch.randn(40, 24)
    whole = apply(x)
    for count in range(MIN_ROWS, 40):
        assert torch.equal(apply(x[:count]), whole[:count])


@torch.no_grad()
def test_large_weights_give_the_same_products() -> None:
    torch.manual_seed(0)
    large = nn.Linear(32, LARGE_WEIGHT // 32 + 1)
    x = torch.randn(6, 32)
    torch.testing.assert_close(row_linear(large)(x), large(x))
    large.weight[3, 5] = torch.nan
    assert row_linear(large, relu=True)(x)[:, 3].isnan().all()


class Doubled(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


@torch.no_grad()
def test_modules_that_do_more_are_called_as_they_are() -> None:
    torch.manual_seed(0)
    special, hooked = Doubled(24, 8), nn.Linear(24, 8)
    hooked.register_forward_hook(lambda module, inputs, output: output + 1)
    x = torch.randn(4, 24)
    for module in (special, hooked):
        torch.testing.assert_close(row_linear(module)(x), module(x))
        both = row_linear(module, hooked)(x)
        torch.testing.assert_close(both, torch.cat([module(x), hooked(x)], dim=-1))


@pytest.mark.parametrize("relu", [False, True])
@torch.no_grad()
def test_broken_weights_show(relu: bool) -> None:
    broken = nn.Linear(24, 8)
    broken.weight[3, 5] = torch.nan
    assert row_linear(broken, relu=relu)(torch.randn(4, 24))[:, 3].isnan().all()
