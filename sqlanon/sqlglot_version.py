"""What differs between the versions of sqlglot that may be installed.

Other programs in the same environment pin minor versions: SQLMesh one of sqlglot, dbt-duckdb some
of DuckDB. So all from a year ago on are allowed, up to the next major one, which may change the
shape of trees that are built by hand (`pyproject.toml`; the oldest are in `.ci/oldest.txt`).

Annotations name the classes of the newest version, `exp.Expr` and `exp.DType`, and are not looked
at when a program runs. Whatever is looked at has a name that every version knows, such as
`exp.Expression` and `exp.DataType.Type`, or stands here.
"""

from __future__ import annotations

from sqlglot import exp

FROM, WITH = ("from_", "with_") if "from_" in exp.Select.arg_types else ("from", "with")
"""Parts that are called by a word of Python, as the arguments of their trees call them."""
TELLS_NULLS = "ignore_nulls" in exp.Greatest.arg_types
"""Whether GREATEST and LEAST say what they make of NULL, which differs between dialects."""


def drop(table: exp.Table) -> exp.Drop:
    """DROP of a table in a statement that is printed for any dialect."""
    several = "tables" in exp.Drop.arg_types
    return exp.Drop(**({"tables": [table]} if several else {"this": table}), kind="TABLE")


def classes(*names: str) -> tuple[type[exp.Expr], ...]:
    """Those of some classes that this version has: other functions are `exp.Anonymous` to it."""
    return tuple(getattr(exp, name) for name in names if hasattr(exp, name))


def type_id(kind: exp.DataType) -> str:
    """The name of a type without its arguments, also of one that this version does not know.

    >>> type_id(exp.DataType.build("BIGNUM", dialect="duckdb", udt=True))
    'BIGNUM'
    """
    if kind.this != exp.DataType.Type.USERDEFINED:
        return str(kind.this.name)
    return kind.sql("duckdb").partition("(")[0]
