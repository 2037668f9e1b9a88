"""What a file of fairseq-generate says beside its translations."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_mcts.metrics.system_output import read_lines

_NUMBERED = re.compile(r"^([PVMQ])-(\d+)\t(.*)$")
# "Generate test with search=mcts: BLEU4 = …" or "… with beam=5: …"
_LAST_LINE = re.compile(r"^Generate \S+ with (search|beam)=([^\s:]+):")


@dataclass
class Generated:
    """Of each sentence, by its number, what the file says of its first hypothesis."""

    search: str = ""  # the decoder's name; empty: not known
    beam: int = 0  # of fairseq's own search
    logprobs: dict[int, list[float]] = field(default_factory=dict)  # base 2, one a token
    values: dict[int, float] = field(default_factory=dict)  # the network's
    metric: dict[int, float] = field(default_factory=dict)  # that a search went by
    charged: dict[int, int] = field(default_factory=dict)  # network evaluations
    made: dict[int, int] = field(default_factory=dict)

    @property
    def counts_are_estimates(self) -> bool:
        """Whether nobody counted, as in fairseq's own search, and a beam is charged k a token."""
        return not self.charged and self.beam > 0

    def charged_to(self, sentence: int) -> int | None:
        """Network evaluations of a sentence, by the paper's accounting; None: not known."""
        if self.counts_are_estimates and sentence in self.logprobs:
            return self.beam * len(self.logprobs[sentence])
        return self.charged.get(sentence)

    def likelihood(self, sentence: int) -> float | None:
        """The geometric mean of the probabilities of a sentence's tokens."""
        logprobs = self.logprobs.get(sentence)
        return 2 ** (sum(logprobs) / len(logprobs)) if logprobs else None


def read_generated(path: Path) -> Generated:
    """Reads what is there; of plain text, nothing is."""
    found = Generated()
    for place, line in enumerate(read_lines(path), start=1):
        last = _LAST_LINE.match(line)
        if last is not None:
            found.search = "beam" if last[1] == "beam" else last[2]
            found.beam = int(last[2]) if last[1] == "beam" else 0
        match = _NUMBERED.match(line)
        if match is None:
            continue
        letter, number, rest = match[1], int(match[2]), match[3]
        try:
            _take(found, letter, number, rest)
        except ValueError as error:
            raise ValueError(f"{path}, line {place}: {error}") from None
    return found


def _take(found: Generated, letter: str, number: int, rest: str) -> None:
    if letter == "P":
        found.logprobs.setdefault(number, [float(one) for one in rest.split()])
    elif letter == "V":
        found.values.setdefault(number, float(rest))
    elif letter == "M":
        found.metric.setdefault(number, float(rest))
    elif number not in found.charged:
        charged, made = rest.split("\t")
        found.charged[number], found.made[number] = int(charged), int(made)
