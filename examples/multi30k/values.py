"""The stages that make values: scores of greedy translations, and models that predict them."""

from dataclasses import dataclass, replace

from examples.common.runner import Stage
from examples.common.stages import PLUGIN, RELABELLING_PROGRESS, SEED
from examples.common.training_log import JSON_LOG, PROGRESS
from examples.multi30k.layout import Layout, mark_sampled
from examples.multi30k.supervised import SupervisedStages

# The policy's loss draws the new model to the supervised one, from whose weights it starts.
DISTILLED = ("--policy-loss", "kl")
VALUE_ONLY = ("--policy-weight", "0")


@dataclass(frozen=True)
class ValueModel:
    """A model with a value head: its name, the metric it predicts and how it learns that."""

    name: str
    metric: str
    criterion: tuple[str, ...]
    has_policy: bool = True
    """Whether its own policy is trained too; decoders take the supervised one if not."""
    sampled: bool = False
    """Whether it learns from samples of the policy, several a source, or from greedy ones."""


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
    """All value models are trained alike, some two passes over greedy translations."""

    updates: int = 700
    max_tokens: int = 1600
    learning_rate: float = 0.0005
    dropout: float = 0.1
    value_weight: float = 1.0  # more than the paper's 0.1: the training is short
    sigma: float = 5.0  # of the normal distribution around a score, in buckets
    # for models that learn from samples: two passes over two of each source. At temperature 1 the
    # samples of a source differ almost as much as sources do (in MLBERTScore on en-de by 0.088
    # and 0.109, at 0.7 by 0.041 and 0.09), so that a value has to look at them.
    updates_on_samples: int = 2000
    samples: int = 2
    temperature: float = 1.0


@dataclass(frozen=True)
class ValueStages:
    """Relabelling and training."""

    layout: Layout
    supervised: SupervisedStages
    training: ValueTraining = ValueTraining()

    def relabel(self, metric: str, *, sampled: bool = False) -> Stage:
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

    def train(self, model: ValueModel) -> Stage:
        layout, training = self.layout, self.training
        updates = training.updates_on_samples if model.sampled else training.updates
        teacher = ("--teacher-path", str(layout.policy)) if model.has_policy else ()
        data = self.relabel(model.metric, sampled=model.sampled)
        return Stage(
            name=model.name,
            title=f"learn a value: {model.name}",
            command=(
                *("fairseq-train", str(data.output), *PLUGIN, "--cpu"),
                *("--arch", "dual_head_multiquery_transformer_small", "--share-all-embeddings"),
                *("--finetune-from-model", str(layout.policy), *model.criterion, *teacher),
                *("--value-preset", "paper", "--value-weight", str(training.value_weight)),
                *("--value-target", "hl-gauss"),
                *("--hl-gauss-sigma", str(training.sigma)),
                *("--dropout", str(training.dropout), "--clip-norm", "1"),
                *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--adam-eps", "1e-9"),
                *("--lr", str(training.learning_rate), "--lr-scheduler", "polynomial_decay"),
                *("--warmup-updates", "100", "--total-num-update", str(updates)),
                *("--max-update", str(updates), "--max-tokens", str(training.max_tokens)),
                *("--no-epoch-checkpoints", "--save-dir", str(layout.value_folder(model.name))),
                *(*JSON_LOG, "--log-interval", "25", "--seed", SEED),
            ),
            output=layout.value_folder(model.name),
            progress=PROGRESS,
            total=updates,
            reads=(data,),
        )
