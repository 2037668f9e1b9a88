"""Work in this very process."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fairseq_mcts.work.chunk import Chunk
from fairseq_mcts.work.engine import Advance, Made, Maker, Work, Workers


@dataclass(frozen=True)
class _ThisProcess:
    maker: Maker

    def make(self, chunks: Sequence[Chunk], advance: Advance) -> Iterator[Made]:
        for chunk in chunks:
            yield Made(chunk, self.maker.make(chunk, advance))


@dataclass(frozen=True)
class Here:
    """One worker: the command itself."""

    @contextmanager
    def start(self, work: Work) -> Iterator[Workers]:
        """See `engine.Engine`."""
        yield _ThisProcess(work.open())
