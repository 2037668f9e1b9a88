"""The study of one language pair in groups of stages, each of which can be run by itself.

What a sweep chooses goes into the commands after it, so a group runs stage by stage.
"""

from dataclasses import dataclass, field

from examples.common.runner import Runner, Stage
from examples.multi30k import systems
from examples.multi30k.layout import METRICS, Layout
from examples.multi30k.supervised import PolicyTraining, SupervisedStages
from examples.multi30k.systems import System
from examples.multi30k.trees import tree_options
from examples.multi30k.tuning import (
    BUDGET,
    Sweep,
    ValueTuning,
    beam_sweep,
    sweep_stage,
    tune_beam,
)
from examples.multi30k.values import (
    CELLS,
    SEEDS,
    ValueModel,
    ValueStages,
    ValueTraining,
    cheating,
    dual,
    hybrid,
    in_rounds,
    on_samples,
    with_seed,
)

PRIVILEGED = ("bleu", "bertscore")
#: the model whose policy and value the decoders of the main table take, by metric
MAIN_MODELS = {
    "bleu": on_samples(hybrid("bleu")),
    "bertscore": on_samples(hybrid("bertscore")),
    "mlbertscore": in_rounds("mlbertscore", 2),
}
#: ways to learn a value of MLBERTScore, from the paper's on
RECIPES = {
    "policy and value together, from greedy translations": dual("mlbertscore"),
    "the same from samples, errors within sources counted": on_samples(dual("mlbertscore")),
    "a head that compares on the frozen policy, from completions": in_rounds("mlbertscore", 0),
    "one round of expert iteration behind it": in_rounds("mlbertscore", 1),
    "two rounds": in_rounds("mlbertscore", 2),
}
#: at fixed settings, so that recipes differ in nothing else
RECIPE_DECODERS = {
    "vgbs": ("--search", "vgbs", "--vgbs-alpha", "0.9"),
    "mcts": ("--search", "mcts", "--mcts-c-puct", "3", "--mcts-temperature", "1"),
}
DRAWN_METRIC = "mlbertscore"  # whose search trees are shown
SCALING_BUDGETS = ("1", "10", "25", "50", "75", "100", "200", "300")
ROLLOUT_BUDGETS = SCALING_BUDGETS[:4]  # a rollout costs many times more than a value


@dataclass(frozen=True)
class Sizes:
    """How much is trained and decoded; the defaults take a day of one core for both pairs."""

    policy: PolicyTraining = field(default_factory=PolicyTraining)
    value: ValueTraining = field(default_factory=ValueTraining)
    tuning_sentences: int = 150
    scaling_sentences: int = 150
    recipe_sentences: int = 250


