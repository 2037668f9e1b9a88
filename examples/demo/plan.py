"""What the demo does, stage by stage. Every stage is a command that can be run by hand as well."""

from dataclasses import dataclass
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import (
    DECODING_PROGRESS,
    PLUGIN,
    RELABELLING_PROGRESS,
    SEED,
    VALUE_ON_FROZEN_POLICY,
    binarise,
    join_scored,
    split_into_subwords,
)
from examples.common.training_log import JSON_LOG, PROGRESS
from examples.demo.decoders import DECODERS, Decoder

LANGUAGES = ("en", "de")
QUIET = ("--cpu", "--log-format", "simple")


@dataclass(frozen=True)
class Sizes:
    """How large the demo is; the defaults take minutes on one core."""

    train_pairs: int = 20000
    held_out_pairs: int = 500
    pieces: int = 2000
    updates: int = 1200
    encoder_steps: int = 600
    value_updates: int = 1000
    hybrid_updates: int = 350
    value_sources: int = 6000  # that the value is learned from
    judged_sources: int = 150


@dataclass(frozen=True)
class Plan:
    """The folders of the demo and its stages."""

    work: Path
    sizes: Sizes
    decoders: tuple[Decoder, ...] = DECODERS

    @property
    def corpus(self) -> Path:
        return self.work / "corpus"

    @property
    def binarised(self) -> Path:
        return self.work / "binarised"

    def checkpoint(self, model: str) -> Path:
        """The checkpoint to decode with: "policy", "value" or "hybrid"."""
        return self.work / model / "checkpoint_best.pt"

    @property
    def encoder(self) -> Path:
        return self.work / "encoder"

    @property
    def metric(self) -> str:
        """MLBERTScore by the demo's own encoder, as --search-metric takes it."""
        return f"mlbertscore:model={self.encoder}"

    def decoded(self, decoder: Decoder) -> Path:
        return self.work / decoder.stage_name

    def stages(self) -> list[Stage]:
        decoding = [self.decode(decoder) for decoder in self.decoders]
        return [
            *self.supervised(),
            self.train_encoder(),
            self.relabel_for_bleu(),
            self.judged_samples(),
            self.complete(),
            self.join(),
            self.train_on_completions(),
            self.train_hybrid(),
            *decoding,
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
                *("--test", str(self.sizes.held_out_pairs), "--seed", SEED),
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
                *("--no-epoch-checkpoints", "--save-dir", str(folder), "--seed", SEED),
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
                *("--steps", str(self.sizes.encoder_steps), "--seed", SEED),
            ),
            output=self.encoder,
            progress=r"(?P<done>\d+)/(?P<total>\d+) \[",
            reads=(self.make_corpus(),),
        )

    def relabel_for_bleu(self) -> Stage:
        return self._relabel(
            "relabel-bleu",
            "translate the training data greedily and score it by BLEU",
            ("--metric", "bleu", "--max-tokens", "4000"),
            self.work / "scored-bleu",
            reads=(self.train_policy(),),
        )

    def complete(self) -> Stage:
        """Rows for the value of MLBERTScore: what prefixes off the greedy path lead to."""
        sources = ("--subset", "train", "--limit-sources", str(self.sizes.value_sources))
        return self._relabel(
            "completions",
            "complete prefixes off the greedy path and score what they lead to by MLBERTScore",
            (
                *("--metric", self.metric, *sources, "--method", "completions"),
                *("--samples", "2", "--temperature", "0.75,1"),
            ),
            self.work / "completions",
            reads=(self.train_policy(), self.train_encoder()),
        )

    def judged_samples(self) -> Stage:
        """Samples that the value is judged by: can it tell the better one of two?"""
        sources = ("--subset", "valid", "--limit-sources", str(self.sizes.judged_sources))
        return self._relabel(
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

    def _relabel(
        self, name: str, title: str, options: tuple[str, ...], out: Path, reads: tuple[Stage, ...]
    ) -> Stage:
        return Stage(
            name=name,
            title=title,
            command=(
                *("fairseq-mcts-relabel", str(self.binarised), "--out", str(out)),
                *("--path", str(self.checkpoint("policy")), *options),
                *("--post-process", "sentencepiece", "--cpu"),
            ),
            output=out,
            progress=RELABELLING_PROGRESS,
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
                *("--log-interval", "25", "--seed", SEED, *VALUE_ON_FROZEN_POLICY),
                *("--policy-path", str(self.checkpoint("policy")), "--lr", "0.002"),
                *("--total-num-update", updates, "--max-update", updates, "--max-tokens", "4000"),
                *("--no-epoch-checkpoints", "--save-dir", str(out)),
            ),
            output=out,
            progress=PROGRESS,
            total=self.sizes.value_updates,
            reads=(self.join(),),
        )

    def train_hybrid(self) -> Stage:
        """Train the value of BLEU, which depends on a reference that decoding does not see."""
        return self._train_both("hybrid", "hybrid", self.relabel_for_bleu())

    def _train_both(self, model: str, criterion: str, relabelling: Stage) -> Stage:
        """Train policy and value."""
        return self.train_value(
            name=f"train-{model}",
            title=f"train policy and value ({criterion}) on {relabelling.output.name}",
            relabelling=relabelling,
            criterion=(
                *("--criterion", criterion, "--teacher-path", str(self.checkpoint("policy"))),
                # a weight greater than in the paper: the training is short
                *("--value-preset", "paper", "--value-weight", "1"),
            ),
            updates=self.sizes.hybrid_updates,
            warmup=50,
            out=self.checkpoint(model).parent,
        )

    def train_value(
        self,
        *,
        name: str,
        title: str,
        relabelling: Stage,
        criterion: tuple[str, ...],
        updates: int,
        warmup: int,
        out: Path,
    ) -> Stage:
        """Train a value from the weights of the policy, on what `relabelling` scored."""
        return Stage(
            name=name,
            title=title,
            command=(
                *("fairseq-train", str(relabelling.output), *PLUGIN, "--cpu", *JSON_LOG),
                *("--log-interval", "25", "--seed", SEED),
                *("--arch", "dual_head_multiquery_transformer_tiny", "--share-all-embeddings"),
                *("--finetune-from-model", str(self.checkpoint("policy")), *criterion),
                # wide targets suit a short training
                *("--value-target", "hl-gauss", "--hl-gauss-sigma", "5"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "1"),
                *("--lr", "0.001", "--lr-scheduler", "polynomial_decay"),
                *("--warmup-updates", str(warmup), "--total-num-update", str(updates)),
                *("--max-update", str(updates), "--max-tokens", "2000"),
                *("--no-epoch-checkpoints", "--save-dir", str(out)),
            ),
            output=out,
            progress=PROGRESS,
            total=updates,
            reads=(relabelling,),
        )

    def decode(self, decoder: Decoder) -> Stage:
        training = {
            "policy": self.train_policy,
            "value": self.train_on_completions,
            "hybrid": self.train_hybrid,
        }
        reads: tuple[Stage, ...] = (training[decoder.model](),)
        metric: tuple[str, ...] = ()
        if decoder.by_metric:
            metric = ("--search-metric", self.metric, "--search-post-process", "sentencepiece")
            reads += (self.train_encoder(),)
        return Stage(
            name=decoder.stage_name,
            title=f"translate the test set: {decoder.name}",
            command=(
                *("fairseq-generate", str(self.binarised), *PLUGIN, *QUIET, "--log-interval", "1"),
                *("--path", str(self.checkpoint(decoder.model)), "--batch-size", "25"),
                *("--post-process", "sentencepiece", *decoder.options, *metric),
                *("--results-path", str(self.decoded(decoder))),
            ),
            output=self.decoded(decoder),
            progress=DECODING_PROGRESS,
            reads=reads,
        )
