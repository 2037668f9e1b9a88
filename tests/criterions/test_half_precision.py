"""The criterions in half precision: finite, and what float32 says up to its rounding."""

from typing import Any

import pytest
import torch

from fairseq_mcts.criterions.hybrid import HybridCriterion, HybridCriterionConfig
from fairseq_mcts.criterions.value import ValueCriterion, ValueCriterionConfig
from tests.criterions.test_value_and_hybrid import GivenTeacher, Rows, make_criterion
from tests.models.toys import DUAL, make_model, skip_unless_cpu_can


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("policy_loss", ["kl", "reverse-kl", "nll"])
@pytest.mark.parametrize(
    ("kind", "config"),
    [(ValueCriterion, ValueCriterionConfig), (HybridCriterion, HybridCriterionConfig)],
)
def test_losses_are_those_of_float32(
    precision: torch.dtype, policy_loss: str, kind: Any, config: Any
) -> None:
    skip_unless_cpu_can(precision)
    criterion = make_criterion(kind, config(), policy_loss="nll")
    criterion.cfg.policy_loss = policy_loss
    if policy_loss != "nll":
        criterion._teacher = GivenTeacher(make_model(DUAL, joined=True, seed=9))
    criterion.train()
    batch = Rows(4).batch()
    found = {}
    for dtype in (torch.float32, precision):
        model = make_model(DUAL, joined=True, share_all_embeddings=True).to(dtype)
        loss, _, log = criterion(model, batch)
        loss.backward()
        found[dtype] = {name: float(value) for name, value in log.items()}
        assert loss.dtype == torch.float32
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
    tolerance = {torch.float16: 0.01, torch.bfloat16: 0.05}[precision]
    assert found[precision].keys() == found[torch.float32].keys()
    for name, value in found[torch.float32].items():
        assert found[precision][name] == pytest.approx(value, rel=tolerance), name
