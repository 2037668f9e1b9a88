"""What --eval-search logs of batches, and what becomes of it."""

from typing import Any

import pytest
import sacrebleu
import torch
from fairseq.logging import metrics

from fairseq_mcts.tasks.eval_search import EvalSearch
from fairseq_mcts.tasks.search_config import make_config

BLEU = sacrebleu.corpus_bleu(["a dog runs in the park"], [["a dog ran in the park"]])
BATCH = {"net_input": {}, "target": torch.zeros(3, 5)}


def eval_search(sentences: int, **options: Any) -> EvalSearch:
    cfg = make_config()(eval_search="sr", eval_search_sentences=sentences, **options)
    search = EvalSearch(cfg)
    search.generator = object()
    return search


def logs(search: EvalSearch, batches: int) -> tuple[list[dict[str, Any]], list[int]]:
    """What the batches log, and of how many sentences those were that were decoded."""
    decoded: list[int] = []

    def bleu(generator: Any, sample: dict[str, Any]) -> Any:
        decoded.append(len(sample["target"]))
        return BLEU

    search.begin_validation()
    logged: list[dict[str, Any]] = [{} for _ in range(batches)]
    for log in logged:
        search.log_batch(log, BATCH, bleu)
    return logged, decoded


def reported(search: EvalSearch, batches: list[dict[str, Any]]) -> float:
    with metrics.aggregate(new_root=True) as meters:
        search.reduce(batches)
    bleu: float = meters.get_smoothed_values()["sr_bleu"]
    return bleu


def test_batches_that_were_not_decoded_do_not_change_bleu() -> None:
    search = eval_search(sentences=3)
    logged, decoded = logs(search, batches=3)
    assert decoded == [3]
    assert reported(search, logged) == reported(search, logged[:1]) == round(BLEU.score, 2)


def test_every_batch_logs_as_much_as_the_decoded_ones() -> None:
    """Workers add up what they log entry by entry."""
    logged, decoded = logs(eval_search(sentences=4), batches=3)
    assert decoded == [3, 1]
    for log in logged:
        [part] = log.values()
        assert (part.shape, part.dtype) == ((10,), torch.float64)


def test_every_validation_starts_anew() -> None:
    search = eval_search(sentences=3)
    assert logs(search, batches=2)[1] == logs(search, batches=2)[1] == [3]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "^--eval-search needs --eval-bleu"),
        ({"eval_bleu": True, "search": "mcts"}, "^--search mcts: give either this or --eval"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        eval_search(3, **options).check()


@pytest.mark.parametrize("name", ["search_trees", "search_json", "search_record"])
def test_files_are_not_written_in_validations(name: str) -> None:
    search = eval_search(3, eval_bleu=True, **{name: "here"})
    search.check()  # what a checkpoint was trained with does no harm elsewhere
    flag = "--" + name.replace("_", "-")
    with pytest.raises(ValueError, match=rf"^{flag} here: not in validations"):
        search.decoding_options()
