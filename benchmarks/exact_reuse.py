"""How many network evaluations are made of those that the paper's accounting charges?

    python benchmarks/exact_reuse.py --path dual_head.pt --data binarised \\
        [--value-path FILE] [--metric mlbertscore:model=DIR --post-process sentencepiece] \\
        [--json FILE]

On a trained model, since it depends on how sure policy and value are; random weights would say
nothing. Every decoder translates sentences of the test set. The first `--check` of them are also
translated without any memory, by the reference searches of this project's tests: each evaluation
that is charged is a forward pass of fairseq over the whole prefix. Translations must be identical
and the charges equal. S+R and MCTS+Roll score by --metric and are left out without it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import common
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the tests' reference searches

from fairseq import checkpoint_utils

from fairseq_mcts.data.relabelling.corpus import open_corpus, open_task
from fairseq_mcts.decoding.network_evaluator import has_value_head
from fairseq_mcts.generators.search_generator import Limits, SearchGenerator, sentence_seed
from fairseq_mcts.generators.settings import needs_metric, needs_value
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.register import register
from fairseq_mcts.search.options import (
    PRESETS,
    MctsOptions,
    Options,
    SrOptions,
    VgbsOptions,
    beam_for_budget,
)
from fairseq_mcts.search.random_numbers import uniform
from tests.search import reference_beam, reference_mcts, reference_sr
from tests.search.reference_rules import Rules

SEED = 1


@dataclass(frozen=True)
class Decoder:
    """One row of the result."""

    name: str
    options: Options
    bar: float


def decoders(budget: int, metric: Any) -> Iterator[Decoder]:
    """All of them; those that need a metric only if there is one."""
    for preset in ("privileged", "unprivileged"):
        settings = PRESETS[preset]["mcts"]
        yield Decoder(f"V-MCTS ({preset})", MctsOptions(simulations=budget, **settings), 0.40)
    for preset in ("privileged", "unprivileged"):
        beam = VgbsOptions(beam=beam_for_budget(budget), **PRESETS[preset]["vgbs"])
        yield Decoder(f"VGBS (α={beam.alpha}, beam {beam.beam})", beam, 0.88)
    if metric is None:
        return
    for temperature, bar in ((0.25, 0.30), (0.75, 0.80)):
        samples = SrOptions(
            samples=budget, temperature=temperature, rank_by="metric", metric=metric
        )
        yield Decoder(f"S+R (τ={temperature})", samples, bar)
    settings = PRESETS["unprivileged"]["mcts"]
    rollouts = MctsOptions(simulations=budget, leaf="rollout", metric=metric, **settings)
    yield Decoder("MCTS+Roll (unprivileged)", rollouts, 0.25)


class Setup:
    """The models, the sentences and how a metric sees them."""

    def __init__(self, options: argparse.Namespace) -> None:
        register()
        self.task = open_task(options.data, options.source_lang, options.target_lang)
        self.policy = self._load(options.path)
        self.value = self._load(options.value_path) if options.value_path else self.policy
        if not has_value_head(self.value):
            sys.exit(f"{options.value_path or options.path} has no value head: give --value-path")
        corpus = open_corpus(self.task, options.data, options.subset)
        count = min(options.sentences, len(corpus))
        self.sources: list[Tensor] = [corpus.sources[row].long() for row in range(count)]
        self.max_len = min(options.max_len, self.policy.max_decoder_positions() - 2)
        self.metric = None if options.metric is None else build_metric(options.metric)
        self._post_process = options.post_process

    def _load(self, path: Path) -> Any:
        models, _ = checkpoint_utils.load_model_ensemble([str(path)], task=self.task)
        return models[0].eval()

    def text_decoders(self) -> tuple[TextDecoder, TextDecoder]:
        dictionaries = (self.task.source_dictionary, self.task.target_dictionary)
        source, target = (
            TextDecoder(dictionary, post_process=self._post_process) for dictionary in dictionaries
        )
        return source, target

    def generator(self, options: Options) -> SearchGenerator:
        return SearchGenerator(
            [self.policy],
            self.task.target_dictionary,
            value_models=[self.value] if needs_value(options) else [],
            options=options,
            limits=Limits(max_len_b=self.max_len),
            seed=SEED,
            metric=self.metric,
            text_decoders=self.text_decoders if needs_metric(options) else None,
        )

    def batches(self, size: int) -> Iterator[dict[str, Any]]:
        for begin in range(0, len(self.sources), size):
            sources = self.sources[begin : begin + size]
            tokens = torch.nn.utils.rnn.pad_sequence(
                sources, batch_first=True, padding_value=self.task.source_dictionary.pad()
            )
            lengths = torch.tensor([len(source) for source in sources])
            yield {"net_input": {"src_tokens": tokens, "src_lengths": lengths}}


class WithoutMemory:
    """The reference searches on forward passes over whole prefixes."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        dictionary = setup.task.target_dictionary
        self.rules = Rules(
            vocab=len(dictionary),
            eos=dictionary.eos(),
            max_len=setup.max_len,
            min_len=1,
            forbidden=(dictionary.pad(),),
        )

    def decode(self, options: Options, sentence: int) -> tuple[tuple[int, ...], int]:
        """Its tokens and what is charged for them."""
        model = self._model(sentence)
        if isinstance(options, VgbsOptions):
            own = like(reference_beam.VgbsOptions, options)
            found = reference_beam.reference_vgbs(model, sentence, self.rules, own)
            return found.answers[0].tokens, found.charged
        if isinstance(options, SrOptions):
            found = reference_sr.reference_sr(
                model,
                sentence,
                self.rules,
                like(reference_sr.SrOptions, options),
                seed=sentence_seed(SEED, self.setup.sources[sentence]),
                uniform=uniform,
                metric=self._metric(),
            )
            return found.answers[0].tokens, found.charged
        own = like(reference_mcts.MctsOptions, options)
        search = reference_mcts.ReferenceMcts(model, sentence, self.rules, own, self._metric())
        result = search.decode()
        return result.best.tokens, result.charged

    def _model(self, sentence: int) -> Callable[[int, tuple[int, ...]], tuple[list[float], float]]:
        setup = self.setup
        source = setup.sources[sentence][None]
        lengths = torch.tensor([source.size(1)])
        eos = setup.task.target_dictionary.eos()
        with torch.no_grad():
            encoded = {
                id(model): model.encoder(source, src_lengths=lengths)
                for model in (setup.policy, setup.value)
            }

        @torch.no_grad()
        def evaluate(_: int, prefix: tuple[int, ...]) -> tuple[list[float], float]:
            tokens = torch.tensor([(eos, *prefix)])
            features = {
                id(model): model.decoder.extract_features(tokens, encoder_out=encoded[id(model)])[0]
                for model in (setup.policy, setup.value)
            }
            logits = setup.policy.decoder.output_layer(features[id(setup.policy)][:, -1:])
            logprobs = setup.policy.get_normalized_probs((logits, None), log_probs=True)
            value = setup.value.decoder.value_head(features[id(setup.value)][:, -1])[1]
            return logprobs[0, 0].tolist(), float(value)

        return evaluate

    def _metric(self) -> Callable[[int, tuple[int, ...]], float] | None:
        if self.setup.metric is None:
            return None
        source_text, target_text = self.setup.text_decoders()

        def score(sentence: int, tokens: tuple[int, ...]) -> float:
            source = source_text.decode(self.setup.sources[sentence])
            return self.setup.metric.score([target_text.decode(tokens)], [source])[0]

        return score


