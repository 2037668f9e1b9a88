"""Tries settings out, part by part of the sentences, by whoever is idle."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_mcts.tuning.part_work import Decoded, Part
from fairseq_mcts.tuning.proposals import Outcome, Proposals
from fairseq_mcts.tuning.results import Trial, TrialStore
from fairseq_mcts.tuning.subject import Subject
from fairseq_mcts.work import Staff


@dataclass(frozen=True)
class Trying:
    """A sweep at work: workers translate and score; this process alone decides and writes."""

    subject: Subject
    store: TrialStore
    proposals: Proposals

    def work_through(self, staff: Staff[Part, Decoded]) -> None:
        """Tries out all that is proposed; without anything new, no worker is started."""
        part = self._first_part()
        if part is None:
            return
        workers = staff.workers()
        workers.give(part)
        while workers.is_busy():
            for finished, decoded in workers.receive(lambda rows: None):
                part = self._next_part(finished, decoded)
                if part is not None:
                    workers.give(part)
            while workers.idle() and (part := self._first_part()) is not None:
                workers.give(part)

    def _first_part(self) -> Part | None:
        """Of the next setting that nobody has tried yet."""
        while (proposal := self.proposals.next()) is not None:
            trial = self.store.read(self.subject.key(proposal.setting))
            if trial is None:
                return Part(proposal, 0, Decoded())
            self.proposals.finish(proposal, Outcome(trial, known=True))
        return None

    def _next_part(self, part: Part, decoded: Decoded) -> Part | None:
        """Of the same setting, if there is one and it is worth it."""
        parts = part.number + 1
        if parts < self.subject.parts:
            score = decoded.scores[self.subject.judge.name]
            if self.proposals.goes_on(part.proposal, parts, score):
                return Part(part.proposal, parts, decoded)
            outcome = Outcome(None, parts=parts, score=score)
        else:
            trial = self._trial(part, decoded)
            self.store.write(self.subject.key(part.proposal.setting), trial)
            outcome = Outcome(trial)
        self.proposals.finish(part.proposal, outcome)
        return None

    def _trial(self, part: Part, decoded: Decoded) -> Trial:
        return Trial(
            flags=part.proposal.setting.flags(),
            scores=decoded.scores,
            signatures={metric.name: metric.signature() for metric in self.subject.metrics},
            hypotheses=[decoded.found[row] for row in sorted(decoded.found)],
            tokens=decoded.tokens,
            charged=decoded.charged,
            made=decoded.made,
            seconds=round(decoded.seconds, 2),
            value=_mean(decoded.values),
        )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
