"""Trees: the hierarchies of a policy, grown over the values of a table."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import EngineError, HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy, Path, Tree
from sqlanon.policy.roles import QuasiIdentifier
from sqlanon.query.encoding import encode
from sqlanon.query.hierarchy.value_labels import leaf_faults, level_labels
from sqlanon.query.text import TEXT


def grow(
    engine: Engine,
    table: exp.Table,
    *,
    attributes: dict[str, QuasiIdentifier],
    columns: dict[str, exp.DataType],
    nullable: frozenset[str],
) -> tuple[tuple[Tree, ...], tuple[tuple[int, ...] | None, ...]]:
    """The hierarchies over the values present, and the records of their leaves, where known.

    Raises:
        HierarchyError: Faults of any hierarchy, all at once.
    """
    trees: list[Tree] = []
    counts: list[tuple[int, ...] | None] = []
    faults: list[str] = []
    for name, attribute in attributes.items():
        hierarchy = attribute.hierarchy
        try:
            if hierarchy.rows is not None:
                rows = [
                    *hierarchy.rows,
                    *_unlisted(engine, table, name=name, hierarchy=hierarchy, kind=columns[name]),
                ]
                own = hierarchy.name, hierarchy.lines
                faults += leaf_faults(
                    [path[0] for path in hierarchy.rows], columns[name], name=name
                )
                trees.append(
                    Tree.grow(name, rows, with_null=name in nullable, name=own[0], lines=own[1])
                )
                counts.append(None)
            else:
                labels = level_labels(
                    hierarchy, encode.labelled_value(), column_type=columns[name], name=name
                )
                paths = engine.rows(
                    encode.distinct_paths(table, name, labels=labels, kind=columns[name])
                )
                trees.append(Tree.grow(name, [path[:-1] for path in paths]))
                held = {text: records for text, *_, records in paths}
                counts.append(tuple(held[leaf] for leaf in trees[-1].leaves))
        except HierarchyError as error:
            faults += error.faults
        except EngineError as error:
            faults.append(f"hierarchy of column {name!r} cannot be worked out: {error}")
            # The transaction has failed with it, and answers for no other column.
            break
    if faults:
        raise HierarchyError(faults)
    return tuple(trees), tuple(counts)


def _unlisted(
    engine: Engine, table: exp.Table, *, name: str, hierarchy: Hierarchy, kind: exp.DataType
) -> list[Path]:
    """The paths of the values that have no explicit row, where the hierarchy has one for them all.

    Raises:
        HierarchyError: That row does not nest with the others, whether the table needs it or not.
    """
    if hierarchy.rows is None or hierarchy.others is None:
        return []
    grown(hierarchy, name)
    leaves = [path[0] for path in hierarchy.rows]
    with engine.workspace():
        listed = engine.load_rows("listed", {encode.LEAF: leaves}, {encode.LEAF: TEXT})
        found = engine.rows(
            encode.unlisted(table, name, leaves=encode.values_of(listed, kind, carried=[]))
        )
    return [(value, *hierarchy.others) for (value,) in found]


def listing(column: str) -> str:
    """The way to see the values that a hierarchy misses, for a message that must not name them."""
    return (
        "list them with `sqlanon hierarchy check SOURCE TABLE --hierarchy "
        f"{column}=FILE --show-values`"
    )


def named(hierarchy: Hierarchy, column: str) -> str:
    """A hierarchy of a column, by its file where it has one, for a message."""
    own = f" {hierarchy.name!r}" if hierarchy.name else ""
    return f"hierarchy{own} of column {column!r}"


def grown(hierarchy: Hierarchy, column: str = "", *, name: str = "") -> Tree:
    """The tree of explicit rows alone, with a leaf that stands for all values without a row.

    Args:
        hierarchy: The rows.
        column: The column that they belong to; empty for none.
        name: What messages call the hierarchy, where not by its own name.

    Raises:
        HierarchyError: The rows are no tree.
    """
    rows = list(hierarchy.rows or ())
    if hierarchy.others is not None:
        longest = max((path[0] or "" for path in rows), key=len)
        rows.append((f"{longest}*", *hierarchy.others))  # longer than any leaf
    return Tree.grow(column, rows, name=name or hierarchy.name, lines=hierarchy.lines)
