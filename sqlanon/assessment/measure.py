"""Information loss of a released table against its original, whoever anonymized it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from sqlanon.assessment.attacks import TooManyPairsError, run_attacks
from sqlanon.assessment.labels import Labels, regrouped
from sqlanon.assessment.release import Published, read_published, released_classes
from sqlanon.assessment.use import use_of
from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.loss.cells import LEVEL_MEASURES, VALUE_MEASURES
from sqlanon.loss.measures import (
    grouped_text,
    left_out_note,
    measured,
    refuse_inapplicable,
)
from sqlanon.loss.release import Column, Release
from sqlanon.microdata.binding import Subject, bind, column_types, family, refuse_unsuited
from sqlanon.microdata.encoding import encode_subject
from sqlanon.policy.policy import COUNTING_COLUMNS, Policy
from sqlanon.policy.sizes import KAnonymity
from sqlanon.progress import tell
from sqlanon.query.assess import attacks as queries
from sqlanon.query.syntax import is_nested
from sqlanon.reports.attacks import HEADS, Attacks
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, finite, page
from sqlanon.reports.use import ReleaseUse
from sqlanon.wording import columns_named, counted, figure, in_columns, key, percent


@dataclass(frozen=True, slots=True, repr=False)
class MeasureReport(SelfShown):
    """Information loss of a release against its original.

    Args:
        loss: Every measure that applies, or those asked for, by JSON name.
        records: Records of the original.
        suppressed_records: Those that are not in the release, or only without quasi-identifiers.
        statistics: The release's equivalence classes, suppressed records left out.
        use: Errors of tables, means and quantiles; None where single measures were asked for.
        notes: What a reader should know besides.
        attacks: What attacks on the release find; None where they were not run.
        seconds: How long it took.
        provenance: What it was made of and when.
    """

    loss: Mapping[str, float]
    records: int
    suppressed_records: int
    statistics: ClassStatistics
    use: ReleaseUse | None = None
    notes: tuple[str, ...] = ()
    attacks: Attacks | None = None
    seconds: float = field(default=0.0, compare=False)
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @classmethod
    def of(cls, reading: ReadRelease, losses: Sequence[str]) -> MeasureReport:
        """What was read of a release, with the measures wanted; all that apply where none is."""
        release, loss = reading.release, measured(reading.release)
        return cls(
            loss={name: loss[name] for name in (map(key, losses) if losses else loss)},
            records=release.records,
            suppressed_records=release.suppressed,
            statistics=release.statistics,
            use=reading.use,
            notes=reading.notes,
            attacks=reading.attacks,
        )

    def to_dict(self) -> dict[str, Any]:
        """The document of `measure --json`: every measure by its name, beside what was counted."""
        return {
            **self.provenance.head(),
            "records": self.records,
            "suppressed_records": self.suppressed_records,
            "published_records": self.statistics.records,
            "classes": self.statistics.classes,
            "k": self.statistics.smallest,
            **{name: finite(value) for name, value in self.loss.items()},
            "attacks": None if self.attacks is None else self.attacks.to_dict(),
            **({} if self.use is None else {"use": self.use.to_dict()}),
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def headline(self) -> str:
        """What is left of the original."""
        of = counted(self.records, "record")
        return f"{self.statistics.records:,} of {of} published; {len(self.loss)} measures"

    def shown_tables(self) -> list[ShownTable]:
        """Every measure by its name."""
        rows = [[name.replace("_", "-"), figure(value)] for name, value in self.loss.items()]
        attacks = [] if self.attacks is None else [ShownTable([*self.attacks.rows()], HEADS)]
        tables = () if self.use is None else self.use.shown_tables()
        return [ShownTable(rows, ["measure", "loss"]), *attacks, *tables]

    def to_text(self) -> str:
        """A page for a reader."""
        lost = percent(self.suppressed_records, self.records)
        lines = [
            f"{self.statistics.records:,} of {counted(self.records, 'record')} published in "
            f"{counted(self.statistics.classes, 'class', more='classes')}, "
            f"the smallest of {self.statistics.smallest:,}; "
            f"{self.suppressed_records:,} suppressed ({lost})"
        ]
        rows = [(name.replace("_", "-"), figure(value)) for name, value in self.loss.items()]
        lines += in_columns(rows, "<>") if rows else []
        if self.attacks is not None:
            lines += self.attacks.to_lines()
        for table in () if self.use is None else self.use.shown_tables():
            cells = [table.heads, *table.rows]
            lines += ["", table.caption, *in_columns(cells, "<" + ">" * (len(table.heads) - 1))]
        return page(lines, self.notes)


@dataclass(frozen=True, slots=True)
class ReadRelease:
    """A released table, read with its original and the hierarchies.

    Args:
        release: What its measures follow from.
        labels: Per quasi-identifier the nodes that its labels stand for.
        use: Errors of its tables, means and quantiles; None where single measures are wanted.
        notes: What a reader should know besides.
        attacks: What attacks on it find; None where they were not run.
        missed_notes: Those of the notes that say what was not measured or attacked.
    """

    release: Release
    labels: tuple[Labels, ...]
    use: ReleaseUse | None
    notes: tuple[str, ...]
    attacks: Attacks | None = None
    missed_notes: tuple[str, ...] = ()


class ControlError(SourceError):
    """Records that were not released cannot be attacked as the original's can."""


