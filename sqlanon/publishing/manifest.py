"""Manifest: what a release is, by which it can be verified later without its original.

It holds no value of the table, no path and no time, so that the same input gives the same bytes,
whatever the order of its rows and the number of threads. Like a plan it has digests without a key:
who knows all records of the input but a few can try out what those hold.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.arguments import path_of
from sqlanon.assessment.check import TableResults, demanded_results
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, SourceError
from sqlanon.hierarchy.declaration import FORMS
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import Policy
from sqlanon.policy.roles import Sensitive
from sqlanon.policy.toml import sensitive_form
from sqlanon.publishing.formats import columns_written, content
from sqlanon.publishing.plan import Plan
from sqlanon.publishing.promises import is_changed, sealed
from sqlanon.publishing.target import Companion, Text
from sqlanon.query.publish.formats import Written
from sqlanon.query.syntax import column
from sqlanon.reports.check import ModelResult
from sqlanon.reports.document import SCHEMA_VERSION, bound_figure, rounded
from sqlanon.reports.earlier import Together
from sqlanon.reports.plan import Report
from sqlanon.sqltext import DIALECT

KIND = "sqlanon manifest"
LISTS = ("rows", "order")
"""Keys of a column that list values: a manifest has digests of these."""
DIGESTS = ROWS, _ = tuple(f"{key}_sha256" for key in LISTS)


def refuse_unverifiable(policy: Policy) -> None:
    """Refuses a policy that nobody can hold a release against by the release alone.

    Raises:
        PolicyError: It compares classes with a population.
    """
    if policy.population_models:
        asked = " and ".join(model.describe() for model in policy.population_models)
        raise PolicyError(
            f"a manifest is verified by the release alone, and {asked} is of a population; leave "
            "manifest (--manifest) out, and hold the release against the policy with sqlanon check"
        )


def manifest_of(path: Path, *, output: Path | None, overwrite: bool) -> Companion:
    """The manifest of a release, written while that is published.

    Args:
        path: Where it goes.
        output: The file that is published; None for a table.
        overwrite: Whether the file may be there already.
    """

    def look(engine: Engine, plan: Plan, _original: exp.Table, table: exp.Table) -> Text:
        types = column_types(engine, table)
        columns = {name: Written(column(name), kind) for name, kind in types.items()}
        if output is not None:
            columns = columns_written(engine, table, output=output)
        _, digest = content(engine, table, columns=columns)
        results = released_results(engine, table, policy=plan.policy)
        released = {
            "columns": [
                {"name": name, "type": form.kind.sql(DIALECT)} for name, form in columns.items()
            ],
            "published_records": results.statistics.records,
            "classes": results.statistics.classes,
            "k": results.statistics.smallest,
            "models": [result.to_dict() for result in results.models],
        }

        def text(report: Report) -> str:
            document = sealed(_document(plan, report, released=released, output=digest))
            return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

        return text

    return Companion(path, "manifest", look, overwrite)


def released_results(engine: Engine, table: exp.Table, *, policy: Policy) -> TableResults:
    """Classes and models of a published table, of records: whose they are it does not tell."""
    alone = replace(policy, entity=None)
    return demanded_results(engine, table, policy=alone, columns=list(engine.columns(table)))


def _document(
    plan: Plan, report: Report, *, released: Mapping[str, Any], output: str
) -> dict[str, Any]:
    head = replace(report.provenance, policy=plan.policy).head()
    measures = {name: rounded(value) for name, value in report.loss.items()}
    of_persons = [result.to_dict() for result in report.models] if report.entity else None
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "versions": {
            "sqlanon": version("sqlanon"),
            "duckdb": version("duckdb"),
            "python": platform.python_version(),
        },
        "policy": _without_lists(plan.policy),
        "method": report.method,
        "seed": plan.seed,
        "loss": {"name": report.loss_name, **measures},
        "lower_bound": bound_figure(report.lower_bound),
        "levels": dict(report.levels) or None,
        "records": report.records,
        "suppressed_records": report.suppressed_records,
        "suppressed_cells": report.suppressed_cells,
        **released,
        "together": None if report.together is None else report.together.to_dict(),
        "models_of_persons": of_persons,
        "hashes": {**head["hashes"], "output": output},
    }


def _without_lists(policy: Policy) -> dict[str, Any]:
    """A policy in which lists that may be values of a column are digests."""
    document = policy.to_dict()
    hashed = {
        role: {name: _hashed(entry) for name, entry in document[role].items()}
        for role in ("quasi_identifiers", "sensitive")
    }
    return document | hashed


def _hashed(entry: Mapping[str, Any]) -> dict[str, Any]:
    digests = {
        f"{key}_sha256": sha256(json.dumps(entry[key]).encode()).hexdigest()
        for key in LISTS
        if key in entry
    }
    return {key: value for key, value in entry.items() if key not in LISTS} | digests


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest as it was read.

    Args:
        columns: The columns of the release and their types.
        records: Its records [records].
        classes: Its equivalence classes.
        smallest: Size of the smallest of these [records].
        models: What the models of the policy say of it.
        content: Digest of its cells.
        sensitive: The forms of the sensitive columns, with digests of what lists values.
        policy: The policy without these, and without hierarchies of quasi-identifiers.
        together: Earlier releases with which it satisfies the models; None where it does by itself.
        is_changed: Whether it was changed after it was written.
    """

    columns: Mapping[str, exp.DataType]
    records: int
    classes: int
    smallest: int
    models: tuple[ModelResult, ...]
    content: str
    sensitive: Mapping[str, Mapping[str, Any]]
    policy: Policy
    together: Together | None
    is_changed: bool

    @classmethod
    def read(cls, path: str | Path) -> Manifest:
        """Reads a manifest.

        Raises:
            SourceError: The file is missing, or is no manifest of this version.
        """
        file = path_of(path, "the manifest")
        try:
            document = json.loads(file.read_text("utf-8"))
            if document["kind"] != KIND or document["schema_version"] != SCHEMA_VERSION:
                raise KeyError
            plain = dict(document["policy"])
            plain["quasi_identifiers"] = {name: {} for name in plain["quasi_identifiers"]}
            plain["sensitive"] = {name: _plain(entry) for name, entry in plain["sensitive"].items()}
            return cls(
                {
                    column["name"]: exp.DataType.build(column["type"], dialect=DIALECT, udt=True)
                    for column in document["columns"]
                },
                document["published_records"],
                document["classes"],
                document["k"],
                tuple(map(ModelResult.from_dict, document["models"])),
                document["hashes"]["output"],
                document["policy"]["sensitive"],
                Policy.from_dict(plain),
                _together(document["together"]),
                is_changed(document),
            )
        except OSError as error:
            reason = error.strerror
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError, SqlglotError):
            reason = "it is not a manifest that this version of sqlanon has written"
        raise SourceError(f"manifest {str(path)!r}: {reason}")

    def completed(self, given: Policy) -> Policy:
        """The policy, as far as a release is held against it.

        Args:
            given: A policy with the lists that a manifest has only digests of.

        Raises:
            PolicyError: A model needs such a list, and it is missing or another one.
        """
        attributes = dict(self.policy.sensitive_attributes)
        for name in {demand.column for demand in self.policy.demands if demand.model.needs}:
            digests = {key: value for key, value in self.sensitive[name].items() if key in DIGESTS}
            known = given.sensitive_attributes.get(name, Sensitive())
            form = _hashed(sensitive_form(known))
            if {key: form.get(key) for key in digests} != digests:
                raise PolicyError(
                    f"a model of column {name!r} refers to an order or a hierarchy of which the "
                    "manifest has only the digest; give the policy of the release with policy "
                    "(--policy FILE)"
                )
            if digests:
                attributes[name] = replace(
                    attributes[name], order=known.order, hierarchy=known.hierarchy
                )
        return replace(self.policy, sensitive=attributes)


def _together(entry: Mapping[str, Any] | None) -> Together | None:
    if entry is None:
        return None
    models = tuple(map(ModelResult.from_dict, entry["models"]))
    return Together(entry["records"], tuple(entry["releases"]), models)


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The form of a sensitive column without digests, and without what stands beside rows."""
    left_out = {*DIGESTS, *(FORMS["rows"] if ROWS in entry else ())}
    return {key: value for key, value in entry.items() if key not in left_out}
