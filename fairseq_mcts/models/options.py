"""Options as fairseq reads them off configuration classes, and those of every value head."""

# fairseq reads these annotations and understands `Optional` only.

from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.dataclass import FairseqDataclass


def option(default: Any, help: str) -> Any:
    """The field of a configuration class that becomes a flag."""
    return field(default=default, metadata={"help": help})


@dataclass
class ValueHeadOptions(FairseqDataclass):  # type: ignore[misc]
    """Part of the options of every architecture with a value."""

    value_min: Optional[float] = option(
        None,
        "lower end of the buckets' range (default: that of the metric's scores if they have one, "
        "else the least training score)",
    )
    value_max: Optional[float] = option(
        None,
        "upper end of the buckets' range (default: that of the metric's scores if they have one, "
        "else the greatest training score)",
    )
    value_buckets: int = option(500, "number of buckets of the value head")
