"""The supervised policy as a frozen teacher."""

from inspect import signature
from typing import Any

import torch
from fairseq import utils
from torch import Tensor

from fairseq_mcts.models.checkpoints import load_models


class Teacher:
    """Checkpoints that are only read: no gradient, no dropout, not part of any state.

    Deliberately no nn.Module: fairseq would train and save a criterion's modules.
    """

    def __init__(self, path: str, task: Any) -> None:
        paths = utils.split_paths(path)
        self._models = load_models("--teacher-path", paths, task, needs_policy=True)
        for model in self._models:
            model.eval().requires_grad_(False)

    @torch.no_grad()
    def logprobs(self, net_input: dict[str, Tensor]) -> Tensor:
        """float32 [B, T, V]; several teachers are averaged as probabilities."""
        device = net_input["src_tokens"].device
        each = []
        for model in self._models:
            model.to(device)
            output = model(**(net_input if _shares_sources(model) else _source_a_row(net_input)))
            each.append(model.get_normalized_probs(output, log_probs=True).float())
        if len(each) == 1:
            return each[0]
        return torch.logsumexp(torch.stack(each), dim=0) - torch.log(torch.tensor(len(each)))


def _shares_sources(model: Any) -> bool:
    """Whether a model encodes a source once for all its rows; those of fairseq do not."""
    return "source_of_row" in signature(model.forward).parameters


def _source_a_row(net_input: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same input with a source for each row."""
    rows = dict(net_input)
    source_of_row = rows.pop("source_of_row")
    for name in ("src_tokens", "src_lengths"):
        rows[name] = rows[name][source_of_row]
    return rows
