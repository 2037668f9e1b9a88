"""The files and functions that docs/architecture.md names are there."""

import re

from tests.docs.pages import REPOSITORY

PACKAGE = REPOSITORY / "fairseq_mcts"
TEXT = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))


def test_files() -> None:
    names = set(re.findall(r"`([\w/]+(?:\.py|/))`", TEXT)) - {"fairseq_mcts/"}
    assert len(names) > 30
    assert [name for name in sorted(names) if not (PACKAGE / name).exists()] == []


def test_functions_and_classes() -> None:
    """As in `function()`, `Class.method()` and, in the figures, Class.method()."""
    called = re.findall(r"\b(?:([A-Z]\w+)\.)?([a-z_]\w*)\(", TEXT)
    assert len(called) > 30
    missing = {name for _, name in called if not re.search(rf"\bdef {name}\(", SOURCES)}
    classes = {name for name, _ in called if name}
    missing |= {name for name in classes if not re.search(rf"^class {name}\b", SOURCES, re.M)}
    assert missing == set()
