"""Population: which of its models a published table satisfies, from its rows and the people alone.

The people are generalized by the policy's hierarchies to the labels that the table has. Where these
stand for nodes within each other, as records that are recoded one by one have them, a class has all
people whom its labels hold, some of whom other classes hold, too. So k-map can be asked of such a
table, and delta-presence cannot: nobody is in one class alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.assessment.labels import Labels, load_places, read_labels
from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.microdata.binding import Subject, bind
from sqlanon.microdata.encoding import Encoded, encode_subject, tell_crowded
from sqlanon.microdata.population import population_of
from sqlanon.policy.policy import Policy
from sqlanon.policy.population import AT_LEAST, AT_MOST, DeltaPresence, KMap
from sqlanon.policy.toml import blaming
from sqlanon.query.assess import release
from sqlanon.query.privacy import population
from sqlanon.reports.check import ModelResult
from sqlanon.sqltext import Sql


def population_results(
    engine: Engine, table: exp.Table, *, policy: Policy
) -> tuple[ModelResult, ...]:
    """Whether a table satisfies the models of a population that a policy asks for.

    k-map has the fewest people of a class; delta-presence the least and the greatest share of
    people that is published, of all classes of the population.

    Raises:
        SourceError: The population lacks a quasi-identifier, labels stand for several nodes, or
            shares are asked for of a table that is no part of the population, or has several labels
            for a value.
        HierarchyError: Values of the population that its hierarchies do not know.
    """
    models, people = policy.population_models, population_of(engine, policy)
    assert people is not None, "a policy with such models has one"
    shares = [model for model in models if isinstance(model, DeltaPresence)]
    attributes = policy.attributes
    with blaming("the population"):
        subject = bind(engine, people, policy=Policy(attributes))
    with engine.workspace():
        with blaming("the population"):
            encoded = encode_subject(engine, subject, Policy(attributes))
        label = policy.suppressed_label if policy.suppressed == "keep" else None
        query = release.table_classes(table, subject.names, suppressed=label)
        classes = engine.materialize("classes", query)
        labels = read_labels(
            engine, subject, counts=None, classes=classes, suppressed=policy.suppressed_label
        )
        strange = [
            repr(name)
            for name, column in zip(subject.names, labels, strict=True)
            if column.unknown and not column.places
        ]
        if strange:
            engine.opened.notes.append(
                f"no label of column {', '.join(strange)} is that of anybody in the population; "
                "name the hierarchies by which the table was generalized (--policy, --hierarchy), "
                "and give the population as it was before that"
            )
        if shares:
            _refuse_nested(subject, labels)
        conditions = [
            part for m in shares for part in (population.below(m.least), population.above(m.most))
        ]
        fewest, least, most, there, *rest = _compared(
            engine, subject, encoded, classes=classes, labels=labels, conditions=conditions
        )
    tell_crowded(engine, policy, rest[:3], names=subject.names)
    # Whoever has no label in a column, or none together, is in a class without a record.
    is_missing = there < subject.records
    if fewest is None:  # every record is kept without its quasi-identifiers, and may be anybody
        fewest = subject.records
    lowest = 0.0 if is_missing or least is None else float(least)
    results = [
        ModelResult("k-map", model.k, fewest, fewest >= model.k)
        for model in models
        if isinstance(model, KMap)
    ]
    failing = iter(rest[3:])
    for model in shares:
        lacks = next(failing) or (is_missing and model.least > 0)
        results += [
            ModelResult(AT_LEAST, model.least, lowest, not lacks),
            ModelResult(AT_MOST, model.most, float(most or 0), not next(failing)),
        ]
    return tuple(results)


def _refuse_nested(subject: Subject, labels: Sequence[Labels]) -> None:
    """Refuses labels that share values, where every person must be in one class.

    Raises:
        SourceError: There are some.
    """
    nested = [
        repr(name)
        for name, column in zip(subject.names, labels, strict=True)
        if len(column.places) != len({column.nodes.run(place) for place in column.places.values()})
        or not column.nodes.disjoint(column.places.values())
    ]
    if nested:
        raise SourceError(
            f"labels of column {', '.join(nested)} stand for nodes within each other, so that some "
            "people are in several classes, and no share of a class says how likely one of them is "
            "in the table; ask for delta-presence of a table with one level per column"
        )


def _compared(
    engine: Engine,
    subject: Subject,
    encoded: Encoded,
    *,
    classes: exp.Table,
    labels: Sequence[Labels],
    conditions: list[Sql],
) -> tuple[int, ...]:
    """The row of `release.people_of_classes`."""
    layout = encoded.layout
    telling = {
        number: column
        for number, (column, tree) in enumerate(zip(labels, subject.trees, strict=True))
        # A single label that all people have tells nobody apart.
        if column.unknown
        or list(map(column.nodes.run, column.places.values())) != [(0, len(tree.leaves))]
    }
    columns = {number: layout.column_masks(number, 0) for number in telling}
    codes = {number: layout.leaf_codes(number, subject.trees[number]) for number in telling}
    read, covers = load_places(engine, telling, codes)
    people = release.labelled_people(encoded.table, covers, columns=columns)
    released = release.released_labels(classes, read, columns=columns)
    query = release.people_of_classes(
        engine.materialize("released", released),
        engine.materialize("people", people),
        columns=list(telling),
        conditions=conditions,
    )
    row: tuple[int, ...] = engine.rows(query)[0]
    return row
