"""Plan: a recoding with the statements that will carry it out, to read, store and apply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Written
from sqlglot.errors import SqlglotError

from sqlanon.arguments import is_file, path_of
from sqlanon.dialects import rewritten
from sqlanon.engine.base import Engine, render
from sqlanon.errors import PolicyError, SourceError, SqlanonError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import Expressions, Intervals, Prefix
from sqlanon.microdata.population import population_of
from sqlanon.policy.policy import Policy
from sqlanon.policy.warnings import policy_notes
from sqlanon.publishing.promises import (
    DIGEST,
    broken_promises,
    is_changed,
    misfits,
    sealed,
    smaller_classes,
)
from sqlanon.query.encode import fingerprint
from sqlanon.query.publish import dialects
from sqlanon.query.syntax import is_zoned, table, type_name
from sqlanon.recoding import Clusters, FullDomain, Recoding, ValueMap
from sqlanon.regions import Regions
from sqlanon.reports.document import SCHEMA_VERSION, SelfShown, ShownTable, stamp
from sqlanon.reports.plan import Report
from sqlanon.sqlglot_version import drop
from sqlanon.sqltext import DIALECT, Statement, tree
from sqlanon.wording import did_you_mean, listed

if TYPE_CHECKING:
    from sqlanon.query.publish.suppression import SuppressionQuery

Fingerprint = tuple[int, str]
MOST_ROUNDS = 1000
"""Rounds of suppression that a statement works out; each adds queries to it."""

_ORDINARY_DAY = re.compile(r"\d{4}-")
_DAYS = {
    getattr(exp.DataType.Type, name)
    for name in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMP_S", "TIMESTAMP_MS")
}


@dataclass(frozen=True, slots=True)
class PlannedPopulation:
    """The population that a plan was made with.

    Args:
        table: The table as SQL names it; that of a file is called after it.
        records: Its records [records].
        digest: That of its quasi-identifiers, without a key, as of a `Fingerprint`.
        opened: Where it is open now, for as long as it is.
    """

    table: str
    records: int
    digest: str
    opened: exp.Table | None = None

    def to_document(self) -> list[str | int]:
        """As a plan is saved."""
        return [self.table, self.records, self.digest]


def planned_population(engine: Engine, policy: Policy) -> PlannedPopulation | None:
    """The population that is open beside a table; None where no model asks for one."""
    table = population_of(engine, policy)
    if table is None:
        return None
    kinds = engine.columns(table)
    seen = {name: kinds[name] for name in kinds if name in policy.attributes}
    [(records, digest)] = engine.rows(fingerprint(table, seen))
    named, path = engine.tables.portable(table), _file_of(table, policy)
    if path is not None:
        named = exp.Table(this=exp.to_identifier(path.name.partition(".")[0], quoted=True))
    return PlannedPopulation(render(named, engine.dialect), records, digest, table)


def placed(policy: Policy, people: PlannedPopulation | None) -> Policy:
    """The policy with the whole path of its population's file, which is found from any folder."""
    if people is None or people.opened is None:
        return policy
    path = _file_of(people.opened, policy)
    return policy if path is None else replace(policy, population=str(path.absolute()))


def _file_of(population: exp.Table, policy: Policy) -> Path | None:
    """The file that an open population was read from; None where it is a table."""
    path = Path(str(policy.population))
    return path if population.catalog == "temp" and is_file(path) else None


READERS: Mapping[str, Callable[[Any], Recoding]] = {
    one.kind: one.from_document for one in (FullDomain, ValueMap, Clusters, Regions)
}
"""What reads the recoding of a saved plan, by its kind."""


