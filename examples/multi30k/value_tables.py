"""The errors of values on the validation data, from the logs of their training."""

from examples.common.markdown import NOTHING, number, table
from examples.common.runner import Stage, read_record
from examples.common.training_log import last_validation
from examples.multi30k import paper
from examples.multi30k.layout import Layout
from examples.multi30k.study import MAIN_MODELS, RECIPE_DECODERS, RECIPES, Study
from examples.multi30k.supervised import SupervisedStages
from examples.multi30k.tuning import Sweep, best_trial
from examples.multi30k.values import (
    CELLS,
    SEEDS,
    ValueModel,
    ValueStages,
    cheating,
    dual,
    hybrid,
    on_samples,
    with_seed,
)
from fairseq_mcts.tuning.results import Trial

SECONDS = 60.0  # of a minute
DECODER_TITLES = {"vgbs": "VGBS", "mcts": "V-MCTS"}


def quality(layout: Layout, model: ValueModel) -> dict[str, float]:
    """What the last validation of a model reports; empty until its training is finished."""
    record = layout.pair / "stages" / f"{training_stage(layout, model).name}.json"
    if not read_record(record).get("finished"):
        return {}
    return last_validation(record.with_suffix(".log"))


def training_stage(layout: Layout, model: ValueModel) -> Stage:
    """The stage whose log and record tell of the model."""
    return ValueStages(layout, SupervisedStages(layout)).train(model)


def value_errors(layout: Layout) -> str:
    """The paper's table 3."""
    rows = []
    for encoder_input in ("source", "reference"):
        cells = [encoder_input]
        for positions in ("every", "finished"):
            key = (encoder_input, positions)
            ours = quality(layout, CELLS[key]).get("value_mae")
            cells += [number(ours, 3), number(paper.VALUE_ERRORS[key], 3)]
        rows.append(cells)
    return table(["encoder reads", "every prefix", "paper", "finished sample", "paper"], rows)


def all_qualities(layout: Layout) -> str:
    """Every model: its error beside that of always saying the mean, and its correlations."""
    seeds = [with_seed(MAIN_MODELS["mlbertscore"], seed) for seed in SEEDS[1:]]
    models = [*RECIPES.values(), *seeds, *(dual(metric) for metric in ("bertscore", "bleu"))]
    models += [hybrid(metric) for metric in ("bleu", "bertscore")]
    models += [on_samples(hybrid("bertscore"))]
    models += [
        with_seed(on_samples(make("bleu")), seed) for make in (dual, hybrid) for seed in SEEDS
    ]
    models += [cheating("bertscore"), *CELLS.values()]
    columns = {
        "value_mae": "error",
        "value_mae_of_mean": "of the mean",
        "value_mae_finished": "finished",
        "value_pearson": "Pearson",
        "value_pearson_finished": "Pearson, finished",
        "value_kendall_finished": "Kendall, finished",
        "value_pearson_within": "Pearson within a source",
        "kl_loss": "KL to supervised",
    }
    rows = []
    for model in models:
        found = quality(layout, model)
        if found:
            cells = [number(found[key], 4) if key in found else NOTHING for key in columns]
            rows.append([model.name, *cells])
    return table(["model", *columns.values()], rows)


def recipes(layout: Layout) -> str:
    """What each way to learn a value takes, how good it is, and what searches gain by it."""
    study = Study(layout)
    beam = _only_trial(layout, study.recipe_beam())
    rows = []
    for title, model in RECIPES.items():
        found = quality(layout, model)
        trials = [_only_trial(layout, sweep) for sweep in study.recipe_sweeps(model)]
        if not found or beam is None or None in trials:
            continue
        minutes = sum(seconds(layout, stage) for stage in study.values.all(model)) / SECONDS
        cells = [title, number(minutes, 0), number(found["value_pearson_within"], 3)]
        for trial in trials:
            assert trial is not None and trial.value is not None
            gains = {name: trial.scores[name] - beam.scores[name] for name in beam.scores}
            cells += [f"{100 * gains['mlbertscore']:+.2f}", f"{100 * gains['chrf']:+.2f}"]
            cells.append(f"{trial.value - trial.scores['mlbertscore']:+.4f}")
        rows.append(cells)
    header = ["value", "minutes", "within"]
    for decoder in RECIPE_DECODERS:
        header += [DECODER_TITLES[decoder], "chrF", "value − true"]
    return table(header, rows)


def seconds(layout: Layout, stage: Stage) -> float:
    """What a stage's last run took; 0 if it was not run to its end."""
    record = read_record(layout.pair / "stages" / f"{stage.name}.json")
    return float(record.get("seconds", 0))


def _only_trial(layout: Layout, sweep: Sweep) -> Trial | None:
    try:
        return best_trial(layout, sweep)
    except FileNotFoundError:
        return None
