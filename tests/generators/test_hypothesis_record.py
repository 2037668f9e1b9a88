"""What a line of --search-json says of a hypothesis is JSON, whatever its numbers are."""

import json
import math
from types import SimpleNamespace
from typing import Any

import torch

from fairseq_mcts.generators.candidate_file import hypothesis_record


def test_what_is_no_number_is_null() -> None:
    text: Any = SimpleNamespace(decode=lambda tokens: "ein Hund")
    hypothesis = {
        "tokens": torch.tensor([1, 0]),
        "positional_scores": torch.tensor([-1.0, -math.inf]),
        "score": -math.inf,
        "value": math.nan,
        "metric": math.nan,
    }
    record = hypothesis_record(hypothesis, text, ["</s>", "ein"])
    assert [record[name] for name in ("logprob", "score", "value", "metric")] == [None] * 4
    assert json.loads(json.dumps(record, allow_nan=False)) == record
