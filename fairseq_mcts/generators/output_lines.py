"""Extra lines in the output of fairseq-generate and fairseq-interactive.

Both commands print a fixed set of lines per hypothesis and offer no hook. Their last one, the P
line, is printed right after the hypothesis' positional scores were read. So hypotheses notice that
they are being printed, and the commands' `print` says more once it has printed a P line:

    V-<id>  value of the finished sentence by the network
    M-<id>  metric of the finished sentence, where the search goes by the metric
    R-<id>  what the sentence's hypotheses are ranked by, where that is neither of the two
    N-<id>  visits of each token when it was chosen (MCTS)
    W-<id>  inclusion weight (samples without replacement)
    F-<id>  the search of the sentence failed: why, and what answers it (--skip-failed)
    X-<id>  a warning: the value has read the reference (--cheating-value)
    Q-<id>  network evaluations of the sentence: charged by the paper's rule, and made

In its last line fairseq-generate names a beam size, which tells nothing of a search: the search's
name stands there instead. fairseq's files stay as they are: `print` is only replaced in the
namespaces of the two commands.
"""

import builtins
import logging
import re
import sys
from collections.abc import Callable
from typing import Any

from fairseq_mcts.generators.statistics import DecodingStatistics
from fairseq_mcts.search.registry import decoder_class

logger = logging.getLogger(__name__)

_COMMANDS = ("fairseq_cli.generate", "fairseq_cli.interactive")
# how the messages begin that the commands log when the last sentence is done
_END_OF_RUN = ("Translated ", "Total time: ")


class PrintedHypothesis(dict[str, Any]):
    """A fairseq hypothesis that brings further output lines along."""

    being_printed: "PrintedHypothesis | None" = None  # one for all: the one read last

    def __init__(self, entries: dict[str, Any], lines: list[tuple[str, str]]) -> None:
        super().__init__(entries)
        self.lines = lines  # (letter, text)

    def __getitem__(self, key: str) -> Any:
        if key == "positional_scores":
            PrintedHypothesis.being_printed = self
        return super().__getitem__(key)


def _print(*args: Any, **options: Any) -> None:
    """`print` of the commands: behind a P line come the lines of the hypothesis."""
    text = str(args[0]) if args else ""
    if text.startswith("Generate ") and _summary.statistics is not None:
        search = _summary.statistics.search
        if not decoder_class(search).is_fairseqs_own:
            text = re.sub(r" with beam=\d+:", f" with search={search}:", text)
    builtins.print(*(text, *args[1:])[: len(args)], **options)
    if text.startswith("P-"):
        hypothesis, PrintedHypothesis.being_printed = PrintedHypothesis.being_printed, None
        if hypothesis is not None:
            number = text.partition("\t")[0].removeprefix("P-")
            for letter, line in hypothesis.lines:
                builtins.print(f"{letter}-{number}\t{line}", **options)


class _Summary(logging.Filter):
    """Logs the statistics, and warnings if there are any, when a command has come to its end."""

    def __init__(self) -> None:
        super().__init__()
        self.statistics: DecodingStatistics | None = None
        self.warnings: Callable[[], list[str]] = list

    def filter(self, record: logging.LogRecord) -> bool:
        if self.statistics is not None and record.getMessage().startswith(_END_OF_RUN):
            for line in self.statistics.summary():
                logger.info(line)
            for line in (*self.statistics.warnings(), *self.warnings()):
                logger.warning(line)
        return True


_summary = _Summary()


def install(statistics: DecodingStatistics, warnings: Callable[[], list[str]] = list) -> bool:
    """Makes fairseq's commands print extra lines, and end with the summary and the warnings.

    Whether one of them is there at all.
    """
    is_there = False
    for name in (*_COMMANDS, "__main__"):
        module = sys.modules.get(name)
        # otherwise not loaded, or a main program of the user's own
        if hasattr(module, "get_symbols_to_strip_from_output"):
            module.__dict__["print"] = _print
            is_there = True
    _summary.statistics = statistics
    _summary.warnings = warnings
    PrintedHypothesis.being_printed = None  # whoever read one before was no command of this run
    for name in _COMMANDS:
        logging.getLogger(name).addFilter(_summary)  # once, however often it is added
    return is_there
