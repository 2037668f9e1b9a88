"""What the stages of the study took, from their records."""

from examples.common.markdown import number, table
from examples.common.runner import read_record
from examples.multi30k.layout import Layout


def wall_times(layout: Layout) -> str:
    """A table of finished stages in the order in which they ended."""
    found = []
    for path in (layout.pair / "stages").glob("*.json"):
        record = read_record(path)
        if record.get("finished"):
            found.append((path.stat().st_mtime, path.stem, record["seconds"]))
    rows = [[stage, number(seconds / 60, 1)] for _, stage, seconds in sorted(found)]
    return table(["stage", "minutes"], rows)
