"""What several leaves at once bring a single sentence, and what they cost in quality.

    python benchmarks/leaves.py DATA --path dual_head.pt --encoder FOLDER [--json FILE]

V-MCTS with `--mcts-leaves w` on single sentences of the test set, one after the other, as a user
who waits for one translation sees it. w = 1 is the search of the paper. More leaves make fewer and
larger batches; each is chosen under the virtual loss of those before it, so it is another search:
the network's own value of the output, the metric that the value was trained for, and BLEU show
what that costs. DATA and the checkpoint are those of a trained model, e.g. of `make demo`:

    python benchmarks/leaves.py work/binarised --path work/value/checkpoint_best.pt \\
        --encoder work/encoder --post-process sentencepiece
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
from fairseq.dataclass.configs import GenerationConfig
from sacrebleu.metrics import BLEU
from trained import Trained, load

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.text import TextDecoder

LEAVES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Translator:
    """V-MCTS by a trained model, as fairseq's commands would build it."""

    trained: Trained

    def decode(self, leaves: int, simulations: int) -> tuple[list[dict[str, Any]], float, int]:
        """Hypotheses of single sentences, seconds, and calls of the network."""
        generator = self._generator(leaves, simulations)
        begun = time.perf_counter()
        found = [self._translate(generator, [row])[0] for row in self.trained.rows]
        return found, time.perf_counter() - begun, generator.statistics.timing.network_calls

    def decode_in_batches(self, size: int, simulations: int) -> list[list[int]]:
        """The tokens of all sentences by the plain search."""
        generator = self._generator(1, simulations)
        rows = self.trained.rows
        return [
            hypothesis["tokens"].tolist()
            for begin in range(0, len(rows), size)
            for hypothesis in self._translate(generator, rows[begin : begin + size])
        ]

    def _generator(self, leaves: int, simulations: int) -> Any:
        # without guesses, which fill the same small calls in another way (prefetch.py)
        given = {"search": "mcts", "search_preset": "unprivileged", "mcts_prefetch": 0}
        given["mcts_leaves"] = leaves
        args = Namespace(**{**vars(GenerationConfig()), **given, "mcts_simulations": simulations})
        return self.trained.task.build_generator([self.trained.model], args)

    def _translate(self, generator: Any, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The best hypothesis of each row, in their order."""
        task = self.trained.task
        sample = task.dataset(self.trained.subset).collater(rows)
        hypotheses = task.inference_step(generator, [self.trained.model], sample)
        by_number = dict(zip(sample["id"].tolist(), hypotheses, strict=True))
        return [by_number[row["id"]][0] for row in rows]


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("data", type=Path, help="folder of fairseq-preprocess")
    parser.add_argument("--path", type=Path, required=True, help="checkpoint with a value head")
    parser.add_argument("--encoder", help="of MLBERTScore; without it only BLEU is stated")
    parser.add_argument("--post-process", default="sentencepiece", help="how subwords are joined")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--subset", default="test")
    options = common.parse(parser, arguments)
    loaded = load(options.path, options.data, options.subset, options.sentences)
    report = common.Report("leaves", options, {"leaves": list(LEAVES)})
    source, target = (
        TextDecoder(dictionary, post_process=options.post_process)
        for dictionary in (loaded.task.source_dictionary, loaded.task.target_dictionary)
    )
    sources = [source.decode(row["source"]) for row in loaded.rows]
    references = [target.decode(row["target"]) for row in loaded.rows]
    metric = build_metric(f"mlbertscore:model={options.encoder}") if options.encoder else None
    translator = Translator(loaded)
    translator.decode(1, 2)  # compiles and warms up
    alone = 0.0
    for leaves in LEAVES:
        found, seconds, calls = translator.decode(leaves, options.simulations)
        texts = [target.decode(one["tokens"]) for one in found]
        alone = alone or seconds
        report.add_point(
            leaves=leaves,
            speed_up=alone / seconds,
            network_calls=calls,
            value=sum(one["value"] for one in found) / len(found),
            bleu=BLEU().corpus_score(texts, [references]).score,
            **({"mlbertscore": metric.corpus_score(texts, sources)} if metric else {}),
        )
    report.write()
    return report


if __name__ == "__main__":
    main()
