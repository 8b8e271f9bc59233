"""Use: errors of tables, means and quantiles that are counted from a release by its labels alone.

Who counts by a release knows of a label which values it stands for, and nothing of their shares: so
its records are spread over these values alike, in each column by itself. Records that are
suppressed count in neither; tables are of shares, so that leaving out records that are like the
others is no error.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, combinations

from sqlglot import exp

from sqlanon.assessment.labels import Labels
from sqlanon.assessment.release import Published
from sqlanon.engine.base import by_column
from sqlanon.query import encode
from sqlanon.query.assess import release, use
from sqlanon.query.classes.table_classes import set_counts
from sqlanon.query.syntax import TEXT
from sqlanon.reports.use import NumberError, ReleaseUse, TableError
from sqlanon.wording import counted

MAX_PAIRED_COLUMNS = 10
"""Columns of which every pair is counted: 45 tables."""
MAX_KEPT_VALUES = 1000
"""Values of a column that is published as it is, above which it is no column of a table."""
SHARES: Mapping[str, float] = {"lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75}
"""The quantiles that are compared; outer ones would be values of few records."""
_NOISE = 1e-12


def use_of(
    published: Published,
    types: Mapping[str, exp.DataType],
    *,
    beside: Sequence[str],
    means: Sequence[str] = (),
) -> ReleaseUse:
    """Errors of a release whose labels were read.

    Args:
        published: The release and its original.
        types: The columns of the release.
        beside: Columns that are published as they are and are in both tables.
        means: Columns of numbers that are published as figures of classes, which are no cells.
    """
    if not published.released.statistics.records:
        return ReleaseUse((), ())
    kinds = published.subject.columns
    columns = [
        use.Counted(name, kinds[name], number)
        for number, name in enumerate(published.subject.names)
    ]
    notes = []
    for name in beside:
        [(_, values, _)] = published.engine.rows(set_counts(published.subject.table, [[name]]))
        if values > MAX_KEPT_VALUES:
            many = f"more than {MAX_KEPT_VALUES:,} values"
            notes.append(f"tables leave {name!r} out, which has {many}")
        elif not _are_written_alike(types[name], kinds[name]):
            notes.append(f"tables leave {name!r} out, whose type is another in the release")
        else:
            columns.append(use.Counted(name))
    tables = [[column] for column in columns]
    tables += map(list, combinations(columns[:MAX_PAIRED_COLUMNS], 2))
    compared = _compared(published)
    if len(columns) > MAX_PAIRED_COLUMNS:
        notes.append(
            f"tables by two columns are those of the first {MAX_PAIRED_COLUMNS} of "
            f"{counted(len(columns), 'column')}"
        )
    return ReleaseUse(
        tuple(_table_error(published, compared, table) for table in tables),
        (*_of_labels(published), *_of_numbers(published, compared, [*means, *beside], types)),
        tuple(notes),
    )


def _are_written_alike(one: exp.DataType, other: exp.DataType) -> bool:
    """Whether equal values of two types have the same text."""
    groups = (exp.DataType.INTEGER_TYPES, exp.DataType.TEXT_TYPES)
    return one == other or any(one.is_type(*kinds) and other.is_type(*kinds) for kinds in groups)


def _compared(published: Published) -> use.ComparedTables:
    """Both tables, with the cells that values and labels are of."""
    engine, subject = published.engine, published.subject
    leaves = [
        (number, leaf, cell)
        for number, tree in enumerate(subject.trees)
        for cell, leaf in enumerate(tree.leaves)
    ]
    stands = [
        (number, label, cell, size)
        for number, labels in enumerate(published.labels)
        for label, place in labels.places.items()
        for first, size in [labels.nodes.run(place)]
        for cell in range(first, first + size)
    ]
    heads = (encode.ATTRIBUTE, encode.LEAF, use.CELL)
    labelled = (encode.ATTRIBUTE, release.LABEL, use.CELL, use.CELLS)
    return use.ComparedTables(
        original=subject.table,
        records=subject.records,
        released=published.released.table,
        published=published.released.statistics.records,
        leaves=engine.load_rows("leaves", by_column(heads, leaves), {encode.LEAF: TEXT}),
        stands=engine.load_rows("stands", by_column(labelled, stands), {release.LABEL: TEXT}),
        suppressed=published.released.label,
        judged=subject.names,
    )


def _table_error(
    published: Published, compared: use.ComparedTables, columns: Sequence[use.Counted]
) -> TableError:
    [(covered, differing, relative)] = published.engine.rows(use.table_error(compared, columns))
    # What the release has in cells that the original has not is as far as it is large.
    total = (differing + max(1 - covered, 0.0)) / 2
    return TableError(tuple(column.name for column in columns), total, relative)


def _of_labels(published: Published) -> Iterator[NumberError]:
    """Errors of the columns of numbers that are published by labels."""
    subject = published.subject
    parts = zip(
        subject.names, subject.trees, published.labels, published.encoded.counts, strict=True
    )
    for name, tree, labels, counts in parts:
        if not subject.columns[name].is_type(*exp.DataType.NUMERIC_TYPES):
            continue
        numbers = [_number(leaf) for leaf in tree.leaves]
        before = _figures(numbers, [float(count) for count in counts])
        after = _figures(numbers, _expected(labels, leaves=len(numbers)))
        yield from _errors(name, before, after)


def _number(leaf: str | None) -> float | None:
    """The finite number that a leaf is; None for NULL, and all else."""
    try:
        number = math.nan if leaf is None else float(leaf)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _expected(labels: Labels, *, leaves: int) -> list[float]:
    """Records per leaf, each label's spread over its leaves alike."""
    steps = [0.0] * (leaves + 1)
    for place, records in labels.records.items():
        first, size = labels.nodes.run(place)
        steps[first] += records / size
        steps[first + size] -= records / size
    return list(accumulate(steps[:-1]))


def _figures(numbers: Sequence[float | None], records: Sequence[float]) -> list[float]:
    """The mean of numbers, each with its records, and their quantiles; empty without any."""
    known = sorted(
        (number, count)
        for number, count in zip(numbers, records, strict=True)
        if number is not None and count > _NOISE
    )
    total = math.fsum(count for _, count in known)
    if not total:
        return []
    mean = math.fsum(number * count for number, count in known) / total
    below = list(accumulate(count for _, count in known[:-1]))
    places = (bisect_left(below, share * total * (1 - _NOISE)) for share in SHARES.values())
    return [mean, *(known[place][0] for place in places)]


def _of_numbers(
    published: Published,
    compared: use.ComparedTables,
    columns: Sequence[str],
    types: Mapping[str, exp.DataType],
) -> Iterator[NumberError]:
    """Errors of the columns that are numbers in both tables."""
    kinds, shares = published.subject.columns, list(SHARES.values())
    for name in columns:
        if not all(schema[name].is_type(*exp.DataType.NUMERIC_TYPES) for schema in (kinds, types)):
            continue
        before = use.number_figures(compared.original, name, shares=shares)
        after = use.number_figures(
            compared.released,
            name,
            shares=shares,
            suppressed=compared.suppressed,
            judged=compared.judged,
        )
        rows = [published.engine.rows(query)[0] for query in (before, after)]
        yield from _errors(name, *([] if None in figures else figures for figures in rows))


def _errors(name: str, before: Sequence[float], after: Sequence[float]) -> Iterator[NumberError]:
    if not before or not after:
        return
    for figure, old, new in zip(("mean", *SHARES), before, after, strict=True):
        absolute = abs(new - old)
        yield NumberError(name, figure, absolute, absolute / abs(old) if old else None)
