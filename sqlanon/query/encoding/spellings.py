"""Spellings: how many values of a column are one for people and several for a database."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqltext import Sql, names, render, value


def spelling_counts(
    source: exp.Table, texts: Sequence[str], *, reals: Sequence[str], digits: int
) -> Sql:
    """Rows of place, values that have several spellings, and values with letters beyond ASCII.

    Texts that differ in case and blanks alone are one value, and real numbers that differ after so
    many digits. Letters beyond ASCII may have several forms, which this does not know.
    """
    columns = list(enumerate(names([*texts, *reals])))
    return render(
        "encoding/spelling_counts",
        source=source,
        texts=columns[: len(texts)],
        reals=columns[len(texts) :],
        form=value(f"%.{digits}g"),
    )
