"""The supervised policy as a frozen teacher."""

from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils, utils
from fairseq.data import Dictionary
from torch import Tensor

from fairseq_mcts.decoding import Network


class Teacher:
    """Checkpoints that are only read: no gradient, no dropout, not part of any state.

    Deliberately no nn.Module: fairseq would train and save a criterion's modules.
    """

    def __init__(self, path: str, task: Any) -> None:
        try:
            models, saved = checkpoint_utils.load_model_ensemble(utils.split_paths(path), task=task)
        except RuntimeError as error:
            raise ValueError(
                f"--teacher-path {path}: does not fit this task's dictionaries ({error})"
            ) from error
        self._models: list[Network] = models
        for model in models:
            model.eval().requires_grad_(False)
            rows = model.decoder.embed_tokens.num_embeddings
            if rows != len(task.target_dictionary):
                raise ValueError(
                    f"--teacher-path {path}: its dictionary has {rows} entries, that of the data "
                    f"{len(task.target_dictionary)}"
                )
        _compare_dictionaries(path, saved, task)

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


def _compare_dictionaries(path: str, saved: Any, task: Any) -> None:
    """Refuses a teacher whose dictionary has as many entries, but others.

    A checkpoint holds no dictionary, just the name of the folder it was trained on: if that is
    still there, it tells.
    """
    data = getattr(saved.task, "data", None)
    for side, dictionary in (
        ("source_lang", task.source_dictionary),
        ("target_lang", task.target_dictionary),
    ):
        language = getattr(saved.task, side, None)
        if data is None or language is None:
            continue  # of a task that keeps its dictionaries elsewhere
        file = Path(utils.split_paths(data)[0]) / f"dict.{language}.txt"
        if file.is_file() and Dictionary.load(str(file)) != dictionary:
            raise ValueError(
                f"--teacher-path {path}: was trained with another dictionary, {file}, than that of "
                "the data"
            )
