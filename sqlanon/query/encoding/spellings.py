"""Spellings: how many values of a column are one for people and several for a database."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import is_null, number
from sqlanon.query.encoding.encode import VALUE, distinct_values, union_all
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, select, when
from sqlanon.query.text import varchar

KEY = "key"
SPELLINGS = "spellings"
FOREIGN = "foreign"
_BLANKS = r"[\t-\r\x1c-\x1f ]+"  # what Python takes for a blank in ASCII
_NOT_ASCII = r"[^\x00-\x7f]"


def spelling_counts(
    source: exp.Table, texts: Sequence[str], *, reals: Sequence[str], digits: int
) -> exp.Expr:
    """Rows of place, values that have several spellings, and values with letters beyond ASCII.

    Texts that differ in case and blanks alone are one value, and real numbers that differ after so
    many digits. Letters beyond ASCII may have several forms, which this does not know.
    """
    keys = [(name, _text_key(), _is_foreign()) for name in texts]
    keys += [(name, _real_key(digits), exp.false()) for name in reals]
    return union_all([_counts(source, place, *each) for place, each in enumerate(keys)])


def _counts(
    source: exp.Table, place: int, name: str, key: exp.Expr, is_foreign: exp.Expr
) -> exp.Select:
    values = nested(distinct_values(source, name), "held")
    figures = [alias(bigint(count_all()), SPELLINGS)]
    figures.append(alias(bigint(exp.Count(this=when(is_foreign, number(1)))), FOREIGN))
    keys = select(figures, values, by=[key])
    keys.where(is_null(column(VALUE)).not_(), copy=False)
    several = exp.Count(this=when(column(SPELLINGS) > 1, number(1)))
    foreign = exp.Count(this=when(column(FOREIGN) > 0, number(1)))
    return select([number(place), bigint(several), bigint(foreign)], nested(keys, "keys"))


def _text_key() -> exp.Expr:
    blank = exp.RegexpReplace(
        this=exp.Lower(this=varchar(column(VALUE))),
        expression=exp.Literal.string(_BLANKS),
        replacement=exp.Literal.string(" "),
        modifiers=exp.Literal.string("g"),
    )
    return exp.Trim(this=blank)


def _real_key(digits: int) -> exp.Expr:
    form = exp.Literal.string(f"%.{digits}g")
    return exp.Anonymous(this="PRINTF", expressions=[form, column(VALUE)])


def _is_foreign() -> exp.Expr:
    pattern = exp.Literal.string(_NOT_ASCII)
    return exp.RegexpLike(this=varchar(column(VALUE)), expression=pattern)
