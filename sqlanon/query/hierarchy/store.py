"""Stored hierarchies: queries that store, list, load and delete them.

The catalog's own tables are created by `sql/<engine>/hierarchies.sql`. A rule is stored as its
specification; explicit rows are stored as one path for each leaf, through a staging table that
the engine loads. A plain table of the user with the columns leaf, level1, … is a hierarchy too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import Path, Rows, Table
from sqlanon.query.syntax import TEXT, alias, column, select, varchar

SCHEMA = "sqlanon"
HIERARCHIES = "hierarchies"
PATHS = "hierarchy_paths"
_STORED = ("name", "kind", "specification", "height", "leaves")


def catalog_tables() -> exp.Select:
    """Tables of the catalog that the current database has, one name in a row.

    A database that only reads, or never stored a hierarchy, has none of them.
    """
    tables = exp.table_("tables", db="information_schema", quoted=True)
    return select([column("table_name")], tables).where(
        column("table_catalog").eq(exp.func("CURRENT_DATABASE")),
        column("table_schema").eq(SCHEMA),
        column("table_name").isin(HIERARCHIES, PATHS),
        copy=False,
    )


def stored_hierarchies() -> exp.Select:
    """Every stored hierarchy: name, kind, specification, height, leaves; in the names' order."""
    return select(map(column, _STORED), _table(HIERARCHIES)).order_by(_first("name"), copy=False)


def stored_hierarchy(name: str) -> exp.Select:
    """One row of kind and specification, or none."""
    query = select([column("kind"), column("specification")], _table(HIERARCHIES))
    return query.where(column("name").eq(name), copy=False)


def stored_paths(name: str) -> exp.Select:
    """The paths of a stored hierarchy of the kind 'rows', each a list, in their own order."""
    query = select([column("path")], _table(PATHS)).order_by(_first("position"), copy=False)
    return query.where(column("hierarchy").eq(name), copy=False)


def restored(kind: str, specification: str, *, paths: Iterable[Sequence[str | None]]) -> Hierarchy:
    """The hierarchy that was stored, its paths those of `stored_paths`, none for a rule.

    Raises:
        HierarchyError: If the catalog was changed by something else.
    """
    try:
        form = json.loads(specification)
    except ValueError:
        raise HierarchyError("a stored hierarchy has a specification that is no JSON") from None
    if kind == Rows.kind:
        return Hierarchy.from_rows(paths, name=form.get("name", ""), others=form.get("others"))
    return Hierarchy.from_dict(form)


def delete_hierarchy(name: str) -> list[exp.Delete]:
    """Remove a hierarchy and its paths, if there."""
    return [
        exp.delete(_table(PATHS)).where(column("hierarchy").eq(name)),
        exp.delete(_table(HIERARCHIES)).where(column("name").eq(name)),
    ]


def store_hierarchy(
    name: str, hierarchy: Hierarchy, *, staging: exp.Table | None = None
) -> list[exp.Expr]:
    """Store a hierarchy under a name, in the place of one that had it, in one transaction.

    For explicit rows, the staging table holds `staged(hierarchy.rows)`.

    Raises:
        HierarchyError: If the hierarchy is only a reference.
    """
    rows = hierarchy.rows
    if isinstance(hierarchy.rule, Table):
        raise HierarchyError(f"hierarchy '{hierarchy.name}' must be loaded before it is stored")
    if (rows is None) != (staging is None):
        raise ValueError("explicit rows need a staging table, and rules have none")
    form = {key: value for key, value in hierarchy.to_dict().items() if key != "rows"}
    values = [
        exp.Literal.string(name),
        exp.Literal.string(hierarchy.kind),
        exp.Literal.string(json.dumps(form, ensure_ascii=False)),
        exp.Literal.number(hierarchy.height),
        exp.null() if rows is None else exp.Literal.number(len(rows)),
    ]
    statements: list[exp.Expr] = [
        *delete_hierarchy(name),
        exp.insert(exp.select(*values), _table(HIERARCHIES), columns=_names(*_STORED)),
    ]
    if staging is not None:
        path = exp.Array(expressions=[column(label) for label in _labels(hierarchy.height)])
        paths = select([exp.Literal.string(name), column("position"), path], staging)
        columns = _names("hierarchy", "position", "path")
        statements.append(exp.insert(paths, _table(PATHS), columns=columns))
    return statements


def staged(rows: Sequence[Path]) -> tuple[dict[str, Sequence[object]], dict[str, exp.DataType]]:
    """One explicit row or more as the columns of a staging table, and the types of the labels."""
    labels = _labels(len(rows[0]) - 1)
    columns: dict[str, Sequence[object]] = {"position": range(len(rows))}
    columns |= {label: [row[level] for row in rows] for level, label in enumerate(labels)}
    return columns, dict.fromkeys(labels, TEXT)


def level_columns(table: str, columns: Sequence[str]) -> list[str]:
    """The columns of a plain table that make it a hierarchy, from leaf to top, in any case.

    One called position may give the order of the leaves.

    Raises:
        HierarchyError: If it is no table of leaf, level1, level2, …
    """
    actual_names = {name.lower(): name for name in columns}
    actual_names.pop("position", None)
    wanted = _labels(max(len(actual_names) - 1, 1))
    missing = [label for label in wanted if label not in actual_names]
    if missing:
        raise HierarchyError(
            f"hierarchy table {table!r} lacks {len(missing)} of the columns "
            f"{', '.join(wanted)}; it may have these and position, no others"
        )
    return [actual_names[label] for label in wanted]


def table_paths(
    table: exp.Table, columns: Sequence[str], *, position: str | None = None
) -> exp.Select:
    """The paths of a plain table as text, of the columns that `level_columns` gives.

    The column `position` gives the order of the leaves; left out, they come in the order of their
    labels from the top down, and of the leaf's own type.
    """
    keys = columns[::-1] if position is None else [position]
    relation = table.alias_or_name  # a name could be that of a result too
    texts = [
        alias(varchar(column(name, relation)), label)
        for label, name in zip(_labels(len(columns) - 1), columns, strict=True)
    ]
    return select(texts, table).order_by(*(_first(key, relation) for key in keys), copy=False)


def _labels(height: int) -> list[str]:
    return ["leaf", *(f"level{level}" for level in range(1, height + 1))]


def _names(*names: str) -> list[exp.Identifier]:
    return [exp.to_identifier(name, quoted=True) for name in names]


def _table(name: str) -> exp.Table:
    return exp.table_(name, db=SCHEMA, quoted=True)


def _first(name: str, table: str | None = None) -> exp.Ordered:
    """Ascending, NULL first, in every dialect."""
    return exp.Ordered(this=column(name, table), desc=False, nulls_first=True)
