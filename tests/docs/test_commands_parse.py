"""The long commands of pages that no test can afford to run are at least understood."""

import re
import shlex
from argparse import ArgumentParser
from collections.abc import Callable

import pytest

from fairseq_mcts.planning import parser as planning
from fairseq_mcts.register import register
from fairseq_mcts.subset.options import check_options
from fairseq_mcts.subset.parsing import parse
from fairseq_mcts.tuning import parser as tuning
from fairseq_mcts.tuning.grid import extremes, parse_options
from fairseq_mcts.tuning.sweepable import sweepable, whole_number_options
from tests.docs.pages import REPOSITORY

register()


def commands(page: str, program: str) -> list[list[str]]:
    """The commands of a page, each without the program's name."""
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(rf"^{program} ((?:.*\\\n)*.*)$", text, re.M)
    return [shlex.split(command.replace("\\\n", " ")) for command in found]


@pytest.mark.parametrize(
    ("page", "program", "make_parser", "least"),
    [
        ("tuning.md", tuning.PROGRAM, tuning.make_parser, 3),
        ("planning.md", planning.PROGRAM, planning.make_parser, 1),
    ],
)
def test_options_are_those_of_the_command(
    page: str, program: str, make_parser: Callable[[], ArgumentParser], least: int
) -> None:
    found = commands(page, program)
    assert len(found) >= least
    for command in found:
        options, cfg = parse(make_parser, command)
        check_options(cfg)
        if hasattr(options, "sweep"):
            space = parse_options(options.sweep, sweepable(), whole_number_options())
            for setting in extremes(space):
                check_options(parse(make_parser, [*command, *setting.flags()])[1])
