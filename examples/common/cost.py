"""What decoding cost, as fairseq-generate and the plugin tell at the end of a run."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What a decoder took for the whole test set."""

    seconds: float
    charged: float
    """Network evaluations per output token by the paper's accounting."""
    made: float
    """Those that had to be made."""


def read_cost(log: Path) -> Cost:
    """Read what fairseq-generate and the plugin say at the end of a run."""
    text = log.read_text(encoding="utf-8")
    time = re.search(r"Translated [\d,]+ sentences .* in ([\d.]+)s", text)
    evaluations = re.search(
        r" ([\d,]+) tokens; network evaluations: ([\d,]+) charged, ([\d,]+) made", text
    )
    if time is None or evaluations is None:
        raise ValueError(f"{log}: fairseq-generate reports no time or no evaluations")
    tokens, charged, made = (int(number.replace(",", "")) for number in evaluations.groups())
    return Cost(float(time.group(1)), charged / tokens, made / tokens)
