"""Plan: a recoding with the statements that will carry it out, to read, store and apply."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from sqlanon.engine.base import render
from sqlanon.errors import PolicyError, SourceError
from sqlanon.plan_report import Report
from sqlanon.policy import Policy
from sqlanon.query import recode
from sqlanon.query.names import column
from sqlanon.query.suppression import Suppression
from sqlanon.recoding import Clusters, Node, Recoding
from sqlanon.report_document import SCHEMA_VERSION

if TYPE_CHECKING:
    from sqlanon.query.places import ByPlace

Fingerprint = tuple[int, str]
MOST_ROUNDS = 1000
"""Rounds of suppression that a statement works out; each adds queries to it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be published, why, and by which statement; nothing has been written yet.

    Args:
        policy: What the published table must satisfy, its hierarchies complete.
        table: The table as SQL names it.
        columns: Its columns and their types, as DuckDB writes them.
        recoding: The level that each quasi-identifier is published at, in the policy's order, for
            all records or for each.
        report: What is expected.
        enumerated: Columns that are enumerations; they are published as text, since the labels of
            an enumeration are values of the table.
        fingerprint: Figures of the table's content at the time; None where nobody can change the
            table before it is published.
        few: Columns of few labels, which records are sorted by the places of.
        rounds: How often suppression is looked at, since what is suppressed may leave other
            classes too far from what is left; each round but the first suppresses some.

    Raises:
        PolicyError: The recoding has not one level of its hierarchy per quasi-identifier, or the
            rounds are more than a statement works out or than there are records to suppress.
    """

    policy: Policy
    table: str
    columns: Mapping[str, str]
    recoding: Recoding
    report: Report
    enumerated: Sequence[str] = ()
    fingerprint: Fingerprint | None = None
    rounds: int = 1
    few: Sequence[str] = ()

    def __post_init__(self) -> None:
        most = max(1, min(MOST_ROUNDS, self.report.suppressed_records))
        if not (type(self.rounds) is int and 1 <= self.rounds <= most):
            raise PolicyError(
                f"{self.rounds!r} rounds of suppression cannot be; at most {most} are possible"
            )
        if isinstance(self.recoding, Clusters):
            if self.recoding.records != self.report.records:
                raise PolicyError("the plan does not recode every record of its table once")
            for node in self.recoding.published:
                self._refuse_misfit(node)
        else:
            self._refuse_misfit(self.recoding)

    def _refuse_misfit(self, node: Node) -> None:
        heights = [entry.hierarchy.height for entry in self.policy.attributes.values()]
        if len(node) != len(heights) or not all(
            0 <= level <= height for level, height in zip(node, heights, strict=True)
        ):
            raise PolicyError(f"{node} is no recoding for hierarchies of heights {heights}")

    @property
    def source(self) -> exp.Table:
        """The table."""
        return exp.to_table(self.table, dialect="duckdb")

    @property
    def of_frame(self) -> bool:
        """Whether the table was a frame of the program, registered for the time of planning."""
        return self.source.name.startswith("_sqlanon_frame_")

    def rows(self, source: exp.Table | None = None, dialect: str = "duckdb") -> exp.Select:
        """The query whose rows are published.

        Args:
            source: The table to read, where it has another name by now.
            dialect: Who will read it; only DuckDB is known to sort by places and keep the order.

        Raises:
            PolicyError: Columns without a role.
        """
        self.policy.check_columns(list(self.columns), publish=True)
        columns = self.policy.published(list(self.columns))
        source = source or self.source
        if not self.few or dialect != "duckdb":
            return self.recoded(columns, source)
        from sqlanon.query.places import ByPlace  # small tables do not need it

        return self.recoded(columns, source, by_place=ByPlace(self.few))

    def recoded(
        self, columns: Sequence[str], source: exp.Table, *, by_place: ByPlace | None = None
    ) -> exp.Select:
        """The published rows of some columns, sorted by labels or by their places."""
        if isinstance(self.recoding, Clusters):
            return self._recoded_one_by_one(columns, source, self.recoding)
        recodes = {
            name: recode.recode(source, name, attribute.hierarchy, level, self._type(name))
            for (name, attribute), level in zip(
                self.policy.attributes.items(), self.recoding, strict=True
            )
        }
        keeping = self.policy.suppressed == "keep"
        casts = self._casts(recodes)
        published = recode.published if by_place is None else by_place.published
        return published(
            source,
            {name: casts.get(name) for name in columns},
            recodes,
            suppressed=self._suppressed(source) if self.report.suppressed_records else None,
            kept_label=self.policy.suppressed_label if keeping else None,
        )

    def _recoded_one_by_one(
        self, columns: Sequence[str], source: exp.Table, recoding: Clusters
    ) -> exp.Select:
        from sqlanon.query import local  # recodings at one level do not need it

        attributes = self.policy.attributes
        hierarchies = {
            name: (attribute.hierarchy, self._type(name)) for name, attribute in attributes.items()
        }
        recodes = local.local_recode(source, hierarchies, recoding.levels)
        casts = self._casts(attributes)
        values = {
            name: recode.as_published(column(name, local.RECORD), casts.get(name))
            for name in columns
        }
        return local.published(source, values, recodes, recoding)

    def _casts(self, attributes: Iterable[str]) -> dict[str, exp.DataType]:
        """The types that values are cast to: enumerations to text, real numbers to their own."""
        casts = {name: self._type(name) for name in self.enumerated}
        floats = (n for n in attributes if self._type(n).this in exp.DataType.FLOAT_TYPES)
        return casts | {name: self._type(name) for name in floats}

    def _suppressed(self, source: exp.Table) -> recode.Suppressed:
        """Which classes are suppressed, as the statement works it out again."""
        policy = self.policy
        if not (policy.demands or policy.entity):
            return recode.Suppressed(Suppression(policy.k))
        from sqlanon.attributes import asked  # k alone does not need it

        columns = {name: self._type(name) for name in policy.sensitive_attributes}
        names, attributes = asked(policy, source, columns)
        models = Suppression(policy.k, attributes, policy.entity is not None, self.rounds)
        return recode.Suppressed(models, names, policy.entity)

    def _type(self, name: str) -> exp.DataType:
        return exp.DataType.build(self.columns[name], dialect="duckdb", udt=True)

    def sql(self, dialect: str = "duckdb", into: str = "anonymized") -> str:
        """The statement that publishes the table.

        Args:
            dialect: Any that sqlglot writes, such as `duckdb` or `spark`.
            into: Name of the new table.

        Raises:
            PolicyError: Columns without a role, or a dialect that is not known.
        """
        target = exp.Table(this=exp.to_identifier(into, quoted=True))
        if Dialect.get(dialect.lower()) is None:
            raise PolicyError(f"dialect {dialect!r} is not known to the SQL writer")
        statement = recode.create_table(target, self.rows(dialect=dialect.lower()))
        return render(statement, dialect.lower(), pretty=True)

    def to_dict(self) -> dict[str, Any]:
        """The document of `plan --json`."""
        return self.report.to_dict()

    def to_text(self) -> str:
        """A page for a reader."""
        return self.report.to_text()

    def save(self, path: str | Path) -> None:
        """Writes the plan as JSON, for its owner's eyes alone.

        It holds no value of the table beyond the user's hierarchies. It does tell its columns, how
        many classes of which size will be published, and a digest without a key: whoever knows all
        records but a few can try out what those hold. Keep it as safe as the table.

        Raises:
            PolicyError: Columns without a role, with which the plan could not be applied.
            SourceError: The file cannot be written.
        """
        self.policy.check_columns(list(self.columns), publish=True)
        document = {
            "schema_version": SCHEMA_VERSION,
            "kind": "sqlanon plan",
            "table": self.table,
            "columns": dict(self.columns),
            "enumerated": list(self.enumerated),
            "policy": self.policy.to_dict(),
            "recoding": self.recoding.to_dict()
            if isinstance(self.recoding, Clusters)
            else self.recoding,
            "rounds": self.rounds,
            "few": list(self.few),
            "report": self.report.to_dict(),
            "heights": dict(self.report.heights),
            "histogram": list(map(list, self.report.statistics.histogram.items())),
            "fingerprint": self.fingerprint,
        }
        try:
            text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
            _write_private(Path(path), text)
        except OSError as error:
            raise SourceError(f"plan file {str(path)!r}: {error.strerror}") from None

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Reads a stored plan.

        Raises:
            SourceError: The file is missing or is no plan of this version.
        """
        try:
            document = json.loads(Path(path).read_text("utf-8"))
            if document["kind"] != "sqlanon plan" or document["schema_version"] != SCHEMA_VERSION:
                raise KeyError
            plan = cls._of(document)
            # Whatever was changed by hand must show now, not once the table is written.
            plan.rows()
            plan.to_text()
            return plan
        except OSError as error:
            raise SourceError(f"plan file {str(path)!r}: {error.strerror}") from None
        except (LookupError, TypeError, AttributeError, ValueError):
            raise SourceError(
                f"{str(path)!r} is no plan that this version of sqlanon has saved"
            ) from None

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Plan:
        fingerprint = document["fingerprint"]
        policy = Policy.from_dict(document["policy"])
        report = Report.from_dict(document["report"], document["heights"], document["histogram"])
        return cls(
            policy=policy,
            table=document["table"],
            columns=document["columns"],
            enumerated=tuple(document["enumerated"]),
            recoding=_recoding_of(document, policy, report),
            rounds=document.get("rounds", report.search.get("rounds", 1)),
            few=tuple(document.get("few", ())),
            report=report,
            fingerprint=None if fingerprint is None else tuple(fingerprint),
        )


def _recoding_of(document: Mapping[str, Any], policy: Policy, report: Report) -> Recoding:
    shown = [report.levels[name] for name in policy.attributes if report.levels]
    stored = document.get("recoding", shown)
    if isinstance(stored, Mapping):
        return Clusters.from_dict(stored)
    if stored != shown:
        raise ValueError("the plan shows other levels than it publishes")
    return tuple(shown)


def _write_private(path: Path, text: str) -> None:
    """Writes a file that its owner alone may read: a plan tells how the original looked."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