@dataclass(frozen=True, slots=True, repr=False)
class Plan(SelfShown):
    """A recoding, its reasons and the statement that publishes it; nothing is written yet.

    Args:
        policy: What the published table must satisfy, its hierarchies complete.
        table: The table as SQL names it.
        columns: Its columns and their types.
        recoding: What becomes of every record's quasi-identifiers, in the policy's order.
        report: What is expected.
        smallest: The least size of a class that is not suppressed for its size [records, or
            persons]: k, or more where models of all classes ask for it.
        enumerated: Columns that are enumerations; they are published as text, since the labels of
            an enumeration are values of the table.
        fingerprint: Figures of the table's content at the time; None where nobody can change the
            table before it is published.
        few: Columns of few labels, which records are sorted by the places of.
        rounds: How often suppression is looked at, since what is suppressed may leave other
            classes too far from what is left; each round but the first suppresses some.
        dialect: What the engine that the plan was made in reads.
        seed: What chance was drawn from in the search; None where nobody says so.
        population: The people that its classes are compared with; None where no model asks so.

    Raises:
        PolicyError: The recoding has not one level of its hierarchy per quasi-identifier, or the
            rounds are more than a statement works out or than there are records to suppress, or
            levels or suppressed records are not what the policy allows.
    """

    policy: Policy
    table: str
    columns: Mapping[str, exp.DataType]
    recoding: Recoding
    report: Report
    smallest: int
    enumerated: Sequence[str] = ()
    fingerprint: Fingerprint | None = None
    rounds: int = 1
    few: Sequence[str] = ()
    dialect: str = DIALECT
    seed: int | None = None
    population: PlannedPopulation | None = None

    def __post_init__(self) -> None:
        most = max(1, min(MOST_ROUNDS, self.report.suppressed_records))
        if not (type(self.rounds) is int and 1 <= self.rounds <= most):
            raise PolicyError(
                f"{self.rounds!r} rounds of suppression cannot be; at most {most} are possible"
            )
        if not (type(self.smallest) is int and self.smallest >= 1):
            raise PolicyError(f"classes have at least 1 record, not {self.smallest!r}")
        heights = [entry.hierarchy.height for entry in self.policy.attributes.values()]
        if self.recoding.records not in (None, self.report.records):
            raise PolicyError("the plan does not recode every record of its table once")
        levels = self.recoding.levels
        if len(levels) != len(heights) or not all(
            column_levels[0] >= 0 and column_levels[-1] <= height
            for column_levels, height in zip(levels, heights, strict=True)
        ):
            shown = self.recoding.node or levels
            raise PolicyError(f"{shown} is not a recoding for hierarchies of heights {heights}")
        if bool(self.policy.population_models) != (self.population is not None):
            raise PolicyError("the plan does not say which population its policy asks for")
        faults = list(broken_promises(self.policy, self.recoding, report=self.report))
        if faults:
            raise PolicyError(f"the plan does not keep to its policy: {'; '.join(faults)}")

    @property
    def source(self) -> exp.Table:
        """The table."""
        return exp.to_table(self.table, dialect=self.dialect)

    def beside(self, population: exp.Table | None) -> Plan:
        """The plan, for as long as its population is open under a name; None where it is not."""
        if self.population is None:
            return self
        return replace(self, population=replace(self.population, opened=population))

    @property
    def of_frame(self) -> bool:
        """Whether the table was a frame of the program, registered for the time of planning."""
        return self.source.name.startswith("_sqlanon_frame_")

    @property
    def promised_records(self) -> int:
        """Records that are published, those that lose all cells included."""
        if self.policy.suppressed == "keep":
            return self.report.records
        if self.recoding.published_records is not None:
            return self.recoding.published_records
        return self.report.records - self.report.suppressed_records

    @property
    def generalized(self) -> frozenset[str]:
        """The quasi-identifiers of which any cell is not what it was: all, under kept labels."""
        names = self.policy.attributes
        if self.policy.suppressed == "keep" and self.report.suppressed_records:
            return frozenset(names)
        levels = zip(names, self.recoding.levels, strict=True)
        recoded = {name for name, column_levels in levels if column_levels != (0,)}
        return frozenset(recoded | self.policy.class_means.keys())

    def rows(
        self,
        source: exp.Table | None = None,
        dialect: str | None = None,
        *,
        ordered: bool = True,
    ) -> Statement:
        """The query whose rows are published.

        Args:
            source: The table to read, where it has another name by now.
            dialect: Who will read it, where it is not the engine that the plan was made in: no
                other is known to sort by places and keep the order.
            ordered: Whether they are sorted; else whoever writes them does that.

        Raises:
            PolicyError: Columns without a role.
        """
        self.policy.check_columns(list(self.columns), publish=True)
        columns = self.policy.published(list(self.columns))
        few = self.few if ordered and dialect in (None, self.dialect) else ()
        return self.recoded(columns, source or self.source, few=few, ordered=ordered)

    def recoded(
        self,
        columns: Sequence[str],
        source: exp.Table,
        *,
        few: Sequence[str] = (),
        ordered: bool = True,
    ) -> Statement:
        """The published rows of some columns, sorted by labels, those of `few` by places.

        Rows that are only counted need not be `ordered`.
        """
        # Nothing is published of a plan that is only searched for.
        from sqlanon.query.publish.recode import Publication
        from sqlanon.query.publish.statement import published_rows

        attributes = self.policy.attributes
        casts = self._casts(attributes)
        publication = Publication(
            source,
            {name: casts.get(name) for name in columns},
            {
                name: (attribute.hierarchy, self.columns[name])
                for name, attribute in attributes.items()
            },
            self._suppressed(source),
            few,
            self.policy.suppressed_label if self.policy.suppressed == "keep" else None,
            ordered,
            self._people(),
        )
        policy = self.policy
        means = {column: mean for column, mean in policy.class_means.items() if column in columns}
        return published_rows(self.recoding, publication, means=means, least=max(policy.k, 2))

    def _people(self) -> exp.Table | None:
        """The population as a statement names it, where suppression looks at it."""
        people = self.population
        if people is None or not self.report.suppressed_records:
            return None
        return people.opened or exp.to_table(people.table, dialect=self.dialect)

    def _casts(self, attributes: Iterable[str]) -> dict[str, exp.DataType]:
        """The types that values are cast to: enumerations to text, some others to their own.

        These are real numbers, and instants, whose text depends on the type.
        """
        casts = {name: self.columns[name] for name in self.enumerated}
        types = {name: self.columns[name] for name in attributes}
        return casts | {
            name: kind
            for name, kind in types.items()
            if kind.this in exp.DataType.FLOAT_TYPES or is_zoned(kind)
        }

    def _suppressed(self, source: exp.Table) -> SuppressionQuery | None:
        """The query by which the statement finds the suppressed classes again."""
        policy = self.policy
        if not self.report.suppressed_records or self.recoding.published_records is not None:
            return None
        from sqlanon.query.publish.suppression import SuppressionQuery

        label = policy.suppressed_label if policy.suppressed == "keep" else None
        beside = policy.population_models
        if not (policy.demands or policy.entity):
            return SuppressionQuery(
                self.smallest,
                rounds=self.rounds,
                label=label,
                population=beside,
                subsets=policy.of_subsets,
            )
        from sqlanon.microdata.sensitive import asked  # k alone does not need it

        columns = {name: self.columns[name] for name in policy.sensitive_attributes}
        names, attributes = asked(policy, source, columns=columns)
        return SuppressionQuery(
            self.smallest,
            attributes,
            names,
            policy.entity,
            self.rounds,
            label,
            beside,
            policy.of_subsets,
        )

    def sql(self, dialect: str | None = None, into: str = "anonymized") -> str:
        """The statements that publish the table, parted by semicolons.

        Arguments and errors as of `statements`.
        """
        return ";\n\n".join(self.statements(dialect, into))

    def statements(self, dialect: str | None = None, into: str = "anonymized") -> list[str]:
        """The statements that publish the table, one after the other; mostly it is one.

        Args:
            dialect: Whose SQL; that of the engine that the plan was made in where not given.
                Tests execute `postgres` and `spark`; what they do not execute says so in a comment.
            into: Name of the new table.

        Raises:
            PolicyError: Columns without a role, a dialect that is not known, or one in which the
                statement is known to give other rows.
            EngineError: The dialect cannot express a part of the statement.
        """
        from sqlanon.query.publish.recode import create_table

        if not (isinstance(into, str) and into):
            raise PolicyError(f"the name of the new table is {into!r}; it must be a text")
        dialect = self.dialect if dialect is None else dialect
        refuse_dialect(dialect)
        dialect = dialect.lower()
        if dialect != DIALECT and self._people() is not None:
            raise PolicyError(
                "the statement counts a population to find what is suppressed, which is written "
                "for duckdb alone; publish from the database of the plan, or allow no suppression"
            )
        if self.policy.class_means and dialect != self.dialect:
            raise PolicyError(
                f"no test has compared class means of {dialect} with those of {self.dialect}; "
                "leave class_mean (--class-mean) out, or publish from the database that the plan "
                "was made in"
            )
        target = exp.Table(this=exp.to_identifier(into, quoted=True))
        if dialect == self.dialect == DIALECT:
            rows = tree(self.rows())
            text = render(create_table(target, rows), dialect, pretty=True)
            return [f"{_NEEDS}\n{text}" if rows.find(exp.Ordered) else text]
        rules = dialects.EXECUTED.get(dialect) or dialects.FOLLOWERS.get(dialect)
        steps = _plain(self, dialect) if rules is None else _adapted(self, rules, into=into)
        texts = []
        for name, rows in steps:
            create = create_table(table(name) if name else target, rows)
            texts.append(render(create, dialect, pretty=True))
        temporary = [name for name, _ in steps if name]
        texts += [render(drop(table(name)), dialect) for name in reversed(temporary)]
        texts[0] = "\n".join([*_heading(self, dialect, temporary=temporary), texts[0]])
        return texts

    def to_dict(self) -> dict[str, Any]:
        """The document of `plan --json`."""
        return self.report.to_dict()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        return self.report.notes

    def headline(self) -> str:
        """What would be published."""
        return self.report.headline()

    def shown_tables(self) -> list[ShownTable]:
        """What is expected."""
        return self.report.shown_tables()

    def to_text(self) -> str:
        """A page for a reader."""
        return self.report.to_text()

    def save(self, path: str | Path) -> list[str]:
        """Writes the plan as JSON, for its owner's eyes alone, in place of an old one in one step.

        It holds no value of the table beyond the user's hierarchies, unless it is a map of values
        where the hierarchy is a rule: a group of any values has no other name than these. It does
        tell its columns, how many classes of which size will be published, and a digest without a
        key: whoever knows all records but a few can try out what those hold. Keep it as safe as the
        table. A digest of what it says itself tells slips of an editor, not somebody who works it
        out again.

        Returns:
            Notes on what a killed run had left beside it.

        Raises:
            PolicyError: Columns without a role, with which the plan could not be applied.
            SourceError: The file cannot be written.
        """
        from sqlanon.engine.files import write_private  # most plans are applied at once

        file = path_of(path, "the plan file")
        self.policy.check_columns(list(self.columns), publish=True)
        try:
            text = json.dumps(self.document(), indent=1, ensure_ascii=False, allow_nan=False)
            return write_private(file, text)
        except OSError as error:
            raise SourceError(f"plan file {str(path)!r}: {error.strerror}") from None

    def document(self) -> dict[str, Any]:
        """What `save` writes, with its digest."""
        return sealed(
            {
                **stamp(self.report.provenance.created),
                "kind": "sqlanon plan",
                "table": self.table,
                "columns": {name: kind.sql(self.dialect) for name, kind in self.columns.items()},
                "dialect": self.dialect,
                "enumerated": list(self.enumerated),
                "policy": self.policy.to_dict(),
                "recoding": self.recoding.to_document(),
                "rounds": self.rounds,
                "smallest": self.smallest,
                "few": list(self.few),
                "report": self.report.to_dict(),
                "heights": dict(self.report.heights),
                "histogram": list(map(list, self.report.statistics.histogram.items())),
                "fingerprint": self.fingerprint,
                "seed": self.seed,
                "population": None if self.population is None else self.population.to_document(),
            }
        )

    @property
    def digest(self) -> str:
        """SHA-256 of all that the plan says, which a saved plan holds, too."""
        return str(self.document()[DIGEST])

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Reads a stored plan.

        Raises:
            SourceError: The file is missing, is no plan of this version, or was changed since it
                was saved.
        """
        file = path_of(path, "the plan file")
        try:
            document = json.loads(file.read_text("utf-8"))
            if document["kind"] != "sqlanon plan" or document["schema_version"] != SCHEMA_VERSION:
                raise KeyError
            if is_changed(document):
                raise SourceError(
                    f"plan file {str(path)!r} was changed after it was saved (its digest does not "
                    "fit what it says); save a new plan with the policy that is meant"
                )
            plan = cls._of(document)
            # Whatever was changed by hand must show now, not once the table is written.
            plan.rows()
            plan.to_text()
            plan.to_dict()
            return plan
        except SqlanonError as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(
                f"plan file {str(path)!r} is not a plan that can be carried out: {error}; save a "
                "new plan with the policy that is meant"
            ) from None
        except OSError as error:
            raise SourceError(f"plan file {str(path)!r}: {error.strerror}") from None
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError, SqlglotError):
            raise SourceError(
                f"{str(path)!r} is not a plan that this version of sqlanon has saved"
            ) from None

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Plan:
        fingerprint, people = document["fingerprint"], document.get("population")
        if people is not None:
            name, records, digest = people
            people = PlannedPopulation(name, records, digest)
        policy = Policy.from_dict(document["policy"])
        report = Report.from_dict(
            document["report"], document["heights"], histogram=document["histogram"]
        )
        made_of = replace(report.provenance, policy=policy)
        coded = {note: note for note in policy_notes(policy)}  # a document has texts alone
        notes = tuple(coded.get(note, note) for note in report.notes)
        dialect = document["dialect"]
        recoding = _recoding_of(document, policy, report=report)
        faults = [*smaller_classes(policy, report), *misfits(policy, recoding)]
        if faults:
            raise PolicyError("; ".join(faults))
        return cls(
            policy=policy,
            table=document["table"],
            columns={
                name: exp.DataType.build(kind, dialect=dialect, udt=True)
                for name, kind in document["columns"].items()
            },
            dialect=dialect,
            enumerated=tuple(document["enumerated"]),
            recoding=recoding,
            rounds=document["rounds"],
            smallest=max(document["smallest"], policy.k),
            few=tuple(document["few"]),
            report=replace(report, provenance=made_of, notes=notes),
            fingerprint=None if fingerprint is None else tuple(fingerprint),
            seed=document.get("seed"),
            population=people,
        )


def _recoding_of(document: Mapping[str, Any], policy: Policy, *, report: Report) -> Recoding:
    shown = [report.levels[name] for name in policy.attributes if report.levels]
    recoding = READERS[document["recoding"]["kind"]](document["recoding"])
    if list(recoding.node or ()) != shown:
        raise ValueError("the plan shows other levels than it publishes")
    return recoding


def refuse_dialect(name: object) -> None:
    """Raises a `PolicyError` for a dialect that is not known, or that nothing is written for."""
    dialect = name.lower() if isinstance(name, str) else ""
    if not dialect or Written.get(dialect) is None:
        known = sorted(filter(None, Written.classes))
        meant = did_you_mean(name, known) if isinstance(name, str) else ""
        raise PolicyError(f"dialect {name!r} is not known to the SQL writer{meant}")
    if dialect in dialects.REFUSED:
        raise PolicyError(
            f"no statement is written for {dialect}: {dialects.REFUSED[dialect]}; "
            f"those for {listed(sorted(dialects.EXECUTED))} are tested there"
        )


_NEEDS = "-- Needs: default_order and default_null_order as DuckDB has them from the start."


def _heading(plan: Plan, dialect: str, *, temporary: list[str]) -> Iterator[str]:
    """Comments on what the statements rely on."""
    rules = dialects.EXECUTED.get(dialect)
    if rules is None:
        yield f"-- Warning: no test executes statements for {dialect}."
        yield "-- Compare the rows with those that sqlanon publishes before you rely on them."
    else:
        yield f"-- Needs: {', '.join(rules.needs)}."
    foreign = [
        name
        for name, attribute in plan.policy.attributes.items()
        if isinstance(attribute.hierarchy.rule, Expressions) and not plan.recoding.is_listed
    ]
    if foreign:
        names = ", ".join(map(ascii, foreign))
        yield f"-- Warning: your own SQL expressions are translated, but not tested: {names}."
    if temporary:
        yield f"-- Holds values of the table until the end, also if it fails: {temporary[0]}"
        yield from (f"--   {name}" for name in temporary[1:])


def _plain(plan: Plan, dialect: str) -> list[tuple[str, exp.Select]]:
    """The statement by the rules of the SQL writer alone."""
    rows = tree(plan.rows(_portable(plan.source), dialect=dialect))
    return [("", _with_listed_values(rows, dialect))]


def _adapted(plan: Plan, rules: dialects.Dialect, *, into: str) -> list[tuple[str, exp.Select]]:
    """The statements that give the same rows by the rules of another engine."""
    rows = tree(plan.rows(table(dialects.SOURCE), dialect=rules.like))
    named = {column.name for column in rows.find_all(exp.Column)}
    needed = {name: kind for name, kind in plan.columns.items() if name in named}
    _refuse_differences(plan, rules, needed=needed)
    rows = _with_listed_values(rows, rules.like)
    source = dialects.typed_source(_portable(plan.source), needed, dialect=rules)
    rows = dialects.with_source(rows, source)
    if rules.collation is not None:
        published = plan.policy.published(list(plan.columns))
        texts = [name for name in published if _is_text(plan, name)]
        rows = dialects.sorted_by_bytes(rows, texts, dialect=rules)
    changed = rewritten(rows, rules.like)
    assert isinstance(changed, exp.Select)
    if not rules.inlines:
        return [("", changed)]
    return dialects.staged(changed, lambda name: f"{into}_{name}")


def _portable(source: exp.Table) -> exp.Table:
    """The table without the name of the schema that only an embedded database has."""
    result = source.copy()
    result.set("catalog", None)
    if result.db == "main":
        result.set("db", None)
    return result


def _with_listed_values(rows: exp.Select, dialect: str) -> exp.Select:
    """A statement whose listed texts are cast by no other engine than the one that planned with it.

    Engines differ in what they take for a value of a type, and some cannot try.
    """
    queries = list(dialects.constants(rows))
    if not queries:
        return rows
    from sqlanon.engine.open import Resources  # few statements need it

    result = rows.copy()
    with Resources().connect() as engine:
        for query in list(dialects.constants(result)):
            text_rows = engine.rows(dialects.as_text(query))
            kind = query.expressions[0].this.args["to"]
            if kind.this in _DAYS:
                _refuse_far_days([row[0] for row in text_rows], dialect)
            query.replace(dialects.folded(query, text_rows))
    return result


def _refuse_far_days(texts: list[str | None], dialect: str) -> None:
    if not all(text is None or (_ORDINARY_DAY.match(text) and "BC" not in text) for text in texts):
        raise PolicyError(
            f"a hierarchy lists dates before the year 1 or after 9999, which {dialect} does not "
            "read alike; use the rule 'dates' in its place"
        )


def _is_text(plan: Plan, name: str) -> bool:
    """Whether a published column is text."""
    if plan.columns[name].this in exp.DataType.TEXT_TYPES:
        return True
    is_known = name in plan.policy.attributes
    return is_known and (_levels(plan)[name] != (0,) or _keeps_suppressed(plan))


def _levels(plan: Plan) -> dict[str, tuple[int, ...]]:
    return dict(zip(plan.policy.attributes, plan.recoding.levels, strict=True))


def _keeps_suppressed(plan: Plan) -> bool:
    """Whether suppressed records stay, under a label of text."""
    return plan.policy.suppressed == "keep" and plan.report.suppressed_records > 0


def _refuse_differences(
    plan: Plan, rules: dialects.Dialect, *, needed: dict[str, exp.DataType]
) -> None:
    """Refuses columns that another engine names, compares, counts or writes otherwise.

    Raises:
        PolicyError: All of them at once, each with the reason.
    """
    faults = [f"column {name!r} {why}" for name in needed if (why := rules.refused_name(name))]
    for name, kind in needed.items():
        if kind.this not in rules.comparable:
            faults.append(
                f"column {name!r} is {type_name(kind)}, which is not known to be compared alike"
            )
    faults += [
        f"column {name!r} is {type_name(needed[name])}, which is not written alike as text"
        for name in sorted(_written(plan) & needed.keys())
        if needed[name].this in rules.comparable - rules.written
    ]
    faults += [
        f"column {name!r} is {needed[name].sql()}, of which intervals are not counted exactly"
        for name in _ruled(plan, Intervals)
        if rules.digits is not None and _has_too_many_digits(plan, name, digits=rules.digits)
    ]
    if faults:
        raise PolicyError(
            f"the statement would not give the same rows in {rules.like}: {'; '.join(faults)}; "
            "publish from the database that the plan was made in, or leave these out or cast them"
        )


def _written(plan: Plan) -> set[str]:
    """The columns whose values are written as text on their way; not those that are listed."""
    mixed = {
        name
        for name, levels in _levels(plan).items()
        if (levels == (0,) and _keeps_suppressed(plan))
        or (0 in levels and len(levels) > 1 and not plan.recoding.is_listed)
    }
    return mixed | set(_ruled(plan, Prefix))


def _ruled(plan: Plan, rule: type[object]) -> Iterator[str]:
    """The columns that the statement generalizes by a rule of a kind."""
    policy, levels = plan.policy, _levels(plan)
    for name, attribute in policy.attributes.items():
        hierarchy: Hierarchy = attribute.hierarchy
        ruled = set() if plan.recoding.is_listed else set(levels[name]) - {0, hierarchy.height}
        if isinstance(hierarchy.rule, rule) and ruled:
            yield name
    for name, sensitive in policy.sensitive_attributes.items():
        if sensitive.hierarchy is not None and isinstance(sensitive.hierarchy.rule, rule):
            yield name


def _has_too_many_digits(plan: Plan, name: str, *, digits: int) -> bool:
    """Whether units of a decimal number are a product wider than the engine has digits for."""
    kind = plan.columns[name]
    if kind.this is not exp.DataType.Type.DECIMAL:
        return False
    policy = plan.policy
    attribute = policy.attributes.get(name) or policy.sensitive_attributes[name]
    rule = attribute.hierarchy.rule if attribute.hierarchy is not None else None
    given = [int(parameter.name) for parameter in kind.expressions] or [18]
    return isinstance(rule, Intervals) and given[0] + rule.scale + 2 > digits
