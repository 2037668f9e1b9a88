"""The models with a value: how each learns, and the stages that make it."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import PLUGIN, RELABELLING_PROGRESS
from examples.common.training_log import JSON_LOG, PROGRESS
from examples.common.value_rounds import Given, RoundSizes, ValueRounds
from examples.multi30k.layout import Layout, mark_sampled
from examples.multi30k.supervised import SupervisedStages

# The policy's loss draws the new model to the supervised one, from whose weights it starts.
DISTILLED = ("--policy-loss", "kl")
VALUE_ONLY = ("--policy-weight", "0")
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class ValueModel:
    """A model with a value head: its name, the metric it predicts and how it learns that."""

    name: str
    metric: str
    criterion: tuple[str, ...] = ()
    """Of a network that is trained as a whole."""
    has_policy: bool = True
    """Whether its own policy serves decoders; they take the supervised one if not."""
    sampled: bool = False
    """Whether it learns from samples of the policy, several a source, or from greedy ones."""
    rounds: int | None = None
    """Of a value on the frozen policy that learns from completions, and then so many rounds from
    what a search with it finds; None for a network that is trained as a whole."""
    seed: int = 1

    @property
    def folder(self) -> str:
        """Of its checkpoints, among those of all values."""
        if self.rounds is None:
            return self.name
        return f"{self.metric}/value-{self.rounds}{_mark(self.seed)}"


def _mark(seed: int) -> str:
    return "" if seed == 1 else f"-seed{seed}"


def in_rounds(metric: str, rounds: int) -> ValueModel:
    """A value that compares, on the supervised policy as it is."""
    return ValueModel(f"rounds{rounds}-{metric}", metric, rounds=rounds)


def with_seed(model: ValueModel, seed: int) -> ValueModel:
    """The same model from another seed."""
    return replace(model, name=f"{model.name}{_mark(seed)}", seed=seed)


def dual(metric: str) -> ValueModel:
    """Policy and value of source and prefix: what the paper calls the normal architecture."""
    return ValueModel(f"dual-{metric}", metric, ("--criterion", "value", *DISTILLED))


def on_samples(model: ValueModel) -> ValueModel:
    """The same model trained on samples.

    It sees better and worse translations of one source, which a search has to tell apart.
    """
    return replace(model, name=mark_sampled(model.name, sampled=True), sampled=True)


def hybrid(metric: str) -> ValueModel:
    """Trained with a second pathway that reads the reference."""
    return ValueModel(f"hybrid-{metric}", metric, ("--criterion", "hybrid", *DISTILLED))


def value_only(metric: str, encoder_input: str, positions: str) -> ValueModel:
    """A value without a policy, for the analysis of how hard the value is.

    With the reference as its input and all prefixes it is what the paper calls cheating.
    """
    return ValueModel(
        f"value-{metric}-{encoder_input}-{positions}",
        metric,
        (
            *("--criterion", "value", *VALUE_ONLY),
            *("--value-encoder-input", encoder_input, "--value-positions", positions),
        ),
        has_policy=False,
    )


def cheating(metric: str) -> ValueModel:
    return value_only(metric, "reference", "every")


#: the cells of the table of value errors
CELLS = {
    (encoder_input, positions): value_only("bleu", encoder_input, positions)
    for encoder_input in ("source", "reference")
    for positions in ("every", "finished")
}


@dataclass(frozen=True)
class ValueTraining:
    """How values are trained; networks as a whole make some two passes over their data."""

    rounds: RoundSizes = field(
        default_factory=lambda: RoundSizes(
            rounds=2,
            first_sources=16000,
            further_sources=3000,
            first_updates=3000,
            further_updates=1000,
        )
    )
    updates: int = 700
    max_tokens: int = 1600
    learning_rate: float = 0.0005
    dropout: float = 0.1
    value_weight: float = 1.0  # more than the paper's 0.1: the training is short
    sigma: float = 5.0  # of the normal distribution around a score, in buckets
    # for models that learn from samples. At temperature 1 those of a source differ almost as much
    # as sources do (in MLBERTScore on en-de by 0.088 and 0.109, at 0.7 by 0.041 and 0.09), so that
    # a value has to look at them.
    updates_on_samples: int = 1000
    samples: int = 2
    temperature: float = 1.0


@dataclass(frozen=True)
class ValueStages:
    """Relabelling and training."""

    layout: Layout
    supervised: SupervisedStages
    training: ValueTraining = field(default_factory=ValueTraining)

    def all(self, model: ValueModel) -> list[Stage]:
        """Everything behind the supervised policy that a model needs."""
        if model.rounds is None:
            return [self.relabel(model.metric, sampled=model.sampled), self.train(model)]
        rounds = self.rounds(model)
        return [stage for number in range(model.rounds + 1) for stage in rounds.stages(number)]

    def train(self, model: ValueModel) -> Stage:
        """The stage that ends with the model's checkpoint."""
        if model.rounds is None:
            return self._train_whole(model)
        return self.rounds(model).train(model.rounds)

    def checkpoint(self, model: ValueModel) -> Path:
        return self.layout.value(model.folder)

    def rounds(self, model: ValueModel) -> ValueRounds:
        """The rounds of a value on the frozen policy.

        Where the metric needs no reference, any text in the source language serves.
        """
        layout = self.layout
        given = Given(
            layout.binarised,
            layout.policy,
            layout.metric(model.metric),
            layout.subword_options,
            layout.monolingual if model.metric == "mlbertscore" else None,
            (self.supervised.train(),),
        )
        work = layout.value_folder(model.metric)
        prefix = "" if model.metric == "mlbertscore" else f"{model.metric}-"
        return ValueRounds(given, work, self.training.rounds, model.seed, prefix)

    def relabel(self, metric: str, *, sampled: bool = False) -> Stage:
        """The data of networks that are trained as a whole."""
        layout, training = self.layout, self.training
        out = layout.scored(metric, sampled=sampled)
        samples = ("--samples", str(training.samples), "--temperature", str(training.temperature))
        way = f"{training.samples} samples a sentence" if sampled else "greedily"
        return Stage(
            name=f"relabel-{mark_sampled(metric, sampled=sampled)}",
            title=f"translate the training data ({way}) and score it by {metric}",
            command=(
                *("fairseq-mcts-relabel", str(layout.binarised), "--path", str(layout.policy)),
                *("--metric", layout.metric(metric), *layout.subword_options),
                *("--max-tokens", "4000", "--cpu", *(samples if sampled else ())),
                *("--out", str(out)),
            ),
            output=out,
            progress=RELABELLING_PROGRESS,
            reads=(self.supervised.train(),),
        )

    def _train_whole(self, model: ValueModel) -> Stage:
        layout, training = self.layout, self.training
        updates = training.updates_on_samples if model.sampled else training.updates
        teacher = ("--teacher-path", str(layout.policy)) if model.has_policy else ()
        losses = (
            *("--value-preset", "paper", "--value-weight", str(training.value_weight)),
            *("--value-target", "hl-gauss", "--hl-gauss-sigma", str(training.sigma)),
        )
        data = self.relabel(model.metric, sampled=model.sampled)
        return Stage(
            name=model.name,
            title=f"learn a value: {model.name}",
            command=(
                *("fairseq-train", str(data.output), *PLUGIN, "--cpu"),
                *("--arch", "dual_head_multiquery_transformer_small", "--share-all-embeddings"),
                *("--finetune-from-model", str(layout.policy), *model.criterion, *teacher),
                *(() if model.sampled else losses),  # several rows a source: the usual losses
                *("--dropout", str(training.dropout), "--clip-norm", "1"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--adam-eps", "1e-9"),
                *("--lr", str(training.learning_rate), "--lr-scheduler", "polynomial_decay"),
                *("--warmup-updates", "100", "--total-num-update", str(updates)),
                *("--max-update", str(updates), "--max-tokens", str(training.max_tokens)),
                *("--no-epoch-checkpoints", "--save-dir", str(layout.value_folder(model.folder))),
                *(*JSON_LOG, "--log-interval", "25", "--seed", str(model.seed)),
            ),
            output=layout.value_folder(model.folder),
            progress=PROGRESS,
            total=updates,
            reads=(data,),
        )
