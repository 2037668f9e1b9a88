"""Grown completions of batches of sources, through the project's own evaluator."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from fairseq_mcts.decoding.member import make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.decoding.vocabulary import Vocabulary
from fairseq_mcts.generators.failures import FailedSentenceError, Failure, Retrying
from fairseq_mcts.generators.search_generator import SearchGenerator, sentence_seed
from fairseq_mcts.generators.search_metric import SearchMetric
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.models.network import Network
from fairseq_mcts.relabelling.completion_search import (
    CompletionSearch,
    Growth,
    Translation,
)
from fairseq_mcts.relabelling.lengths import Lengths
from fairseq_mcts.relabelling.rows import Batch, LabelledRow, Tokens
from fairseq_mcts.search.compiled import announce_compilation
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.driver import drive
from fairseq_mcts.search.scorer import Scorer

_MIN_LEN = 1  # fairseq's: no translation is empty


class Completions:
    """Makes rows by growing completions, also of what searches find, if there are any."""

    def __init__(
        self,
        models: Sequence[Network],
        dictionary: Any,
        *,
        growth: Growth,
        lengths: Lengths,
        seed: int,
        metric: Metric,
        target_text: TextDecoder,
        searches: Sequence[SearchGenerator] = (),
    ) -> None:
        eos, pad = dictionary.eos(), dictionary.pad()
        self._vocabulary = Vocabulary(eos, pad, (pad,))
        self._members = make_members(list(models), [], self._vocabulary)
        self._device = next(models[0].parameters()).device
        self._growth = growth
        self._lengths = lengths
        self._seed = seed
        self._metric = metric
        self._target_text = target_text
        self._searches = searches
        self._retrying: Retrying[list[LabelledRow]] = Retrying()
        announce_compilation()

    def make(self, batch: Batch) -> list[list[LabelledRow]]:
        """See `rows.RowMaker`."""
        found: list[dict[Tokens, Translation]] = [{} for _ in batch.sources]
        for search in self._searches:
            search.at_once = batch.at_once
            for known, hypotheses in zip(found, search.translate(batch.sources), strict=True):
                for one in hypotheses:
                    translation = Translation(one.tokens, one.positional_logprobs)
                    known.setdefault(one.tokens, translation)
        return self._grown(batch, [list(known.values()) for known in found])

    def _grown(
        self, batch: Batch, found: Sequence[Sequence[Translation]]
    ) -> list[list[LabelledRow]]:
        """In smaller batches if memory is too little for all; results are the same."""

        def grow(places: Sequence[int], *, ahead: bool) -> list[list[LabelledRow]]:
            sources = [batch.sources[place] for place in places]
            others = [batch.others[place] for place in places]
            part = Batch(sources, others, batch.at_once)
            return self._grow(part, [found[place] for place in places])

        def failed(place: int, failure: Failure) -> list[LabelledRow]:
            raise FailedSentenceError(failure.reason, place, failure.reason)

        return self._retrying.run(len(batch.sources), grow, failed)

    def _grow(
        self, batch: Batch, found: Sequence[Sequence[Translation]]
    ) -> list[list[LabelledRow]]:
        sources: list[Tensor] = [source.to(self._device) for source in batch.sources]
        evaluator = NetworkEvaluator(self._members, self._vocabulary)
        evaluator.begin(sources)
        constraints = make_constraints(
            len(sources),
            eos=self._vocabulary.eos,
            max_len=[self._lengths.limit(len(source)) for source in sources],
            min_len=_MIN_LEN,
            forbidden=self._vocabulary.forbidden,
        )
        seeds = [sentence_seed(self._seed, source) for source in sources]
        search = CompletionSearch(
            constraints,
            self._growth,
            seeds,
            found,
            batch.at_once,
            with_logprobs=self._metric.reads_likelihood,
        )
        metric = SearchMetric(self._metric, self._target_text, batch.others, "--metric")
        drive(search, evaluator, Scorer(metric))
        return search.labelled_rows()
