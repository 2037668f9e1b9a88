"""Answers that no search may go on with are found, whichever part of them is at fault."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.search import decode
from fairseq_mcts.search.evaluator import Answers, Requests
from fairseq_mcts.search.faults import FaultySentenceError, find_faults

POLICY, BLOCKED = "the network's policy holds NaN", "no token is allowed"
EOS = 2


def make_requests() -> Requests:
    """Four prefixes, the last one finished; two draws of the second one."""
    rows = np.arange(4, dtype=np.int32)
    return Requests(
        slots=rows,
        sentences=rows,
        parents=rows,
        tokens=rows,
        depths=rows,
        finished=np.array([False, False, False, True]),
        only_token=rows,
        eos_allowed=np.ones(4, np.bool_),
        banned_rows=np.zeros(0, np.int32),
        banned_tokens=np.zeros(0, np.int32),
        draw_rows=np.array([1, 1], np.int32),
        draw_uniforms=np.zeros(2),
    )


def make_answers() -> Answers:
    return Answers(
        num_actions=np.array([2, 2, 1, 0], np.int32),
        action_tokens=np.zeros((4, 2), np.int32),
        action_logprobs=np.full((4, 2), -0.5),
        weights=np.full((4, 2), 0.5),
        values=np.zeros(4),
        drawn_tokens=np.zeros(2, np.int32),
        drawn_logprobs=np.full(2, -0.5),
    )


def changed(field: str, place: Any, value: float) -> Answers:
    answers = make_answers()
    array = getattr(answers, field).copy()
    array[place] = value
    return replace(answers, **{field: array})


def test_sound_answers_pass() -> None:
    assert find_faults(make_requests(), make_answers(), wants_actions=True) == []


@pytest.mark.parametrize(
    ("field", "place", "value", "row", "fault"),
    [
        ("values", 2, np.nan, 2, "the network's value is nan"),
        ("values", 3, -np.inf, 3, "the network's value is -inf"),
        ("action_logprobs", (1, 1), np.nan, 1, POLICY),
        ("weights", (0, 0), np.nan, 0, POLICY),
        ("drawn_logprobs", 1, np.nan, 1, POLICY),
        ("drawn_logprobs", 0, -np.inf, 1, BLOCKED),
        ("num_actions", 2, 0, 2, BLOCKED),
    ],
)
def test_each_fault_is_found(field: str, place: Any, value: float, row: int, fault: str) -> None:
    answers = changed(field, place, value)
    assert find_faults(make_requests(), answers, wants_actions=True) == [(row, fault)]


def test_without_actions_none_are_missed() -> None:
    answers = changed("num_actions", 2, 0)
    assert find_faults(make_requests(), answers, wants_actions=False) == []


def test_nan_is_told_before_a_dead_end() -> None:
    answers = replace(changed("num_actions", 0, 0), values=np.array([0.0, 0.0, np.nan, 0.0]))
    [(row, fault)] = find_faults(make_requests(), answers, wants_actions=True)
    assert (row, fault) == (2, "the network's value is nan")


def test_all_faulty_rows_are_told() -> None:
    values = np.array([0.0, np.inf, np.nan, 0.0])
    answers = replace(changed("weights", (2, 1), np.nan), values=values)
    assert find_faults(make_requests(), answers, wants_actions=True) == [
        (1, "the network's value is inf"),
        (2, "the network's policy holds NaN and its value is nan"),
    ]


SEARCHES: dict[str, dict[str, Any]] = {
    "mcts": {"search": "mcts", "simulations": 40, "n_best": 3},
    "mcts metric": {"search": "mcts", "simulations": 40, "terminal": "metric"},
    "mcts rollout": {"search": "mcts", "simulations": 10, "leaf": "rollout"},
    "vgbs": {"search": "vgbs", "beam": 4, "alpha": 0.5},
    "beam": {"search": "beam", "beam": 4},
    "sr": {"search": "sr", "samples": 30, "rank_by": "value"},
    "sr metric": {"search": "sr", "samples": 30, "rank_by": "metric"},
    "sr without replacement": {
        **{"search": "sr", "samples": 10, "rank_by": "value", "without_replacement": True}
    },
    "mbr": {"search": "mbr", "samples": 30},
}
LATE = 2  # after so many tokens the network knows nothing any more


@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
def test_the_best_finished_sentence_so_far_is_told(options: dict[str, Any]) -> None:
    """A decoder breaks off with the sentence at fault, and with what it had finished of it."""

    def model(sentences: list[int], prefixes: list[tuple[int, ...]]) -> Any:
        asked = zip(sentences, prefixes, strict=True)
        if any(one == 1 and len(prefix) >= LATE for one, prefix in asked):
            raise FaultySentenceError({1: "the network's policy holds NaN"})
        policy = np.log(np.tile([0.3, 0.25, 0.45], (len(prefixes), 1)))
        return policy, np.linspace(0.1, 0.9, len(prefixes))

    metric = {}
    if "metric" in options.values() or "leaf" in options or options["search"] == "mbr":
        metric = {"metric": lambda sentence, tokens, *_: len(tokens) / 20}
    with pytest.raises(FaultySentenceError) as raised:
        decode(model, 3, eos=EOS, max_len=12, seed=1, **options, **metric)
    assert raised.value.reasons == {1: "the network's policy holds NaN"}
    best = raised.value.best_so_far[1]
    assert best.tokens.index(EOS) == len(best.tokens) - 1 <= LATE
    assert best.logprob == pytest.approx(sum(best.positional_logprobs))
    assert best.evaluations.made > 0


def test_a_metric_without_a_number_names_its_sentences_and_what_it_has_scored() -> None:
    def model(sentences: list[int], prefixes: list[tuple[int, ...]]) -> Any:
        policy = np.log(np.tile([0.3, 0.25, 0.45], (len(prefixes), 1)))
        return policy, np.zeros(len(prefixes))

    def metric(sentence: int, tokens: tuple[int, ...]) -> float:
        return np.nan if sentence == 2 and len(tokens) > 2 else 0.5 / len(tokens)

    options: dict[str, Any] = {"search": "mcts", "simulations": 30, "leaf": "rollout"}
    with pytest.raises(FaultySentenceError, match="metric returned nan for sentence 2") as raised:
        decode(model, 3, eos=EOS, max_len=9, metric=metric, **options)
    assert list(raised.value.reasons) == [2]
    found = raised.value.best_so_far[2]
    assert found.value == metric(2, found.tokens)
