"""Values of Python expressions that consist of literals, `+` and `*`; nothing is run.

fairseq keeps some options as Python text, such as "[(512, 3)] * 4 + [(256, 1)]", and evaluates it
when a model is built: with `eval` a checkpoint could run anything.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

MOST_REPEATS = 10_000  # of a list: text of a few characters must not fill the memory
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_CONTAINERS: dict[type[ast.expr], Callable[[Any], Any]] = {
    ast.Tuple: tuple,
    ast.List: list,
    ast.Set: set,
}


class NotLiteralError(ValueError):
    """Text that is more than literals."""


def evaluate(text: str) -> Any:
    """What the expression stands for; refuses names, calls and all else that could do something."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ZeroDivisionError, RecursionError, MemoryError) as error:
        raise NotLiteralError(str(error)) from error


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return _CONTAINERS[type(node)](map(_value, node.elts))
    if isinstance(node, ast.Dict) and None not in node.keys:  # as it is in {**other}
        keys = [_value(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_value, node.values), strict=True))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        return _SIGNS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _combined(_OPERATORS[type(node.op)], _value(node.left), _value(node.right))
    raise NotLiteralError(type(node).__name__)


def _combined(combine: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if combine is operator.mul:
        for one, other in ((left, right), (right, left)):
            is_repeat = isinstance(one, (list, tuple, str, bytes)) and isinstance(other, int)
            if is_repeat and len(one) * other > MOST_REPEATS:
                raise NotLiteralError(f"more than {MOST_REPEATS:,} repeats")
    return combine(left, right)