def read_release(
    engine: Engine,
    original: exp.Table,
    *,
    table: exp.Table,
    policy: Policy,
    class_attribute: str | None = None,
    losses: Sequence[str] = (),
    control: exp.Table | None = None,
) -> ReadRelease:
    """Counts a released table beside its original, from these and the hierarchies alone.

    Of the policy, quasi-identifiers, sensitive columns, suppressed label and k are looked at; a
    label that several levels have is read at those that the policy allows. What keeps attacks from
    the release is a note.

    Args:
        engine: Where both tables are.
        original: The original.
        table: The released table.
        policy: What it was asked to satisfy.
        class_attribute: The column that the classification metric is about.
        losses: The only measures wanted; empty for all that apply, and attacks on the release.
        control: Records of the same population that were not released, for attacks.

    Raises:
        PolicyError: Columns that are missing, or measures that do not apply.
        HierarchyError: A hierarchy does not fit the original.
        SourceError: The release is none of the original, or its labels cannot be read.
    """
    refuse_inapplicable(
        losses, sensitive=bool(policy.sensitive), class_attribute=class_attribute is not None
    )
    tell("reading: the original")
    plain, means = _plain(policy), list(policy.class_means)
    if not plain.attributes:
        raise PolicyError(
            "every quasi-identifier is published as class means, which no hierarchy measures; "
            "compare the columns themselves"
        )
    # People of a population are leaves of the hierarchies, too, by which losses are counted.
    known = replace(plain, models=(*plain.models, *policy.population_models))
    subject = bind(engine, original, policy=known)
    sensitive = _sensitive(
        engine, subject, table=table, policy=policy, label=class_attribute, losses=losses
    )
    types = column_types(engine, table)
    tell("measuring: the released table")
    with engine.workspace():
        released = released_classes(
            engine, subject, table=table, suppressed=policy.suppressed_label
        )
        subject, grouped = regrouped(engine, subject, released.classes)
        by_level = [name for name in LEVEL_MEASURES if name in losses]
        if by_level and grouped:
            raise PolicyError(
                f"loss {by_level[0]!r} goes by levels, and {grouped_text(grouped)}; leave it out"
            )
        encoded = encode_subject(engine, subject, plain)
        published = read_published(engine, subject, encoded=encoded, released=released)
        columns = tuple(
            replace(column, is_grouped=column.tree.column in grouped)
            for column in published.columns()
        )
        release = Release(
            subject.records,
            policy.k,
            released.statistics,
            columns,
            published.ambiguities(),
            [published.spread(name, nulls=nulls) for name, nulls in sensitive.items()],
            None if class_attribute is None else published.majority(class_attribute),
        )
        attacks, missed = None, list[str]()
        if control is not None or not losses:
            attacks, missed = _attacks(
                engine, published, policy=plain, control=control, sensitive=sensitive
            )
        if attacks is not None and policy.entity is not None:
            missed.append(
                "attacks are on records: a person of several is found where any of these is"
            )
        use = None
        if not losses:
            use = use_of(published, types, beside=list(sensitive), means=means)
    if means:
        missed.append(
            f"class means of {', '.join(map(repr, means))} stand for no node of a hierarchy: "
            "measures and classes are by the other quasi-identifiers alone"
        )
    notes = [*_notes(release, sensitive=bool(sensitive)), *missed]
    if released.label is None:
        notes.append(
            "the release does not tell whether its records are generalized to the top or "
            "suppressed and kept: they count as one class, and none as suppressed"
        )
    if use is not None:
        notes += use.notes
    left_out = [name for name in policy.sensitive_attributes if name not in sensitive]
    if left_out:
        lacking = columns_named(left_out)
        notes.append(f"the released table has no {lacking}; purity is that of the others")
    return ReadRelease(release, published.labels, use, tuple(notes), attacks, tuple(missed))


def _attacks(
    engine: Engine,
    published: Published,
    *,
    policy: Policy,
    control: exp.Table | None,
    sensitive: Mapping[str, bool],
) -> tuple[Attacks | None, list[str]]:
    """What attacks on a release find, and notes on what was not run."""
    tell("attacking: the released table")
    subject, released, notes = published.subject, published.released, list[str]()
    if control is not None:
        _refuse_unlike(engine, subject, control=control, sensitive=sensitive)
        columns = [*subject.names, *sensitive]
        query = queries.both(subject.table, control, columns=columns)
        table = engine.materialize("attacked", query)
        notes += _released_ones(engine, subject.table, control)
        try:
            both = bind(engine, table, policy=policy)
            both, _ = regrouped(engine, both, released.classes)
            encoded = encode_subject(engine, both, policy)
            published = read_published(engine, both, encoded=encoded, released=released)
        except (HierarchyError, PolicyError, SourceError) as error:
            raise ControlError(f"the original with the control: {error}") from None
    if not released.statistics.records:
        never = "no attack was run: every record is suppressed, and nothing is left to match"
        return None, [*notes, never]
    try:
        attacks = run_attacks(published, sensitive=sensitive, has_control=control is not None)
    except TooManyPairsError as error:
        return None, [*notes, f"no attack was run: {error}"]
    notes += (
        f"inference of {name!r} was not attacked: classes that overlap have too many of its values"
        for name in attacks.not_run
    )
    return attacks, notes


