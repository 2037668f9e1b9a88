"""Read what fairseq-train printed in its JSON format."""

import json
import re
from pathlib import Path

#: makes fairseq-train print what is read here
JSON_LOG = ("--log-format", "json")
#: how far it is, for `Stage.progress`
PROGRESS = r'"num_updates": "(?P<done>\d+)"'


def last_validation(log: Path) -> dict[str, float]:
    """Read the numbers of the last validation, without the prefix that names the data."""
    found = re.findall(r"\| valid \| (\{.*\})", log.read_text(encoding="utf-8"))
    if not found:
        raise ValueError(f"{log}: fairseq-train reports no validation")
    numbers: dict[str, str] = json.loads(found[-1])
    return {name.removeprefix("valid_"): float(number) for name, number in numbers.items()}
