"""What other engines say in place of what the queries say, which are DuckDB's.

An engine that accepts a statement may still answer otherwise: it adds up without width, truncates
where DuckDB rounds, replaces what looks like a variable, or sorts NULL first. What stands here is
executed by tests on the engine itself, and so is every kind of expression: any other is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError

from sqlanon.errors import EngineError
from sqlanon.sqlglot_version import FROM, WITH
from sqlanon.sqltext import Sql, Statement

_Type = exp.DataType.Type


def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name)


_TYPES = {
    _Type.UTINYINT: _type("SMALLINT"),
    _Type.USMALLINT: _type("INT"),
    _Type.UINT: _type("BIGINT"),
    _Type.UBIGINT: _type("DECIMAL(20, 0)"),
    _Type.TIMESTAMP_S: exp.DataType(this=_Type.TIMESTAMPNTZ),
    _Type.TIMESTAMP_MS: exp.DataType(this=_Type.TIMESTAMPNTZ),
}
_WIDE_TYPES = {_Type.INT128: _type("DECIMAL(39, 0)"), _Type.UINT128: _type("DECIMAL(39, 0)")}
_WIDE = _type("DECIMAL(38, 0)")
_REALS = {_Type.FLOAT, _Type.DOUBLE}
_DAYS = {_Type.DATE, _Type.TIMESTAMPNTZ, _Type.TIMESTAMP}
_WHOLE = exp.DataType.INTEGER_TYPES - {_Type.BIT}


@dataclass(frozen=True, slots=True)
class Phrasing:
    """How an engine reads SQL, as far as that differs.

    Args:
        like: The dialect of sqlglot in which its statements are written.
        types: Types under another name, in statements that are printed, too.
        rewrite: What an expression becomes, also there; itself where nothing changes.
        query_types: Types under another name in what an engine asks.
        query_rewrite: What an expression becomes there, before `rewrite`.
        refused_name: What a name may not be: None, or a reason.
        executed: The kinds of expression that tests have executed: see `kinds`.
    """

    like: str
    types: Mapping[exp.DType, exp.DataType]
    rewrite: Callable[[exp.Expr], exp.Expr]
    query_types: Mapping[exp.DType, exp.DataType]
    query_rewrite: Callable[[exp.Expr], exp.Expr]
    refused_name: Callable[[str], str | None]
    executed: frozenset[str]


def translated(statement: Statement, engine: str) -> str:
    """The text of a statement for another engine, which gives the rows that DuckDB would.

    Args:
        statement: A query or statement as DuckDB reads it, its parameters filled.
        engine: A row of `PHRASINGS`.

    Raises:
        EngineError: It holds a kind of expression that no test has executed there, or that the
            dialect cannot express.
    """
    phrasing = PHRASINGS.get(engine)
    if phrasing is None:
        raise EngineError(f"no statement is carried out in the dialect {engine}")
    tree = statement.tree() if isinstance(statement, Sql) else statement.copy()
    _refuse(tree, engine, phrasing)
    _name_apart(tree)
    for query in list(tree.find_all(exp.Select)):
        _list_keys(query)
        _list_rows(query)
    types = _with_types({**phrasing.types, **phrasing.query_types})
    for rewrite in (_closed, _exact, phrasing.query_rewrite, types, phrasing.rewrite):
        tree = _upwards(tree, rewrite)
    return written(tree, phrasing.like, comments=False)


def written(tree: exp.Expr, dialect: str, *, pretty: bool = False, comments: bool = True) -> str:
    """The text of a tree: identifiers quoted, nothing dropped that the dialect lacks.

    Raises:
        EngineError: The dialect cannot express a part of it.
    """
    try:
        return tree.sql(
            dialect=dialect,
            identify=True,
            pretty=pretty,
            comments=comments,
            unsupported_level=ErrorLevel.RAISE,
        )
    except UnsupportedError as error:
        # One line, and each reason once: sqlglot parts them by empty lines.
        reasons = "; ".join(dict.fromkeys(filter(None, str(error).splitlines())))
    raise EngineError(f"the statement cannot be written for {dialect}: {reasons}")


def rewritten(tree: exp.Expr, dialect: str) -> exp.Expr:
    """A statement to print, in the types and expressions of a row of `PHRASINGS`."""
    phrasing = PHRASINGS[dialect]
    return tree.transform(_with_types(phrasing.types)).transform(phrasing.rewrite, copy=False)


def _upwards(tree: exp.Expr, rewrite: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """A tree whose expressions are rewritten, those within others first."""
    for node in reversed(list(tree.dfs())):
        parent, key, index = node.parent, node.arg_key, node.index
        changed = rewrite(node)
        if changed is node:
            continue
        if parent is None or key is None:
            tree = changed
        else:
            parent.set(key, changed, index)
    return tree


def kinds(tree: exp.Expr) -> Iterator[str]:
    """The kinds of expression in a tree: classes of sqlglot, other functions and types by name."""
    for node in tree.walk():
        if isinstance(node, exp.DataType):
            yield node.this.name
        elif isinstance(node, exp.Anonymous):
            yield node.name.upper()
        else:
            yield type(node).__name__


def _refuse(tree: exp.Expr, dialect: str, phrasing: Phrasing) -> None:
    """Raises where an engine would have to carry out what no test has executed there."""
    unknown = sorted(set(kinds(tree)) - phrasing.executed)
    if unknown:
        raise EngineError(
            f"the statement has {', '.join(unknown)}, which no test has executed on {dialect}"
        )
    for node in tree.find_all(exp.Identifier):
        reason = phrasing.refused_name(node.this)
        if reason is not None:
            raise EngineError(f"a name {reason}; give it another one in a view, or leave it out")


def _with_types(types: Mapping[exp.DType, exp.DataType]) -> Callable[[exp.Expr], exp.Expr]:
    def retyped(node: exp.Expr) -> exp.Expr:
        return types.get(node.this, node).copy() if isinstance(node, exp.DataType) else node

    return retyped


def _name_apart(tree: exp.Expr) -> None:
    """Gives named queries within others names of their own: for some engines all go to the top."""
    taken = set[str]()
    renamed = dict[int, str]()
    for query in tree.find_all(exp.CTE):
        name = query.alias
        while name in taken:
            name += "_"
        taken.add(name)
        if name != query.alias:
            renamed[id(query)] = name
    if not renamed:
        return
    for table in list(tree.find_all(exp.Table)):
        source = None if table.db else _named(table)
        if source is not None and id(source) in renamed:
            shown = table.alias or table.name
            table.set("this", exp.to_identifier(renamed[id(source)], quoted=True))
            table.set("alias", table_alias(shown))
    for query in list(tree.find_all(exp.CTE)):
        if id(query) in renamed:
            query.set("alias", table_alias(renamed[id(query)]))


def _named(table: exp.Table) -> exp.CTE | None:
    """The named query that a table is, by the nearest that it can see."""
    inner: exp.Expr = table
    outer = inner.parent
    while outer is not None:
        named = outer.args.get(WITH)
        if isinstance(outer, exp.With):
            # Within a named query only those before it are seen.
            known = outer.expressions[: outer.expressions.index(inner)]
        else:
            known = [] if named is None or inner is named else named.expressions
        for query in known:
            if isinstance(query, exp.CTE) and query.alias == table.name:
                return query
        inner, outer = outer, outer.parent
    return None


def table_alias(name: str) -> exp.TableAlias:
    """The name of a named query, or of a table that is called otherwise there."""
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))


def _list_keys(query: exp.Select) -> None:
    """Names the keys of GROUP BY ALL: whatever is selected without an aggregate."""
    group = query.args.get("group")
    if group is None or not group.args.get("all"):
        return
    selected = [node.unalias() for node in query.expressions]
    if any(node.is_star for node in selected):
        raise EngineError("the statement has GROUP BY ALL with a star, whose columns are unknown")
    keys = [node.copy() for node in selected if not node.find(exp.AggFunc)]
    # A plain number would be the place of a column.
    keys = [exp.cast(key, _Type.BIGINT) if key.is_int else key for key in keys]
    query.set("group", exp.Group(expressions=keys) if keys else None)


def _list_rows(query: exp.Select) -> None:
    """Turns lists that are unnested side by side into rows: elsewhere they may be multiplied."""
    unnested = [node.unalias() for node in query.expressions]
    if query.args.get(FROM) or not unnested:
        return
    lists = [node.this.unnest() for node in unnested if isinstance(node, exp.Explode)]
    if len(lists) < len(unnested):
        return
    if not all(isinstance(node, exp.Cast) and isinstance(node.this, exp.Array) for node in lists):
        return
    names = [node.alias for node in query.expressions]
    rows = list(zip(*(node.this.expressions for node in lists), strict=True))
    listed = exp.values(rows or [(exp.null(),) * len(names)], alias="listed", columns=names)
    for part in listed.find_all(exp.Identifier):
        part.set("quoted", True)
    columns = [
        exp.alias_(exp.cast(exp.column(name, quoted=True), _Type.BIGINT), name, quoted=True)
        for name in names
    ]
    query.set("expressions", columns)
    query.set(FROM, exp.From(this=listed))
    if not rows:
        query.where(exp.false(), copy=False)


def _closed(node: exp.Expr) -> exp.Expr:
    """An operator whose operands are in parentheses: which binds closer differs."""
    if isinstance(node, exp.Binary) and not isinstance(node, exp.Connector | exp.Dot):
        for key in ("this", "expression"):
            operand = node.args[key]
            if isinstance(operand, exp.Binary | exp.Unary) and not isinstance(
                operand, exp.Paren | exp.Dot
            ):
                node.set(key, exp.Paren(this=operand))
    return node


def _exact(node: exp.Expr) -> exp.Expr:
    """Arithmetic that is DuckDB's anywhere: real quotients, NULL where a divisor is 0, signs."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "SIGNBIT":
        return _negative(node.expressions[0])
    if isinstance(node, exp.Div | exp.IntDiv | exp.Mod):
        divisor = node.expression
        if not isinstance(divisor.unnest(), exp.Literal | exp.Nullif):
            node.set("expression", exp.Nullif(this=divisor, expression=exp.Literal.number(0)))
    if isinstance(node, exp.Div):
        node.set("this", exp.cast(node.this, _Type.DOUBLE))
        node.set("typed", True)
        node.set("safe", False)
    return node


