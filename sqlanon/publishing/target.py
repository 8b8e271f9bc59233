"""Targets of a publication, and what is known to be wrong with one before there is any work.

Where a table is replaced in place: what needs it as it is, what is lost with it, and what stays.
Files beside a table: its report, manifest and labels are written while it is published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from errno import EEXIST, ENOSPC
from pathlib import Path
from secrets import token_hex
from typing import Any, Generic, NamedTuple, TypeVar

from sqlglot import exp

from sqlanon.arguments import path_of
from sqlanon.engine import files
from sqlanon.engine.base import Engine
from sqlanon.engine.open import FrameTable, OpenedSource, is_frame
from sqlanon.errors import PolicyError, SourceError
from sqlanon.microdata.calls import Call, Frame
from sqlanon.microdata.opening import is_data
from sqlanon.microdata.tables import place_of, try_place
from sqlanon.policy.policy import Policy
from sqlanon.publishing.plan import Plan
from sqlanon.reports.plan import Report
from sqlanon.wording import Note, NoteCode, counted, listed

T = TypeVar("T")


class Anonymized(NamedTuple, Generic[T]):
    """A frame that is published, and what was proved on it: `frame, report = ...`.

    Args:
        frame: The published rows, as a frame of the same kind as the original.
        report: Loss, classes, and the models, which hold.
    """

    frame: T
    report: Report


@dataclass(slots=True)
class Likeness:
    """A frame to be made of the published rows, of the same kind as another.

    Args:
        frame: The other.
        made: The frame, once it is made.
    """

    frame: FrameTable
    made: Any = None

    def take(self, engine: Engine, table: exp.Table, *, source: exp.Table, plan: Plan) -> None:
        """Makes the frame of the rows of a table that a plan has made."""
        self.made = self.frame.handed_back(engine, table, source=source, coded=plan.generalized)


Text = Callable[[Report], str]
Look = Callable[[Engine, Plan, exp.Table, exp.Table], Text]
"""Looks at an original and what is published of it, before anybody sees that; what it gives makes
the text of a file."""


@contextmanager
def on_disk(what: str, file: Path) -> Iterator[None]:
    """Tells errors of the disk as a `SourceError` that names a file of ours and the way out."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno == ENOSPC:
            reason += ", so make room there"
    else:
        return
    raise SourceError(
        f"the {what} {str(file)!r} cannot be written: {reason}; name a file in another folder"
    )


