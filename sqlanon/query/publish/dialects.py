"""Dialects: the statement that publishes, rewritten for engines that read SQL otherwise.

A statement that an engine accepts may still answer otherwise there: it compares text without case,
spells a real number in another way, or replaces what looks like a variable. What stands here is
executed by tests on the engine itself; no other dialect is known to give the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.dialects import PHRASINGS, table_alias
from sqlanon.query.encode import LEAF, VALUE
from sqlanon.query.syntax import alias, column, nested, select, table
from sqlanon.sqlglot_version import FROM, TELLS_NULLS, WITH

SOURCE = "sqlanon_source"
"""The records as the statement reads them: the columns that it needs, of the plan's types."""

_Type = exp.DataType.Type
_SAME_TEXT = {
    *(_Type.TEXT, _Type.BOOLEAN, _Type.TINYINT, _Type.SMALLINT, _Type.INT, _Type.BIGINT),
    *(_Type.UTINYINT, _Type.USMALLINT, _Type.UINT, _Type.UBIGINT, _Type.DECIMAL),
    *(_Type.DATE, _Type.TIMESTAMPNTZ, _Type.TIMESTAMP, _Type.TIMESTAMP_S, _Type.TIMESTAMP_MS),
}
FLOATS = frozenset({_Type.FLOAT, _Type.DOUBLE})


@dataclass(frozen=True, slots=True)
class Dialect:
    """An engine's reading of SQL, as far as it differs from what statements are built for.

    Args:
        like: The dialect whose rules it follows.
        comparable: Types whose values it compares and sorts in the same way.
        written: Types whose values it also writes as the same text.
        inlines: Whether it works out a named query again wherever it is used.
        collation: The collation by which it compares text byte by byte, where that is not its own.
        needs: Settings that it must have.
        digits: Digits of its widest decimal number; None where there is no bound.
    """

    like: str
    comparable: frozenset[exp.DType]
    written: frozenset[exp.DType]
    inlines: bool = False
    collation: str | None = None
    needs: Sequence[str] = field(default=())
    digits: int | None = None

    def refused_name(self, name: str) -> str | None:
        """Why a column may not have a name; None where it may."""
        return PHRASINGS[self.like].refused_name(name)


def typed_source(
    source: exp.Table, columns: Mapping[str, exp.DataType], *, dialect: Dialect
) -> exp.Select:
    """The columns that a statement needs, of the plan's types and compared byte by byte."""
    return select(
        [alias(_typed(name, kind, dialect=dialect), name) for name, kind in columns.items()], source
    )


def _typed(name: str, kind: exp.DataType, *, dialect: Dialect) -> exp.Expr:
    value = exp.cast(column(name), kind)
    if dialect.collation is None or kind.this is not _Type.TEXT:
        return value
    return _collated(value, dialect.collation)


def with_source(rows: exp.Select, source: exp.Select) -> exp.Select:
    """A statement whose records are those of SOURCE, which stands before all named queries."""
    result = rows.copy()
    clause = result.args.get(WITH)
    # Without this word an engine may store the records in full before it reads them.
    first = exp.CTE(this=source, alias=table_alias(SOURCE), materialized=False)
    result.set(WITH, exp.With(expressions=[first, *(clause.expressions if clause else [])]))
    return result


def sorted_by_bytes(rows: exp.Select, texts: Sequence[str], *, dialect: Dialect) -> exp.Select:
    """The same rows, their text sorted byte by byte whatever the collation of the database.

    The published columns have the database's own collation.
    """
    assert dialect.collation is not None
    inner = rows.copy()
    named_queries = inner.args.get(WITH)
    order = inner.args["order"].expressions
    inner.set(WITH, None)
    inner.set("order", None)
    shown = [
        alias(_collated(column(name, "published"), "default"), name)
        if name in texts
        else column(name, "published")
        for name in inner.named_selects
    ]
    result = select(shown, nested(inner, "published"))
    result.set(WITH, named_queries)
    keys = []
    for ordered in order:
        key: exp.Expr = column(ordered.this.name, "published")
        key = _collated(key, dialect.collation) if ordered.this.name in texts else key
        keys.append(exp.Ordered(this=key))
    return result.order_by(*keys, copy=False)


def constants(tree: exp.Expr) -> Iterator[exp.Select]:
    """The queries of a statement that turn listed texts into values of a type."""
    for query in tree.find_all(exp.Select):
        rows = query.args[FROM].this if query.args.get(FROM) else None
        if isinstance(rows, exp.Values) and isinstance(query.expressions[0].this, exp.TryCast):
            yield query


def as_text(query: exp.Select) -> exp.Select:
    """A query of `constants`, its values as text."""
    result = query.copy()
    value = result.expressions[0].this
    result.expressions[0].set("this", exp.cast(value.copy(), _Type.TEXT))
    return result


