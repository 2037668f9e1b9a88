"""What --eval-search logs of batches, and what becomes of it."""

from argparse import Namespace
from typing import Any

import pytest
import sacrebleu
import torch
from fairseq.data import Dictionary
from fairseq.logging import metrics
from fairseq.tasks.translation import TranslationTask
from torch import Tensor

from fairseq_mcts.tasks import eval_search
from fairseq_mcts.tasks.translation_mcts import TranslationMctsConfig, TranslationMctsTask

CFG = Namespace(eval_search="sr")
BLEU = sacrebleu.corpus_bleu(["a dog runs in the park"], [["a dog ran in the park"]])


def reported(*parts: Tensor) -> float:
    with metrics.aggregate(new_root=True) as meters:
        eval_search.reduce([{eval_search.key(CFG): part} for part in parts], CFG)
    bleu: float = meters.get_smoothed_values()["sr_bleu"]
    return bleu


def test_batches_that_were_not_decoded_do_not_change_bleu() -> None:
    decoded, nothing = eval_search.logged(BLEU), eval_search.NOTHING_DECODED
    assert reported(nothing, decoded, nothing) == reported(decoded) == round(BLEU.score, 2)


def test_every_batch_logs_as_much_as_the_decoded_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []

    def inference(generator: Any, sample: dict[str, Any], model: Any) -> Any:
        decoded.append(len(sample["target"]))
        return BLEU

    monkeypatch.setattr(TranslationTask, "valid_step", lambda *_: (0.0, 1, {}))
    cfg = TranslationMctsConfig(eval_search="sr", eval_search_sentences=4)  # type: ignore[arg-type]
    task = TranslationMctsTask(cfg, Dictionary(), Dictionary())
    task._eval_generator = object()  # as _prepare_decoding leaves it
    monkeypatch.setattr(task, "_inference_with_bleu", inference)
    batch = {"net_input": {}, "target": torch.zeros(3, 5)}
    logs = [task.valid_step(batch, None, None)[2] for _ in range(3)]
    assert decoded == [3, 1]
    for log in logs:
        part = log[eval_search.key(cfg)]
        assert (part.shape, part.dtype) == ((10,), torch.float64)
