"""Files of a suggestion: the policy, and hierarchies to be filled in beside it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from sqlanon.arguments import path_of
from sqlanon.engine.files import refuse_folder, write_private
from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import Path as Labels
from sqlanon.microdata.inspect import write_paths
from sqlanon.suggestion.column import ColumnSuggestion
from sqlanon.wording import listed

NAMED = 3
"""Files that a note names; of more it says how many there are."""
_LONGEST = 60


def file_name(column: str, taken: Collection[str]) -> str:
    """The name of a column's hierarchy file, other than those taken.

    >>> file_name("job title", []), file_name("job/title", ["hierarchy_job_title.csv"])
    ('hierarchy_job_title.csv', 'hierarchy_job_title_2.csv')
    """
    plain = re.sub(r"\W+", "_", column)[:_LONGEST].strip("_") or "column"
    lower = {name.lower() for name in taken}
    names = (f"hierarchy_{plain}{f'_{number}' if number > 1 else ''}.csv" for number in count(1))
    return next(name for name in names if name.lower() not in lower)


def refuse_policy_file(path: str | Path, *, overwrite: bool = False) -> Path:
    """The policy file that is to be written.

    Raises:
        SourceError: It exists already, is a folder, or cannot be written.
    """
    file = path_of(path, "the policy file")
    if file.is_dir():
        raise SourceError(f"{str(file)!r} is a folder; name a file")
    if file.exists() and not overwrite:
        raise SourceError(
            f"{str(file)!r} exists already; replace it with overwrite (--overwrite), or name "
            "another with --output FILE"
        )
    refuse_folder(file.resolve())
    return file


def write_policy(file: Path, text: str) -> list[str]:
    """Writes the text of a policy file that only its owner can read.

    Returns:
        Notes on what a killed run had left beside it.

    Raises:
        SourceError: It cannot be written.
    """
    try:
        return write_private(file, text)
    except OSError as error:
        raise SourceError(f"policy file {str(file)!r}: {error.strerror}") from None


def settled_columns(
    columns: Sequence[ColumnSuggestion], policy: Path
) -> tuple[tuple[ColumnSuggestion, ...], list[str]]:
    """Columns with the hierarchy files that were written beside a policy file, or found there.

    Returns:
        The columns, and notes of these files.

    Raises:
        SourceError: A file cannot be written.
    """
    settled: list[ColumnSuggestion] = []
    notes: list[str] = []
    made: list[str] = []
    taken = [policy.name]
    for each in columns:
        if each.file is None:
            settled.append(each)
            continue
        column = _found(each, policy.parent, taken)
        if column is None:
            column, left = _written(each, policy.parent, taken)
            notes += left
            made.append(str(column.file))
        else:
            notes.append(
                f"{column.file} exists already and covers column {each.name!r}: it serves as it is"
            )
        taken.append(str(column.file))
        settled.append(column)
    if made:
        notes.append(
            f"{_named(made)} {'holds' if len(made) == 1 else 'hold'} values of the table, to be "
            "put into groups: keep them as safe as the table"
        )
    return tuple(settled), notes


def _found(column: ColumnSuggestion, folder: Path, taken: Sequence[str]) -> ColumnSuggestion | None:
    """A column with a hierarchy file that covers it, as somebody may have filled it in."""
    name = file_name(column.name, taken)
    try:
        found = Hierarchy.from_file(folder / name)
    except (HierarchyError, SourceError):
        return None
    covered = {row[0] for row in found.rows or ()}
    if not {row[0] for row in _rows(column)} <= covered:
        return None
    return replace(column, hierarchy=found, file=name)


def _named(files: Sequence[str]) -> str:
    """Files as a note names them: the number of many, which are listed elsewhere."""
    return listed(files) if len(files) <= NAMED else f"the {len(files)} hierarchy files beside it"


def _written(
    column: ColumnSuggestion, folder: Path, taken: Sequence[str]
) -> tuple[ColumnSuggestion, list[str]]:
    """A column with a new file that holds its hierarchy, and notes on what else lay there."""
    used = list(taken)
    name = file_name(column.name, used)
    while (folder / name).exists():
        used.append(name)
        name = file_name(column.name, used)
    notes = write_paths(_rows(column), folder / name)
    made = Hierarchy.from_rows(_rows(column), name=name)
    return replace(column, hierarchy=made, file=name), notes


def _rows(column: ColumnSuggestion) -> Sequence[Labels]:
    """The rows of a hierarchy that is to be filled in."""
    assert column.hierarchy is not None
    assert column.hierarchy.rows is not None
    return column.hierarchy.rows
