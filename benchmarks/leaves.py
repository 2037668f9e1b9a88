"""What several leaves at once bring a single sentence, and what they cost in quality.

    python benchmarks/leaves.py DATA --path dual_head.pt --encoder FOLDER [--json FILE]

V-MCTS with `--mcts-leaves w` on single sentences of the test set, one after the other, as a user
who waits for one translation sees it. w = 1 is the search of the paper. More leaves make fewer and
larger batches; each is chosen under the virtual loss of those before it, so it is another search:
the network's own value of the output, the metric that the value was trained for, and BLEU show
what that costs. DATA and the checkpoint are those of a trained model, e.g. of `make demo`:

    python benchmarks/leaves.py work/binarised --path work/dual-head/checkpoint_best.pt \\
        --encoder work/encoder --post-process sentencepiece
"""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import dataclass
from typing import Any

import common
import torch
from fairseq import checkpoint_utils
from fairseq.dataclass.configs import GenerationConfig
from sacrebleu.metrics import BLEU

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.register import register

LEAVES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Loaded:
    """A trained model and what it is tried on."""

    models: list[Any]
    task: Any
    sentences: int

    def decode(self, leaves: int, simulations: int) -> tuple[list[dict[str, Any]], float, int]:
        """Hypotheses of single sentences, seconds, and calls of the network."""
        generator = self._generator(leaves, simulations)
        begun = time.perf_counter()
        found = [self._translate(generator, [number])[0] for number in range(self.sentences)]
        return found, time.perf_counter() - begun, generator.statistics.timing.network_calls

    def decode_in_batches(self, size: int, simulations: int) -> list[list[int]]:
        """The tokens of all sentences by the plain search."""
        generator = self._generator(1, simulations)
        found: list[list[int]] = []
        for begin in range(0, self.sentences, size):
            numbers = list(range(begin, min(begin + size, self.sentences)))
            hypotheses = self._translate(generator, numbers)
            found += [one["tokens"].tolist() for one in hypotheses]
        return found

    def _generator(self, leaves: int, simulations: int) -> Any:
        given = {"search": "mcts", "search_preset": "unprivileged", "mcts_leaves": leaves}
        args = Namespace(**{**vars(GenerationConfig()), **given, "mcts_simulations": simulations})
        return self.task.build_generator(self.models, args)

    def _translate(self, generator: Any, numbers: list[int]) -> list[dict[str, Any]]:
        dataset = self.task.dataset("test")
        sample = dataset.collater([dataset[number] for number in numbers])
        hypotheses = self.task.inference_step(generator, self.models, sample)
        by_number = dict(zip(sample["id"].tolist(), hypotheses, strict=True))
        return [by_number[number][0] for number in numbers]


def load(data: str, path: str, sentences: int) -> Loaded:
    register()
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [path], arg_overrides={"data": data}
    )
    task.load_dataset("test")
    for model in models:
        model.eval()
    return Loaded(models, task, min(sentences, len(task.dataset("test"))))


def main() -> None:
    parser = common.make_parser(__doc__ or "")
    parser.add_argument("data", help="folder of fairseq-preprocess")
    parser.add_argument("--path", required=True, help="checkpoint with a value head")
    parser.add_argument("--encoder", help="of MLBERTScore; without it only BLEU is stated")
    parser.add_argument("--post-process", default="sentencepiece", help="how subwords are joined")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=50)
    options = common.parse(parser)
    loaded = load(options.data, options.path, options.sentences)
    report = common.Report("leaves", options, {"leaves": list(LEAVES)})
    source, target = (
        TextDecoder(dictionary, post_process=options.post_process)
        for dictionary in (loaded.task.source_dictionary, loaded.task.target_dictionary)
    )
    dataset = loaded.task.dataset("test")
    rows = [dataset[number] for number in range(loaded.sentences)]
    sources = [source.decode(row["source"]) for row in rows]
    references = [target.decode(row["target"]) for row in rows]
    metric = build_metric(f"mlbertscore:model={options.encoder}") if options.encoder else None
    loaded.decode(1, 2)  # compiles and warms up
    alone = 0.0
    for leaves in LEAVES:
        found, seconds, calls = loaded.decode(leaves, options.simulations)
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


if __name__ == "__main__":
    with torch.no_grad():
        main()
