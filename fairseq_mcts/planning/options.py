"""The options of fairseq-mcts-plan, beside those of the work itself."""

import argparse
from pathlib import Path

from fairseq_mcts.work.options import add_threads_option

PROGRAM = "fairseq-mcts-plan"
DECODING, RELABELLING = "generate", "relabel"


def add_plan_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """What is planned."""
    group = parser.add_argument_group("plan")
    group.add_argument(
        "--work",
        choices=(DECODING, RELABELLING),
        default=DECODING,
        help="translating, or relabelling, which has options of its own (default: %(default)s)",
    )
    group.add_argument(
        "--sentences",
        default="1e6",
        metavar="N,…",
        help="sizes of the corpus, for example 41e6,2e6 (default: %(default)s)",
    )
    group.add_argument(
        "--workers",
        default="1,2",
        metavar="N,…",
        help="numbers of processes; as many as this machine has cores for are tried, more count as "
        "further machines like it (default: %(default)s)",
    )
    add_threads_option(group, "threads of each worker")
    group.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="that are spent on measuring, once networks are loaded (default: %(default)s)",
    )
    group.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    return group


def whole_numbers(flag: str, text: str) -> list[int]:
    """Reads 1000,41e6; refuses what is no whole number or below 1."""
    found = []
    for part in text.split(","):
        try:
            number = float(part)
        except ValueError:
            number = 0.0
        if number < 1 or number != int(number):
            raise ValueError(f"{flag} {text}: expected whole numbers from 1 on, as in 1000,41e6")
        found.append(int(number))
    return found
