"""Read the errors of the values from the logs of their training and show them as a table."""

from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from examples.ablation.plan import Cell
from examples.common.training_log import last_validation


@dataclass(frozen=True)
class Result:
    """The value of one cell on the validation data, at the end of its training."""

    cell: Cell
    error: float  # mean absolute error
    error_of_mean: float  # of always saying the mean score
    correlation: float


def read_result(cell: Cell, log: Path) -> Result:
    """Read the result of a cell from what fairseq-train printed in its JSON format."""
    last = last_validation(log)
    return Result(
        cell,
        error=last["value_mae"],
        error_of_mean=last["value_mae_of_mean"],
        correlation=last["value_pearson"],
    )


def table(results: list[Result]) -> str:
    """The results as text, one line per cell."""
    rows = [
        (
            result.cell.encoder_input,
            "every prefix" if result.cell.positions == "every" else "finished samples",
            result.cell.criterion,
            result.error,
            result.error_of_mean,
            result.error / result.error_of_mean,
            result.correlation,
        )
        for result in results
    ]
    head = ("encoder reads", "value of", "criterion", "error", "of mean", "ratio", "correlation")
    return tabulate(rows, head, floatfmt=("", "", "", ".4f", ".4f", ".3f", ".3f"))
