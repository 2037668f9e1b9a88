"""How many sentences of a batch are finished while it is searched."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from fairseq_mcts.progress import progress_bar
from fairseq_mcts.search import Decoder, Run
from fairseq_mcts.search.driver import Search
from fairseq_mcts.search.evaluator import Requests
from fairseq_mcts.search.results import Hypothesis
from fairseq_mcts.search.scorer import Candidate, Comparison, Scorer
from fairseq_mcts.search.tree import Float64

#: is told how many further sentences are finished
Finished = Callable[[int], object]
#: is asked at the beginning of a batch of so many sentences
BatchProgress = Callable[[int], AbstractContextManager[Finished]]

_SILENT_SECONDS = 5.0  # shorter batches show nothing
_COMPARED_AT_ONCE = 8  # sentences whose candidates are compared before something is told


@contextmanager
def batch_bar(sentences: int) -> Iterator[Finished]:
    """Shows the progress of a batch that takes long, beside what the command shows of batches."""
    with progress_bar(
        "this batch", sentences, unit="sentences", silent=_SILENT_SECONDS, leave=False
    ) as bar:
        yield bar.update


@contextmanager
def counting(decoder: Decoder[Any], finished: Finished) -> Iterator[Decoder[Any]]:
    """The decoder, whose search tells how many sentences are finished.

    Where finished sentences are compared with one another afterwards, that is half of the way. A
    search that breaks off takes back what it has told.
    """
    count = _Count(finished, steps=2 if decoder.reranks else 1)
    try:
        yield cast(Decoder[Any], _WatchedDecoder(decoder, count))
    except BaseException:
        count.tell(0)
        raise


class _Count:
    """Of sentences, each of which is finished after one step or two."""

    def __init__(self, finished: Finished, steps: int) -> None:
        self._finished = finished
        self._steps = steps
        self._told = 0

    def tell(self, done: int) -> None:
        """So many steps have been done, of all sentences together."""
        finished = done // self._steps
        if finished != self._told:
            self._finished(finished - self._told)
            self._told = finished


class _WatchedDecoder:
    """A decoder that is like another, but for its search."""

    def __init__(self, decoder: Decoder[Any], count: _Count) -> None:
        self._decoder = decoder
        self._count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)

    def search(self, run: Run) -> "_WatchedSearch":
        return _WatchedSearch(self._decoder.search(run), self._count)

    def rerank(
        self, finished: list[list[Hypothesis]], scorer: Scorer | None
    ) -> list[list[Hypothesis]]:
        if scorer is not None:
            scorer = cast(Scorer, _WatchedScorer(scorer, self._count, len(finished)))
        ranked = self._decoder.rerank(finished, scorer)
        self._count.tell(2 * len(finished))
        return ranked


class _WatchedSearch:
    """A search that is like another, and counts sentences that are finished."""

    def __init__(self, search: Search, count: _Count) -> None:
        self._search = search
        self._count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._search, name)

    def advance(self) -> tuple[Requests, Sequence[Candidate]]:
        self._count.tell(sum(map(bool, self._search.results())))
        return self._search.advance()

    def results(self) -> list[list[Hypothesis]]:
        results = self._search.results()
        self._count.tell(len(results))  # whoever asks has come to the end
        return results


class _WatchedScorer:
    """A scorer that is like another, and counts sentences whose candidates it has compared."""

    def __init__(self, scorer: Scorer, count: _Count, searched: int) -> None:
        self._scorer = scorer
        self._count = count
        self._searched = searched
        self._compared: set[int] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def compare(self, comparisons: Sequence[Comparison]) -> list[Float64]:
        found: list[Float64] = []
        for begin in range(0, len(comparisons), _COMPARED_AT_ONCE):
            group = comparisons[begin : begin + _COMPARED_AT_ONCE]
            found += self._scorer.compare(group)
            # pruning compares a sentence several times: the first time is most of it
            self._compared.update(one.hypotheses[0].sentence for one in group)
            self._count.tell(self._searched + len(self._compared))
        return found
