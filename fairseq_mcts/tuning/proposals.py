"""Where settings to be tried come from: a grid, here; an optuna study, in `study.py`."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.results import Trial


class Proposal(NamedTuple):
    """A setting that is to be tried."""

    number: int
    setting: Setting


class Outcome(NamedTuple):
    """What came of a proposal."""

    trial: Trial | None  # None: given up
    known: bool = False  # whether it had been found out before
    parts: int = 0  # that were decoded, if it was given up
    score: float = 0.0  # by `objectives.judge` on those


class Proposals(Protocol):
    """Hands settings out, to several workers too, and takes note of what came of them."""

    def next(self) -> Proposal | None:
        """None: there is nothing to be tried, unless one that is under way comes to nothing."""
        ...

    def goes_on(self, proposal: Proposal, part: int, score: float) -> bool:
        """Whether it is worth the rest of the sentences, by its score on the first parts."""
        ...

    def finish(self, proposal: Proposal, outcome: Outcome) -> None: ...


class GridProposals:
    """All settings of a grid, in order."""

    def __init__(self, settings: Sequence[Setting]) -> None:
        self._waiting = deque(Proposal(*one) for one in enumerate(settings))
        self._trials: dict[int, Trial] = {}

    def next(self) -> Proposal | None:
        return self._waiting.popleft() if self._waiting else None

    def goes_on(self, proposal: Proposal, part: int, score: float) -> bool:
        return True

    def finish(self, proposal: Proposal, outcome: Outcome) -> None:
        assert outcome.trial is not None
        self._trials[proposal.number] = outcome.trial

    def trials(self) -> list[Trial]:
        """In the order of the settings."""
        return [self._trials[number] for number in sorted(self._trials)]