class Study:
    """Runs groups; whatever is finished already is left as it is."""

    def __init__(self, layout: Layout, sizes: Sizes | None = None) -> None:
        self.layout = layout
        self.sizes = sizes or Sizes()
        self.runner = Runner(layout.pair)
        self.supervised = SupervisedStages(layout, self.sizes.policy)
        self.values = ValueStages(layout, self.supervised, self.sizes.value)
        self._seen: set[str] = set()

    def run_policy(self) -> None:
        """Make data and the supervised policy; translate the test set by greedy and beam search."""
        self._run(*self.supervised.all())
        policy = self.layout.policy
        self._decode(System("greedy", systems.GREEDY, policy))
        self._decode(System("beam5", systems.BEAM_OF_FIVE, policy))
        beams = tune_beam(self.layout, self.sizes.tuning_sentences, self._sweep_policy)
        for metric, options in beams.items():
            self._decode(System(systems.beam_for(metric), options, policy))

    def run_metric(self, metric: str) -> None:
        """Make the main table for one metric: scores, model, tuning, test set."""
        self._run_model(MAIN_MODELS[metric])

    def _run_model(self, model: ValueModel) -> None:
        self._train(model)
        if model.rounds is None:  # else its policy is the supervised one
            self._decode(systems.joint(self.layout, model, "greedy", systems.GREEDY), model)
        for decoder, options in self._tuning(model).tune().items():
            budget = ("--search-budget", str(BUDGET))
            drawn = model == MAIN_MODELS[DRAWN_METRIC] and decoder == "mcts"
            trees = tree_options(self.layout.trees) if drawn else ()
            system = systems.joint(self.layout, model, decoder, (*options, *budget, *trees))
            self._decode(system, model)

    def run_seeds(self) -> None:
        """Learn the main values anew from other seeds, with the settings of the first."""
        budget = ("--search-budget", str(BUDGET))
        model = MAIN_MODELS["mlbertscore"]
        tuned = self._tuning(model).tune()
        for seed in SEEDS[1:]:
            other = with_seed(model, seed)
            self._train(other)
            for decoder in ("vgbs", "srv", "mcts"):
                options = (*tuned[decoder], *budget)
                self._decode(systems.joint(self.layout, other, decoder, options), other)
        for seed in SEEDS:
            for make in (dual, hybrid):
                self._train(with_seed(on_samples(make("bleu")), seed))  # for their errors

    def run_recipes(self) -> None:
        """Search by values that were learned in other ways, on validation sentences."""
        for model in RECIPES.values():
            self._train(model)
            for sweep in self.recipe_sweeps(model):
                self._sweep(sweep, self.values.train(model))
        self._sweep_policy(self.recipe_beam())

    def recipe_sweeps(self, model: ValueModel) -> list[Sweep]:
        """Each decoder at one setting, so a sweep of one trial."""
        return [
            Sweep(
                f"{model.name}-recipe-{decoder}",
                model.metric,
                self.layout.value(model.folder),
                options,
                {"search-budget": (str(BUDGET),)},
                self.sizes.recipe_sentences,
            )
            for decoder, options in RECIPE_DECODERS.items()
        ]

    def recipe_beam(self) -> Sweep:
        """Beam search on the same sentences."""
        sentences = self.sizes.recipe_sentences
        return Sweep(
            "recipe-beam", "mlbertscore", self.layout.policy, (), {"beam": ("5",)}, sentences
        )

    def run_values(self) -> None:
        """Compare values: their errors, normal, hybrid and cheating ones, separate ones."""
        layout, budget = self.layout, ("--search-budget", str(BUDGET))
        for metric in PRIVILEGED:
            self._train(MAIN_MODELS[metric])
            mcts = self._tuning(MAIN_MODELS[metric]).mcts()
            normal, cheat = on_samples(dual(metric)), cheating(metric)
            self._train(normal)
            self._decode(systems.joint(layout, normal, "greedy", systems.GREEDY), normal)
            self._decode(systems.joint(layout, normal, "mcts", (*mcts, *budget)), normal)
            self._train(cheat)
            self._decode(systems.cheating_mcts(layout, cheat, (*mcts, *budget)), cheat)
        for model in CELLS.values():
            self._train(model)
        for metric in METRICS:
            model = MAIN_MODELS[metric]
            self._train(model)
            mcts = self._tuning(model).mcts()
            self._decode(systems.separate_mcts(layout, model, mcts), model)
        self._compare_data()

    def _compare_data(self) -> None:
        """Compare values that learn from greedy translations and from samples."""
        greedy = dual("mlbertscore")
        self._train(greedy)
        tuning = self._tuning(greedy)
        tuning.mcts()
        tuning.vgbs()
        tuning.sample_and_rank("value")
        self._train(hybrid("bleu"))
        tuning = self._tuning(hybrid("bleu"))
        tuning.mcts()
        tuning.vgbs()
        tuning.sample_and_rank("value")

    def run_scaling(self) -> None:
        """Decode validation sentences with growing budgets."""
        for metric in reversed(METRICS):
            model = MAIN_MODELS[metric]
            self._train(model)
            for sweep in self.scaling_sweeps(model):
                self._sweep(sweep, self.values.train(model))

    def scaling_sweeps(self, model: ValueModel) -> list[Sweep]:
        """Each decoder of the model, tuned at the usual budget, with other budgets."""
        found = []
        for decoder, options in self._tuning(model).tune().items():
            if decoder == "mcts-terminal":
                continue
            budgets = ROLLOUT_BUDGETS if decoder == "mcts-rollout" else SCALING_BUDGETS
            found.append(
                Sweep(
                    f"{model.name}-scaling-{decoder}",
                    model.metric,
                    self.layout.value(model.folder),
                    options,
                    {"search-budget": budgets},
                    self.sizes.scaling_sentences,
                    by_metric=decoder in ("sr", "mcts-rollout"),
                )
            )
        return found

    def _tuning(self, model: ValueModel) -> ValueTuning:
        stage = self.values.train(model)
        sentences = self.sizes.tuning_sentences
        self._run(*self.supervised.all())
        self._sweep_policy(beam_sweep(self.layout, sentences))  # the tuning holds itself against it
        return ValueTuning(self.layout, model, sentences, lambda sweep: self._sweep(sweep, stage))

    def _train(self, model: ValueModel) -> None:
        self._run(*self.supervised.all(), *self.values.all(model))

    def _sweep_policy(self, sweep: Sweep) -> None:
        self._sweep(sweep, self.supervised.train())

    def _sweep(self, sweep: Sweep, model: Stage) -> None:
        self._run(sweep_stage(self.layout, sweep, model))

    def _decode(self, system: System, model: ValueModel | None = None) -> None:
        models = (self.supervised.train(),) if model is None else (self.values.train(model),)
        self._run(systems.decoding_stage(self.layout, system, models))

    def _run(self, *stages: Stage) -> None:
        """Run the stages that no earlier group has run."""
        new = [stage for stage in stages if stage.name not in self._seen]
        self.runner.run(new)
        self._seen.update(stage.name for stage in new)
