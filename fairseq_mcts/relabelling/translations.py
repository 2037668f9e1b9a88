"""Rows that a decoder of the project makes: greedy translations and samples."""

from dataclasses import dataclass

from fairseq_mcts.generators.search_generator import SearchGenerator
from fairseq_mcts.generators.search_metric import likelihood
from fairseq_mcts.relabelling.rows import Batch, LabelledRow


@dataclass(frozen=True)
class Translations:
    """All hypotheses of a generator, as they come."""

    generator: SearchGenerator
    method: str  # of rows.METHODS
    finished_only: bool = False  # whether scores are those of the finished sentences alone

    def make(self, batch: Batch) -> list[list[LabelledRow]]:
        """See `rows.RowMaker`."""
        self.generator.at_once = batch.at_once
        return [
            [
                LabelledRow(
                    one.tokens,
                    self.method,
                    first=len(one.tokens) if self.finished_only else 0,
                    likelihood=likelihood(one.logprob, len(one.tokens)),
                )
                for one in hypotheses
            ]
            for hypotheses in self.generator.translate(batch.sources)
        ]
