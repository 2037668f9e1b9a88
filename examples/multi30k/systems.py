"""The systems that translate the test set: which model, which decoder, which options."""

from dataclasses import dataclass
from pathlib import Path

from examples.common.runner import Stage
from examples.common.stages import DECODING_PROGRESS, LENGTHS, PLUGIN, SEED
from examples.multi30k.layout import Layout
from examples.multi30k.values import ValueModel

GREEDY, BEAM_OF_FIVE = ("--beam", "1"), ("--beam", "5")
SEPARATE_SIMULATIONS = 25  # the paper's, for the table of separate values


@dataclass(frozen=True)
class System:
    """One way to translate the test set."""

    name: str
    options: tuple[str, ...]
    policy: Path
    value: Path | None = None
    """Where the value comes from, if not from the policy's checkpoint."""
    search_metric: str | None = None
    """The metric that the search itself asks."""

    def command_options(self, layout: Layout) -> tuple[str, ...]:
        metric = () if self.search_metric is None else (layout.metric(self.search_metric),)
        return (
            *("--path", str(self.policy), *self.options),
            *(("--value-path", str(self.value)) if self.value else ()),
            *(part for name in metric for part in ("--search-metric", name)),
        )


def beam_for(metric: str) -> str:
    """Beam search as it is tuned for a metric; the one for BLEU is the usual one."""
    return "beam" if metric == "bleu" else f"beam-{metric}"


def name_of(model: ValueModel, decoder: str) -> str:
    return f"{model.name}-{decoder}"


def joint(layout: Layout, model: ValueModel, decoder: str, options: tuple[str, ...]) -> System:
    """Policy and value of one model."""
    asks = {"sr", "mcts-rollout", "mcts-terminal"}
    return System(
        name_of(model, decoder),
        options,
        policy=layout.value(model.folder),
        search_metric=model.metric if decoder in asks else None,
    )


def cheating_mcts(layout: Layout, model: ValueModel, options: tuple[str, ...]) -> System:
    """The supervised policy and a value that reads the reference: for analysis only."""
    return System(
        name_of(model, "mcts"),
        (*options, "--cheating-value"),
        policy=layout.policy,
        value=layout.value(model.folder),
    )


def separate_mcts(layout: Layout, model: ValueModel, options: tuple[str, ...]) -> System:
    """The supervised policy and the value of another model."""
    return System(
        f"separate-{model.metric}-mcts",
        (*options, "--search-budget", str(SEPARATE_SIMULATIONS)),
        policy=layout.policy,
        value=layout.value(model.folder),
    )


def decoding_stage(layout: Layout, system: System, models: tuple[Stage, ...]) -> Stage:
    """The command that translates the test set."""
    out = layout.decoded(system.name)
    return Stage(
        name=f"decode-{system.name}",
        title=f"translate the test set: {system.name}",
        command=(
            *("fairseq-generate", str(layout.binarised), *PLUGIN, "--cpu", "--seed", SEED),
            *("--gen-subset", "test", "--batch-size", "50", *layout.subword_options, *LENGTHS),
            *system.command_options(layout),
            *("--results-path", str(out), "--log-format", "simple", "--log-interval", "1"),
        ),
        output=out,
        progress=DECODING_PROGRESS,
        reads=models,
    )
