"""How many distinct samples are charged as much as a number of independent ones."""

from collections.abc import Sequence

import numpy as np

from fairseq_mcts.tuning.results import Trial


def charge(trial: Trial) -> float:
    """Network evaluations per output token, by the paper's accounting."""
    return trial.charged / trial.tokens


def equally_charged(
    budgets: Sequence[int],
    numbers: Sequence[int],  # of samples, by which both kinds were measured
    plain: Sequence[Trial],
    distinct: Sequence[Trial],
) -> list[int]:
    """Numbers of distinct samples for the charges of `budgets` independent ones.

    Independent samples are charged in proportion to their number. Of distinct ones the logarithm
    of the charge is taken as linear in that of the number, between what was measured and beyond.
    """
    wanted = np.log(budgets) + np.log(charge(plain[-1]) / numbers[-1])
    measured, logs = np.log([charge(one) for one in distinct]), np.log(numbers)
    slope = (logs[-1] - logs[-2]) / max(measured[-1] - measured[-2], 1e-6)
    found = np.interp(wanted, measured, logs) + slope * np.maximum(wanted - measured[-1], 0.0)
    return [max(round(number), 1) for number in np.exp(found).tolist()]