def folded(query: exp.Select, rows: Sequence[tuple[object, ...]]) -> exp.Select:
    """The rows of `as_text` in place of its query, each value cast from its one spelling.

    What is no value of the type is not among them, so that nothing can fail to be cast.
    """
    carried = [projection.alias_or_name for projection in query.expressions[1:]]
    listed = rows or [(None,) * (1 + len(carried))]
    values = exp.values(
        [tuple(map(exp.convert, row)) for row in listed], alias="listed", columns=[LEAF, *carried]
    )
    value = exp.cast(column(LEAF), query.expressions[0].this.args["to"])
    result = select([alias(value, VALUE), *map(column, carried)], values)
    return result if rows else result.where(exp.false(), copy=False)


def staged(rows: exp.Select, name: Callable[[str], str]) -> list[tuple[str, exp.Select]]:
    """Named queries that are used several times, as tables of their own, and last the statement.

    An engine that puts a named query in wherever it is used reads the table once for each round
    and use, hundreds of times after two rounds. Returns pairs of a table's name, empty for the
    statement itself, and its rows.
    """
    queries = {named_query.alias: named_query.this for named_query in rows.ctes}
    final = rows.copy()
    final.set(WITH, None)
    uses = [_used(query, queries) for query in [*queries.values(), final]]
    several = [n for n in queries if n != SOURCE and sum(used.count(n) for used in uses) > 1]
    parts = [(n, queries[n]) for n in several] + [("", final)]
    return [
        (
            name(query_name) if query_name else "",
            _self_contained(query, queries, stored=several, name=name),
        )
        for query_name, query in parts
    ]


def _used(query: exp.Expr, queries: Mapping[str, exp.Expr]) -> list[str]:
    return [relation.name for relation in query.find_all(exp.Table) if relation.name in queries]


def _self_contained(
    query: exp.Select,
    queries: Mapping[str, exp.Select],
    *,
    stored: Sequence[str],
    name: Callable[[str], str],
) -> exp.Select:
    """A query with the named queries that it needs, tables of their own by their new name."""
    needed: set[str] = set()
    left = [query]
    while left:
        fresh = {n for n in _used(left.pop(), queries) if n not in stored and n not in needed}
        needed |= fresh
        left += [queries[n] for n in fresh]
    result = _renamed(query, stored, name=name)
    with_ = [
        exp.CTE(this=_renamed(queries[n], stored, name=name), alias=table_alias(n))
        for n in queries
        if n in needed
    ]
    # A query may have stages of its own.
    with_ += result.ctes
    result.set(WITH, exp.With(expressions=with_) if with_ else None)
    return result


def _renamed(query: exp.Select, stored: Sequence[str], *, name: Callable[[str], str]) -> exp.Select:
    result = query.copy()
    for relation in list(result.find_all(exp.Table)):
        if relation.name in stored and not relation.db:
            shown = relation.alias or relation.name
            relation.replace(exp.alias_(table(name(relation.name)), shown, table=True, quoted=True))
    return result


def _collated(value: exp.Expr, name: str) -> exp.Expr:
    return exp.Collate(this=value, expression=exp.to_identifier(name, quoted=True))


POSTGRES = Dialect(
    "postgres",
    comparable=frozenset(
        _SAME_TEXT | FLOATS | {_Type.INT128, _Type.UINT128, _Type.UUID, _Type.TIME}
    ),
    written=frozenset(_SAME_TEXT | {_Type.INT128, _Type.UINT128, _Type.UUID, _Type.TIME}),
    collation="C",
    needs=("a database in UTF8", "standard_conforming_strings = on", "DateStyle = ISO"),
)
SPARK = Dialect(
    "spark",
    comparable=frozenset(_SAME_TEXT | FLOATS),
    written=frozenset(_SAME_TEXT),
    inlines=True,
    needs=("spark.sql.ansi.enabled = true", "spark.sql.parser.escapedStringLiterals = false"),
    digits=38,
)
EXECUTED: Mapping[str, Dialect] = {"postgres": POSTGRES, "spark": SPARK}
"""The dialects whose statements tests execute."""
FOLLOWERS: Mapping[str, Dialect] = {"databricks": SPARK}
"""Dialects that are written by the rules of another one, and not executed."""

_NO_CASE = "it compares text without regard to case, so that classes would be mixed up"
_NULL_IS_GREATEST = "its GREATEST gives NULL, which this version of sqlglot cannot say; upgrade it"
_EMPTY_IS_NULL = "it takes an empty text for NULL"
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("mysql", "doris", "starrocks", "tsql", "fabric", "teradata"), _NO_CASE),
    **dict.fromkeys(("oracle", "exasol"), _EMPTY_IS_NULL),
    **({} if TELLS_NULLS else {"snowflake": _NULL_IS_GREATEST}),
    "clickhouse": "its outer joins give 0 or an empty text where others give NULL",
    "sqlite": "it has no types for dates and decimal numbers, and compares these as text",
    **dict.fromkeys(("dax", "prql", "solr", "tableau"), "it carries no such statement out"),
}
"""Dialects that are known to answer otherwise, mostly without an error, and why."""
