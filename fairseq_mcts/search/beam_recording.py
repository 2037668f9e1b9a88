"""Records the steps of beam searches, which forget what they drop."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fairseq_mcts.search.beam_kernels import (
    FINISHED,
    PROPOSING,
    RANKING,
    Beams,
    Rules,
    ranking_score,
)
from fairseq_mcts.search.recording import BeamProposal, SearchRecorder
from fairseq_mcts.search.tree import NO_NODE, Int32, Tree, prefix_tokens

Tokens = tuple[int, ...]


class _Compared(NamedTuple):
    logprob: float
    value: float | None
    slot: int = NO_NODE


@dataclass
class BeamRecording:
    """Looks at the beams before and after each call of the kernel.

    With values, everything that was evaluated is seen before it is ranked. Without, the kernel
    ranks at once, and what it dropped is not told.
    """

    recorder: SearchRecorder
    rules: Rules
    with_values: bool
    _ranking: dict[int, dict[Tokens, _Compared]] = field(default_factory=dict)  # by sentence
    _num_finished: dict[int, int] = field(default_factory=dict)

    def before_step(self, tree: Tree, beams: Beams, active: Int32) -> None:  # [a]
        """Notes the proposals that are about to be ranked."""
        phase = RANKING if self.with_values else PROPOSING
        self._ranking.clear()
        for sentence in active[beams.phase[active] == phase].tolist():
            if self.recorder.wants(sentence):
                self._num_finished[sentence] = int(beams.num_finished[sentence])
                compared = self._evaluated(tree, beams, sentence) if self.with_values else {}
                self._ranking[sentence] = compared

    def after_step(self, tree: Tree, beams: Beams) -> None:
        """Tells the recorder what became of them."""
        for sentence, compared in self._ranking.items():
            # when a sentence is finished, the room of its other beams has been given away
            going_on = 0 if beams.phase[sentence] == FINISHED else beams.num_beams[sentence]
            beam = beams.node[sentence, :going_on]
            before = self._num_finished[sentence]
            done = beams.finished_node[sentence, before : beams.num_finished[sentence]]
            ranks: dict[Tokens, int | None] = dict.fromkeys(prefix_tokens(tree, done))
            for rank, tokens in enumerate(prefix_tokens(tree, beam)):
                ranks[tokens] = rank
                logprob = float(beams.total[sentence, rank])
                compared.setdefault(tokens, _Compared(logprob, None))
            for tokens, node in zip(prefix_tokens(tree, done), done.tolist(), strict=True):
                compared.setdefault(tokens, _Compared(self._logprob(tree, node), None))
            proposals = [
                BeamProposal(
                    tokens=tokens,
                    logprob=one.logprob,
                    value=one.value,
                    score=float(
                        ranking_score(one.logprob, len(tokens), one.value or 0.0, self.rules)
                    ),
                    rank=ranks.get(tokens),
                    finished=tokens in ranks and ranks[tokens] is None,
                    slot=one.slot,
                )
                for tokens, one in compared.items()
            ]
            proposals.sort(key=lambda proposal: -proposal.score)
            self.recorder.see_beam(sentence, proposals)
        self._ranking.clear()

    def _evaluated(self, tree: Tree, beams: Beams, sentence: int) -> dict[Tokens, _Compared]:
        count = int(beams.num_proposals[sentence])
        nodes = beams.proposal_node[sentence, :count]
        known = np.flatnonzero(nodes != NO_NODE)
        totals = beams.proposal_total[sentence, known].tolist()
        values = tree.value[nodes[known]].tolist()
        of_prefixes = zip(totals, values, nodes[known].tolist(), strict=True)
        prefixes = prefix_tokens(tree, nodes[known])
        return {tokens: _Compared(*row) for tokens, row in zip(prefixes, of_prefixes, strict=True)}

    @staticmethod
    def _logprob(tree: Tree, node: int) -> float:
        total = 0.0
        while node != NO_NODE:
            total += float(tree.logprob[node])
            node = int(tree.prefixes["parent"][node])
        return total
