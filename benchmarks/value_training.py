"""Training a value: how much of an update is the networks' own forward and backward passes?

    python benchmarks/value_training.py [--size small|base] [--sentences 48] [--json FILE]

Updates of fairseq's trainer with the criterions `value` (policy by KL to a teacher) and `hybrid`,
on rows that fairseq-mcts-relabel made: reading and collating them, passes, losses, clipping, Adam.
Beside them the passes alone on the same batches: every call of a network that the criterion made,
the teacher's without gradients, and backward passes from ready-made gradients of what the losses
read. Gradients of all weights must be the same in both. The figure is the time of the passes over
that of the updates.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import common
import networks
import torch
from fairseq import options as fairseq_options
from fairseq import tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics
from fairseq.trainer import Trainer
from relabelling import write_checkpoint, write_corpus
from torch import Tensor

from fairseq_mcts.cli import relabel
from fairseq_mcts.register import register

BAR = 0.9
FAMILY = "dual_head_multiquery_transformer"
CRITERIONS = ("value", "hybrid")


@dataclass
class Pass:
    """One call of a network: what it was given, and the gradients of what it returned."""

    network: Any
    given: dict[str, Any]
    outputs: list[Tensor] = field(default_factory=list)  # as the losses read them
    gradients: list[Tensor | None] = field(default_factory=list)  # of those

    def run(self) -> None:
        """Forward, and backward where there are gradients."""
        with torch.set_grad_enabled(self.network.training):
            outputs = tensors_of(self.network(**self.given))
        ready = [
            (output, gradient)
            for output, gradient in zip(outputs, self.gradients, strict=True)
            if gradient is not None
        ]
        if ready:
            torch.autograd.backward(*(list(part) for part in zip(*ready, strict=True)))


def tensors_of(output: Any) -> list[Tensor]:
    """All tensors with gradients among a network's results."""
    if isinstance(output, Tensor):
        return [output] if output.requires_grad else []
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (list, tuple)):
        return [tensor for part in output for tensor in tensors_of(part)]
    return []


def with_leaves(output: Any, leaves: list[Tensor]) -> Any:
    """The same results, cut off from the network: gradients stop at the `leaves`."""
    if isinstance(output, Tensor) and output.requires_grad:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]
    if isinstance(output, dict):
        return {name: with_leaves(part, leaves) for name, part in output.items()}
    if isinstance(output, (list, tuple)):
        return type(output)(with_leaves(part, leaves) for part in output)
    return output


@contextmanager
def recording(kinds: Sequence[type]) -> Iterator[list[Pass]]:
    """Notes all calls of networks of these kinds, none of which is one of another's parts."""
    passes: list[Pass] = []

    def noting(forward: Any) -> Any:
        @wraps(forward)  # a teacher looks at what a network takes
        def call(network: Any, **given: Any) -> Any:
            made = Pass(network, given)
            passes.append(made)
            return with_leaves(forward(network, **given), made.outputs)

        return call

    patches = [mock.patch.object(kind, "forward", noting(kind.forward)) for kind in kinds]
    for patch in patches:
        patch.start()
    try:
        yield passes
    finally:
        for patch in patches:
            patch.stop()


