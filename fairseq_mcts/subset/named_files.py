"""Options that name files, as far as results depend on them: by the files' content."""

import re
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from fairseq_mcts.data.files import by_content, digest_of_files


def with_contents(part: Any) -> Any:
    """The options of a BPE or a tokenizer; files that they name by their content."""
    if part is None:
        return None
    options = OmegaConf.to_container(part, resolve=True)
    assert isinstance(options, dict)
    named = {str(name): value for name, value in options.items()}
    return {name: plain(value) for name, value in by_content(named).items()}


def named_files(spec: str) -> list[str]:
    """Digests of the files and folders that the specification of a metric names."""
    digests = []
    for part in re.split("[=,]", spec):
        path = Path(part)
        if path.is_file():
            digests.append(digest_of_files([path]))
        elif path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
            digests.append(digest_of_files(files))
    return digests


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
