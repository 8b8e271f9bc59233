"""Profile: what the columns of a table look like, in one pass over it or over a sample.

`source` is a table, or a sample of one. No figure is a value of the table but the quantiles, from
which only widths and round borders are made.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import number, real
from sqlanon.query.encoding.encode import SIZE, union_all
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, select, total, when
from sqlanon.query.text import varchar

_Type = exp.DataType.Type


def sample(source: exp.Table, columns: Sequence[str], *, parts: int) -> exp.Select:
    """One of so many parts of the rows, the same whatever their order: by a hash of these columns.

    Rows alike are in it together, so it tells how many are alone as the whole table does.
    """
    hashed = _hash([column(name) for name in columns])
    return select([column(name) for name in columns], source).where(
        _first_part(hashed, parts), copy=False
    )


def counts(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """Rows, then for each column how many hold a value, and how many values there are."""
    figures: list[exp.Expr] = [bigint(count_all())]
    for name in columns:
        figures += [bigint(exp.Count(this=column(name))), _distinct(column(name))]
    return select(figures, source)


def parted_counts(source: exp.Table, columns: Sequence[str], *, parts: int) -> exp.Select:
    """As `counts`, without the rows, of one of so many parts of the values of each column.

    The number of rows per value in it is that of the whole column, whatever order the rows have.
    """
    figures = []
    for name in columns:
        chosen = when(_first_part(_hash([column(name)]), parts), column(name))
        figures += [bigint(exp.Count(this=chosen)), _distinct(chosen)]
    return select(figures, source)


def lengths(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """For each column the least, the mean and the greatest number of characters of its values."""
    figures: list[exp.Expr] = []
    for name in columns:
        length = exp.Length(this=varchar(column(name)))
        figures += [
            bigint(exp.Min(this=length)),
            exp.cast(exp.Avg(this=length), _Type.DOUBLE),
            bigint(exp.Max(this=length)),
        ]
    return select(figures, source)


def shapes(source: exp.Table, columns: Sequence[str], *, patterns: Sequence[str]) -> exp.Select:
    """For each column of texts, how many match each of the regular expressions."""
    figures = []
    for name in columns:
        for pattern in patterns:
            like = exp.RegexpLike(this=column(name), expression=exp.Literal.string(pattern))
            figures.append(total(when(like, number(1))))
    return select(figures, source)


def outer_words(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """For each column of texts, how many first words there are, and how many last words.

    Where a text has a comma, what stands before it comes last: Berg, Anna.
    """
    figures = []
    for name in columns:
        has_comma = exp.Like(this=column(name), expression=exp.Literal.string("%,%"))
        for place, sign, turned in ((1, " ", -1), (-1, ",", 1)):
            arguments = [column(name), exp.Literal.string(sign), number(turned)]
            of_turned = exp.Anonymous(this="split_part", expressions=arguments)
            arguments = [column(name), exp.Literal.string(" "), number(place)]
            word = exp.Anonymous(this="split_part", expressions=arguments)
            figures.append(_distinct(when(has_comma, of_turned, default=word)))
    return select(figures, source)


def commonest(source: exp.Table, columns: Sequence[str]) -> exp.Expr:
    """Rows of the place of each column and how many rows hold its most frequent value.

    NULL is a value.
    """
    parts = []
    for place, name in enumerate(columns):
        values = select([alias(bigint(count_all()), SIZE)], source, by=[column(name)])
        largest = exp.Max(this=column(SIZE))
        parts.append(select([number(place), bigint(largest)], nested(values, "values")))
    return union_all(parts)


def misfits(source: exp.Table, columns: Sequence[str], *, formats: Sequence[str]) -> exp.Select:
    """For each column of texts, how many are no date in each of the formats of strptime."""
    figures = []
    for name in columns:
        for form in formats:
            day = exp.Anonymous(
                this="try_strptime", expressions=[column(name), exp.Literal.string(form)]
            )
            is_other = exp.and_(exp.not_(column(name).is_(exp.null())), day.is_(exp.null()))
            figures.append(total(when(is_other, number(1))))
    return select(figures, source)


def quantiles(
    source: exp.Table, columns: Sequence[str], *, shares: Sequence[float], floats: Sequence[str]
) -> exp.Select:
    """For each column of numbers its finite values, how many are whole, and their quantiles.

    Args:
        source: The table.
        columns: The columns.
        shares: The shares below each quantile; quantiles are values that stand in the column.
        floats: Those of the columns that may hold what is not finite.
    """
    figures: list[exp.Expr] = []
    for name in columns:
        value: exp.Expr = column(name)
        if name in floats:
            value = when(_is_finite(value), value)
        whole = value.eq(exp.Floor(this=value))
        figures += [
            bigint(exp.Count(this=value)),
            total(when(whole, number(1))),
            _quantiles(value, shares),
        ]
    return select(figures, source)


def quantiles_beside(
    source: exp.Table, name: str, *, shares: Sequence[float], is_float: bool
) -> exp.Select:
    """The quantiles of a column of numbers without its median, which most of its values are."""
    value: exp.Expr = column(name)
    if is_float:
        value = when(_is_finite(value), value)
    middle = select([_quantile(value, 0.5)], source).subquery(copy=False)
    other = when(value.neq(middle), value)
    return select([bigint(exp.Count(this=other)), _quantiles(other, shares)], source)


def spans(source: exp.Table, columns: Sequence[str], *, share: float) -> exp.Select:
    """For each column of dates: days between two quantiles, and values with a time of day.

    Args:
        source: The table.
        columns: The columns.
        share: The share of the values below the first quantile, and above the second.
    """
    figures: list[exp.Expr] = []
    for name in columns:
        moment = exp.cast(column(name), _Type.TIMESTAMP)
        value = when(_is_finite(moment), moment)
        first, last = (exp.cast(_quantile(value, part), _Type.DATE) for part in (share, 1 - share))
        days = exp.Sub(this=last, expression=first)
        timed = value.neq(exp.cast(exp.cast(value, _Type.DATE), _Type.TIMESTAMP))
        figures += [bigint(days), total(when(timed, number(1)))]
    return select(figures, source)


def prefix_counts(source: exp.Table, name: str, *, length: int) -> exp.Select:
    """The number of distinct prefixes of a column's texts of one character, of two, and so on."""
    text = varchar(column(name))
    return select(
        [
            _distinct(exp.Left(this=text, expression=number(characters)))
            for characters in range(1, length + 1)
        ],
        source,
    )


def _distinct(value: exp.Expr) -> exp.Expr:
    return bigint(exp.Count(this=exp.Distinct(expressions=[value])))


def _hash(values: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="hash", expressions=list(values))


def _first_part(hashed: exp.Expr, parts: int) -> exp.Expr:
    return exp.Mod(this=hashed, expression=number(parts)).eq(number(0))


def _is_finite(value: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="isfinite", expressions=[value])


def _quantile(value: exp.Expr, share: float) -> exp.Expr:
    return exp.Anonymous(this="quantile_disc", expressions=[value, real(share)])


def _quantiles(value: exp.Expr, shares: Sequence[float]) -> exp.Expr:
    listed = exp.Array(expressions=[exp.Literal.number(repr(share)) for share in shares])
    return exp.Anonymous(this="quantile_disc", expressions=[value, listed])
