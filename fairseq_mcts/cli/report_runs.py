"""The files of a decoding: what fairseq-generate wrote, and what was recorded beside it."""

from pathlib import Path

from fairseq_mcts.cli.systems import split_name
from fairseq_mcts.pictures.record_file import Record, read_records


def resolve_run(argument: str) -> str:
    """`[NAME=]FOLDER` as `[NAME=]FILE`: the one output of fairseq-generate in it."""
    name, path = split_name(argument)
    if not Path(path).is_dir():
        return argument
    found = sorted(Path(path).glob("generate-*.txt"))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise ValueError(f"RUN {path}: expected one generate-*.txt in it, found {names}")
    return f"{name}={found[0]}" if name else str(found[0])


def find_records(output: Path) -> dict[int, Record]:
    """The recorded searches in the folder of a fairseq-generate output, by sentence.

    A folder of fairseq-generate holds one run; beside other files records could be anyone's.
    """
    if not output.name.startswith("generate-"):
        return {}
    files = sorted((*output.parent.glob("*.jsonl"), *output.parent.glob("*.jsonl.gz")))
    records: dict[int, Record] = {}
    for file in files:
        records.update(read_records(file))
    return records
