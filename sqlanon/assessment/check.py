"""Check: which models a table satisfies as it stands, whoever made it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import combinations

from sqlglot import exp

from sqlanon.classes import RISK_THRESHOLD, ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, SourceError
from sqlanon.microdata.binding import column_types, is_unsuited, refuse_unread, refuse_unsuited
from sqlanon.microdata.spellings import spelling_findings
from sqlanon.policy.policy import Policy
from sqlanon.policy.warnings import policy_notes
from sqlanon.progress import tell
from sqlanon.query.classes.frequency import in_parts
from sqlanon.query.classes.table_classes import fewest_sharing, size_histogram, sized_classes
from sqlanon.query.classes.violations import ENTITY
from sqlanon.reports.check import (
    OF_TRAJECTORIES,
    CheckReport,
    ModelResult,
    SensitiveFigures,
    Trajectories,
    model_results,
)
from sqlanon.reports.kept import KeptColumns
from sqlanon.wording import Note, alike, counted, shell_word

# The entity of a published table is missing rightly, beside names as like it as patient_age (0.76).
MISSPELT = 0.85
MAX_NAMED = 10  # quasi-identifiers that nobody named, as a note lists them
OF_RECORDS = " of records"
"""What follows the name of a model that is asked of records where the policy counts persons."""
SKEWED = 0.5  # distance from which a class tells much of what its records hold


def check_table(engine: Engine, table: exp.Table, *, policy: Policy) -> CheckReport:
    """Counts the equivalence classes of a table and what they tell of its sensitive columns.

    Hierarchies of quasi-identifiers are not needed.

    Raises:
        PolicyError: No column that could be a quasi-identifier, columns that the table does not
            have, or a sensitive column without the order or hierarchy that a model needs.
        HierarchyError: An order or hierarchy that misses values of a sensitive column.
        SourceError: An empty table, or a column of an unsuited type.
    """
    started = time.monotonic()
    with engine.transaction():
        columns = list(engine.columns(table))
        asked, chosen = with_quasi_identifiers(engine, table, policy=policy)
        policy, notes = as_published(asked, columns)
        notes += chosen
        dropped = {*asked.identifiers, *asked.drop}
        unit = "record" if policy.entity is None else "person"
        results = table_results(engine, table, policy=policy, joined=policy.entity not in dropped)
        notes += [*policy_notes(policy), *results.notes(unit)]
        notes += _spelling_notes(engine, table, policy=policy)
        alone = results.statistics.unique if policy.entity is None else None
        # A weight or a household that the table has was not left out of it.
        there = {*filter(None, (policy.weight, policy.household))} - {*asked.keep}
        judged = replace(asked, keep=(*asked.keep, *sorted(there)))
        kept = judged_columns(engine, table, policy=judged, alone=alone)
        notes += [] if kept is None else kept.notes()
    return CheckReport(
        statistics=results.statistics,
        models=results.models,
        threshold=RISK_THRESHOLD,
        quasi_identifiers=tuple(policy.attributes),
        notes=tuple(notes),
        seconds=time.monotonic() - started,
        sensitive=results.sensitive,
        joint=results.joint,
        entity=policy.entity,
        trajectories=results.trajectories,
        kept_columns=kept,
    )


@dataclass(frozen=True, slots=True)
class TableResults:
    """Classes, models and sensitive figures of a table.

    Args:
        statistics: Its equivalence classes.
        models: The policy's models and whether they hold.
        sensitive: What the classes tell of each sensitive column.
        joint: Fewest pairs of values in a class, for each two sensitive columns.
        trajectories: Persons by all their records; None where nothing joins these.
    """

    statistics: ClassStatistics
    models: tuple[ModelResult, ...]
    sensitive: Mapping[str, SensitiveFigures] = field(default_factory=dict)
    joint: Mapping[tuple[str, str], int] = field(default_factory=dict)
    trajectories: Trajectories | None = None

    def notes(self, one: str) -> list[str]:
        """Homogeneous and skewed classes of sensitive columns that no model looks at.

        Args:
            one: What is counted: `record` or `person`.
        """
        asked = {result.column for result in self.models}
        notes = [] if self.trajectories is None else self.trajectories.notes()
        for name, figures in self.sensitive.items():
            if name in asked:
                continue
            if figures.homogeneous_records:
                notes.append(
                    Note(
                        f"classes with no more than one value of {name!r} hold "
                        f"{counted(figures.homogeneous_records, one)}: whoever finds a person's "
                        "class knows the person's value",
                        "disclosed",
                    )
                )
            elif figures.t["equal"] >= SKEWED:
                notes.append(
                    Note(
                        f"in some class the values of {name!r} are {figures.t['equal']:.2g} away "
                        "from those of the table (equal distance): whoever finds the class learns "
                        "much",
                        "disclosed",
                    )
                )
        return notes


def demanded_results(
    engine: Engine, table: exp.Table, *, policy: Policy, columns: Sequence[str]
) -> TableResults:
    """Classes and models of a table published under a policy, and no other sensitive figures.

    Where `columns`, those of the table, lack the entity column, records are counted.

    Raises:
        SourceError: An empty table, or a column of an unsuited type.
    """
    demanded = {demand.column for demand in policy.demands}
    attributes = policy.sensitive_attributes
    asked = replace(
        policy,
        sensitive={name: attributes[name] for name in attributes if name in demanded},
        entity=policy.entity if policy.entity in columns else None,
    )
    return _results(engine, table, policy=asked, with_figures=False)


def table_results(
    engine: Engine, table: exp.Table, *, policy: Policy, joined: bool = False
) -> TableResults:
    """Classes, models and sensitive figures of a table, from it alone; raises as `check_table`.

    With `joined`, an entity column is taken to stay in the table, where it joins the records of a
    person: models are then asked of trajectories, too.
    """
    tell("checking: classes and models")
    return _results(engine, table, policy=policy, with_figures=True, joined=joined)


def _results(
    engine: Engine, table: exp.Table, *, policy: Policy, with_figures: bool, joined: bool = False
) -> TableResults:
    types, names = suited_types(engine, table, policy=policy), list(policy.attributes)
    if not policy.sensitive and policy.entity is None:
        statistics = ClassStatistics.of(engine.rows(size_histogram(table, names)))
        _refuse_empty(statistics)
        return TableResults(statistics, _class_models(engine, table, policy, statistics))
    # k alone does not need them
    from sqlanon.assessment.classes import coded_trajectories, tabulate, tabulated_trajectories
    from sqlanon.assessment.disclosure import (
        attribute_figures,
        attribute_models,
        joint_diversity,
        rank_attributes,
    )

    with engine.workspace():
        attributes = rank_attributes(engine, table, policy=policy, types=types)
        ranks = {attribute.bound.name: attribute.values for attribute in attributes}
        tabulated = tabulate(engine, table, names=names, ranks=ranks, entity=policy.entity)
        _refuse_empty(tabulated.statistics)
        models = _class_models(engine, table, policy, tabulated.statistics)
        if not with_figures:
            models += attribute_models(engine, tabulated, attributes)
            return TableResults(tabulated.statistics, models)
        sensitive: dict[str, SensitiveFigures] = {}
        for number, attribute in enumerate(attributes):
            sensitive[attribute.bound.name], results = attribute_figures(
                engine, tabulated, number=number, attribute=attribute
            )
            models += results
        joint = joint_diversity(engine, tabulated, attributes=attributes)
        result = TableResults(tabulated.statistics, models, sensitive, joint)
        if policy.entity is None or not joined:
            return result
        # Who knows all records of a person looks for them in a class among those who share them.
        persons, sharing = coded_trajectories(
            engine, tabulated.rows, words=tabulated.words, person=ENTITY
        )
        apart = tabulated_trajectories(engine, tabulated, persons=persons)
        asked = model_results(policy, sharing) + attribute_models(engine, apart, attributes)
        models += tuple(replace(one, model=one.model + OF_TRAJECTORIES) for one in asked)
        return replace(result, models=models, trajectories=Trajectories(policy.entity, sharing))


def _class_models(
    engine: Engine, table: exp.Table, policy: Policy, statistics: ClassStatistics
) -> tuple[ModelResult, ...]:
    """Whether the models that look at no sensitive value hold."""
    results = model_results(policy, statistics)
    results += subset_results(engine, table, policy=policy, classes=statistics.classes)
    if policy.population_models:
        from sqlanon.assessment.population import population_results  # k alone does not need it

        results += population_results(engine, table, policy=policy)
    return results


GROUPED_AT_ONCE = 4_000_000
"""Combinations times sets of columns that are grouped at a time, as far as one set allows."""


def subset_results(
    engine: Engine, table: exp.Table, *, policy: Policy, classes: int
) -> tuple[ModelResult, ...]:
    """Whether every combination of some quasi-identifiers of a table is shared by enough records.

    All sets of columns are grouped at once, from the distinct combinations of all, which are so
    many; where these are very many, a part of the sets at a time.
    """
    results = []
    with engine.workspace() if policy.of_subsets else nullcontext():
        for model in policy.of_subsets:
            names = list(policy.attributes)
            combined = engine.materialize("combinations", sized_classes(table, names))
            sets = list(combinations(range(len(names)), model.subsets))
            parts = in_parts(sets, classes, most=GROUPED_AT_ONCE)
            fewest = min(engine.rows(fewest_sharing(combined, part))[0][0] for part in parts)
            name = model.describe()
            results.append(ModelResult(name, model.k, fewest, fewest >= model.k))
    return tuple(results)


def of_records(models: Iterable[ModelResult]) -> tuple[ModelResult, ...]:
    """The results of a table without the entity column, named as of records."""
    return tuple(replace(result, model=result.model + OF_RECORDS) for result in models)


def with_quasi_identifiers(
    engine: Engine, table: exp.Table, *, policy: Policy
) -> tuple[Policy, list[str]]:
    """The policy, with every column in no role as a quasi-identifier where it names none.

    An attacker may know any of them. Columns that make no classes are left out, and a note says so.
    """
    if policy.attributes:
        return policy, []
    types = column_types(engine, table)
    named = {*policy.counting_columns, *(name for role in policy.roles.values() for name in role)}
    free = [name for name in types if name not in named]
    unsuited = [name for name in free if is_unsuited(types[name])]
    chosen = [name for name in free if name not in unsuited]
    if not chosen:
        raise PolicyError(
            "no quasi-identifier is named, and every column has another role; name some with --qi"
        )
    shown = ", ".join(map(repr, chosen[:MAX_NAMED])) + (", ..." if chosen[MAX_NAMED:] else "")
    notes = [
        f"no quasi-identifier is named (--qi), so every column without another role counts as one, "
        f"{len(chosen):,} in all: {shown}"
    ]
    if unsuited:
        notes.append(
            "columns left out, since values of their types cannot make classes: "
            f"{', '.join(map(repr, unsuited))}"
        )
    return replace(policy, quasi_identifiers=chosen), notes


def suited_types(engine: Engine, table: exp.Table, *, policy: Policy) -> dict[str, exp.DataType]:
    """The columns of a table and their types, its quasi-identifiers fit for classes.

    Raises:
        PolicyError: The policy has no quasi-identifier.
        SourceError: A quasi-identifier of an unsuited type.
    """
    names = list(policy.attributes)
    if not names:
        raise PolicyError("no quasi-identifier is named; name them with --qi COLUMN")
    types = column_types(engine, table)
    refuse_unread(engine, types, policy=policy)
    refuse_unsuited(engine, table, columns={name: types[name] for name in names})
    return types


def _refuse_empty(statistics: ClassStatistics) -> None:
    if not statistics.records:
        raise SourceError("the table is empty; there is nothing to check")


def as_published(policy: Policy, columns: Sequence[str]) -> tuple[Policy, list[str]]:
    """The policy for a table as it stands, which may have been published under it, and a note.

    What is not published is not there any more when the published table is checked. That is so of
    the entity, too, whatever other columns are called.

    Raises:
        PolicyError: Columns that the table does not have.
    """
    notes = []
    published = replace(policy, identifiers=(), drop=())
    entity = policy.entity
    if entity is not None and entity not in columns and entity not in policy.keep:
        published = replace(published, entity=None)
        meant = "".join(
            f"; if {name!r} says whose record each is, name it as entity "
            f"(--entity {shell_word(name)})"
            for name in alike(entity, columns, likeness=MISSPELT)
        )
        notes.append(f"the table has no column {entity!r}: records are counted, not persons{meant}")
    published = published.weighed_by(columns)
    published.check_columns(columns)
    return published, notes


def _spelling_notes(engine: Engine, table: exp.Table, *, policy: Policy) -> list[str]:
    """Notes on values in several spellings, which classes and models take for different ones."""
    roles = {
        "quasi-identifier": list(policy.attributes),
        "sensitive": list(policy.sensitive_attributes),
        "entity": [] if policy.entity is None else [policy.entity],
    }
    types = column_types(engine, table)
    return [
        finding.note for finding in spelling_findings(engine, table, columns=types, roles=roles)
    ]


def judged_columns(
    engine: Engine, table: exp.Table, *, policy: Policy, alone: int | None = None
) -> KeptColumns | None:
    """Whom the columns of a table single out that no model counts; None where there is none.

    Those are all but quasi-identifiers, sensitive columns, and what the policy drops. `alone` are
    the records that quasi-identifiers single out, where that is known.
    """
    from sqlanon.assessment.kept import kept_columns, with_joined  # plans have their own

    columns = list(engine.columns(table))
    named = [name for role in policy.roles.values() for name in role if name not in policy.keep]
    settled = {*named, policy.entity, *policy.counting_columns} - ({*policy.keep} - {policy.entity})
    if policy.others == "drop":
        settled |= {*columns} - {*policy.keep}
    names = [name for name in columns if name not in settled]
    kept = kept_columns(
        engine,
        table,
        names=names,
        quasi_identifiers=list(policy.attributes),
        k=policy.k,
        alone=alone,
        weight=policy.weight,
    )
    if kept is None or policy.entity is None or policy.entity not in columns:
        return kept
    return with_joined(engine, table, kept=kept, entity=policy.entity)