class Training:
    """A trainer with its first batches, and their passes."""

    def __init__(self, folder: Path, criterion: str, options: argparse.Namespace) -> None:
        given = [
            *(str(folder / "scored"), "--task", "translation_mcts", "--criterion", criterion),
            *("--arch", f"{FAMILY}_{options.size}", "--decoder-learned-pos", "--cpu"),
            *("--source-lang", "en", "--target-lang", "de", "--share-all-embeddings"),
            *("--teacher-path", str(folder / "policy.pt"), "--num-workers", "0"),
            *("--optimizer", "adam", "--lr", "0.0001", "--clip-norm", "1"),
            *("--max-tokens", str(options.max_tokens), "--save-dir", str(folder / "unused")),
        ]
        parser = fairseq_options.get_training_parser()
        args = fairseq_options.parse_args_and_arch(parser, input_args=given)
        cfg = convert_namespace_to_omegaconf(args)
        task = tasks.setup_task(cfg.task)
        self.model, self.criterion = (
            task.build_model(cfg.model),
            task.build_criterion(cfg.criterion),
        )
        self.trainer = Trainer(cfg, task, self.model, self.criterion)
        self._task = task
        self._updates = options.updates
        self._epoch = self.trainer.get_train_iterator(1)
        self.batches = list(self._samples())
        self.passes = self._passes()

    def _samples(self) -> Iterator[Any]:
        """The first batches, collated anew."""
        rows = self._epoch.next_epoch_itr(shuffle=False)
        for _, sample in zip(range(self._updates), rows, strict=False):
            yield sample

    def _passes(self) -> list[Pass]:
        """What the criterion asks of networks for all batches."""
        self.model.train()
        teachers = {type(one) for one in self.criterion._teacher._models}
        with recording([*{type(self.model), *teachers}]) as passes:
            for number, sample in enumerate(self.batches):
                torch.manual_seed(number)
                self.criterion(self.model, sample)[0].backward()
        for one in passes:
            one.gradients = [output.grad for output in one.outputs]
            one.outputs = []
        return passes

    def update(self) -> None:
        """The batches as fairseq-train learns from them."""
        with metrics.aggregate("train"):
            for sample in self._samples():
                self.trainer.train_step([sample])

    def forward_backward(self) -> None:
        """Nothing but the passes."""
        self.model.zero_grad()
        self.model.train()
        for one in self.passes:
            one.run()

    def gradients_agree(self) -> bool:
        """Whether the passes give what the criterion's losses give, without dropout."""
        for module in self.model.modules():
            if hasattr(module, "p") and isinstance(module.p, float):
                module.p = 0.0
        self.passes = self._passes()
        self.model.zero_grad()
        for sample in self.batches:
            self.criterion(self.model, sample)[0].backward()
        wanted = [parameter.grad.clone() for parameter in self._learned()]
        self.forward_backward()
        found = [parameter.grad for parameter in self._learned()]
        pairs = zip(found, wanted, strict=True)
        return all(
            torch.allclose(*pair, rtol=1e-3, atol=1e-5 * float(pair[1].abs().max()) + 1e-8)
            for pair in pairs
        )

    def _learned(self) -> list[Any]:
        return [one for one in self.model.parameters() if one.grad is not None]

    @property
    def tokens(self) -> int:
        return sum(int(sample["scored"]["ntokens"]) for sample in self.batches)


def write_rows(folder: Path, options: argparse.Namespace) -> None:
    """A random policy, and rows of it with scores."""
    data = folder / "data"
    data.mkdir()
    write_corpus(data, options.size, options.sentences, options.seed)
    write_checkpoint(data, options.size, options.seed, folder / "policy.pt")
    recipe = (
        *("--path", str(folder / "policy.pt"), "--metric", "bleu", "--cpu"),
        *("--method", "samples", "--samples", "4", "--max-len-b", str(networks.MAX_LENGTH)),
    )
    with redirect_stdout(StringIO()):
        for split in ("train", "valid"):
            relabel.main([str(data), "--out", str(folder / "scored"), "--subset", split, *recipe])


def measure(training: Training, name: str, options: argparse.Namespace) -> common.Comparison:
    seconds = common.alternate(
        {"updates": training.update, "passes": training.forward_backward}, options
    )
    return common.Comparison(
        f"criterion {name}: passes alone / whole updates",
        seconds["passes"] / seconds["updates"],
        common.at_least(BAR),
        {
            **{f"{part} s": took for part, took in seconds.items()},
            "tokens/s": training.tokens / seconds["updates"],
        },
        outputs_equal=training.gradients_agree(),
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=120, help="of four rows each")
    parser.add_argument("--max-tokens", type=int, default=1600, help="of a batch")
    parser.add_argument("--updates", type=int, default=4, help="of a measured turn")
    parser.set_defaults(clock="cpu")
    options = common.parse(parser, arguments)
    report = common.Report("value training", options, networks.settings())
    register()
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), options)
        for name in CRITERIONS:
            report.add(measure(Training(Path(folder), name, options), name, options))
    report.write()
    return report


if __name__ == "__main__":
    main()
