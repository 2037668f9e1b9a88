"""The supervised policy as a frozen teacher."""

from typing import Any

import torch
from fairseq import checkpoint_utils, utils
from torch import Tensor

from fairseq_mcts.data.checkpoint_dictionary import refuse_foreign_dictionary
from fairseq_mcts.decoding import Network


class Teacher:
    """Checkpoints that are only read: no gradient, no dropout, not part of any state.

    Deliberately no nn.Module: fairseq would train and save a criterion's modules.
    """

    def __init__(self, path: str, task: Any) -> None:
        try:
            models, saved = checkpoint_utils.load_model_ensemble(utils.split_paths(path), task=task)
        except RuntimeError as error:
            if "size mismatch" not in str(error):
                raise
            raise ValueError(
                f"--teacher-path {path}: does not fit the dictionaries of the data, which have "
                f"{len(task.source_dictionary)} and {len(task.target_dictionary)} types"
            ) from error
        self._models: list[Network] = models
        for model in models:
            model.eval().requires_grad_(False)
        refuse_foreign_dictionary("--teacher-path", path, saved, task)

    @torch.no_grad()
    def logprobs(self, net_input: dict[str, Tensor]) -> Tensor:
        """float32 [B, T, V]; several teachers are averaged as probabilities."""
        device = net_input["src_tokens"].device
        each = []
        for model in self._models:
            model.to(device)
            output = model(**net_input)
            each.append(model.get_normalized_probs(output, log_probs=True).float())
        if len(each) == 1:
            return each[0]
        return torch.logsumexp(torch.stack(each), dim=0) - torch.log(torch.tensor(len(each)))
