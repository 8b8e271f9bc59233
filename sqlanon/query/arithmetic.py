"""Small pieces of syntax trees that calculate: exact whole numbers, real numbers, windows.

Parentheses stand wherever an operand is itself an operation: a tree without them would be written
as another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from sqlanon.query.syntax import column


def number(value: int) -> exp.Literal:
    """A whole number."""
    return exp.Literal(this=str(value), is_string=False)


def times(*factors: exp.Expr) -> exp.Expr:
    """The product of some factors."""
    return reduce(
        lambda left, right: exp.Mul(this=_operand(left), expression=_operand(right)), factors
    )


def divided(left: exp.Expr, right: exp.Expr) -> exp.Div:
    """A quotient of which at least one part is a real number."""
    return exp.Div(this=_operand(left), expression=_operand(right))


def _operand(expression: exp.Expr) -> exp.Expr:
    return exp.Paren(this=expression) if isinstance(expression, exp.Binary) else expression


def double(expression: exp.Expr) -> exp.Cast:
    """A cast to a real number."""
    return exp.Cast(this=expression, to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def summed(name: str) -> exp.Sum:
    """The sum of a column."""
    return exp.Sum(this=column(name))


def over(
    function: exp.Expr, by: Sequence[exp.Expr] = (), *, order: Sequence[exp.Expr] = ()
) -> exp.Window:
    """A window function."""
    ordering = exp.Order(expressions=list(order)) if order else None
    return exp.Window(this=function, partition_by=list(by), order=ordering)


def ascending(expression: exp.Expr, *, nulls_first: bool = False) -> exp.Ordered:
    """In an order: from the least to the greatest."""
    return exp.Ordered(this=expression, desc=False, nulls_first=nulls_first)
