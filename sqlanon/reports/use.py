"""Use: how far tables, means and quantiles of a release are from those of its original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from sqlanon.reports.document import ShownTable, rounded
from sqlanon.wording import counted, percent

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableError:
    """How far a table of the shares of records, by one or two columns, is from the original's.

    A label that stands for several values counts for each of them alike.

    Args:
        columns: The columns that the table counts by.
        total_variation: Half the sum over cells of |p - q|, of the original's share of records p
            and the release's q, in [0, 1]: the share that would have to be moved.
        relative: The mean over the cells that the original has of |q - p| / p.

    Source:
        Spread over the cells of a region: Xiao and Tao 2006; LeFevre, DeWitt and Ramakrishnan 2006.
        Differences of tables: Domingo-Ferrer and Torra 2001.
    """

    columns: Names
    total_variation: float
    relative: float

    def to_dict(self) -> dict[str, Any]:
        """An entry of `use.tables` of the document."""
        return {
            "columns": list(self.columns),
            "total_variation": rounded(self.total_variation),
            "relative_error": rounded(self.relative),
        }


@dataclass(frozen=True, slots=True)
class NumberError:
    """How far a mean or a quantile of a column of numbers is from the original's.

    Args:
        column: The column.
        figure: `mean`, or which quantile.
        absolute: |figure of the release - figure of the original| [unit of the column].
        relative: The same over |figure of the original|; None where that is 0.
    """

    column: str
    figure: str
    absolute: float
    relative: float | None

    def to_dict(self) -> dict[str, Any]:
        """An entry of `use.numbers` of the document."""
        return {
            "column": self.column,
            "figure": self.figure,
            "absolute_error": rounded(self.absolute),
            "relative_error": None if self.relative is None else rounded(self.relative),
        }


@dataclass(frozen=True, slots=True)
class ReleaseUse:
    """What a release is still good for.

    Args:
        tables: Errors of its tables, those of single columns first.
        numbers: Errors of means and quantiles.
        notes: What a reader should know besides.
    """

    tables: Sequence[TableError]
    numbers: Sequence[NumberError]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The key `use` of the document."""
        return {
            "tables": [error.to_dict() for error in self.tables],
            "numbers": [error.to_dict() for error in self.numbers],
        }

    def shown_tables(self) -> Iterator[ShownTable]:
        """Errors of tables, then those of numbers; in whole percent.

        With all digits, the mean of a release and its error would tell the values of the few
        records that it leaves out.
        """
        pairs = [error for error in self.tables if len(error.columns) == 2]
        rows = [_row(error.columns[0], error) for error in self.tables if len(error.columns) == 1]
        if len(pairs) > 1:
            mean = TableError(
                (),
                fmean(error.total_variation for error in pairs),
                fmean(error.relative for error in pairs),
            )
            rows.append(_row(f"{counted(len(pairs), 'pair')} of columns, on average", mean))
        if pairs:
            worst = max(pairs, key=lambda error: error.total_variation)
            rows.append(_row(" and ".join(worst.columns), worst))
        if rows:
            heads = ["table by", "records to move", "mean error of a cell"]
            yield ShownTable(rows, heads, "Errors of tables")
        names = dict.fromkeys(error.figure for error in self.numbers)
        by_column: dict[str, dict[str, str]] = {}
        for error in self.numbers:
            text = "-" if error.relative is None else _whole(error.relative)
            by_column.setdefault(error.column, {})[error.figure] = text
        if by_column:
            cells = [[name, *map(texts.__getitem__, names)] for name, texts in by_column.items()]
            yield ShownTable(cells, ["column", *names], "Errors of means and quantiles")


def _row(name: str, error: TableError) -> list[str]:
    return [name, _whole(error.total_variation), _whole(error.relative)]


def _whole(share: float) -> str:
    return percent(round(share, 2))
