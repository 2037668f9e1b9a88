"""The settings of a sweep."""

import pytest

from fairseq_mcts.tuning.grid import Setting, grid, parse_options

SWITCHES = {"sr-without-replacement"}
KNOWN = {
    "sr-without-replacement": ["no", "yes"],
    "beam": [],
    "mcts-c-puct": ["1", "3"],
    "mcts-backup": ["mean", "max"],
}


def test_all_combinations_the_last_option_varies_fastest() -> None:
    options = parse_options(["mcts-c-puct=1, 3", "--mcts_backup=mean,max"], KNOWN)
    assert [str(setting) for setting in grid(options)] == [
        "--mcts-c-puct 1 --mcts-backup mean",
        "--mcts-c-puct 1 --mcts-backup max",
        "--mcts-c-puct 3 --mcts-backup mean",
        "--mcts-c-puct 3 --mcts-backup max",
    ]


def test_a_name_alone_takes_the_values_that_its_decoder_proposes() -> None:
    assert parse_options(["mcts-c-puct", "beam=2"], KNOWN) == {
        "mcts-c-puct": ["1", "3"],
        "beam": ["2"],
    }


def test_switches_are_given_or_left_out() -> None:
    swept = ["sr-without-replacement", "beam=2"]
    left_out, given = grid(parse_options(swept, KNOWN, switches=SWITCHES))
    assert given.flags() == ["--sr-without-replacement", "--beam", "2"]
    assert left_out.flags() == ["--beam", "2"]
    assert str(given) == "--sr-without-replacement --beam 2"
    assert str(left_out) == "--beam 2 (no --sr-without-replacement)"
    assert given != left_out


def test_flags_are_ready_for_a_shell() -> None:
    setting = Setting((("search-metric", "a b"), ("beam", "4")))
    assert setting.flags() == ["--search-metric", "a b", "--beam", "4"]
    assert str(setting) == "--search-metric 'a b' --beam 4"


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["beams=1"], "--sweep beams=1: decoding has no option --beams with a value"),
        (["beam=1", "beam=2"], "--sweep beam=2: --beam is swept twice"),
        (["beam"], "--sweep beam: no values are known for it; give beam=VALUE,…"),
        (["beam="], "--sweep beam=: expected NAME=VALUE,VALUE,…"),
        (["beam=1,,2"], "--sweep beam=1,,2: expected NAME=VALUE,VALUE,…"),
        (["beam=1,2,1"], "--sweep beam=1,2,1: a value is given twice"),
        (["beam=1,no"], "--sweep beam=1,no: --beam takes neither no nor yes"),
        (["sr-without-replacement=1"], "=1: expected sr-without-replacement=no,yes"),
        (["sr-without-replacement=0..1"], "=0..1: expected sr-without-replacement=no,yes"),
    ],
)
def test_what_cannot_be_swept_is_named(texts: list[str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_options(texts, KNOWN, switches=SWITCHES)
