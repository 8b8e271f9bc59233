"""The commands for hierarchies: show, check, make, load, list, drop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from sqlanon.arguments import path_of
from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.reports.document import Provenance
from sqlanon.wording import counted

from . import output
from .examples import EXAMPLES
from .option_groups import PanelCommand, PanelGroup, grouped, help_without_command
from .options import (
    OVERWRITE,
    TABLE,
    Input,
    RunOptions,
    TextFileOptions,
    argument,
    option,
    repeatable,
    switch,
)
from .policies import divide, policy_document
from .progress import progress

if TYPE_CHECKING:
    from sqlanon.hierarchy.declaration import Hierarchy

READING = "reading: the values of columns"
"""What these commands do for as long as it takes."""
MAX_MISSING_NAMED = 1000
"""Missing values that are named at most."""

commands = typer.Typer(
    help="Show, check, make and store hierarchies: how a column's values are generalized.",
    cls=PanelGroup,
    epilog=EXAMPLES["hierarchy"],
    rich_markup_mode=None,
    invoke_without_command=True,
    callback=help_without_command,
)

SPEC = (
    "A file (leaf;level1;..., a leaf * for all other values), or suppress, intervals:5,10,20, "
    "prefix:4,3,2, dates:month,quarter,year, sql:EXPR;EXPR or table:NAME."
)
"""What a hierarchy may be."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """Hierarchies by column, and what is told of values that they miss."""

    panel: ClassVar[str] = "Hierarchies"
    hierarchy: list[str] = repeatable("COLUMN=SPEC", "A column's hierarchy.")
    policy: Path | None = option(
        "FILE", "A policy.toml with more hierarchies. Options take precedence over it."
    )
    show_values: bool = switch("Name the values of the table that a hierarchy misses.")

    def __call__(self, columns: Sequence[str]) -> dict[str, Hierarchy]:
        """The hierarchies, once the table's columns tell where a column ends in `a=b=c.csv`.

        Raises:
            PolicyError: None is named, or a column that the table does not have.
            HierarchyError: Hierarchies that cannot be read, all at once.
        """
        from sqlanon.hierarchy.declaration import Hierarchy
        from sqlanon.policy.policy import Policy

        bound: dict[str, Hierarchy] = {}
        if self.policy is not None:
            quasi = policy_document(self.policy).get("quasi_identifiers", {})
            policy = Policy.from_dict({"quasi_identifiers": quasi}, self.policy.parent)
            bound = {name: entry.hierarchy for name, entry in policy.attributes.items()}
        faults: list[str] = []
        for text in self.hierarchy:
            name, spec = divide(
                text, columns, flag="--hierarchy", otherwise="is no column of the table"
            )
            try:
                bound[name] = Hierarchy.from_spec(spec)
            except HierarchyError as error:
                faults += [f"column {name!r}: {fault}" for fault in error.faults]
        if faults:
            raise HierarchyError(faults)
        if not bound:
            raise PolicyError("no hierarchy is named; name one with --hierarchy COLUMN=SPEC")
        return bound


@dataclass(frozen=True, slots=True)
class HierarchyFile:
    """A hierarchy file and the rule that it is made by."""

    panel: ClassVar[str] = "Hierarchy"
    column: str = option("COLUMN", "The column.", default=MISSING)
    hierarchy: str = option("SPEC", "The rule.", default=MISSING)
    output: Path = option(
        "FILE", "The file to write, with a line leaf;level1;... for each value.", default=MISSING
    )
    overwrite: bool = switch(OVERWRITE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A hierarchy, and the column that it is bound to."""

    panel: ClassVar[str] = "Hierarchy"
    spec: str = argument("SPEC", SPEC)
    source: str | None = argument(
        "SOURCE", "A database or file with values to generalize.", default=None
    )
    table: str | None = argument("TABLE", TABLE, default=None)
    column: str | None = option("COLUMN", "The column of SOURCE whose values are generalized.")
    text: TextFileOptions = field(default_factory=TextFileOptions)


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """The database that stores hierarchies."""

    database: str = argument("DB", "A DuckDB file.")


