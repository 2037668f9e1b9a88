"""What a search tells somebody who wants to show it token by token.

Whole trees with the order of their simulations, the beams of every step, all samples: more than
results need, so it is only kept where a `Run` has a recorder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fairseq_mcts.search.results import Hypothesis
from fairseq_mcts.search.snapshot import TreeSnapshot
from fairseq_mcts.search.tree import NO_NODE


@dataclass(frozen=True)
class BeamProposal:
    """A prefix that was compared with others of its length."""

    tokens: tuple[int, ...]
    logprob: float  # of the prefix, as the search weighs it
    value: float | None  # the network's, where the search reads it
    score: float  # what proposals are ranked by
    rank: int | None  # its place among the beams that go on, from 0; None: finished or dropped
    finished: bool  # kept as a whole sentence
    slot: int = NO_NODE  # of the prefix in the prefix tree, where its value was read


class SearchRecorder(Protocol):
    """Takes the searches of the sentences that it wants, as they proceed."""

    def wants(self, sentence: int) -> bool:
        """Whether to record the search for `sentence`."""
        ...

    def see_tree(self, tree: TreeSnapshot) -> None:
        """The search tree of an output token."""
        ...

    def see_beam(self, sentence: int, proposals: Sequence[BeamProposal]) -> None:
        """A step of beam search: everything that was compared, best first."""
        ...

    def see_samples(self, sentence: int, samples: Sequence[Hypothesis]) -> None:
        """All samples of a sentence in the order drawn; their values are what they rank by."""
        ...

    def see_ranking(self, sentence: int, ranked: Sequence[Hypothesis]) -> None:
        """What a decoder that ranks finished sentences itself made of them, best first."""
        ...
