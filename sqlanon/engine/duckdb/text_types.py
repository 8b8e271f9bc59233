"""Types that texts are converted to without a loss: guards for one pass, questions for a slow one.

A column of which the values alone count is converted where no two of its texts become one value.
One that is published as it is, only where every text is also how the type itself is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from sqlanon.engine.duckdb.text_format import TextFormat

# Digits that a DOUBLE would lose, or that are no quantity: 007, +49, 1234567890123456.
_NO_NUMBER = r"^[+-]?0[0-9]|^\+|^-?[0-9]{16,}$"
# A time without a zone as ISO 8601 writes it; DuckDB would also read 2020/1/2 and drop a zone.
_ISO_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?$"

# A DECIMAL of 18 digits, the widest that is as fast as a number, then has some before the point.
_MOST_DECIMALS = 15


@dataclass(frozen=True, slots=True)
class Kind:
    """A type that a column of texts may get.

    Args:
        type: As DuckDB writes it.
        exact: Whether every text must be how the type writes its value.
        form: Format of strptime and strftime; None is the type's own way to write.
        decimals: Digits behind the point of a DOUBLE, where the first rows all have as many; 0
            where some have no point.
    """

    type: str
    exact: bool
    form: str | None = None
    decimals: int | None = None

    def bare(self, text: exp.Expr) -> exp.Expr:
        """The text without the blanks around it, where these are no part of the value."""
        return text.copy() if self.exact else exp.Trim(this=text.copy())

    def converted(self, text: exp.Expr, *, safe: bool) -> exp.Expr:
        """The value of a text; with `safe`, NULL where it has none."""
        if self.form is not None:
            function = "try_strptime" if safe else "strptime"
            form = exp.Literal.string(self.form)
            return exp.cast(
                exp.Anonymous(this=function, expressions=[text.copy(), form]), self.type
            )
        built = exp.TryCast if safe else exp.Cast
        return built(this=text.copy(), to=_type(self.type).copy())

    def guarded(self, text: exp.Expr) -> exp.Expr:
        """The value; the query fails where a text is not spelt as all others are."""
        value = self.converted(text, safe=False)
        stop = exp.Anonymous(this="error", expressions=[exp.Literal.string("guard")])
        respelt = exp.NEQ(this=self._spelt(value), expression=text.copy())
        return exp.Case().when(respelt, stop).else_(value.copy())

    def fits(self, text: exp.Expr) -> exp.Expr:
        """An aggregate: the type holds every value of the column; NULL where there is none."""
        source = self.bare(text)
        value = self.converted(source, safe=True)
        held = exp.Not(this=exp.Is(this=value, expression=exp.Null()))
        same = exp.and_(held, exp.Not(this=self._changed(source, value)))
        present: exp.Expr = exp.NEQ(this=text.copy(), expression=exp.Literal.string(""))
        if self.exact:
            present = exp.Not(this=exp.Is(this=text.copy(), expression=exp.Null()))
        return exp.LogicalAnd(this=exp.Case().when(present, same))

    def _changed(self, text: exp.Expr, value: exp.Expr) -> exp.Expr:
        """True where a converted text is not the same value any more."""
        if self.form is not None:
            return exp.false()
        if not self.exact and self.type == "DOUBLE":
            return _matches(text, _NO_NUMBER)
        if not self.exact and self.type == "TIMESTAMP":
            return exp.Not(this=_matches(text, _ISO_TIME))
        return exp.NEQ(this=exp.cast(value.copy(), _type("VARCHAR")), expression=text.copy())

    def _spelt(self, value: exp.Expr) -> exp.Expr:
        """The one text that a value is written as: texts that have it are as many as values."""
        text = exp.cast(value.copy(), _type("VARCHAR"))
        if self.form is not None:
            form = exp.Literal.string(self.form)
            return exp.Anonymous(this="strftime", expressions=[value.copy(), form])
        if self.exact or self.type != "DOUBLE" or self.decimals is None:
            return text
        if self.decimals:
            form = exp.Literal.string(f"{{:.{self.decimals}f}}")
            return exp.Anonymous(this="format", expressions=[form, value.copy()])
        whole = exp.Literal.string(".0")
        return (
            exp.Case()
            .when(
                exp.Anonymous(this="suffix", expressions=[text, whole]),
                exp.Anonymous(this="left", expressions=[text.copy(), exp.convert(-2)]),
            )
            .else_(text.copy())
        )


def csv_kinds(form: TextFormat, decimals: int | None, *, exact: bool) -> list[Kind]:
    """The types that a column of a CSV file may get, the first that fits first.

    Args:
        form: What is said of how the file is written.
        decimals: Digits behind the point that the first rows have in common.
        exact: Whether the texts count, not the values alone.
    """
    numbers = [Kind("BIGINT", exact), Kind("DOUBLE", exact, decimals=decimals)]
    if exact and decimals and decimals <= _MOST_DECIMALS:
        numbers.append(Kind(f"DECIMAL(18, {decimals})", exact))
    return [*dates_as_given(form, exact=exact), *numbers, *_dates_of_iso(exact=exact)]


def json_kinds(form: TextFormat, *, exact: bool) -> list[Kind]:
    """The types that a text of a JSON file may get: a number would have been written as one."""
    return [*dates_as_given(form, exact=exact), *_dates_of_iso(exact=exact)]


def dates_as_given(form: TextFormat, *, exact: bool) -> list[Kind]:
    """The type of what the format of dates that is given reads; none where none is."""
    if exact or form.date_format is None:
        return []
    return [Kind(form.date_type, exact, form.date_format)]


def _dates_of_iso(*, exact: bool) -> list[Kind]:
    return [Kind("DATE", exact), Kind("TIMESTAMP", exact)]


@cache
def _type(text: str) -> exp.DataType:
    return exp.DataType.build(text, dialect="duckdb")


def _matches(text: exp.Expr, pattern: str) -> exp.Expr:
    return exp.Anonymous(
        this="regexp_matches", expressions=[text.copy(), exp.Literal.string(pattern)]
    )
