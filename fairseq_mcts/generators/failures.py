"""Sentences that can't be searched: the rest of their batch goes on, and they are answered by name.

A batch that needs too much memory is halved. A sentence for which a network or a metric gives no
number, or that does not fit into memory by itself, has failed: the run stops with its name, or with
--skip-failed answers it by the best finished sentence that its search had met, else by greedy
search, else by an empty translation, and says so.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import torch

from fairseq_mcts.decoding.network_evaluator import SearchMemoryError
from fairseq_mcts.search.faults import FaultySentenceError
from fairseq_mcts.search.results import Evaluations, Hypothesis

BEST_SO_FAR = "the best finished hypothesis so far"
GREEDY = "greedy search"
EMPTY = "an empty translation"

Result = TypeVar("Result")


class FailedSentenceError(ValueError):
    """A sentence that has no translation; the message names it and says why."""

    def __init__(self, message: str, place: int, reason: str) -> None:
        super().__init__(message)
        self.place = place  # among the sentences that were given
        self.reason = reason


class Failure(NamedTuple):
    """Why the search of a sentence has failed."""

    reason: str
    best_so_far: Hypothesis | None = None


class Answer(NamedTuple):
    """What is said of a sentence."""

    hypotheses: list[Hypothesis]
    failed: str | None = None  # why its search has failed, and what stands in its place


@dataclass(frozen=True)
class Rescuer:
    """Answers a sentence whose search has failed."""

    skips: bool  # --skip-failed; otherwise the run stops
    greedy: Callable[[int], Hypothesis]  # the greedy translation of a sentence, by its place
    eos: int

    def answer(self, place: int, name: str, failure: Failure) -> Answer:
        """`name` is how the output calls the sentence."""
        if not self.skips:
            message = f"{name}: {failure.reason}; --skip-failed goes on with the other sentences"
            raise FailedSentenceError(message, place, failure.reason)
        found, how = failure.best_so_far, BEST_SO_FAR
        if found is None:
            found, how = self._greedy(place), GREEDY
        if found is None:
            found, how = empty_translation(self.eos), EMPTY
        return Answer([found], f"{failure.reason}; answered by {how}")

    def _greedy(self, place: int) -> Hypothesis | None:
        try:
            return self.greedy(place)
        except FailedSentenceError:
            return None


def empty_translation(eos: int) -> Hypothesis:
    """Stands where there is nothing to say; no probability is claimed for it."""
    impossible = -math.inf
    return Hypothesis((eos,), impossible, (impossible,), None, impossible, Evaluations(0, 0))


class Search(Protocol[Result]):
    """Finds the results of some sentences, by their places among all."""

    def __call__(self, places: Sequence[int], /, *, ahead: bool) -> list[Result]:
        """`ahead`: prefixes may be looked at before it is known that they are needed."""
        ...


class Retrying(Generic[Result]):
    """Searches sentences in batches that fit; those that fail are set aside.

    No result depends on the batch that a sentence was in, so neither does one on the failures
    beside it.
    """

    def __init__(self) -> None:
        self._largest_batch: int | None = None  # once a larger one did not fit

    def run(
        self,
        count: int,
        search: Search[Result],
        failed: Callable[[int, Failure], Result],
    ) -> list[Result]:
        """The results of sentences 0 … `count` - 1, which `search` finds, or `failed` makes up."""
        results: dict[int, Result] = {}
        waiting = list(range(count))
        while waiting:
            size = min(len(waiting), self._largest_batch or len(waiting))
            batch = waiting[:size]
            tried = _attempt(search, batch, ahead=True)
            if isinstance(tried, _TooLarge) and size > 1:
                self._largest_batch = size // 2
                continue
            if isinstance(tried, _TooLarge):
                results[batch[0]] = failed(batch[0], Failure(tried.reason))
                self._largest_batch = None  # it was this sentence's size, not the batch's
            elif isinstance(tried, _Faulty):
                for number in (batch[place] for place in tried.places):
                    results[number] = self._alone(number, search, failed)
            else:
                results.update(zip(batch, tried, strict=True))
            waiting = [number for number in waiting if number not in results]
        return [results[number] for number in range(count)]

    def _alone(
        self,
        number: int,
        search: Search[Result],
        failed: Callable[[int, Failure], Result],
    ) -> Result:
        """By itself, so that what becomes of a sentence does not depend on those beside it: in a
        batch the fault may have been in a prefix that was looked at ahead of need."""
        tried = _attempt(search, [number], ahead=False)
        if isinstance(tried, _TooLarge):
            return failed(number, Failure(tried.reason))
        if isinstance(tried, _Faulty):
            return failed(number, tried.first)
        return tried[0]


@dataclass(frozen=True)
class _TooLarge:
    reason: str


@dataclass(frozen=True)
class _Faulty:
    places: Sequence[int]  # in the batch
    first: Failure


def _attempt(
    search: Search[Result], batch: Sequence[int], *, ahead: bool
) -> list[Result] | _TooLarge | _Faulty:
    """What a search gives, or why it gives nothing.

    Errors end here: their tracebacks hold all the memory that the search has taken.
    """
    try:
        return search(batch, ahead=ahead)
    except FaultySentenceError as error:
        place, reason = next(iter(error.reasons.items()), (0, str(error)))
        first = Failure(reason, error.best_so_far.get(place))
        # where nobody knows which sentence it is, each is tried
        return _Faulty([*error.reasons] or range(len(batch)), first)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return _TooLarge(memory_reason(error))


#: how torch and its libraries say that memory is lacking, where they have no class for it
_NO_MEMORY = (
    "can't allocate memory",
    "not enough memory",
    "std::bad_alloc",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
)


def is_out_of_memory(error: Exception) -> bool:
    """Whether memory is what was lacking: torch says so of CPUs in words alone."""
    known = (MemoryError, SearchMemoryError, torch.cuda.OutOfMemoryError)
    return isinstance(error, known) or any(words in str(error) for words in _NO_MEMORY)


def memory_reason(error: Exception) -> str:
    """Which memory it was, in one line."""
    if isinstance(error, SearchMemoryError):
        return f"--search-memory is too little for a single sentence: {error}"
    what = str(error).strip().partition("\n")[0] or type(error).__name__
    return f"memory is too little for a single sentence: {what}"
