"""What a release says: its cells by a reader that is not DuckDB, and whether labels hold values."""

import gzip
import re
from decimal import Decimal

import duckdb
from databases import quoted

import sqlanon
from oracles.cells import meaning, of_arrow, read_arrow, read_csv

NOT_FINITE = {"nan", "inf", "-inf", "infinity", "-infinity"}


def published(connection, plan, output, folder):
    """The ids and cells of a publication, by column: pairs of id and what the cell means or says.

    They are read by `csv`'s rules, by pyarrow, or on a fresh connection in UTC.
    """
    if output in ("into", "in_place"):
        target = {"into": "out"} if output == "into" else {"in_place": True}
        sqlanon.apply(connection, plan, **target)
        return of_table(connection, "out" if output == "into" else "people")
    if output == "file":
        path = folder / "people.duckdb"
        connection.execute(f"ATTACH '{path}' AS other")
        connection.execute("CREATE TABLE other.people AS FROM people")
        connection.execute("DETACH other")
        sqlanon.apply(path, plan, in_place=True)
        with duckdb.connect(str(path)) as fresh:
            return of_table(fresh, "people")
    path = folder / f"out.{output}"
    sqlanon.apply(connection, plan, output=path)
    return cells_in(path)


def cells_in(path):
    """The cells of a file `out` by column."""
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as fresh:
            return of_table(fresh, "out")
    if ".csv" in path.suffixes:
        data = path.read_bytes()
        header, *rows = read_csv((gzip.decompress(data) if path.suffix == ".gz" else data).decode())
        return dict(zip(header, zip(*rows, strict=True), strict=True))
    return read_arrow(path)


def of_table(connection, table):
    """The cells of a table by column, as DuckDB's texts in UTC."""
    [(zone,)] = connection.execute("SELECT current_setting('TimeZone')").fetchall()
    connection.execute("SET TimeZone = 'UTC'")
    names = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    texts = ", ".join(f"{quoted(name)}::VARCHAR" for name in names)
    rows = connection.execute(f"SELECT {texts} FROM {table}").fetchall()
    connection.execute(f"SET TimeZone = '{zone}'")
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def plain(cell):
    """A cell as the text of an id or a label."""
    if cell is None or isinstance(cell, str):
        return cell
    return str(cell.as_py()) if cell.is_valid else None


def held(name, cell):
    """What a published original means."""
    return meaning(name, cell) if cell is None or isinstance(cell, str) else of_arrow(name, cell)


def holds(kind, label, text):
    """Whether a label of a kind of rule, above the leaves, holds a value, both as texts."""
    if text is None or label in (None, "*"):
        return label == "*" or text is label is None
    if label == "not finite":
        return text in NOT_FINITE
    if kind == "intervals":
        low, high = borders(label)
        return text not in NOT_FINITE and low <= Decimal(text) < high
    if kind == "prefix":
        kept = label.rstrip("*") if text.rstrip("*") else ""
        return len(label) == len(text) and text.startswith(kept)
    if text in NOT_FINITE:
        return label == text
    before_christ = re.fullmatch(r"0*(\d+)-(\d+)-.*\(BC\).*", text)
    if before_christ:
        year = str(1 - int(before_christ[1]))
        return label in (year, f"{year}-{before_christ[2]}")
    return text.startswith(label + "-")


def borders(label):
    """The first number that an interval holds, and the first above that it does not."""
    if label.startswith("<"):
        return Decimal("-Infinity"), Decimal(label[1:])
    if label.startswith(">="):
        return Decimal(label[2:]), Decimal("Infinity")
    whole = re.fullmatch(r"(-?\d+)(?:(?: to |-)(-?\d+))?", label)
    if whole:
        return Decimal(whole[1]), Decimal(whole[2] or whole[1]) + 1
    low, high = re.fullmatch(r"\[(.*), (.*)\)", label).groups()
    return Decimal(low), Decimal(high)
