"""Arithmetic and comparisons of named quantities, as tables and records hold them: nothing else is evaluated."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from loadcurve.errors import LoadcurveError

_MAX_CHARACTERS, _MAX_DEPTH, _LARGEST = 1000, 50, 1e300
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_COMPARISONS = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le}
_COMPARISONS |= {ast.Gt: operator.gt, ast.GtE: operator.ge}


def evaluate(text: str, quantities: Mapping[str, Any]) -> float | bool | str:
    """Return the value of an expression of named quantities.

    Examples
    --------
    >>> evaluate("0 < abs(a - b) / b < 0.1 and kind == 'even'", {"a": 1.05, "b": 1.0, "kind": "even"})
    True
    """
    value: float | bool | str = _value(_parsed(text), quantities, 0)
    return value


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    if len(text) > _MAX_CHARACTERS:
        raise LoadcurveError(f"it has more than {_MAX_CHARACTERS} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise LoadcurveError("it is no expression of quantities") from None


def _value(node: ast.expr, known: Mapping[str, Any], depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise LoadcurveError(f"it is nested more than {_MAX_DEPTH} deep")
    value = partial(_value, known=known, depth=depth + 1)
    match node:
        case ast.Constant(value=str(constant)):
            return constant
        case ast.Constant(value=int() | float() as constant) if not isinstance(constant, bool):
            if not constant < _LARGEST:
                raise LoadcurveError(f"its numbers must be below {_LARGEST:g}")
            return float(constant)
        case ast.Name(id=name):
            return _quantity(name, known)
        case ast.UnaryOp(op=ast.USub()):
            return _computed(operator.neg, value(node.operand))
        case ast.UnaryOp(op=ast.Not()):
            return not _truth(value(node.operand))
        case ast.Call(func=ast.Name(id="abs"), args=[inner], keywords=[]):
            return _computed(abs, value(inner))
        case ast.BinOp(op=sign) if type(sign) in _ARITHMETIC:
            return _computed(_ARITHMETIC[type(sign)], value(node.left), value(node.right))
        case ast.BoolOp():
            return (all if isinstance(node.op, ast.And) else any)([_truth(value(inner)) for inner in node.values])
        case ast.Compare() if all(type(sign) in _COMPARISONS for sign in node.ops):
            values = [value(inner) for inner in (node.left, *node.comparators)]
            return all(map(_compared, map(type, node.ops), values, values[1:]))
    raise LoadcurveError("it may have names, numbers, + - * /, abs(), comparisons, and, or, not alone")


def _quantity(name: str, known: Mapping[str, Any]) -> float | bool | str:
    """Return a quantity as a type of Python; types of NumPy divide by zero."""
    if name not in known:
        raise LoadcurveError(f"{name} is not given")
    try:
        value = known[name].item() if hasattr(known[name], "item") else known[name]
        return value if isinstance(value, str | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        raise LoadcurveError(f"{name} is not a number") from None


def _computed(function: Callable[..., float], *operands: Any) -> float:
    """Return a number computed from others, which is finite if they are."""
    if texts := [operand for operand in operands if isinstance(operand, str)]:
        raise LoadcurveError(f"the text {texts[0][:20]!r} is no number")
    if any(math.isnan(operand) for operand in operands):
        return math.nan
    try:
        result = function(*operands)
    except (ZeroDivisionError, OverflowError):
        result = math.nan
    if not math.isfinite(result) and all(math.isfinite(operand) for operand in operands):
        raise LoadcurveError(f"it has no finite value at {' and '.join(f'{operand:g}' for operand in operands)}")
    return result


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise LoadcurveError("and, or and not take comparisons")
    return value


def _compared(sign: type[ast.cmpop], one: Any, other: Any) -> bool:
    if isinstance(one, str) != isinstance(other, str) or (isinstance(one, str) and sign not in (ast.Eq, ast.NotEq)):
        raise LoadcurveError("a text is compared with texts, by == or !=")
    return bool(_COMPARISONS[sign](one, other))
