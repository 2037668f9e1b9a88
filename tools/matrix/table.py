"""The outcomes as the table of docs/fairseq.md."""

from collections.abc import Iterable
from pathlib import Path

from tabulate import tabulate

from tools.matrix.trial import SHOWN, Outcome

BEGIN, END = "<!-- matrix: begin (make matrix) -->", "<!-- matrix: end -->"


def as_markdown(outcomes: Iterable[Outcome], untried: dict[str, str]) -> str:
    """A row for each environment, and why others were not tried."""
    rows = [
        [
            one.name,
            one.python,
            one.fairseq if "==" in one.fairseq else "checkout of --fairseq",
            *(one.versions.get(name, "") for name in SHOWN),
            ", ".join(one.changed) or ("none" if one.versions else ""),
            f"{len(one.searches)} decoders" if one.searches else "",
            one.tests,
            one.fault.partition(", see ")[0] or "works",  # the log is in the folder of --out
        ]
        for one in outcomes
    ]
    rows += [[name, *[""] * (len(SHOWN) + 5), f"not tried: {why}"] for name, why in untried.items()]
    titles = ["environment", "Python", "fairseq", *SHOWN]
    titles += ["packages changed by the install", "train, relabel, decode", "quick tests", "result"]
    return tabulate(rows, titles, tablefmt="github", disable_numparse=True)


def write_into(page: Path, table: str) -> None:
    """Replaces the table between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"--write {page}: has no line {BEGIN!r} followed by {END!r}")
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")
