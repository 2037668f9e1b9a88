"""A decoder in one class: the likeliest of the sentences that an MCTS has met, and long ones."""

from dataclasses import dataclass, replace

from fairseq_mcts.search import Hypothesis, Scorer, option, register_decoder
from fairseq_mcts.search.decoders.mcts import MctsDecoder, MctsOptions
from fairseq_mcts.search.options import finite


@dataclass(frozen=True, kw_only=True)
class LengthBonusOptions(MctsOptions):
    """All options of MCTS, and one more."""

    bonus: float = option(
        0.1, "what each token adds to the log-likelihood per token", check=finite, grid=(0, 0.1, 1)
    )


@register_decoder("length_bonus")
class LengthBonus(MctsDecoder):
    """MCTS that returns the likeliest finished sentence of its trees, with a bonus for length.

    The trees are those of MCTS; only which of their finished sentences is returned differs, so
    everything else is inherited: options, presets, cost, what it needs.
    """

    Options = LengthBonusOptions
    options: LengthBonusOptions

    def rerank(
        self, finished: list[list[Hypothesis]], scorer: Scorer | None
    ) -> list[list[Hypothesis]]:
        return [self._ranked(of_sentence) for of_sentence in finished]

    def _ranked(self, finished: list[Hypothesis]) -> list[Hypothesis]:
        ranked = [replace(one, score=self._score(one)) for one in finished]
        return sorted(ranked, key=lambda one: -one.score)  # equal ones stay in their order

    def _score(self, hypothesis: Hypothesis) -> float:
        length = len(hypothesis.tokens)
        return hypothesis.logprob / length + self.options.bonus * length