@dataclass(frozen=True, slots=True)
class StoredName:
    """A hierarchy of a database."""

    database: str = argument("DB", "A DuckDB file.")
    name: str = argument("NAME", "The name under which it is stored.")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is stored."""

    spec: str = argument("SPEC", SPEC)
    overwrite: bool = switch(OVERWRITE)


def show(*, shown: Shown, run: RunOptions) -> None:
    """Print a hierarchy: its levels, their sizes and a few examples."""
    from sqlanon.hierarchy.declaration import Hierarchy
    from sqlanon.microdata.inspect import bind_hierarchies, show_hierarchy
    from sqlanon.microdata.stored_hierarchies import open_database, resolved_hierarchy

    hierarchy, source = Hierarchy.from_spec(shown.spec), shown.source
    if shown.column is not None:
        if source is None:
            raise PolicyError("--column needs the SOURCE that holds the column")
        opening = run.opening(shown.text)
        with progress(run, READING):
            [report] = bind_hierarchies(
                source, shown.table, hierarchies={shown.column: hierarchy}, **opening
            )
    elif shown.text.asked:
        raise PolicyError(
            "--date-format, --nullstr, --delimiter and --encoding are about the text file whose "
            "column is named with --column"
        )
    elif source is None:
        report = show_hierarchy(hierarchy)
    elif hierarchy.kind == "table" and shown.table is None:
        with open_database(source, read_only=True, **run.resources) as engine:
            report = show_hierarchy(resolved_hierarchy(engine, hierarchy))
    else:
        raise PolicyError("name the column of SOURCE with --column COLUMN")
    output.show(run, report.to_dict(), text=report.to_text)


def check(*, given: Input, bindings: Bindings, run: RunOptions) -> None:
    """Check that hierarchies fit their columns, and list every fault."""
    from sqlanon.microdata.inspect import bind_hierarchies

    shown = MAX_MISSING_NAMED if bindings.show_values else 0
    opening = run.opening(given.text)
    with progress(run, READING):
        bound = bind_hierarchies(
            given.source, given.table, hierarchies=bindings, show_values=shown, **opening
        )
    reports = [replace(report, examples=()) for report in bound]
    document = {
        **Provenance(given.source).head(),
        "columns": {report.column: report.entry() for report in reports},
        "holds": True,
        "notes": list(reports[0].notes),
    }
    output.show(run, document, text=lambda: "\n".join(report.to_text() for report in reports))


def make(*, given: Input, wanted: HierarchyFile, run: RunOptions) -> None:
    """Write a hierarchy file to edit, from a rule and a column's values."""
    from sqlanon.hierarchy.declaration import Hierarchy
    from sqlanon.microdata.inspect import make_hierarchy, refuse_hierarchy_file, write_paths

    rule = Hierarchy.from_spec(wanted.hierarchy)
    source, made = path_of(given.source, "the source"), path_of(wanted.output, "the hierarchy file")
    if made.exists() and source.exists() and wanted.output.samefile(source):
        raise SourceError(f"{str(wanted.output)!r} holds the original; choose another output")
    refuse_hierarchy_file(wanted.output, overwrite=wanted.overwrite)
    opening = run.opening(given.text)
    with progress(run, READING):
        paths, notes = make_hierarchy(
            given.source, given.table, column=wanted.column, hierarchy=rule, **opening
        )
    notes += write_paths(paths, wanted.output, overwrite=wanted.overwrite)
    output.say(
        run,
        f"{wanted.output} holds the values of column {wanted.column!r}: "
        "keep it as safe as the table",
    )
    height = len(paths[0]) - 1
    document = {
        "column": wanted.column,
        "hierarchy": rule.describe(),
        "height": height,
        "leaves": len(paths),
        "output": str(wanted.output),
    }
    text = f"{counted(len(paths), 'value')}, height {height}: {wanted.output}"
    _show(run, given.source, document, notes=notes, text=text)


def _show(
    run: RunOptions, source: str, document: dict[str, Any], *, notes: Sequence[str], text: str
) -> None:
    """Prints notes and what was done, as a document or in a few words."""
    output.notes(notes)
    document = {**Provenance(source).head(), **document, "notes": list(notes)}
    output.show(run, document, text=lambda: text)


def load(*, entry: StoredName, loaded: Loaded, run: RunOptions) -> None:
    """Store a hierarchy in a database, to be used as table:NAME."""
    from sqlanon.hierarchy.declaration import Hierarchy
    from sqlanon.microdata.stored_hierarchies import load_hierarchy, open_database

    hierarchy = Hierarchy.from_spec(loaded.spec)
    with open_database(entry.database, read_only=False, **run.resources) as engine:
        stored = load_hierarchy(engine, entry.name, hierarchy=hierarchy, overwrite=loaded.overwrite)
    document = {
        "name": entry.name,
        "hierarchy": stored.describe(),
        "kind": stored.kind,
        "height": stored.height,
    }
    text = f"{stored.describe()} stored: use it as table:{entry.name}"
    _show(run, entry.database, document, notes=engine.opened.notes, text=text)


def list_stored(*, store: StoreOptions, run: RunOptions) -> None:
    """Print the hierarchies that a database stores."""
    from sqlanon.microdata.stored_hierarchies import list_hierarchies, open_database

    with open_database(store.database, read_only=True, **run.resources) as engine:
        stored = list_hierarchies(engine)
    lines = [
        f"{entry.name}: {entry.kind}, height {entry.height}"
        + ("" if entry.leaves is None else f", {counted(entry.leaves, 'leaf', more='leaves')}")
        for entry in stored
    ]
    document = {"hierarchies": [asdict(entry) for entry in stored]}
    text = "\n".join(lines) or "no hierarchy is stored"
    _show(run, store.database, document, notes=engine.opened.notes, text=text)


def drop(*, entry: StoredName, run: RunOptions) -> None:
    """Remove a stored hierarchy from a database."""
    from sqlanon.microdata.stored_hierarchies import drop_hierarchy, open_database

    with open_database(entry.database, read_only=False, **run.resources) as engine:
        drop_hierarchy(engine, entry.name)
    document = {"name": entry.name, "dropped": True}
    _show(run, entry.database, document, notes=engine.opened.notes, text=f"{entry.name} removed")


_COMMANDS: dict[str, Callable[..., None]] = {
    "show": show,
    "check": check,
    "make": make,
    "load": load,
    "list": list_stored,
    "drop": drop,
}
for _name, _command in _COMMANDS.items():
    _examples = EXAMPLES[f"hierarchy {_name}"]
    commands.command(_name, cls=PanelCommand, epilog=_examples)(grouped(_command))
