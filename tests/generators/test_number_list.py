"""Lists of numbers in options."""

import pytest

from fairseq_mcts.generators.number_list import parse_numbers, written


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("0", {0}), ("0,3,7-9", {0, 3, 7, 8, 9}), (" 4 , 2-2", {2, 4}), ("1,1,1-2", {1, 2})],
)
def test_numbers_and_ranges(text: str, numbers: set[int]) -> None:
    assert parse_numbers("--option", text, 0) == numbers
    assert parse_numbers("--option", written(numbers), 0) == numbers


def test_written() -> None:
    assert written({9, 0, 3, 7, 8}) == "0,3,7-9"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected numbers and ranges"),
        ("1,,2", "expected numbers and ranges"),
        ("first", "expected numbers and ranges"),
        ("-3", "expected numbers and ranges"),
        ("0", "0 is too small, they count from 1"),
        ("4,9-7", "the range 9-7 is empty"),
    ],
)
def test_complaints_name_the_option(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^--option {text}: {complaint}"):
        parse_numbers("--option", text, 1)
