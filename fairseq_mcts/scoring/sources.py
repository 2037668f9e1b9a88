"""How the source of a sentence reaches a fairseq scorer.

`fairseq-generate` gives a scorer the reference and the hypothesis, never the source. But it first
hands each batch to `task.inference_step` and then scores that batch's sentences one by one in the
same order. So the task announces the sources of a batch before it decodes it, and a scorer that
compares with the source takes one per sentence.
"""

from collections.abc import Iterable, Iterator


class SourceFeed:
    """The sources of the batch that is being decoded, in the order of its rows."""

    def __init__(self) -> None:
        self.wanted = False  # whether a scorer of this process takes sources
        self._waiting: Iterator[str] = iter(())

    def open(self) -> None:
        """A scorer begins to listen; what was announced before is not meant for it."""
        self.wanted = True
        self._waiting = iter(())

    def announce(self, sources: Iterable[str]) -> None:
        """The next batch begins; sources that nobody took (for want of references) are dropped."""
        self._waiting = iter(sources)  # read only when a scorer takes them

    def take(self) -> str:
        """The source of the next sentence."""
        for source in self._waiting:
            return source
        raise RuntimeError(
            "this scorer compares with the source, but the task announced none for this "
            "sentence: decode with --task translation_mcts, or score the output afterwards "
            "with fairseq-mcts-score"
        )


SOURCES = SourceFeed()
"""The one feed of a process: fairseq gives task and scorer no other thing in common."""