@dataclass(slots=True)
class Companion:
    """A file that is written beside its place while a release is published, and named with it.

    In place of the original nothing of it is left once the release is there, so the text is made
    before that. Only the digest of a file that is published follows later.

    Args:
        path: Where it goes.
        what: What it is, such as `manifest`.
        look: What it says of a release.
        overwrite: Whether the file may be there already.
        remedy: What to do where it does not get its name.
        code: What a note on that is about.
    """

    path: Path
    what: str
    look: Look
    overwrite: bool = False
    remedy: str = ""
    code: NoteCode | None = None
    _text: Text | None = field(default=None, init=False)
    _written: str = field(default="", init=False)
    _draft: files.DraftFile | None = field(default=None, init=False)
    # Stands in the text for the digest of a file that is not written yet.
    _awaited: str = field(default_factory=lambda: token_hex(32), init=False)

    def __call__(self, engine: Engine, plan: Plan, original: exp.Table, table: exp.Table) -> None:
        """Looks at a release that is written and checked, before anybody sees it."""
        self._text = self.look(engine, plan, original, table)

    def draw(self, report: Report) -> None:
        """Writes the file of a release that is about to be published, beside its place.

        Args:
            report: What is told of it; the digest of a file is not known yet.

        Raises:
            SourceError: It cannot be written; nothing may be published then.
        """
        assert self._text is not None
        digest = report.provenance.output_sha256 or self._awaited
        provenance = replace(report.provenance, output_sha256=digest)
        self._written = self._text(replace(report, provenance=provenance))
        with on_disk(self.what, self.path):
            files.swept([self.path.resolve().parent])
            self._draft = files.DraftFile.make(self.path, self._written)

    def write(self, report: Report) -> tuple[str, ...]:
        """Gives the file of a release that is published its name; a note where that fails."""
        assert self._draft is not None
        try:
            if not self.overwrite and self.path.exists():
                raise FileExistsError(EEXIST, "it is there by now")
            if self._awaited in self._written:
                digest = report.provenance.output_sha256 or ""
                self._draft.fill(self._written.replace(self._awaited, digest))
            self._draft.publish()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            fault = f"the release is published, but not its {self.what} {str(self.path)!r}"
            return (Note(f"{fault}: {reason}{self.remedy}", self.code),)
        finally:
            self._draft.discard()
        return ()

    def discard(self) -> None:
        """Removes a file that did not get its name."""
        if self._draft is not None:
            self._draft.discard()


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a publication: exactly one place.

    Args:
        into: Name of a new table.
        in_place: Whether it takes the original's place.
        output: A file whose ending says its format.
        overwrite: Whether an existing table or file may be replaced.
        confirm: Called with the plan before anything is written; what it raises stops that.
        likeness: A frame to be made, like the one that is published.
        companions: Each looks at both tables and writes of them once the release is written and
            checked, before anybody sees it; what it raises stops that.

    Raises:
        PolicyError: No place, or more than one.
    """

    into: str | None = None
    in_place: bool = False
    output: Path | None = None
    overwrite: bool = False
    confirm: Callable[[Plan], object] | None = None
    likeness: Likeness | None = None
    companions: tuple[Companion, ...] = ()

    def __post_init__(self) -> None:
        if self.into == "":
            raise PolicyError("the name of the new table is empty")
        written = (self.into is not None, self.in_place, self.output is not None)
        places = sum((*written, self.likeness is not None))
        if places != 1:
            raise PolicyError(
                f"{'say where to publish' if places == 0 else 'publish to one place alone'}: "
                "into (--into TABLE), in_place (--in-place) or output (--output FILE)"
            )
        if self.in_place and self.overwrite:
            raise PolicyError(
                "in place the original is replaced in any case; leave overwrite (--overwrite) out"
            )

    @property
    def replaces(self) -> bool:
        """Whether what stands at the place may be replaced."""
        return self.in_place or self.overwrite

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """While it lasts files are written beside it; none is left over after a failure."""
        try:
            yield
        except BaseException:
            for companion in self.companions:
                companion.discard()
            raise

    def result(self, report: Report, *, with_report: bool) -> Frame | Anonymized[Any] | Report:
        """What a caller is given: the report, or the frame that was made, by itself or not.

        The files that were written beside it get their names first.
        """
        for companion in self.companions:
            report = replace(report, notes=(*report.notes, *companion.write(report)))
        if self.likeness is None:
            return report
        made: Frame = self.likeness.made
        return Anonymized(made, report) if with_report else made


def likeness_of(call: Call, *, is_written: bool, with_report: bool) -> tuple[Call, Likeness | None]:
    """A call, and the frame to be made where its table is one and is written nowhere.

    Args:
        call: The call.
        is_written: Whether a table or a file is named.
        with_report: Whether a report is asked for beside a frame.

    Raises:
        PolicyError: There will be no frame for the report to stand beside.
    """
    is_framed = call.frame is not None or is_frame(call.table)
    if with_report and (is_written or not is_framed):
        raise PolicyError(
            "with_report is of frames that are returned; what is written to a table or a file "
            "returns its report anyway, so leave it out"
        )
    if is_written:
        return call, None
    if call.frame is None and is_frame(call.table):
        frame = FrameTable(call.table)
        return replace(call, table=frame, frame=frame), Likeness(frame)
    return call, None if call.frame is None else Likeness(call.frame)


def refuse_early(connection: object, target: Target) -> None:
    """Refuses a target that cannot be, before its source is opened.

    Raises:
        PolicyError: A table made from a file of data, which lives in memory alone.
        SourceError: An output file that is in the way, holds the source or cannot be written.
    """
    if target.output is not None:
        paths = [path_of(connection, "the source")] if isinstance(connection, str | Path) else []
        files.refuse_output(target.output, paths, overwrite=target.overwrite)
    elif is_data(connection) and target.likeness is None:
        what = "a frame" if isinstance(connection, FrameTable) else "a file"
        other = "to a file" if isinstance(connection, FrameTable) else "to another file"
        raise PolicyError(
            f"the source is {what}, not a database; publish {other} with output (--output FILE)"
        )


def refuse_target(
    engine: Engine,
    source: exp.Table,
    *,
    policy: Policy,
    target: Target,
    file: Path | None = None,
) -> None:
    """Refuses a place that cannot be written to, or not without leave, before there is work.

    Args:
        engine: Where the table is.
        source: The table.
        policy: What of it is published.
        target: Where to.
        file: As for `publish`.

    Raises:
        SourceError: The original is a view or other objects need it as it is, the name of the new
            table is taken, the database is open for reading only, or a file is in the way.
    """
    if target.output is not None:
        files.refuse_output(target.output, engine.opened.files, overwrite=target.overwrite)
        return
    if target.likeness is not None:
        return
    place = source
    if target.into is None:
        _refuse_replacing(engine, source, policy=policy)
    else:
        itself = "the original itself; replace it with in_place (--in-place)"
        place = place_of(
            engine, target.into, source=source, overwrite=target.overwrite, itself=itself
        )
    if file is not None:
        files.refuse_folder(file)
        return
    try_place(engine, place)


def _refuse_replacing(engine: Engine, source: exp.Table, *, policy: Policy) -> None:
    if not engine.can.in_place:
        raise SourceError(
            f"a table of {engine.dialect} is not replaced in place, since its old files or pages "
            "would stay; publish it with into (--into TABLE), then drop the original there"
        )
    if not engine.tables.is_base_table(source):
        raise SourceError(
            "the source is a view or a file, not a table that could be replaced; "
            "publish it with into (--into TABLE) or output (--output FILE)"
        )
    engine.tables.refuse_fixed(source)
    if not engine.tables.is_steady(source):
        raise SourceError(
            "which version of the table is read is not known here, so to replace it could lose "
            "what others commit meanwhile; publish with into (--into TABLE)"
        )
    refuse_broken(engine, source, policy=policy)


IN_HISTORY = (
    "the table's history keeps the original, for all who may read it, until its old files are "
    "removed: by VACUUM in Delta, by expire_snapshots in Iceberg"
)


def refuse_broken(engine: Engine, table: exp.Table, *, policy: Policy) -> None:
    """Refuses to replace a table that other objects need as it is.

    Raises:
        SourceError: Another table refers to it, or an object uses a column that would be gone.
    """
    if engine.can.keeps_versions:
        return
    referring = files.referring(engine, table)
    if referring:
        verb = "refers" if len(referring) == 1 else "refer"
        raise SourceError(
            f"{counted(len(referring), 'other table')} {verb} to {table.name!r} by a foreign key: "
            f"{', '.join(map(repr, referring))}; write into another table, or drop the foreign key "
            "first"
        )
    types = engine.columns(table)
    columns = list(types)
    gone = [name for name in columns if name not in policy.published(columns)]
    broken = [
        f"{one} uses {', '.join(map(repr, one.used(gone)))}"
        for one in files.dependents(engine, table)
        if one.used(gone)
    ]
    if broken:
        raise SourceError(
            f"columns that are not published are used elsewhere: {'; '.join(broken)}; change or "
            "drop what uses them, or publish with --into TABLE"
        )
    left = {name: types[name] for name in policy.published(columns)}
    refuse_broken_views(engine, table, columns=left)


def refuse_broken_views(
    engine: Engine, table: exp.Table, *, columns: Mapping[str, exp.DataType]
) -> None:
    """Refuses to replace a table by one of other columns or types, with which views would fail.

    Raises:
        SourceError: A view that works would not any more, whether or not it names a column.
    """
    if engine.can.keeps_versions:
        return
    broken = files.broken_views(engine, table, columns=columns)
    if broken:
        raise SourceError(
            f"{counted(len(broken), 'view')} would fail with the columns that are published, or "
            f"with labels in them: {', '.join(map(repr, broken))}; change or drop what uses the "
            "others, or publish with --into TABLE"
        )


def _changed(engine: Engine, plan: Plan, *, table: exp.Table) -> Iterator[str]:
    """Objects that use columns which are published as labels, and may not work with them."""
    generalized = [
        name
        for name, level in zip(plan.policy.attributes, plan.recoding.levels, strict=True)
        if level[-1] > 0
    ]
    for one in files.dependents(engine, table):
        used = one.used(generalized)
        if used:
            verb = "holds" if len(used) == 1 else "hold"
            yield f"{one} uses {listed([repr(name) for name in used])}, which now {verb} labels"
    for one in files.picking(engine, table):
        yield f"{one} picks columns or tables by a text, and may use what is not published"
    if files.broken_views(engine, table, columns=engine.columns(table)) is None:
        yield (
            "whether views still work with the new columns could not be tried, since the open "
            "transaction, or another one, has made or changed the table or a view"
        )


def lost_and_kept(engine: Engine, plan: Plan, *, table: exp.Table) -> Iterator[str]:
    """Parts of the original that are not carried over, and parts that stay and quote its values."""
    if engine.can.keeps_versions:
        yield IN_HISTORY
        return
    yield from _changed(engine, plan, table=table)
    yield from files.table_parts(engine, table)
    for text in files.leftovers(engine, table.catalog, besides=table):
        yield f"kept as they are, and may quote values: {text}"


def replaced_file(source: OpenedSource, target: Target) -> Path | None:
    """The database file that a fresh one replaces: only where nobody but sqlanon has it open.

    Raises:
        SourceError: It has a second name, under which its content would stay.
    """
    file = source.path if target.in_place and source.engine.can.fresh_file else None
    if file is not None:
        files.refuse_second_name(file)
    return file


def may_change(source: OpenedSource, *called: object) -> bool:
    """Whether a table may be another one by the time that it is published.

    Args:
        source: The table. What a view shows may change, whoever reads it in one transaction.
        called: Functions of the caller that are called in between; None for none.
    """
    if source.kind == "remote":
        return True
    if source.kind not in ("connection", "frame"):
        return False
    is_view = source.kind == "connection" and not source.engine.tables.is_base_table(source.table)
    return is_view or any(callback is not None for callback in called)


def writable_file(
    path: str | Path, what: str, *, endings: Sequence[str], overwrite: bool = False
) -> Path:
    """A file of ours that can be written: a chart, a page, a manifest or labels.

    Args:
        path: The file.
        what: What it is, such as `chart`.
        endings: Those that it may have.
        overwrite: Whether one that exists already may be replaced.

    Raises:
        SourceError: The file has another ending, exists already or cannot be written.
    """
    file = path_of(path, f"the {what}")
    if file.suffix.lower() not in endings:
        raise SourceError(
            f"{file.name!r} cannot be a {what}; give it the ending {' or '.join(endings)}"
        )
    if not file.parent.is_dir():
        raise SourceError(f"there is no folder {str(file.parent)!r}")
    if file.exists() and not file.is_file():
        raise SourceError(f"{str(file)!r} is not a regular file; name another")
    if file.exists() and not overwrite:
        raise SourceError(f"{str(file)!r} exists already; replace it with overwrite (--overwrite)")
    files.refuse_folder(file.resolve())
    return file
