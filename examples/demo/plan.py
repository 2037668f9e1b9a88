"""What the demo does, stage by stage. Every stage is a command that can be run by hand as well."""

from dataclasses import dataclass
from pathlib import Path

from examples.common.mixes import mixed
from examples.common.runner import Stage
from examples.common.stages import (
    DECODING_PROGRESS,
    PLUGIN,
    RELABELLING_PROGRESS,
    REPORT_PROGRESS,
    SWEEP_PROGRESS,
    VALUE_ON_FROZEN_POLICY,
    binarise,
    join_scored,
    split_into_subwords,
)
from examples.common.training_log import JSON_LOG, PROGRESS
from examples.demo.decoders import BEAM, DECODERS, Decoder

LANGUAGES = ("en", "de")
QUIET = ("--cpu", "--log-format", "simple")
# German is about as long as English here: more than this is a sentence that finds no end.
LENGTHS = ("--max-len-a", "1.3", "--max-len-b", "6")
RECORDED = "0-24"  # sentences whose searches the page shows token by token


@dataclass(frozen=True)
class Sizes:
    """How large the demo is; the defaults take minutes on one core."""

    train_pairs: int = 20000
    held_out_pairs: int = 500
    pieces: int = 2000
    words: int = 16  # of a kind, the most frequent ones: what minutes are enough to learn
    updates: int = 1000
    encoder_steps: int = 600
    value_updates: int = 600
    value_sources: int = 5000  # that the value is learned from
    judged_sources: int = 150
    tuning_sentences: int = 300


