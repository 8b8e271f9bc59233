"""Columns of texts, and their conversion to the types that all their values have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engine.base import Row
from sqlanon.engine.duckdb.narrowing import hashed
from sqlanon.engine.duckdb.text_types import Kind

_PLACE = "place"
_TEXT = "text"


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Columns of a table or of a scan that are text, and the types that each may get.

    Args:
        rows: The table or scan.
        kinds: By the name of each column, the types that its texts may have, the first that fits
            first; none where it stays as it is.
        nulls: Texts that stand for NULL.
        counted: Columns of which only the hashes of texts are wanted.
    """

    rows: exp.Table
    kinds: Mapping[str, Sequence[Kind]]
    nulls: Sequence[str] = ()
    counted: Collection[str] = ()

    @property
    def columns(self) -> dict[str, exp.Column]:
        """The columns by their names."""
        return {name: exp.column(name, quoted=True) for name in self.kinds}

    @property
    def _convertible(self) -> list[str]:
        return [name for name, kinds in self.kinds.items() if kinds]

    def texts(self) -> exp.Select:
        """All columns as they are, without what stands for NULL."""
        return exp.select(*map(self._text, self.kinds)).from_(self.rows.copy())

    def guarded(self, kinds: Mapping[str, Kind]) -> exp.Select:
        """All columns in these types; the query fails where a value is not spelt as others are."""
        values = (
            kinds[name].guarded(text).as_(name, quoted=True) if name in kinds else text
            for name, text in self.columns.items()
        )
        return exp.select(*values).from_(self.texts().subquery("texts"))

    def converted(self, kinds: Mapping[str, Kind]) -> exp.Select:
        """All columns in these types, which every value is known to have."""
        values = (
            _value(text, kinds[name]).as_(name, quoted=True) if name in kinds else text
            for name, text in self.columns.items()
        )
        return exp.select(*values).from_(self.texts().subquery("texts"))

    def fitting(
        self, ask: Callable[[exp.Expr], list[Row]], rows: int | None = None
    ) -> dict[str, Kind]:
        """The first type of each column that all its values have.

        Args:
            ask: Carries a query out.
            rows: How many of the first rows count; None for all.
        """
        texts = self.texts() if rows is None else self.texts().limit(rows)
        # How many decimals are written matters to no value.
        asked = list(
            dict.fromkeys(
                replace(kind, decimals=None) for kinds in self.kinds.values() for kind in kinds
            )
        )
        if not asked:
            return {}
        place = exp.column(_PLACE, quoted=True)
        text = exp.column(_TEXT, quoted=True)
        questions = [kind.fits(text) for kind in asked]
        cells = self._one_below_the_other(texts)
        if rows is not None:
            # Conversions take longer than to find equal texts, of which a sample has few others.
            cells = cells.distinct()
        query = exp.select(place, *questions).from_(cells.subquery("cells"))
        fits: dict[str, set[Kind]] = {}
        names = self._convertible
        for number, *answers in ask(query.group_by(place.copy())):
            fits[names[number]] = {
                kind for kind, is_fit in zip(asked, answers, strict=True) if is_fit
            }
        found = {
            name: [kind for kind in kinds if replace(kind, decimals=None) in fits.get(name, ())]
            for name, kinds in self.kinds.items()
        }
        return {name: kinds[0] for name, kinds in found.items() if kinds}

    def _one_below_the_other(self, texts: exp.Select) -> exp.Select:
        """The columns as rows, with the place of each: a query of each would be long to plan."""
        columns = [exp.column(name, quoted=True) for name in self._convertible]
        places = [exp.convert(place) for place in range(len(columns))]
        rows = exp.select(
            exp.Unnest(expressions=[exp.array(*places)]).as_(_PLACE, quoted=True),
            exp.Unnest(expressions=[exp.array(*columns)]).as_(_TEXT, quoted=True),
        )
        return rows.from_(texts.subquery("texts"))

    def merging(self, ask: Callable[[exp.Expr], list[Row]], kinds: Mapping[str, Kind]) -> set[str]:
        """The columns in which two texts would become one value; an empty one would become NULL."""
        merges = []
        for name, kind in kinds.items():
            text = exp.column(name, quoted=True)
            filled = exp.func("NULLIF", text.copy(), exp.Literal.string(""))
            fewer = exp.NEQ(this=_distinct(filled), expression=_distinct(_value(text, kind)))
            empty = exp.EQ(this=text.copy(), expression=exp.Literal.string(""))
            null = exp.Is(this=text.copy(), expression=exp.Null())
            both = exp.and_(exp.LogicalOr(this=empty), exp.LogicalOr(this=null))
            merges.append(exp.or_(fewer, both))
        if not merges:
            return set()
        found = ask(exp.select(*merges).from_(self.texts().subquery("texts")))[0]
        return {name for name, merged in zip(kinds, found, strict=True) if merged}

    def _text(self, name: str) -> exp.Expr:
        column = exp.column(name, quoted=True)
        text: exp.Expr = column
        for null in self.nulls if self.kinds[name] or name in self.counted else ():
            text = exp.func("NULLIF", text, exp.Literal.string(null))
        if name in self.counted:
            return hashed(column, text)
        return column if text is column else text.as_(name, quoted=True)


def _value(text: exp.Expr, kind: Kind) -> exp.Expr:
    return kind.converted(kind.bare(text), safe=True)


def _distinct(value: exp.Expr) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[value.copy()]))
