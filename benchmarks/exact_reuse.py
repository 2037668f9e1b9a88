"""How many network evaluations are made of those that the paper's accounting charges?

    python benchmarks/exact_reuse.py --path dual_head.pt --data binarised \\
        [--value-path FILE] [--metric mlbertscore:model=DIR --post-process sentencepiece] \\
        [--json FILE]

On a trained model, since it depends on how sure policy and value are; random weights would say
nothing. Every decoder translates sentences of the test set. The first `--check` of them are also
translated without any memory, as `without_memory.py` describes: the translations must be identical
and the charges equal. S+R and MCTS+Roll score by --metric and are left out without it.

Both ways compute in float32, and in another order, so they differ in the last digits; where a
random number falls between the two, say, a sample becomes another one. A sentence that differs is
therefore printed, and done once more without memory in float64: it counts as equal if that agrees
with what was found with memory. How many were settled like this is part of the figures.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import common
import searches
import torch
import trained
import without_memory
from torch import Tensor

from fairseq_mcts.generators.search_generator import Limits, SearchGenerator, sentence_seed
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.text import TextDecoders, text_decoders
from fairseq_mcts.models.value_head import has_value_head
from fairseq_mcts.search import Decoder, make_decoder

SEED = 1
SEARCHES = ("V-MCTS", "VGBS", "S+R", "MCTS+Roll")


@dataclass(frozen=True)
class Row:
    """One row of the result."""

    setup: searches.Setup
    bar: float

    @property
    def name(self) -> str:
        return f"{self.setup.search} ({self.setup.setting})"


def rows(budget: int, metric: Any) -> Iterator[Row]:
    """All of them; those that need a metric only if there is one."""
    for setup in searches.v_mcts(budget):
        yield Row(setup, 0.40)
    for setup in searches.vgbs(budget):
        yield Row(setup, 0.88)
    if metric is None:
        return
    for temperature, bar in ((0.25, 0.30), (0.75, 0.80)):
        given = {"samples": budget, "temperature": temperature, "rank_by": "metric"}
        yield Row(searches.Setup("S+R", f"τ={temperature}", make_decoder("sr", given)), bar)
    rollouts = searches.with_rollouts(budget)
    yield Row(searches.Setup("MCTS+Roll", "unprivileged", rollouts), 0.25)


class Setup:
    """The models, the sentences and how a metric sees them."""

    def __init__(self, options: argparse.Namespace) -> None:
        loaded = trained.load(options.path, options.data, options.subset, options.sentences)
        self.task, self.policy = loaded.task, loaded.model
        self.value = self.policy
        if options.value_path:
            self.value = trained.load_model(options.value_path, self.task)
        if not has_value_head(self.value):
            sys.exit(f"{options.value_path or options.path} has no value head: give --value-path")
        self.sources: list[Tensor] = [row["source"] for row in loaded.rows]
        self.max_len = min(options.max_len, self.policy.max_decoder_positions() - 2)
        self.metric = None if options.metric is None else build_metric(options.metric)
        self._post_process = options.post_process

    def text_decoders(self) -> TextDecoders:
        return text_decoders(self.task, post_process=self._post_process)

    def generator(self, decoder: Decoder[Any]) -> SearchGenerator:
        return SearchGenerator(
            [self.policy],
            self.task.target_dictionary,
            value_models=[self.value] if decoder.needs_value else [],
            decoder=decoder,
            limits=Limits(max_len_b=self.max_len),
            seed=SEED,
            metric=self.metric,
            text_decoders=self.text_decoders if decoder.needs_metric else None,
        )

    def batches(self, size: int) -> Iterator[dict[str, Any]]:
        for begin in range(0, len(self.sources), size):
            sources = self.sources[begin : begin + size]
            tokens = torch.nn.utils.rnn.pad_sequence(
                sources, batch_first=True, padding_value=self.task.source_dictionary.pad()
            )
            lengths = torch.tensor([len(source) for source in sources])
            yield {"net_input": {"src_tokens": tokens, "src_lengths": lengths}}

    @cached_property
    def in_float64(self) -> tuple[Any, Any]:
        """Policy and value once more."""
        policy = copy.deepcopy(self.policy).double()
        same = self.value is self.policy
        return policy, policy if same else copy.deepcopy(self.value).double()

    def without_memory(
        self, decoder: Decoder[Any], number: int, dtype: torch.dtype
    ) -> without_memory.Translation:
        source = self.sources[number]
        exact = dtype == torch.float64
        policy, value = self.in_float64 if exact else (self.policy, self.value)
        judge = None
        if self.metric is not None:
            judge = without_memory.Judge(self.metric, *self.text_decoders())
        dictionary = self.task.target_dictionary
        return without_memory.translate(
            without_memory.Sentence(policy, value, source, judge),
            decoder,
            without_memory.PlainRules(
                vocab=len(dictionary),
                eos=dictionary.eos(),
                max_len=self.max_len,
                min_len=1,
                forbidden=(dictionary.pad(),),
            ),
            sentence_seed(SEED, source),
        )


def measure(setup: Setup, row: Row, batch_size: int, check: int) -> common.Comparison:
    generator = setup.generator(row.setup.decoder)
    found = [
        hypotheses[0]
        for sample in setup.batches(batch_size)
        for hypotheses in generator.generate([setup.policy], sample)
    ]
    checked = min(check, len(found))
    agreed = [
        agreement(setup, row.setup.decoder, number, hypothesis)
        for number, hypothesis in enumerate(found[:checked])
    ]
    counted = generator.statistics
    return common.Comparison(
        f"{row.name}: evaluations made / charged",
        counted.timing.network_rows / counted.charged,
        common.at_most(row.bar),
        {
            **{"made": counted.timing.network_rows, "charged": counted.charged, "checked": checked},
            "equal": checked - agreed.count(None),
            "of these in float64 only": agreed.count(torch.float64),
        },
        outputs_equal=None not in agreed if checked else None,
    )


def agreement(
    setup: Setup, decoder: Decoder[Any], number: int, hypothesis: dict[str, Any]
) -> torch.dtype | None:
    """The precision at which a sentence comes out the same without memory; None: at none."""
    found = without_memory.Translation(
        tuple(hypothesis["tokens"].tolist()), hypothesis["evaluations"].charged
    )
    for dtype in (torch.float32, torch.float64):
        expected = setup.without_memory(decoder, number, dtype)
        if expected == found:
            return dtype
        print(f"sentence {number}: {found} with memory, {expected} without, in {dtype}", flush=True)
    return None


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__, timing=False)
    parser.add_argument("--path", type=Path, required=True, help="checkpoint of the policy")
    parser.add_argument("--data", type=Path, required=True, help="folder of fairseq-preprocess")
    parser.add_argument("--value-path", type=Path, help="checkpoint of the value, if another")
    parser.add_argument("--metric", help="as --search-metric, for S+R and MCTS+Roll")
    parser.add_argument("--post-process", help="as fairseq-generate, for the metric")
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--max-len", type=int, default=60)
    parser.add_argument("--check", type=int, default=4, help="sentences done without memory too")
    parser.add_argument("--only", nargs="+", choices=SEARCHES, default=SEARCHES, metavar="NAME")
    options = common.parse(parser, arguments)
    report = common.Report("exact reuse", options, {})
    setup = Setup(options)
    for row in rows(options.budget, setup.metric):
        if row.setup.search in options.only:
            report.add(measure(setup, row, options.batch_size, options.check))
    report.write()
    return report


if __name__ == "__main__":
    main()
