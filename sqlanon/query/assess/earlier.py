"""Earlier releases: which of their classes a record may be in, and which candidates both leave."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.encode import of_column, values_of
from sqlanon.sqltext import Fragment, Sql, expression, name, names, render

LABEL = "label"


def beside_original(source: exp.Table, columns: Sequence[str]) -> Sql:
    """The rows of a table with columns twice: what is recoded, and what it was."""
    return expression(
        "SELECT *{% for own, copy in columns %}, {{ own }} AS {{ copy }}{% endfor %}"
        " FROM {{ source }}",
        columns=[(name(column), name(original(number))) for number, column in enumerate(columns)],
        source=source,
    )


def original(number: int) -> str:
    """Name of the column of a quasi-identifier's original values."""
    return f"sqlanon_original_{number}"


def placed_rows(
    rows: exp.Table,
    labels: Sequence[str],
    *,
    links: Sequence[exp.Expr],
    originals: Sequence[str] = (),
    whose: str | None = None,
) -> Sql:
    """The rows of a release with the number of their class.

    Rows of `class`, `label_0` and so on as texts, `combination` of original values and these,
    `link_0` and so on, and `whose`.

    Args:
        rows: The release.
        labels: Its quasi-identifiers.
        links: What is compared with another release.
        originals: The columns of original values, where they are known.
        whose: The column that says whose records are; None where each is somebody's own.
    """
    return render(
        "assess/placed_rows",
        rows=rows,
        labels=names(labels),
        original=names(originals),
        links=links,
        whose=None if whose is None else name(whose),
    )


def covers(
    rows: exp.Table, nodes: exp.Table, *, earlier: exp.Table, number: int, kind: exp.DataType
) -> Sql:
    """The labels of an earlier release that stand for each original value: rows of both.

    Args:
        rows: The new release, as of `placed_rows`.
        nodes: Rows of ATTRIBUTE, LEAF (the text of a value) and LABEL, one of its nodes.
        earlier: The earlier release, as of `placed_rows`.
        number: The column's.
        kind: Its type.
    """
    listed = values_of(nodes, kind, carried=[LABEL], among=of_column(number))
    return render(
        "assess/covers",
        nodes=listed,
        original=name(f"original_{number}"),
        rows=rows,
        published=name(f"label_{number}"),
        earlier=earlier,
    )


def uncovered(earlier: exp.Table, cover: exp.Table, *, number: int) -> Sql:
    """Labels of an earlier release that stand for no value, and the records with them; one row."""
    return render(
        "assess/uncovered", published=name(f"label_{number}"), earlier=earlier, cover=cover
    )


def covering(rows: exp.Table, earlier: exp.Table, *, covers: Sequence[exp.Table]) -> Sql:
    """The classes of an earlier release that each combination of values may be in."""
    numbers = range(len(covers))
    return render(
        "assess/covering",
        rows=rows,
        earlier=earlier,
        covers=covers,
        labels=names(f"label_{number}" for number in numbers),
        original=names(f"original_{number}" for number in numbers),
    )


def intersected(
    rows: exp.Table,
    earlier: exp.Table,
    *,
    covering: exp.Table,
    k: int,
    least: Sequence[int],
    nulls: Sequence[bool],
) -> Sql:
    """What both releases leave of a record's candidates, in one row; see the query.

    Args:
        rows: The new release, as of `placed_rows`.
        earlier: The earlier one.
        covering: The earlier classes of combinations.
        k: The fewest candidates allowed.
        least: Per link the fewest values among them; 0 where nothing is asked.
        nulls: Per link whether NULL is a value.
    """
    links: list[Fragment] = list(names(f"link_{number}" for number in range(len(least))))
    return render(
        "assess/intersected",
        rows=rows,
        earlier=earlier,
        covering=covering,
        links=links,
        nulls=list(nulls),
        k=k,
        least=list(least),
    )