def _is_real(value: exp.Expr | None) -> bool:
    """Whether an expression shows that its values are real; columns that are, are cast."""
    if isinstance(value, exp.Cast):
        return value.to.this in _REALS
    if isinstance(value, exp.Ln | exp.Div | exp.Avg | exp.Sqrt | exp.Exp | exp.Pow):
        return True
    if isinstance(value, exp.Case):
        branches = [branch.args["true"] for branch in value.args["ifs"]]
        return any(map(_is_real, [*branches, value.args.get("default")]))
    if isinstance(value, exp.Coalesce | exp.Greatest | exp.Least):
        return any(map(_is_real, [value.this, *value.expressions]))
    if isinstance(value, exp.Binary) and not isinstance(value, exp.Predicate):
        return _is_real(value.this) or _is_real(value.expression)
    if isinstance(value, exp.Paren | exp.Neg | exp.Abs | exp.Nullif | exp.Sum | exp.Max | exp.Min):
        return _is_real(value.this)
    return isinstance(value, exp.Window) and _is_real(value.this)


def _negative(number: exp.Expr) -> exp.Expr:
    """Whether a real number has the sign, be it a zero."""
    text = exp.cast(number, _Type.TEXT)
    return exp.Like(this=text, expression=exp.Literal.string("-%"))


