"""What is to be done (`Work`), and where it is done (`Engine`); neither knows the other."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from fairseq_mcts.work.chunk import Arrays, Chunk

#: is told how many further rows are done; less than 0 if a worker was lost on the way
Advance = Callable[[int], object]


class Maker(Protocol):
    """A worker at work: networks and metric are loaded."""

    def make(self, chunk: Chunk, advance: Advance) -> Arrays:
        """What becomes of a chunk: the same in every worker and in any order."""
        ...


class Work(Protocol):
    """Is pickled and sent to workers, so it holds options and paths, no networks."""

    def open(self) -> Maker:
        """Loads everything, once in a worker; refuses what can't be done."""
        ...


class Made(NamedTuple):
    """A chunk that a worker has finished."""

    chunk: Chunk
    arrays: Arrays


class Workers(Protocol):
    """Workers that wait for chunks."""

    def make(self, chunks: Sequence[Chunk], advance: Advance) -> Iterator[Made]:
        """Makes all chunks, and gives each as it is finished.

        Workers hold no more than a chunk or two each: whoever reads slowly makes them wait.
        """
        ...


class Engine(Protocol):
    """A place where work is done."""

    def start(self, work: Work) -> AbstractContextManager[Workers]:
        """Workers, the first of which has opened the work: it raises what `open` refuses."""
        ...
