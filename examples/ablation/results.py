"""Read the errors of the values from the logs of their training and show them as a table."""

from dataclasses import dataclass
from pathlib import Path

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
    """From what fairseq-train printed in its JSON format."""
    last = last_validation(log)
    return Result(
        cell,
        error=last["value_mae"],
        error_of_mean=last["value_mae_of_mean"],
        correlation=last["value_pearson"],
    )


def table(results: list[Result]) -> str:
    """The results as text, one line per cell."""
    head = (
        f"{'encoder reads':<16}{'value of':<18}{'criterion':<11}{'error':>8}{'of mean':>10}"
        f"{'ratio':>8}{'correlation':>13}"
    )
    lines = [
        f"{result.cell.encoder_input:<16}"
        f"{'every prefix' if result.cell.positions == 'every' else 'finished samples':<18}"
        f"{result.cell.criterion:<11}"
        f"{result.error:>8.4f}{result.error_of_mean:>10.4f}"
        f"{result.error / result.error_of_mean:>8.3f}{result.correlation:>13.3f}"
        for result in results
    ]
    return "\n".join([head, "-" * len(head), *lines])