def _query_for_postgres(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Ln):
        node.set("this", exp.cast(node.this, _Type.DOUBLE))
    elif isinstance(node, exp.TryCast):
        return _tried(node.this, node.to)
    elif isinstance(node, exp.Cast) and node.to.is_type(_Type.DECIMAL) and _is_real(node.this):
        # It keeps 15 digits of a real number; its text has all of them.
        node.set("this", exp.cast(node.this, _Type.TEXT))
    elif isinstance(node, exp.SHA2):
        # Older versions of sqlglot leave the digest as bytes.
        return _sql("ENCODE(SHA256(CONVERT_TO(:value, 'UTF8')), 'hex')", value=node.this)
    elif isinstance(node, exp.ApproxDistinct):
        return exp.Count(this=exp.Distinct(expressions=[node.this]))
    elif isinstance(node, exp.Anonymous):
        return _postgres_function(node)
    return node


def _postgres_function(call: exp.Anonymous) -> exp.Expr:
    """A function that sqlglot does not know."""
    match call.name.upper():
        case "HASH":
            row = exp.Anonymous(this="ROW", expressions=call.expressions)
            number = exp.Literal.number(0)
            return exp.Anonymous(this="HASH_RECORD_EXTENDED", expressions=[row, number])
        case "PRINTF":
            form, value = call.expressions
            digits = re.fullmatch(r"%\.(\d+)g", form.name)
            if digits is None:
                raise EngineError("the statement has PRINTF of a form that PostgreSQL lacks")
            return _sql(
                "CASE WHEN CAST(:value AS DOUBLE PRECISION) IN ('NaN', 'Infinity', '-Infinity')"
                " THEN CAST(:value AS TEXT) ELSE TO_CHAR(:value, :form) END",
                value=value,
                form=exp.Literal.string(f"9.{'9' * (int(digits[1]) - 1)}EEEE"),
            )
    return call


