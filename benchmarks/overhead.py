"""What V-MCTS takes beside the network: its wall time over that of the bare network.

    python benchmarks/overhead.py [--size small|base] [--json FILE]

One run of V-MCTS is recorded: the batches of prefixes that its decoder stepper was given, in order.
"search" is V-MCTS as fairseq calls it, from source tokens to packed hypotheses. "network" is the
bare network on the very same sequence of batches. It contains

- the encoder, and the keys and values of the sources;
- per batch the whole decoder (embedding, layers with the gathering of the ancestors' keys and
  values, writing its own), the value head for all rows, and the copy of the values to where a
  search could read them;
- per batch of prefixes whose policies the search has read, at once or later, the output layer with
  its logits.

It does not contain: walking trees, making requests and batches of them, masks, normalising the
policy (not even once: no softmax), the choice of the best actions, storing answers. Values of both
are compared to the last bit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import common
import numpy as np
import torch
import vmcts
from torch import Tensor

from fairseq_mcts.decoding.feature_pool import FeaturePool
from fairseq_mcts.decoding.member import Member
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator, unfinished_rows
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.decoding.stepper import TransformerStepper
from fairseq_mcts.decoding.vocabulary import Vocabulary
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.tree import Bool, Tree

BARS = {"small": 1.15, "base": 1.05}


@dataclass(frozen=True)
class RecordedStep:
    """One call of the stepper."""

    capacity: int  # slots that there must be room for
    batch: StepBatch
    read: Bool | None  # [n] rows whose policies were read at once, None: later, if at all


@dataclass(frozen=True)
class RecordedReading:
    """One call of the output layer."""

    slots: Tensor  # [p or more]


@dataclass
class Recording:
    """Everything the network was asked in one search."""

    calls: list[RecordedStep | RecordedReading] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)  # the answers to steps, [n] each

    @property
    def rows(self) -> int:
        """How many prefixes were evaluated."""
        return sum(map(len, self.values))

    @property
    def policies(self) -> int:
        """How many policies were read."""
        return sum(
            len(call.slots)
            if isinstance(call, RecordedReading)
            else (0 if call.read is None else int(call.read.sum()))
            for call in self.calls
        )


@contextmanager
def recording() -> Iterator[Recording]:
    """Notes what any evaluator does meanwhile."""
    record = Recording()
    step, read, evaluate = TransformerStepper.step, FeaturePool.read, NetworkEvaluator.evaluate
    read_at_once: Bool | None = None

    def noting_step(stepper: TransformerStepper, tree: Tree, batch: StepBatch) -> Tensor:
        record.calls.append(RecordedStep(tree.capacity, batch, read_at_once))
        return step(stepper, tree, batch)

    def noting_read(pool: FeaturePool, slots: Tensor) -> Tensor:
        record.calls.append(RecordedReading(slots))
        return read(pool, slots)

    def noting_evaluate(
        evaluator: NetworkEvaluator, tree: Tree, requests: Requests, question: Question
    ) -> Answers:
        nonlocal read_at_once
        read_at_once = ~requests.finished if question.policy else None
        answers = evaluate(evaluator, tree, requests, question)
        if not question.policy_only:
            record.values.append(answers.values)
        return answers

    with (
        mock.patch.object(TransformerStepper, "step", noting_step),
        mock.patch.object(FeaturePool, "read", noting_read),
        mock.patch.object(NetworkEvaluator, "evaluate", noting_evaluate),
    ):
        yield record


class BareNetwork:
    """The network alone, on a recorded sequence of batches."""

    def __init__(self, model: Any, sources: Sequence[Tensor], record: Recording) -> None:
        dictionary = model.decoder.dictionary
        vocabulary = Vocabulary(dictionary.eos(), dictionary.pad(), (dictionary.pad(),))
        # weights are brought into order once, as by a generator
        self._member = Member(model, vocabulary, policy=True, value=True)
        self._sources = sources
        self._record = record

    @torch.no_grad()
    def run(self) -> list[np.ndarray]:
        """The values of all batches, [n] each; their policies are computed and dropped."""
        member, stepper = self._member, self._member.stepper
        member.begin(self._sources)
        values = []
        for call in self._record.calls:
            if isinstance(call, RecordedReading):
                member.scores(member.unread.read(call.slots))
                continue
            member.reserve(call.capacity)
            features = stepper.step(None, call.batch)  # a transformer's stepper reads no tree
            if call.read is None:
                member.unread.write(call.batch.slots, features, call.capacity)
            elif call.read.any():
                member.scores(unfinished_rows(features, ~call.read))
            read = member.values(features, None, call.batch).mean  # nor does a plain value head
            values.append(read[: call.batch.num_requested].cpu().numpy())
        return values


def measure(options: argparse.Namespace, preset: str) -> Iterator[common.Comparison]:
    case = vmcts.make_case(options, preset)
    with recording() as record:
        case.generator.generate([case.model], case.sample)
    network = BareNetwork(case.model, case.sources, record)
    seconds = common.alternate(
        {
            "network": network.run,
            "search": lambda: case.generator.generate([case.model], case.sample),
        },
        options,
    )
    yield common.Comparison(
        f"V-MCTS ({preset}) / bare network",
        seconds["search"] / seconds["network"],
        common.at_most(BARS.get(options.size)),
        {
            **{f"{name} s": value for name, value in seconds.items()},
            "calls": len(record.values),
            "rows": record.rows,
            "policies": record.policies,
        },
        outputs_equal=same_values(record.values, network.run()),
    )


def same_values(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> bool:
    """Bit for bit, except that a value is float32 in one and float64 in the other."""
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def main(arguments: Sequence[str] | None = None) -> common.Report:
    return vmcts.report_presets("overhead", __doc__, measure, arguments)


if __name__ == "__main__":
    main()