@dataclass(frozen=True)
class Plan:
    """The folders of the demo and its stages."""

    work: Path
    sizes: Sizes
    decoders: tuple[Decoder, ...] = DECODERS
    seed: int = 1

    @property
    def corpus(self) -> Path:
        return self.work / "corpus"

    @property
    def binarised(self) -> Path:
        return self.work / "binarised"

    def checkpoint(self, model: str) -> Path:
        """The checkpoint to decode with: "policy" or "value"."""
        return self.work / model / "checkpoint_best.pt"

    @property
    def encoder(self) -> Path:
        return self.work / "encoder"

    @property
    def metric(self) -> str:
        """MLBERTScore by the demo's own encoder, as --search-metric takes it."""
        return f"mlbertscore:model={self.encoder}"

    @property
    def page(self) -> Path:
        return self.work / "report" / "report.html"

    def decoded(self, decoder: Decoder) -> Path:
        return self.work / decoder.stage_name

    def stages(self) -> list[Stage]:
        tuned = [decoder for decoder in self.decoders if decoder.tuned]
        return [
            *self.supervised(),
            self.train_encoder(),
            self.complete(),
            self.judged_samples(),
            self.join(),
            self.train_on_completions(),
            *(self.tune(decoder) for decoder in tuned),
            *(self.decode(decoder) for decoder in self.decoders),
            self.report(),
        ]

    def supervised(self) -> list[Stage]:
        """Everything up to the supervised policy."""
        return [self.make_corpus(), self.subwords(), self.binarise(), self.train_policy()]

    def make_corpus(self) -> Stage:
        return Stage(
            name="corpus",
            title="write an English–German corpus from a grammar",
            command=(
                *("python", "-m", "examples.demo.language.corpus", "--out", str(self.corpus)),
                *("--train", str(self.sizes.train_pairs)),
                *("--valid", str(self.sizes.held_out_pairs)),
                *("--test", str(self.sizes.held_out_pairs), "--seed", str(self.seed)),
                *("--words", str(self.sizes.words), "--simple"),
            ),
            output=self.corpus,
            reads=(),
        )

    def subwords(self) -> Stage:
        out = self.work / "subwords"
        return split_into_subwords(self.make_corpus(), LANGUAGES, self.sizes.pieces, out)

    def binarise(self) -> Stage:
        return binarise(self.subwords(), LANGUAGES, self.binarised)

    def train_policy(self) -> Stage:
        updates = str(self.sizes.updates)
        folder = self.checkpoint("policy").parent
        return Stage(
            name="train",
            title="train the policy, a multi-query transformer",
            command=(
                *("fairseq-train", str(self.binarised), *PLUGIN, *QUIET, "--log-interval", "25"),
                *("--arch", "multiquery_transformer_tiny", "--share-all-embeddings"),
                *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.1"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--adam-eps", "1e-9"),
                # a rate that falls to zero makes the most of a short training
                *("--lr", "0.005", "--lr-scheduler", "polynomial_decay", "--warmup-updates", "100"),
                *("--total-num-update", updates, "--max-update", updates, "--max-tokens", "1000"),
                *("--no-epoch-checkpoints", "--save-dir", str(folder), "--seed", str(self.seed)),
            ),
            output=folder,
            progress=r"num_updates=(?P<done>\d+)",
            total=self.sizes.updates,
            reads=(self.binarise(),),
        )

    def train_encoder(self) -> Stage:
        return Stage(
            name="encoder",
            title="train a tiny bilingual encoder, the metric that some decoders search by",
            command=(
                *("python", "-m", "examples.demo.encoder", "--out", str(self.encoder)),
                *("--source", str(self.corpus / "train.en")),
                *("--target", str(self.corpus / "train.de")),
                *("--steps", str(self.sizes.encoder_steps), "--seed", str(self.seed)),
            ),
            output=self.encoder,
            progress=r"(?P<done>\d+)/(?P<total>\d+) \[",
            reads=(self.make_corpus(),),
        )

    def complete(self) -> Stage:
        """Rows for the value of MLBERTScore: what prefixes off the greedy path lead to."""
        sources = ("--subset", "train", "--limit-sources", str(self.sizes.value_sources))
        return self.relabel(
            "completions",
            "complete prefixes off the greedy path and score what they lead to by MLBERTScore",
            (
                *("--metric", self.metric, *sources, "--method", "completions"),
                *("--samples", "2", "--temperature", "0.75,1"),
                *("--workers", "2"),
            ),
            self.work / "completions",
            reads=(self.train_policy(), self.train_encoder()),
            processes=2,  # the value waits for it, and most decoders for the value
        )

    def judged_samples(self) -> Stage:
        """Samples that the value is judged by: can it tell the better one of two?"""
        sources = ("--subset", "valid", "--limit-sources", str(self.sizes.judged_sources))
        return self.relabel(
            "samples",
            "sample translations of validation sources, to judge values by",
            ("--metric", self.metric, *sources, "--samples", "16", "--temperature", "0.75"),
            self.work / "samples",
            reads=(self.train_policy(), self.train_encoder()),
        )

    def join(self) -> Stage:
        return join_scored(
            "join", self.judged_samples(), [self.complete()], self.work / "scored-mlbertscore"
        )

    def relabel(
        self,
        name: str,
        title: str,
        options: tuple[str, ...],
        out: Path,
        reads: tuple[Stage, ...],
        processes: int = 1,
    ) -> Stage:
        return Stage(
            name=name,
            title=title,
            command=(
                *("fairseq-mcts-relabel", str(self.binarised), "--out", str(out)),
                *("--path", str(self.checkpoint("policy")), *options),
                *("--post-process", "sentencepiece", "--cpu", *LENGTHS),
            ),
            output=out,
            progress=RELABELLING_PROGRESS,
            processes=processes,
            reads=reads,
        )

    def train_on_completions(self) -> Stage:
        """Train the value of MLBERTScore, on a policy that stays what it is."""
        updates, out = str(self.sizes.value_updates), self.checkpoint("value").parent
        return Stage(
            name="train-value",
            title="train a value head for MLBERTScore on the frozen policy",
            command=(
                *("fairseq-train", str(self.join().output), *PLUGIN, "--cpu", *JSON_LOG),
                *("--log-interval", "25", "--seed", str(self.seed), *VALUE_ON_FROZEN_POLICY),
                *("--policy-path", str(self.checkpoint("policy")), "--lr", "0.002"),
                *("--total-num-update", updates, "--max-update", updates, "--max-tokens", "4000"),
                *("--no-epoch-checkpoints", "--save-dir", str(out)),
            ),
            output=out,
            progress=PROGRESS,
            total=self.sizes.value_updates,
            reads=(self.join(),),
        )

    def tune(self, decoder: Decoder) -> Stage:
        """Find the settings of a decoder on validation sentences.

        They must not cost more than a point of chrF, which no search here by a value looks at.
        """
        out = self.work / f"tune-{decoder.name}"
        metrics: tuple[str, ...] = (self.metric, "chrf")
        bound: tuple[str, ...] = ("--keep", "chrf=1")
        if decoder.searched_for == "chrF":
            metrics, bound = ("chrf", self.metric), ()
        return Stage(
            name=out.name,
            title=f"tune on validation sentences: {decoder.name}",
            command=(
                *("fairseq-mcts-sweep", str(self.binarised), *PLUGIN, *QUIET),
                *("--gen-subset", "valid", "--sweep-sentences", str(self.sizes.tuning_sentences)),
                *("--path", str(self.checkpoint(decoder.model)), "--batch-size", "50"),
                *("--post-process", "sentencepiece", *LENGTHS, *decoder.options),
                *(part for option in decoder.tuned for part in ("--sweep", option)),
                *(part for metric in metrics for part in ("--sweep-metric", metric)),
                *(*bound, "--sweep-out", str(out)),
            ),
            output=out,
            progress=SWEEP_PROGRESS,
            reads=(self._training(decoder), self.train_encoder()),
        )

    def decode(self, decoder: Decoder) -> Stage:
        reads: tuple[Stage, ...] = (self._training(decoder),)
        options = decoder.options
        if decoder.by_metric:
            metric = mixed(self.metric, decoder.metric_share)
            options += ("--search-metric", metric, "--search-post-process", "sentencepiece")
            reads += (self.train_encoder(),)
        if decoder.tuned:
            tuning = self.tune(decoder)
            options += ("--search-settings", str(tuning.output / "best.json"))
            reads += (tuning,)
        if decoder.searched_for != "likelihood":
            record = self.decoded(decoder) / "searches.jsonl.gz"
            options += ("--search-record", str(record), "--search-record-sentences", RECORDED)
        return Stage(
            name=decoder.stage_name,
            title=f"translate the test set: {decoder.name}",
            command=(
                *("fairseq-generate", str(self.binarised), *PLUGIN, *QUIET, "--log-interval", "1"),
                *("--path", str(self.checkpoint(decoder.model)), "--batch-size", "25"),
                *("--post-process", "sentencepiece", *LENGTHS, *options),
                *("--results-path", str(self.decoded(decoder))),
            ),
            output=self.decoded(decoder),
            progress=DECODING_PROGRESS,
            reads=reads,
        )

    def _training(self, decoder: Decoder) -> Stage:
        """The stage that makes the decoder's model."""
        return self.train_policy() if decoder.model == "policy" else self.train_on_completions()

    def report(self) -> Stage:
        """One page about all decodings, compared with beam search."""
        by_metric = {one.name: one.searched_for.lower() for one in self.decoders}
        optimised = [
            f"{name}={'none' if metric == 'likelihood' else metric}"
            for name, metric in by_metric.items()
        ]
        baseline = ("--baseline", BEAM.name) if BEAM in self.decoders else ()
        return Stage(
            name="report",
            title="write one page about all translations and searches",
            command=(
                *("fairseq-mcts-report", str(self.page)),
                *(f"{decoder.name}={self.decoded(decoder)}" for decoder in self.decoders),
                *("--metric", "bleu", "--metric", "chrf", "--metric", self.metric),
                *(part for one in optimised for part in ("--optimised", one)),
                *(*baseline, "--title", "Demo: English to German", "--max-megabytes", "5"),
            ),
            output=self.page.parent,
            progress=REPORT_PROGRESS,
            reads=(*(self.decode(decoder) for decoder in self.decoders), self.train_encoder()),
        )
