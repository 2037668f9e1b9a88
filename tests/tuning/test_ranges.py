"""Ranges of numbers, and what a sampler is told to try."""

import pytest

from fairseq_mcts.tuning.grid import extremes, grid, parse_options
from fairseq_mcts.tuning.ranges import Range

KNOWN = {"beam": [], "lenpen": [], "mcts-backup": ["mean", "max", "power"]}
WHOLE = {"beam"}


def test_ranges_are_read() -> None:
    space = parse_options(["beam=2..12", "lenpen=0.5..8:log", "mcts-backup"], KNOWN, WHOLE)
    assert space == {
        "beam": Range(2, 12, whole=True),
        "lenpen": Range(0.5, 8, whole=False, log=True),
        "mcts-backup": ["mean", "max", "power"],
    }
    assert parse_options(["lenpen=0.2..1:0.2"], KNOWN, WHOLE) == {
        "lenpen": Range(0.2, 1, whole=False, step=0.2)
    }


def test_numbers_are_short_enough_to_read() -> None:
    assert Range(0.1, 9, whole=False).as_text(1 / 3) == "0.3333"
    assert Range(1, 99999, whole=True).as_text(12345) == "12345"


def test_what_is_checked_holds_every_value() -> None:
    space = parse_options(["beam=2..12", "mcts-backup"], KNOWN, WHOLE)
    assert [str(setting) for setting in extremes(space)] == [
        "--beam 2 --mcts-backup mean",
        "--beam 12 --mcts-backup max",
        "--beam 12 --mcts-backup power",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("beam=0.5..3", "--sweep beam=0.5..3: '0.5' is not a whole number"),
        ("lenpen=a..3", "--sweep lenpen=a..3: 'a' is not a number"),
        ("lenpen=3..1", "--sweep lenpen=3..1: 3 is not below 1"),
        ("lenpen=0..1:log", "a range by :log begins above 0"),
        ("lenpen=0..1:2", "the step 2 does not fit between 0 and 1"),
        ("lenpen=0..inf", "inf is no end of a range"),
    ],
)
def test_what_cannot_be_drawn_from_is_named(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_options([text], KNOWN, WHOLE)


def test_a_grid_takes_no_ranges() -> None:
    with pytest.raises(ValueError, match=r"--sweep beam=2..12: a grid tries values one by one"):
        grid(parse_options(["beam=2..12"], KNOWN, WHOLE))
