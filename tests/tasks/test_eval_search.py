"""What --eval-search logs of batches, and what becomes of it."""

from typing import Any

import pytest
import sacrebleu
import torch
from fairseq.logging import metrics

import tests.generators.vowels  # noqa: F401 - registers the metric
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.tasks.eval_search import DecodedTexts, EvalSearch
from fairseq_mcts.tasks.search_config import make_config

TEXTS = DecodedTexts(["a dog runs in the park"], ["a dog ran in the park"], ["un chien court"])
BLEU = sacrebleu.corpus_bleu(TEXTS.hypotheses, [TEXTS.references])
BATCH = {"net_input": {}, "target": torch.zeros(3, 5)}


def eval_search(sentences: int, **options: Any) -> EvalSearch:
    cfg = make_config()(eval_search="sr", eval_search_sentences=sentences, **options)
    search = EvalSearch(cfg)
    search.use(object())
    return search


def logs(search: EvalSearch, batches: int) -> tuple[list[dict[str, Any]], list[int]]:
    """What the batches log, and of how many sentences those were that were decoded."""
    decoded: list[int] = []

    def decode(generator: Any, sample: dict[str, Any]) -> DecodedTexts:
        decoded.append(len(sample["target"]))
        return TEXTS

    search.begin_validation()
    logged: list[dict[str, Any]] = [{} for _ in range(batches)]
    for log in logged:
        search.log_batch(log, BATCH, decode)
    return logged, decoded


def reported(search: EvalSearch, batches: list[dict[str, Any]], name: str = "sr_bleu") -> float:
    with metrics.aggregate(new_root=True) as meters:
        search.reduce(batches)
    score: float = meters.get_smoothed_values()[name]
    return score


@pytest.mark.parametrize(
    ("metric", "other"), [("chrf", TEXTS.references), ("vowels", TEXTS.sources)]
)
def test_any_metric_is_reported_under_its_name(metric: str, other: list[str]) -> None:
    search = eval_search(sentences=3, eval_search_metric=metric)
    expected = build_metric(metric).corpus_score(TEXTS.hypotheses, other)
    expected *= build_metric(metric).report_factor
    found = reported(search, logs(search, batches=2)[0], f"sr_{metric}")
    assert found == pytest.approx(expected, abs=0.01) and found > 0


def test_tokenised_bleu_is_that_of_eval_bleu() -> None:
    search = eval_search(sentences=3, eval_tokenized_bleu=True)
    expected = sacrebleu.corpus_bleu(TEXTS.hypotheses, [TEXTS.references], tokenize="none").score
    assert reported(search, logs(search, batches=1)[0]) == round(expected, 2)


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^--eval-search-metric blue: unknown metric 'blue'"):
        eval_search(3, eval_search_metric="blue")
    with pytest.raises(ValueError, match=r"^--eval-search-metric: has no effect without"):
        EvalSearch(make_config()(eval_search_metric="chrf")).check()


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
