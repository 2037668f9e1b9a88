"""What the demo does, stage by stage. Every stage is a command that can be run by hand as well."""

from dataclasses import dataclass
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import (
    DECODING_PROGRESS,
    PLUGIN,
    RELABELLING_PROGRESS,
    SEED,
    binarise,
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
    value_updates: int = 350


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
        """The checkpoint to decode with: "policy", "dual-head" or "hybrid"."""
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
            self.relabel_for_mlbertscore(),
            self.train_dual_head(),
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
        return self._relabel("bleu", "bleu", reads=(self.train_policy(),))

    def relabel_for_mlbertscore(self) -> Stage:
        reads = (self.train_policy(), self.train_encoder())
        return self._relabel("mlbertscore", self.metric, reads)

    def _relabel(self, name: str, metric: str, reads: tuple[Stage, ...]) -> Stage:
        out = self.work / f"scored-{name}"
        return Stage(
            name=f"relabel-{name}",
            title=f"translate the training data greedily and score it by {name}",
            command=(
                *("fairseq-mcts-relabel", str(self.binarised), "--out", str(out)),
                *("--path", str(self.checkpoint("policy")), "--metric", metric),
                *("--post-process", "sentencepiece", "--max-tokens", "4000", "--cpu"),
            ),
            output=out,
            progress=RELABELLING_PROGRESS,
            reads=reads,
        )

    def train_dual_head(self) -> Stage:
        """Train the value of MLBERTScore, beside a policy that is to stay what it is."""
        return self._train_both("dual-head", "value", self.relabel_for_mlbertscore())

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
            updates=self.sizes.value_updates,
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
            "dual-head": self.train_dual_head,
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
