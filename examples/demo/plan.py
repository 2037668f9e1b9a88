"""What the demo does, stage by stage. Every stage is a command that can be run by hand as well."""

import sys
from dataclasses import dataclass
from pathlib import Path

from examples.common.runner import Stage

# Paths are relative to the root of the repository, where `python -m examples.demo` has to run.
PLUGIN = ("--user-dir", "user_dir", "--task", "translation_mcts")
QUIET = ("--cpu", "--log-format", "simple")
SEED = "1"


@dataclass(frozen=True)
class Sizes:
    """How large the demo is; the defaults take minutes on one core."""

    train_pairs: int = 20000
    held_out_pairs: int = 500
    pieces: int = 2000
    updates: int = 1500
    encoder_steps: int = 600


@dataclass(frozen=True)
class Decoder:
    """One way to decode: its name in the results and the options that select it."""

    name: str
    options: tuple[str, ...]
    by_metric: bool = False
    """Whether it searches for a high MLBERTScore, which needs no reference."""

    @property
    def stage_name(self) -> str:
        return f"decode-{self.name}"


DECODERS = (
    Decoder("greedy", ("--beam", "1")),
    Decoder("beam", ("--beam", "5")),
    Decoder(
        "sr-metric",
        (
            *("--search", "sr", "--sr-rank-by", "metric"),
            *("--search-preset", "unprivileged", "--search-budget", "16"),
        ),
        by_metric=True,
    ),
    Decoder(
        "mcts-rollout",
        (
            *("--search", "mcts", "--mcts-leaf", "rollout"),
            *("--search-preset", "unprivileged", "--search-budget", "8"),
        ),
        by_metric=True,
    ),
)


@dataclass(frozen=True)
class Plan:
    """The folders of the demo and its stages."""

    work: Path
    sizes: Sizes

    @property
    def corpus(self) -> Path:
        return self.work / "corpus"

    @property
    def subwords(self) -> Path:
        return self.work / "subwords"

    @property
    def binarised(self) -> Path:
        return self.work / "binarised"

    @property
    def policy(self) -> Path:
        return self.work / "policy"

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
        decoding = [self.decode(decoder) for decoder in DECODERS]
        return [*self.supervised(), self._train_encoder(), *decoding]

    def supervised(self) -> list[Stage]:
        """Everything up to the supervised policy."""
        return [
            self._make_corpus(),
            self._split_into_subwords(),
            self._binarise(),
            self._train_policy(),
        ]

    def _make_corpus(self) -> Stage:
        return Stage(
            name="corpus",
            title="write an English–German corpus from a grammar",
            command=(
                *(sys.executable, "-m", "fairseq_mcts.demo.corpus", "--out", str(self.corpus)),
                *("--train", str(self.sizes.train_pairs)),
                *("--valid", str(self.sizes.held_out_pairs)),
                *("--test", str(self.sizes.held_out_pairs), "--seed", SEED),
            ),
            output=self.corpus,
        )

    def _split_into_subwords(self) -> Stage:
        return Stage(
            name="subwords",
            title="learn subwords and split the corpus",
            command=(
                *(sys.executable, "-m", "examples.common.subwords", "--corpus", str(self.corpus)),
                *("--out", str(self.subwords), "--pieces", str(self.sizes.pieces)),
            ),
            output=self.subwords,
        )

    def _binarise(self) -> Stage:
        splits = {f"--{split}pref": self.subwords / split for split in ("train", "valid", "test")}
        return Stage(
            name="binarise",
            title="binarise it for fairseq, with one dictionary for both languages",
            command=(
                *("fairseq-preprocess", *PLUGIN, "--source-lang", "en", "--target-lang", "de"),
                *(part for option, path in splits.items() for part in (option, str(path))),
                *("--joined-dictionary", "--destdir", str(self.binarised)),
            ),
            output=self.binarised,
        )

    def _train_policy(self) -> Stage:
        updates = str(self.sizes.updates)
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
                *("--no-epoch-checkpoints", "--save-dir", str(self.policy), "--seed", SEED),
            ),
            output=self.policy,
            progress=r"num_updates=(?P<done>\d+)",
            total=self.sizes.updates,
        )

    def _train_encoder(self) -> Stage:
        return Stage(
            name="encoder",
            title="train a tiny bilingual encoder, the metric that some decoders search by",
            command=(
                *(sys.executable, "-m", "fairseq_mcts.demo.encoder", "--out", str(self.encoder)),
                *("--source", str(self.corpus / "train.en")),
                *("--target", str(self.corpus / "train.de")),
                *("--steps", str(self.sizes.encoder_steps), "--seed", SEED),
            ),
            output=self.encoder,
            progress=r"step (?P<done>\d+)/(?P<total>\d+)",
        )

    def decode(self, decoder: Decoder) -> Stage:
        metric: tuple[str, ...] = ()
        if decoder.by_metric:
            metric = ("--search-metric", self.metric, "--search-post-process", "sentencepiece")
        return Stage(
            name=decoder.stage_name,
            title=f"translate the test set: {decoder.name}",
            command=(
                *("fairseq-generate", str(self.binarised), *PLUGIN, *QUIET, "--log-interval", "1"),
                *("--path", str(self.policy / "checkpoint_best.pt"), "--batch-size", "25"),
                *("--post-process", "sentencepiece", *decoder.options, *metric),
                *("--results-path", str(self.decoded(decoder))),
            ),
            output=self.decoded(decoder),
            progress=r"(?P<done>\d+) / (?P<total>\d+) ",
        )
