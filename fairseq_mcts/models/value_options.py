"""The options of a value head, whatever network it stands on."""

# fairseq reads these annotations and understands `Optional` only.

from dataclasses import dataclass, field
from typing import Optional

from fairseq.dataclass import FairseqDataclass


@dataclass
class ValueHeadOptions(FairseqDataclass):  # type: ignore[misc]
    """Part of the options of every architecture with a value."""

    value_min: Optional[float] = field(
        default=None,
        metadata={"help": "lower end of the buckets' range (default: least training score)"},
    )
    value_max: Optional[float] = field(
        default=None,
        metadata={"help": "upper end of the buckets' range (default: greatest training score)"},
    )
    value_buckets: int = field(
        default=500, metadata={"help": "number of buckets of the value head"}
    )
