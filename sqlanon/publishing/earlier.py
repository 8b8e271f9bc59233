"""Earlier releases: whom a new release and one before it single out together.

Of batches by one plan: what models say of a batch and of those released before, as one table.

Somebody who knows a person's quasi-identifiers, and that the person is in two releases of one
table, finds a class in each. Only records of the new class can be the person's that have, in all
columns which both releases publish as they are, the values of some record of the earlier class:
sensitive values that do not change, or a kept number. What is left are the *candidates*

    |{s in N(r) : link(s) in {link(e) : e in E, labels of e cover the original values of r}}|

of a record r whose own link is among these: N(r) is its class in the new release, E the earlier
one. A policy asks for k of them, and for as many sensitive values among them as its models need.
The earlier original is not needed: which earlier labels cover a value the hierarchies say.

Source: Ganta, Kasiviswanathan and Smith 2008, "Composition attacks and auxiliary information in
    data privacy", section 3 (the intersection attack).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.assessment.check import demanded_results
from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import PolicyError, SourceError, VerificationError
from sqlanon.hierarchy.tree import Tree
from sqlanon.microdata.binding import Subject, bind, column_types
from sqlanon.policy.policy import Policy
from sqlanon.publishing.plan import Plan
from sqlanon.query.assess import earlier as queries
from sqlanon.query.encode import ATTRIBUTE, LEAF, fingerprint
from sqlanon.query.syntax import TEXT, alias, column, select, varchar
from sqlanon.reports.earlier import Intersection, Together
from sqlanon.sqltext import expression
from sqlanon.wording import columns_named, counted


def refuse_intersections(
    engine: Engine, plan: Plan, *, source: exp.Table, earlier: Mapping[str, exp.Table]
) -> tuple[Intersection, ...]:
    """What a plan's release leaves of candidates beside earlier releases.

    Args:
        engine: Where all tables are.
        plan: The plan.
        source: The original.
        earlier: The earlier releases by what they are called.

    Raises:
        VerificationError: Records have too few candidates.
        PolicyError: No quasi-identifier of the policy is in an earlier release.
        SourceError: An earlier release has labels that the hierarchies do not know.
    """
    if not earlier:
        return ()
    subject = bind(engine, source, policy=plan.policy)
    with engine.workspace():
        rows = _recoded(engine, plan, source=source)
        intersections = tuple(
            _intersection(engine, plan, subject, rows=rows, earlier=(name, table))
            for name, table in earlier.items()
        )
    for pair in intersections:
        if pair.failing:
            raise VerificationError(
                f"{counted(pair.failing, 'record')} in "
                f"{counted(pair.classes, 'class', more='classes')} have too few candidates in this "
                f"release and {pair.earlier!r} together: {pair.text()}; publish higher levels "
                "(--min-level), those of the earlier release, or fewer of the columns that both "
                "publish as they are; nothing is published"
            )
    return intersections


def _recoded(engine: Engine, plan: Plan, *, source: exp.Table) -> exp.Table:
    """What a plan publishes, beside the original values and whose it is."""
    names = list(plan.policy.attributes)
    twice = engine.materialize("original", queries.beside_original(source, names))
    persons = [] if plan.policy.entity is None else [plan.policy.entity]
    originals = [queries.original(number) for number in range(len(names))]
    columns = [*plan.policy.published(list(plan.columns)), *persons, *originals]
    return engine.materialize("recoded", plan.recoded(columns, twice, ordered=False))


def _intersection(
    engine: Engine,
    plan: Plan,
    subject: Subject,
    *,
    rows: exp.Table,
    earlier: tuple[str, exp.Table],
) -> Intersection:
    policy, (title, table) = plan.policy, earlier
    here, there = column_types(engine, rows), column_types(engine, table)
    numbers = [number for number, name in enumerate(subject.names) if name in there]
    by = [subject.names[number] for number in numbers]
    if not by:
        raise PolicyError(f"the earlier release {title!r} has no quasi-identifier of the policy")
    links = [
        name
        for name in policy.published(list(plan.columns))
        if name in there and name not in subject.names
    ]
    new = queries.placed_rows(
        rows,
        subject.names,
        links=_links(links, here, there),
        originals=[queries.original(number) for number in numbers],
        whose=policy.entity,
    )
    old = queries.placed_rows(table, by, links=_links(links, there, here))
    placed, before = engine.materialize("placed", new), engine.materialize("earlier", old)
    trees = [subject.trees[number] for number in numbers]
    nodes = _nodes(engine, trees, suppressed=policy.suppressed_label)
    covers = []
    for number, name in enumerate(by):
        cover = queries.covers(
            placed, nodes, earlier=before, number=number, kind=subject.columns[name]
        )
        covers.append(engine.materialize("cover", cover))
        _refuse_unknown(engine, before, covers[-1], number=number, name=name, title=title)
    query = queries.covering(placed, before, covers=covers)
    needed = dict.fromkeys(links, 0)
    for demand in policy.demands:
        if demand.column in needed:
            least = math.ceil(demand.model.least_values)
            needed[demand.column] = max(needed[demand.column], least)
    sensitive = policy.sensitive_attributes
    figures = queries.intersected(
        placed,
        before,
        covering=engine.materialize("covering", query),
        k=policy.k,
        least=list(needed.values()),
        nulls=[name in sensitive and sensitive[name].nulls == "value" for name in links],
    )
    [(candidates, *values, records, failing, classes)] = engine.rows(figures)
    return Intersection(
        title,
        by=tuple(by),
        links=tuple(links),
        records=records,
        k=policy.k,
        candidates=candidates,
        values={
            name: (least, value)
            for (name, least), value in zip(needed.items(), values, strict=True)
            if name in sensitive
        },
        failing=failing,
        classes=classes,
    )


def _nodes(engine: Engine, trees: Sequence[Tree], *, suppressed: str) -> exp.Table:
    """The labels of every leaf of some columns, and that of suppressed values, as a table."""
    rows = [
        (number, leaf, label)
        for number, tree in enumerate(trees)
        for place, leaf in enumerate(tree.leaves)
        for label in dict.fromkeys([*(level[place] for level in tree.labels), suppressed])
    ]
    table = by_column((ATTRIBUTE, LEAF, queries.LABEL), rows)
    return engine.load_rows("nodes", table, {LEAF: TEXT, queries.LABEL: TEXT})


def _refuse_unknown(
    engine: Engine, earlier: exp.Table, cover: exp.Table, *, number: int, name: str, title: str
) -> None:
    labels, records = engine.rows(queries.uncovered(earlier, cover, number=number))[0]
    if labels:
        raise SourceError(
            f"column {name!r} of the earlier release {title!r} has {counted(labels, 'label')}, of "
            f"{counted(records, 'record')}, that stand for no value of this table by the "
            "hierarchy of the policy; name the one that it was made with (--hierarchy), or leave "
            "out records of values that are gone"
        )


def _links(
    names: Sequence[str], types: Mapping[str, exp.DataType], other: Mapping[str, exp.DataType]
) -> list[exp.Expr]:
    """Columns to compare with those of another table; as texts where types differ."""
    return [
        column(name) if types[name] == other[name] else exp.cast(column(name), TEXT)
        for name in names
    ]


def judged_columns(policy: Policy) -> list[str]:
    """The columns that classes and models are counted by."""
    return list(dict.fromkeys([*policy.attributes, *(demand.column for demand in policy.demands)]))


def judged_together(
    engine: Engine,
    table: exp.Table,
    *,
    policy: Policy,
    earlier: Sequence[exp.Table],
    types: Mapping[str, exp.DataType],
) -> Together:
    """Counts classes and models of a batch and of earlier releases in one.

    Args:
        engine: Where they are.
        table: The published batch.
        policy: The policy that they satisfy together.
        earlier: The tables that were released before.
        types: The columns of the batch that are judged, and their types where it is published.

    Raises:
        SourceError: An earlier release lacks a column.
    """
    with engine.workspace():
        parts = [
            engine.materialize("released", _part(engine, one, types=types))
            for one in (table, *earlier)
        ]
        every = expression(
            "{% for part in parts %}{% if not loop.first %} UNION ALL {% endif %}"
            "SELECT * FROM {{ part }}{% endfor %}",
            parts=parts,
        )
        fingerprints = [engine.rows(fingerprint(one, types))[0] for one in parts[1:]]
        union = engine.materialize("together", every)
        results = demanded_results(engine, union, policy=policy, columns=list(types))
    return Together(
        records=sum(records for records, _ in fingerprints),
        releases=tuple(sorted(digest for _, digest in fingerprints)),
        models=results.models,
    )


def _part(engine: Engine, table: exp.Table, *, types: Mapping[str, exp.DataType]) -> exp.Select:
    """The rows of a release as the types of the batch.

    Raises:
        SourceError: It lacks a column.
    """
    missing = [name for name in types if name not in engine.columns(table)]
    if missing:
        raise SourceError(
            f"what was released before has no {columns_named(missing)}; name a "
            "release by the same plan"
        )
    return typed_rows(table, types)


def typed_rows(table: exp.Table, types: Mapping[str, exp.DataType]) -> exp.Select:
    """Columns of a release as other types; NULL where the text of a value is none of these."""
    cells = [
        alias(exp.TryCast(this=varchar(column(name)), to=kind), name)
        for name, kind in types.items()
    ]
    return select(cells, table)