def _released_ones(engine: Engine, original: exp.Table, control: exp.Table) -> Iterator[str]:
    """Tells how many records of the control may be the original's own."""
    types, others = engine.columns(original), engine.columns(control)
    shared = [
        name for name in types if types[name] == others.get(name) and not is_nested(types[name])
    ]
    if shared:
        both = queries.both(original, control, columns=shared)
        [(alike, records)] = engine.rows(queries.in_both(both, columns=shared))
        if alike:
            yield (
                f"{alike:,} of {counted(records, 'record')} of the control are as one of the "
                f"original in all {counted(len(shared), 'column')} that both have; where they are "
                "the same, the risk is understated"
            )


def _refuse_unlike(
    engine: Engine, subject: Subject, *, control: exp.Table, sensitive: Mapping[str, bool]
) -> None:
    """Refuses a control that lacks columns, or has others of their types."""
    types, others = subject.columns, column_types(engine, control)
    names = [*subject.names, *sensitive]
    missing = [name for name in names if name not in others]
    if missing:
        raise ControlError(
            f"the control has no {columns_named(missing)}; it needs every quasi-identifier and "
            "sensitive column of the release, as the original has them"
        )
    unlike = [repr(name) for name in names if family(types[name]) != family(others[name])]
    if unlike:
        raise ControlError(
            f"the control has {', '.join(unlike)} as another type than the original; "
            "cast them alike"
        )
    refuse_unsuited(engine, control, columns={name: others[name] for name in subject.names})


def _notes(release: Release, *, sensitive: bool) -> list[str]:
    grouped = [column.tree.column for column in release.columns if column.is_grouped]
    left_out = [name for name in LEVEL_MEASURES if sensitive or name not in VALUE_MEASURES]
    notes = [left_out_note(left_out, grouped)] if grouped else []
    estimated = [column.tree.column for column in release.columns if _is_estimated(column)]
    if estimated:
        notes.append(
            f"hdm is estimated for {', '.join(map(repr, estimated))}: the release does not tell "
            "which original values its cells had"
        )
    return notes


def _is_estimated(column: Column) -> bool:
    """Whether hdm depends on which values cells had: not for single values, nor for the top."""
    if column.origins is not None:
        return False
    sizes = {column.tree.sizes(level)[node] for level, node in column.records}
    return bool(sizes - {1, column.domain})


def _plain(policy: Policy) -> Policy:
    """The quasi-identifiers and k: what a release satisfies and which columns it keeps is open."""
    k = [model for model in policy.models if isinstance(model, KAnonymity)]
    roles = ("sensitive", "identifiers", "keep", "drop")
    nothing: Any = dict.fromkeys(roles, ()) | dict.fromkeys(COUNTING_COLUMNS)
    labelled = {n: column for n, column in policy.attributes.items() if column.class_mean is None}
    return replace(policy.with_attributes(labelled), models=k, **nothing)


def _sensitive(
    engine: Engine,
    subject: Subject,
    *,
    table: exp.Table,
    policy: Policy,
    label: str | None,
    losses: Sequence[str],
) -> dict[str, bool]:
    """The sensitive attributes in both tables, and whether NULL is a value of theirs.

    Raises:
        PolicyError: Columns that a table does not have but must, or a class attribute that is
            generalized.
    """
    types = column_types(engine, table)
    attributes = policy.sensitive_attributes
    named = [*attributes, *([] if label is None else [label])]
    faults = [f"the original has no column {n!r}" for n in named if n not in subject.columns]
    missing = [name for name in (*subject.names, *policy.class_means) if name not in types]
    if missing:
        faults.append(
            f"the released table has no {columns_named(missing)}; name as "
            "quasi-identifiers (--qi) those that it has"
        )
    if label in subject.attributes:
        faults.append(f"class attribute {label!r} is a quasi-identifier, which is generalized")
    elif label is not None and label not in types:
        faults.append(f"the released table has no column {label!r}, the class attribute")
    sensitive = {name: a.nulls == "value" for name, a in attributes.items() if name in types}
    if attributes and not sensitive and set(losses) & set(VALUE_MEASURES):
        names = columns_named(list(attributes))
        faults.append(f"the released table has no {names}, which purity is about")
    if faults:
        raise PolicyError("; ".join(faults))
    refuse_unsuited(engine, table, columns={name: types[name] for name in subject.names})
    return sensitive