def _sql(text: str, dialect: str = "postgres", **parts: exp.Expr) -> exp.Expr:
    """A piece in another dialect with `:part` filled."""
    tree = sqlglot.parse_one(text, dialect=dialect)
    return exp.Paren(this=exp.replace_placeholders(tree, **parts))


_SIGNED = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"
_NUMBER = rf"^\s*{_SIGNED}\s*$"
_REAL = rf"^\s*({_SIGNED}|[+-]?([Ii]nf|[Ii]nfinity)|[Nn]a[Nn])\s*$"
_CLOCK = r"([ T]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?)?"
_MOMENT = rf"^\s*0*[1-9][0-9]*-(0?[1-9]|1[0-2])-(0?[1-9]|[12][0-9]|3[01]){_CLOCK}\s*$"
_DAY = r"^\s*([0-9]{1,6})-([0-9]{1,2})-([0-9]{1,2})"
_ENDLESS = r"^\s*-?[Ii]nfinity\s*$"


def _tried(text: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """A text as a value of a type, NULL where it is none: PostgreSQL 15 has no TRY_CAST.

    What it reads are the spellings that values have as texts, and the usual ones beside.
    """
    written = exp.cast(text.copy(), _Type.TEXT)
    number = "CAST(:value AS DECIMAL)"
    if kind.this in exp.DataType.TEXT_TYPES:
        return written
    if kind.this in _WHOLE:
        least, greatest = bounds(kind)
        valid, fits = _NUMBER, f"ROUND({number}) BETWEEN {least} AND {greatest}"
        value = f"ROUND({number})"
    elif kind.this == _Type.DECIMAL:
        digits, scale = (int(parameter.name) for parameter in kind.expressions)
        value = f"ROUND({number}, {scale})"
        valid, fits = _NUMBER, f"ABS({value}) < 1e{digits - scale}"
    elif kind.this in _REALS:
        valid, fits, value = _REAL, "TRUE", ":value"
    elif kind.this in _DAYS:
        year, month, day = (
            f"CAST((REGEXP_MATCH(:value, '{_DAY}'))[{place}] AS INT)" for place in (1, 2, 3)
        )
        # Every date of a month exists but those after its last.
        last = f"MAKE_DATE({year}, {month}, 1) + INTERVAL '1 MONTH' - INTERVAL '1 DAY'"
        valid, value = f"{_MOMENT}|{_ENDLESS}", ":value"
        fits = f":value ~ '{_ENDLESS}' OR {day} <= EXTRACT(DAY FROM {last})"
    elif kind.this == _Type.BOOLEAN:
        valid, fits, value = "^([Tt](rue)?|TRUE|[Ff](alse)?|FALSE|[01]|yes|no)$", "TRUE", ":value"
    else:
        raise EngineError(f"PostgreSQL cannot try whether a text is a {kind.this.name}")
    return _sql(
        f"CASE WHEN :value ~ '{valid}' THEN CASE WHEN {fits} THEN :cast END END",
        value=written,
        cast=exp.cast(_sql(value, value=written), kind),
    )


def bounds(kind: exp.DataType) -> tuple[int, int]:
    """The least and the greatest whole number of a type."""
    bits = {_Type.TINYINT: 8, _Type.SMALLINT: 16, _Type.INT: 32, _Type.BIGINT: 64}
    bits |= {_Type.UTINYINT: 8, _Type.USMALLINT: 16, _Type.UINT: 32, _Type.UBIGINT: 64}
    width = bits.get(kind.this, 128)
    if kind.this.name.startswith("U"):
        return 0, (1 << width) - 1
    return -(1 << width - 1), (1 << width - 1) - 1


def _alike(node: exp.NullSafeEQ, *, listed: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Equality that takes NULLs for alike, as that of arrays, by which rows are joined.

    PostgreSQL never hashes IS NOT DISTINCT FROM: 120,000 records took over 60 s in place of 7. Sail
    loses rows of NULL by <=> once another join follows.

    Args:
        node: A comparison by IS NOT DISTINCT FROM.
        listed: A cell as an array.
    """
    return exp.EQ(this=listed(node.this), expression=listed(node.expression))


def _array(cell: exp.Expr) -> exp.Expr:
    return exp.Array(expressions=[cell.copy()])


def _array_without_null(cell: exp.Expr) -> exp.Expr:
    """An array that is empty for NULL.

    Where others hold NULL, Sail skips files in which a column has one value, though they match.
    """
    no_value = exp.If(this=exp.Paren(this=cell.copy()).is_(exp.null()), true=exp.Array())
    return exp.Case(ifs=[no_value], default=_array(cell))


def _for_postgres(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Split):
        return exp.StringToArray(this=node.this, expression=node.expression)
    if isinstance(node, exp.NullSafeEQ):
        return _alike(node, listed=_array)
    if isinstance(node, exp.Extract):
        return _finite_part(node)
    return node


def _finite_part(part: exp.Extract) -> exp.Expr:
    """A part of a date: NULL where it is infinite; 1 BC is the year 0."""
    value: exp.Expr = part
    if part.name.upper() == "YEAR":
        shifted = exp.Add(this=part.copy(), expression=exp.Literal.number(1))
        is_before = exp.LT(this=part.copy(), expression=exp.Literal.number(0))
        value = exp.Case(ifs=[exp.If(this=is_before, true=shifted)], default=part)
    is_finite = exp.Anonymous(this="ISFINITE", expressions=[part.expression.copy()])
    return exp.Paren(this=exp.Case(ifs=[exp.If(this=is_finite, true=value.copy())]))


def _refused_by_postgres(name: str) -> str | None:
    if len(name.encode()) > 63:
        return "is longer than the 63 bytes that PostgreSQL reads of a name"
    return None


def _query_for_sail(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.NullSafeEQ):
        return _alike(node, listed=_array_without_null)
    query = _query_for_spark(node)
    if isinstance(query, exp.Anonymous) and query.name == "XXHASH64":
        # Of constants alone, as a file's statistics may tell, it makes one hash for all records.
        query.append("expressions", _sql("CAST(RAND() < 2 AS INT)", "spark"))
    return query


def _query_for_spark(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.TryCast):
        return _tried_by_spark(node)
    if isinstance(node, exp.Cast) and node.to.this in _WHOLE and _is_real(node.this):
        # It truncates.
        node.set("this", exp.Anonymous(this="RINT", expressions=[node.this]))
    elif isinstance(node, exp.Sum) and not _is_real(node.this):
        # A sum of BIGINT is one: it fails, or goes round at 2^63.
        if isinstance(node.this, exp.Distinct):
            raise EngineError("the statement has SUM(DISTINCT), which no test has executed")
        node.set("this", _widened(node.this))
    elif isinstance(node, exp.AtTimeZone):
        return _spark_in_utc(node)
    elif isinstance(node, exp.Anonymous):
        return _spark_function(node)
    elif isinstance(node, exp.ApproxDistinct):
        # Not every engine like it counts real numbers so.
        node.set("this", exp.cast(node.this, _Type.TEXT))
    elif isinstance(node, exp.CTE):
        node.set("materialized", None)
    elif isinstance(node, exp.Window):
        needs_order = isinstance(node.this, exp.RowNumber) and not node.args.get("order")
        if needs_order:
            # Any will do, but there must be one.
            node.set("order", exp.Order(expressions=[exp.Ordered(this=exp.null())]))
    return node


def _tried_by_spark(tried: exp.TryCast) -> exp.Expr:
    """A text as a value of a type: numbers are read in every spelling, and rounded."""
    kind = tried.to

    def to(value: exp.Expr, kind: exp.DataType) -> exp.Expr:
        # Where it is not safe it is written as a CAST, which stops.
        return exp.TryCast(this=value.copy(), to=kind.copy(), safe=True)

    def number(kind: exp.DataType) -> exp.Expr:
        real = to(to(tried.this, _type("DOUBLE")), kind)
        return exp.Coalesce(this=to(tried.this, kind), expressions=[real])

    if kind.this == _Type.DECIMAL:
        return number(kind)
    if kind.this in _WHOLE:
        rounded = exp.Round(this=number(_type("DECIMAL(38, 10)")))
        value = exp.Coalesce(this=to(tried.this, kind), expressions=[to(rounded, kind)])
        if kind.this not in exp.DataType.UNSIGNED_INTEGER_TYPES:
            return value
        # Its types have signs.
        least, greatest = map(exp.Literal.number, bounds(kind))
        fits = exp.Between(this=value.copy(), low=least, high=greatest)
        return exp.Paren(this=exp.Case(ifs=[exp.If(this=fits, true=value)]))
    if kind.this in _DAYS:
        # It takes a lone number for a year.
        text = exp.cast(tried.this.copy(), _Type.TEXT)
        is_day = exp.RegexpLike(this=text, expression=exp.Literal.string(_MOMENT))
        return exp.Paren(this=exp.Case(ifs=[exp.If(this=is_day, true=to(tried.this, kind))]))
    return to(tried.this, kind)


def _spark_in_utc(instant: exp.AtTimeZone) -> exp.Expr:
    """An instant as a time of UTC: its own function tells it by the clock of the session's zone."""
    if instant.args["zone"] != exp.Literal.string("UTC"):
        raise EngineError("the statement has AT TIME ZONE of another zone than 'UTC'")
    return _sql(
        "TIMESTAMP_NTZ '1970-01-01 00:00:00' + UNIX_MICROS(:value) * INTERVAL '0.000001' SECOND",
        "spark",
        value=instant.this,
    )


def _widened(value: exp.Expr) -> exp.Expr:
    """A whole number of 38 digits; so are the factors of a product."""
    product = value.unnest()
    if isinstance(product, exp.Mul):
        product.set("this", _widened(product.this))
        return value
    return exp.cast(value, _WIDE.copy())


def _spark_function(call: exp.Anonymous) -> exp.Expr:
    """A function that sqlglot does not know."""
    if call.name.upper() != "HASH":
        return call
    # It leaves NULL out, so that ('a', NULL) and (NULL, 'a') would be the same.
    cells = [
        part
        for cell in call.expressions
        for part in (cell, exp.cast(exp.Paren(this=cell.copy().is_(exp.null())), _Type.INT))
    ]
    return exp.Anonymous(this="XXHASH64", expressions=cells)


def _for_spark(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Literal) and node.is_string and "${" in node.this:
        # Spark puts variables in wherever it reads their sign, in a literal, too.
        first, *others = map(exp.Literal.string, re.split(r"(?<=\$)(?=\{)", node.this))
        result: exp.Expr = first
        for other in others:
            result = exp.DPipe(this=result, expression=other)
        return exp.Paren(this=result)
    if isinstance(node, exp.ConcatWs):
        # It skips NULL, which older versions of sqlglot put an empty text in place of.
        return exp.Anonymous(this="CONCAT_WS", expressions=node.expressions)
    if isinstance(node, exp.Split):
        # It takes a regular expression, and not every engine like it knows how one is quoted.
        separator = exp.Literal.string(re.escape(node.expression.name))
        return exp.RegexpSplit(this=node.this, expression=separator)
    return node


def _refused_by_spark(name: str) -> str | None:
    return "has '${' in it, which Spark takes for a variable" if "${" in name else None


_EXECUTED = """
    ARRAY Abs Add Alias And ApproxDistinct Array AtTimeZone BIGINT BOOLEAN Between BitwiseAnd
    BitwiseAndAgg BitwiseOr BitwiseOrAgg BitwiseXorAgg Boolean CTE Case Cast Ceil Coalesce Column
    ConcatWs Count Create DATE DECIMAL DOUBLE DPipe DataTypeParam DenseRank Distinct Div Drop EQ
    Exists Exp Explode Extract FLOAT Floor From GT GTE Greatest Group GroupConcat GroupingSets HASH
    Having INT INT128 Identifier If In IntDiv Is Join LT LTE Lead Least Left Length Like Limit
    Literal Ln Lower Max Min Mod Mul NEQ Neg Not Null NullSafeEQ Nullif Offset Or Order Ordered
    PRINTF Pad Paren RegexpLike RegexpReplace Repeat Round RowNumber SHA2 SIGNBIT SMALLINT Select
    Split SplitPart Star Sub Subquery Sum TEXT TIMESTAMPNTZ TIMESTAMPTZ TINYINT Table TableAlias
    Trim TryCast Tuple UBIGINT UINT USMALLINT UTINYINT Union VARCHAR Values Var Where Window
    WindowSpec With
"""
"""The kinds of expression that tests execute on all of them: a test holds that they do."""
_POSTGRES = Phrasing(
    "postgres",
    _TYPES | _WIDE_TYPES,
    _for_postgres,
    {},
    _query_for_postgres,
    _refused_by_postgres,
    frozenset([*_EXECUTED.split(), "Collate"]),
)
_SPARK = Phrasing(
    "spark",
    _TYPES,
    _for_spark,
    dict.fromkeys(_WIDE_TYPES, _WIDE),
    _query_for_spark,
    _refused_by_spark,
    frozenset([*_EXECUTED.split(), "Distribute", "Sort"]),
)
PHRASINGS: Mapping[str, Phrasing] = {
    "postgres": _POSTGRES,
    "spark": _SPARK,
    "sail": replace(_SPARK, query_rewrite=_query_for_sail, executed=frozenset(_EXECUTED.split())),
}
"""The engines on which tests execute statements."""
