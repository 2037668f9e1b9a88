"""Expressions of literals have their value; whatever could do something has none."""

import pytest

from fairseq_mcts.literals import NotLiteralError, evaluate

ALLOWED = [
    "[(512, 3)] * 4 + [(256, 1)] * 2",
    "(0.9, 0.98)",
    "[(512, 10, 5)] + [(512, 3, 2)] * 4 + [(512,2,2)]",
    "True",
    "None",
    "-1e-9",
    "+2 - 3 / 4",
    "{'a': [1, 2], 'b': ()}",
    "'text' * 2",
    " [1]\n",
    "{1, 2}",
]
REFUSED = [
    "__import__('os').system('true')",
    "__import__('os').system('true') or [(512, 3)]",
    "[x for x in (1,)]",
    "(lambda: 1)()",
    "open",
    "f'{1}'",
    "[].append(1)",
    "[1][0]",
    "{**{}}",
    "1 if True else 2",
    "2 ** 9999999",
    "[0] * 10 ** 9",
    "[0] * 1000000000",
    "1000000000 * 'x'",
    "1 / 0",
    "1 + 'a'",
    "",
    "[",
    "(" * 500 + ")" * 500,
]


@pytest.mark.parametrize("text", ALLOWED)
def test_literals_have_the_value_that_python_gives_them(text: str) -> None:
    assert evaluate(text) == eval(text.strip())


@pytest.mark.parametrize("text", REFUSED)
def test_all_else_is_refused(text: str) -> None:
    with pytest.raises(NotLiteralError):
        evaluate(text)
