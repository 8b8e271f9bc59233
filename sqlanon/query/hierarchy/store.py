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
from sqlanon.query.syntax import TEXT
from sqlanon.sqltext import Sql, expression, listed, names, render, value


def catalog_tables() -> Sql:
    """Tables of the catalog that the current database has, one name in a row.

    A database that only reads, or never stored a hierarchy, has none of them.
    """
    return expression(
        "SELECT table_name FROM information_schema.tables"
        " WHERE table_catalog = CURRENT_DATABASE() AND table_schema = 'sqlanon'"
        " AND table_name IN ('hierarchies', 'hierarchy_paths')"
    )


def stored_hierarchies() -> Sql:
    """Every stored hierarchy: name, kind, specification, height, leaves; in the names' order."""
    return expression(
        "SELECT name, kind, specification, height, leaves FROM sqlanon.hierarchies ORDER BY name"
    )


def stored_hierarchy(name: str) -> Sql:
    """One row of kind and specification, or none."""
    return expression(
        "SELECT kind, specification FROM sqlanon.hierarchies WHERE name = {{ name }}",
        name=value(name),
    )


def stored_paths(name: str) -> Sql:
    """The paths of a stored hierarchy of the kind 'rows', each a list, in their own order."""
    return expression(
        "SELECT path FROM sqlanon.hierarchy_paths WHERE hierarchy = {{ name }} ORDER BY position",
        name=value(name),
    )


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


def delete_hierarchy(name: str) -> list[Sql]:
    """Remove a hierarchy and its paths, if there."""
    return [
        expression(
            "DELETE FROM sqlanon.hierarchy_paths WHERE hierarchy = {{ name }}", name=value(name)
        ),
        expression("DELETE FROM sqlanon.hierarchies WHERE name = {{ name }}", name=value(name)),
    ]


def store_hierarchy(
    name: str, hierarchy: Hierarchy, *, staging: exp.Table | None = None
) -> list[Sql]:
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
    statements = [
        *delete_hierarchy(name),
        expression(
            "INSERT INTO sqlanon.hierarchies (name, kind, specification, height, leaves)"
            " SELECT {{ name }}, {{ kind }}, {{ form }}, {{ height }}, {{ leaves }}",
            name=value(name),
            kind=value(hierarchy.kind),
            form=value(json.dumps(form, ensure_ascii=False)),
            height=hierarchy.height,
            leaves=value(None if rows is None else len(rows)),
        ),
    ]
    if staging is not None:
        statements.append(
            expression(
                "INSERT INTO sqlanon.hierarchy_paths (hierarchy, position, path)"
                " SELECT {{ name }}, position, [{{ path }}] FROM {{ staging }}",
                name=value(name),
                path=listed(names(_labels(hierarchy.height))),
                staging=staging,
            )
        )
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


def table_paths(table: exp.Table, columns: Sequence[str], *, position: str | None = None) -> Sql:
    """The paths of a plain table as text, of the columns that `level_columns` gives.

    The column `position` gives the order of the leaves; left out, they come in the order of their
    labels from the top down, and of the leaf's own type.
    """
    return render(
        "encoding/table_paths",
        columns=list(zip(names(_labels(len(columns) - 1)), names(columns), strict=True)),
        table=table,
        keys=names(columns[::-1] if position is None else [position]),
    )


def _labels(height: int) -> list[str]:
    return ["leaf", *(f"level{level}" for level in range(1, height + 1))]
