"""Rules of a hierarchy as SQL: the label of a value at each level.

Labels come from the rule's own grid. All of it is plain SQL, which other dialects can carry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import (
    TOP,
    Dates,
    Expressions,
    Intervals,
    Prefix,
    Rows,
    Suppression,
    Table,
)
from sqlanon.query.hierarchy.interval_labels import interval_labels
from sqlanon.query.syntax import (
    NOT_FINITE,
    between,
    case,
    is_nested,
    is_zoned,
    joined,
    not_null,
    type_name,
    varchar,
)
from sqlanon.sqlglot_version import classes
from sqlanon.wording import counted

PLACEHOLDER = "value"

_Type = exp.DataType.Type
_DATES = {
    _Type.DATE,
    _Type.DATE32,
    _Type.DATETIME,
    _Type.TIMESTAMP,
    _Type.TIMESTAMPNTZ,
    _Type.TIMESTAMP_S,
    _Type.TIMESTAMP_MS,
    _Type.TIMESTAMP_NS,
}
_READABLE = (exp.Condition, exp.Query, exp.Star, exp.IgnoreNulls, exp.UDTF, exp.AtTimeZone)
_REFUSED: Mapping[str, tuple[type[exp.Expr], ...]] = {
    "a subquery": (exp.Query,),
    "a window": (exp.Window,),
    "an aggregate": (exp.AggFunc, exp.IgnoreNulls),
    "a star": (exp.Star, exp.Columns),
    "a parameter": (exp.Placeholder, exp.Parameter, exp.PositionalColumn),
    "a function that makes rows": (exp.UDTF, exp.Explode),
    "a function whose result changes": (
        *(exp.Rand, exp.Uuid, exp.CurrentSchema, exp.CurrentDate, exp.CurrentTime),
        *(exp.CurrentTimestamp, exp.CurrentUser),
        *classes("CurrentDatabase", "CurrentSchemas", "Localtime", "Localtimestamp"),
    ),
}
# What a version of the parser, or all of them, takes for a function like any other.
_REFUSED_NAMES = {
    "an aggregate": """
        arbitrary arg_max_null arg_max_nulls_last arg_min_null arg_min_nulls_last bitstring_agg
        combine_aggr count_star decimal_average entropy favg fill fsum histogram histogram_exact
        kahan_sum kurtosis kurtosis_pop list lttb mad mean mode product rank_dense regr_avgx
        regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
        reservoir_quantile row_number sem skewness sum_no_overflow sumkahan variant_group_object
    """,
    "a function whose result changes": """
        ago current_catalog current_connection_id current_database current_date current_localtime
        current_localtimestamp current_query current_query_id current_role current_schema
        current_schemas current_setting current_time current_timestamp current_transaction_id
        current_user currval error gen_random_uuid get_current_time get_current_timestamp getenv
        getvariable in_search_path localtime localtimestamp nextval now pg_conf_load_time
        pg_postmaster_start_time random session_user setseed setval sleep_ms stats today
        transaction_timestamp txid_current user uuid uuidv4 uuidv7 vector_type write_log
    """,
}
_MAKES_INSTANTS = {
    "make_timestamptz", "timezone", "to_timestamp", "uuid_extract_timestamp",
    "from_json", "from_json_strict", "json_transform", "json_transform_strict",
}  # fmt: skip
"""Functions that make instants, or values of a type that is written in a text."""
_OFFSET = re.compile(
    r"-?infinity|.*:\d\d.*(?:Z|[+-]\d\d(?::?\d\d){0,2}| [A-Za-z_]+(?:/[A-Za-z_]+)*)"
)
"""A listed instant that says from which offset or zone it is."""


def level_labels(
    hierarchy: Hierarchy, column: exp.Expr, *, column_type: exp.DataType, name: str | None = None
) -> list[exp.Expr]:
    """The labels that a rule gives a value, from level 1 to the top, as text.

    NULL stays NULL below the top, which is the literal `*`.

    Args:
        hierarchy: A rule; explicit rows have no expression.
        column: What stands for the value.
        column_type: The column's type.
        name: The column's name in messages and in the user's expressions, where `column` is not
            called so.

    Raises:
        HierarchyError: If the rule does not fit the type, or an expression is refused.
    """
    known = name or column.name
    rule = hierarchy.rule
    match rule:
        case Suppression():
            labels: list[exp.Expr] = []
        case Intervals():
            labels = interval_labels(rule, column, column_type=column_type, name=known)
        case Prefix():
            labels = _prefix_labels(rule, column, column_type=column_type, name=known)
        case Dates():
            labels = _date_labels(rule, column, column_type=column_type, name=known)
        case Expressions():
            labels = _expression_labels(rule, column, column_type=column_type, name=known)
        case Rows() | Table():
            raise HierarchyError(f"hierarchy of column '{known}' has rows, not a rule")
    return [*labels, exp.Literal.string(TOP)]


def _prefix_labels(
    rule: Prefix, column: exp.Expr, *, column_type: exp.DataType, name: str
) -> list[exp.Expr]:
    if is_nested(column_type):
        raise HierarchyError(
            f"hierarchy 'prefix' of column {name!r} needs text, "
            f"not {type_name(column_type)}; use suppress or an expression"
        )
    if is_zoned(column_type):
        raise HierarchyError(
            f"hierarchy 'prefix' of column {name!r} cannot use {type_name(column_type)}, whose "
            "text depends on the session's time zone; cast the column to TIMESTAMP in a zone "
            "of your choice"
        )
    value = varchar(column)
    labels = []
    for length in rule.lengths:
        kept = exp.Left(this=value, expression=exp.Literal.number(length))
        removed = exp.func("GREATEST", exp.Length(this=value) - length, exp.Literal.number(0))
        masked = exp.Repeat(this=exp.Literal.string(rule.mask), times=removed)
        labels.append(not_null(column, joined(kept, masked)))
    return labels


def _date_labels(
    rule: Dates, column: exp.Expr, *, column_type: exp.DataType, name: str
) -> list[exp.Expr]:
    kind = column_type.this
    if kind not in _DATES:
        what = f"hierarchy 'dates' of column {name!r}"
        if is_zoned(column_type):
            fault = (
                f"{what} cannot use {type_name(column_type)}, whose day depends on the session's "
                "time zone; cast the column to TIMESTAMP in a zone of your choice"
            )
        else:
            fault = (
                f"{what} needs a DATE or TIMESTAMP, not {type_name(column_type)}; "
                "cast the column to DATE, or name the --date-format that all its values have in "
                "the text file"
            )
        raise HierarchyError(fault)
    if kind == _Type.TIMESTAMP_NS:
        # DuckDB takes the parts of such a value from its microseconds, rounded towards 1970, so
        # that the last of 1969 are in 1970. Its year has four digits.
        day = exp.Left(this=varchar(column), expression=exp.Literal.number(10))
        column = exp.cast(day, _Type.DATE)
    # The parts of an infinite date are NULL.
    infinite = case(exp.Is(this=_part("YEAR", column), expression=exp.Null()), NOT_FINITE)
    return [not_null(column, _date_label(unit, column), infinite) for unit in rule.units]


def _date_label(unit: str, column: exp.Expr) -> exp.Expr:
    year = _part("YEAR", column)
    month = _padded(_part("MONTH", column), 2)
    match unit:
        case "day":
            day = _padded(_part("DAY", column), 2)
            return joined(_year_text(year), "-", month, "-", day)
        case "week":
            return joined(_year_text(_iso_year(column)), "-W", _padded(_part("WEEK", column), 2))
        case "month":
            return joined(_year_text(year), "-", month)
        case "quarter":
            return joined(_year_text(year), "-Q", varchar(_part("QUARTER", column)))
        case "year":
            return _year_text(year)
    first = year - (year % 10 + 10) % 10
    return joined(_year_text(first), between(year), _year_text(first + 9))


def _iso_year(column: exp.Expr) -> exp.Expr:
    """The year that an ISO week belongs to: that of its Thursday."""
    year, month, week = (_part(part, column) for part in ("YEAR", "MONTH", "WEEK"))
    last_of_previous = exp.and_(month.eq(1), week > 51)
    first_of_next = exp.and_(month.eq(12), week.eq(1))
    shift = exp.Case(
        ifs=[
            case(last_of_previous, exp.Literal.number(-1)),
            case(first_of_next, exp.Literal.number(1)),
        ],
        default=exp.Literal.number(0),
    )
    return year + shift


def _part(part: str, column: exp.Expr) -> exp.Extract:
    return exp.Extract(this=exp.var(part), expression=column)


def _year_text(year: exp.Expr) -> exp.Expr:
    """Four digits, more after 9999, and a minus before the year 0, which is 1 BC."""
    ordinary = exp.Between(
        this=exp.paren(year), low=exp.Literal.number(0), high=exp.Literal.number(9999)
    )
    return exp.Case(ifs=[case(ordinary, _padded(year, 4))], default=varchar(year))


def _padded(number: exp.Expr, width: int) -> exp.Expr:
    return exp.Pad(
        this=varchar(number),
        expression=exp.Literal.number(width),
        fill_pattern=exp.Literal.string("0"),
        is_left=True,
    )


def _expression_labels(
    rule: Expressions, column: exp.Expr, *, column_type: exp.DataType, name: str
) -> list[exp.Expr]:
    faults: list[str] = []
    labels = []
    for level, text in enumerate(rule.texts, start=1):
        subject = f"hierarchy 'expressions' of column {name!r}: level {level}"
        tree = _parsed(text)
        if tree is None:
            faults.append(f"{subject} is no SQL expression")
            continue
        refused = _refused(tree, name)
        faults.extend(f"{subject} has {what}; use only the column itself" for what in refused)
        if _depends_on_zone(tree, column_type):
            faults.append(
                f"{subject} depends on the session's time zone; take the column to a named one "
                "first, as in value AT TIME ZONE 'UTC', and make no other timestamps with a zone"
            )
        labels.append(not_null(column, varchar(_bound(tree, column))))
    if faults:
        raise HierarchyError(faults)
    return labels


def _parsed(text: str) -> exp.Expr | None:
    try:
        trees = sqlglot.parse(text, read="duckdb")
    except SqlglotError:
        return None
    if len(trees) != 1 or not isinstance(trees[0], _READABLE):
        return None
    return trees[0]


def _refused(tree: exp.Expr, name: str) -> list[str]:
    """Parts of an expression that a label may not be made of."""
    refused = [what for what, kinds in _REFUSED.items() if tree.find(*kinds)]
    calls = {name for call in tree.find_all(exp.Func) for name in _names(call)}
    refused += [what for what, names in _REFUSED_NAMES.items() if calls & set(names.split())]
    known = {name.casefold(), PLACEHOLDER}
    others = {
        column.sql(dialect="duckdb")
        for column in tree.find_all(exp.Column)
        if column.table or column.name.casefold() not in known
    }
    if others:
        references = counted(len(others), "reference")
        refused.append(f"{references} to other columns ({', '.join(sorted(others))})")
    return refused


def _depends_on_zone(tree: exp.Expr, column_type: exp.DataType) -> bool:
    """Whether an expression over a column is none that has the same result in every time zone.

    A session's zone decides what text, day or hour an instant has, and what instant a text without
    an offset means. So instants may only be taken to a zone that is named, and nothing may make
    one; times with a zone may only be cast.
    """
    for node in tree.walk():
        match node:
            case exp.Column() if is_zoned(column_type):
                parent = node.parent
                fits = (
                    isinstance(parent, exp.AtTimeZone)
                    and parent.this is node
                    and isinstance(parent.args["zone"], exp.Literal)
                )
            case exp.Column() if column_type.this == _Type.TIMETZ:
                fits = isinstance(node.parent, exp.Cast)
            case exp.AtTimeZone():
                fits = is_zoned(column_type) and isinstance(node.this, exp.Column)
            case exp.Cast():
                parts = list(node.to.find_all(exp.DataType))
                fits = not any(is_zoned(part) or part.this == _Type.TIMETZ for part in parts)
            case exp.UnixToTime():
                fits = node.args.get("scale") is not None  # that is epoch_ms, which makes none
            case exp.StrToTime():
                fits = _reads_no_zone(node.args["format"])
            case exp.Anonymous() if node.name.lower() == "try_strptime":
                fits = _reads_no_zone(node.expressions[-1])
            case exp.Func():
                fits = not _names(node) & _MAKES_INSTANTS
            case _:
                fits = True
        if not fits:
            return True
    return False


def _reads_no_zone(form: exp.Expr) -> bool:
    """Whether a format of strptime is written down, and reads no zone or offset."""
    return isinstance(form, exp.Literal) and "%z" not in form.name.lower()


def leaf_faults(leaves: Sequence[str | None], column_type: exp.DataType, *, name: str) -> list[str]:
    """Faults of listed values of a column: texts that mean no instant without a time zone."""
    if not is_zoned(column_type) and column_type.this != _Type.TIMETZ:
        return []
    bare = sum(leaf is not None and not _OFFSET.fullmatch(leaf) for leaf in leaves)
    if not bare:
        return []
    return [
        f"{counted(bare, 'leaf', more='leaves')} of column {name!r} ({type_name(column_type)}) "
        f"{'has' if bare == 1 else 'have'} no offset from UTC, so that the session's time zone "
        "would decide what is meant; write one, as in 2020-01-31 12:00:00+00"
    ]


def _names(call: exp.Func) -> set[str]:
    """The names of a function, in lower case."""
    if isinstance(call, exp.Anonymous):
        return {call.name.lower()}
    return {name.lower() for name in call.sql_names()}


def _bound(tree: exp.Expr, column: exp.Expr) -> exp.Expr:
    def bind(node: exp.Expr) -> exp.Expr:
        return column.copy() if isinstance(node, exp.Column) else node

    bound = tree.transform(bind)
    for node in bound.walk():
        node.pop_comments()
    return bound
