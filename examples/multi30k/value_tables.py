"""The errors of values on the validation data, from the logs of their training."""

from pathlib import Path

from examples.common.runner import read_record
from examples.common.training_log import last_validation
from examples.multi30k import paper
from examples.multi30k.layout import METRICS, Layout
from examples.multi30k.markdown import NOTHING, number, table
from examples.multi30k.study import MAIN_MODELS
from examples.multi30k.values import CELLS, ValueModel, cheating, dual, hybrid, on_samples


def quality(layout: Layout, model: ValueModel) -> dict[str, float]:
    """What the last validation of a model reports; empty until its training is finished."""
    stages: Path = layout.pair / "stages"
    if not read_record(stages / f"{model.name}.json").get("finished"):
        return {}
    return last_validation(stages / f"{model.name}.log")


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
    models = [MAIN_MODELS["mlbertscore"], *(dual(metric) for metric in reversed(METRICS))]
    models += [hybrid(metric) for metric in ("bleu", "bertscore")]
    models += [on_samples(dual("bleu")), on_samples(hybrid("bleu"))]
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