def like(kind: type, options: Options) -> Any:
    """A reference search's options with what these say."""
    return kind(**{one.name: getattr(options, one.name) for one in fields(kind)})


def measure(setup: Setup, decoder: Decoder, batch_size: int, check: int) -> common.Comparison:
    generator = setup.generator(decoder.options)
    found = [
        hypotheses[0]
        for sample in setup.batches(batch_size)
        for hypotheses in generator.generate([setup.policy], sample)
    ]
    truth = WithoutMemory(setup)
    equal = 0
    for sentence in range(min(check, len(found))):
        expected = truth.decode(decoder.options, sentence)
        mine = found[sentence]
        equal += expected == (tuple(mine["tokens"].tolist()), mine["evaluations"].charged)
    counted = generator.statistics
    return common.Comparison(
        f"{decoder.name}: evaluations made / charged",
        counted.made / counted.charged,
        common.at_most(decoder.bar),
        {
            "made": counted.made,
            "charged": counted.charged,
            "checked": min(check, len(found)),
            "equal": equal,
        },
        outputs_equal=equal == min(check, len(found)) if check else None,
    )


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__, timing=False)
    parser.add_argument("--path", type=Path, required=True, help="checkpoint of the policy")
    parser.add_argument("--data", type=Path, required=True, help="folder of fairseq-preprocess")
    parser.add_argument("--value-path", type=Path, help="checkpoint of the value, if another")
    parser.add_argument("--metric", help="as --search-metric, for S+R and MCTS+Roll")
    parser.add_argument("--post-process", help="as fairseq-generate, for the metric")
    parser.add_argument("--subset", default="test")
    parser.add_argument("--source-lang")
    parser.add_argument("--target-lang")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--max-len", type=int, default=60)
    parser.add_argument("--check", type=int, default=3, help="sentences done without memory too")
    options = common.parse(parser, arguments)
    report = common.Report("exact reuse", options, {})
    setup = Setup(options)
    for decoder in decoders(options.budget, setup.metric):
        report.add(measure(setup, decoder, options.batch_size, options.check))
    report.write()
    return report


if __name__ == "__main__":
    main()
