"""Frozen recodings: a saved plan for records that it was not made of.

A node of the lattice or a map of values says what becomes of a value, whoever holds it, so that two
releases by the same plan have the same labels and their classes unite. A batch of records is
searched with nothing left to choose: its own levels are those of the plan, and what remains to be
found is which classes satisfy the models. A map is then a hierarchy of its values, their groups and
`*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, SourceError, UnsatisfiableError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import TOP
from sqlanon.loss.cells import LEVEL_MEASURES
from sqlanon.methods.registry import DEFAULT
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import Policy
from sqlanon.policy.roles import QuasiIdentifier
from sqlanon.policy.sizes import KAnonymity
from sqlanon.policy.warnings import policy_notes, role_notes
from sqlanon.publishing.apply import changed_columns, publish
from sqlanon.publishing.plan import Plan, planned_population
from sqlanon.publishing.planner import STEERING_LOSS, make_plan
from sqlanon.publishing.settings import options_of
from sqlanon.publishing.target import Target
from sqlanon.query.syntax import alias, column, rows_of, select, type_name, varchar
from sqlanon.recoding import ColumnMap
from sqlanon.reports.plan import Report
from sqlanon.reports.search import SearchFigures
from sqlanon.wording import counted


def refuse_unfrozen(plan: Plan, *, in_place: bool, is_together: bool, limit: float | None) -> None:
    """Refuses what cannot be published of other records than those of a plan.

    Args:
        plan: The plan.
        in_place: Whether an original is to be replaced.
        is_together: Whether the models hold together with what was released before.
        limit: Share of the records that may be suppressed; None for none.

    Raises:
        PolicyError: The plan recodes record by record, these contradict each other, or persons are
            counted, whom an earlier release does not tell.
    """
    if plan.recoding.records is not None:
        raise PolicyError(
            "the plan recodes record by record, so it says nothing of other records; make one of "
            "the methods incognito or scheme, whose recodings are of values"
        )
    if in_place:
        raise PolicyError(
            "in place is the original of the plan; publish other records with into (--into TABLE) "
            "or output (--output FILE)"
        )
    if is_together and plan.policy.class_means:
        raise PolicyError(
            "the plan publishes class means, and the mean of a class in a batch is another than in "
            "what was released before, so that their classes do not unite; leave released "
            "(--released) out, so that the batch satisfies the models by itself"
        )
    if is_together and limit is not None:
        raise PolicyError(
            "records are suppressed where the batch satisfies the models by itself; leave released "
            "(--released) or suppression_limit (--suppression-limit) out"
        )
    if is_together and plan.policy.entity is not None:
        raise PolicyError(
            f"classes are of persons (column {plan.policy.entity!r}), and those of an earlier "
            "release may all be in the batch, too, so that its records prove no more persons than "
            "the batch has; leave released (--released) out, so that the batch satisfies the "
            "models by itself"
        )


def publish_batch(
    engine: Engine,
    plan: Plan,
    *,
    batch: exp.Table,
    released: Sequence[exp.Table],
    limit: float | None,
    target: Target,
    earlier: Mapping[str, exp.Table],
) -> Report:
    """Publishes other records by the recoding of a saved plan, in one transaction.

    Args:
        engine: Where they are.
        plan: The plan.
        batch: The records.
        released: What was released by the plan before and satisfies the models together with the
            batch; empty where the batch does so by itself.
        limit: As for `frozen_plan`.
        target: Where to.
        earlier: As for `publish`.

    Raises:
        SqlanonError: As `typed_batch`, `frozen_plan` and `publish`.
    """
    with engine.transaction():
        table = typed_batch(engine, plan, batch=batch)
        frozen = frozen_plan(engine, plan, batch=table, limit=limit, models_must_hold=not released)
        return publish(
            engine, frozen, source=table, target=target, earlier=earlier, released=released
        )


def frozen_plan(
    engine: Engine, plan: Plan, *, batch: exp.Table, limit: float | None, models_must_hold: bool
) -> Plan:
    """The plan for a batch of other records, with the recoding of a saved one.

    Args:
        engine: Where the batch is.
        plan: The saved plan.
        batch: The records, with the columns of the plan: see `typed_batch`.
        limit: Share of them that may be suppressed; None for none.
        models_must_hold: Whether the batch must satisfy the models by itself.

    Raises:
        HierarchyError: Values that a hierarchy or the plan does not know.
        PolicyError: The limit is no share.
        UnsatisfiableError: More records than may be suppressed are in classes that do not satisfy
            the models.
    """
    policy = replace(plan.policy, suppression_limit=limit or 0.0)
    batch_policy = policy if models_must_hold else _without_models(policy)
    maps = plan.recoding.columns
    settled = {
        name: _settled(attribute, levels, maps[number] if maps else None, name=name)
        for number, ((name, attribute), levels) in enumerate(
            zip(batch_policy.attributes.items(), plan.recoding.levels, strict=True)
        )
    }
    loss = plan.report.loss_name
    options = options_of(
        {"method": DEFAULT.name, "loss": loss if loss in DEFAULT.losses else STEERING_LOSS}
    )
    # What would have to be suppressed is found first, and then held against the limit.
    open_ended = replace(
        batch_policy.with_attributes(settled), suppression_limit=1.0 if models_must_hold else 0.0
    )
    [(records,)] = engine.rows(rows_of(batch))
    if 0 < records < batch_policy.k:
        raise _unsatisfied(records, records, policy=policy)
    try:
        frozen = make_plan(engine, batch, open_ended, options)
    except UnsatisfiableError:
        raise _unsatisfied(records, records, policy=policy) from None
    report, before = frozen.report, plan.report
    if report.suppressed_records > batch_policy.allowance(report.records):
        raise _unsatisfied(report.suppressed_records, report.records, policy=policy)
    losses = {n: v for n, v in report.loss.items() if not (maps and n in LEVEL_MEASURES)}
    report = replace(
        report,
        method=before.method,
        loss_name=loss,
        loss=losses,
        lower_bound=None,
        levels=before.levels,
        heights=before.heights,
        level_names=before.level_names,
        schemes=before.schemes,
        suppression_tradeoff=(),
        search=SearchFigures(),
        notes=(*policy_notes(policy), *role_notes(policy, list(frozen.columns))),
    )
    people = planned_population(engine, policy)
    return replace(frozen, policy=policy, recoding=plan.recoding, report=report, population=people)


def _without_models(policy: Policy) -> Policy:
    """A policy that any table satisfies, of the same columns."""
    plain = {
        name: replace(attribute, models=())
        for name, attribute in policy.sensitive_attributes.items()
    }
    return replace(policy, models=[KAnonymity(1)], sensitive=plain)


def _settled(
    attribute: QuasiIdentifier, levels: Sequence[int], mapped: ColumnMap | None, *, name: str
) -> QuasiIdentifier:
    """A quasi-identifier that can only be recoded as the plan has it."""
    if mapped is None or mapped.is_original:
        level = levels[0] if mapped is None else 0
        return replace(attribute, min_level=level, max_level=level)
    # NULL that stays itself is below the top alone, as where no row names it.
    rows = [
        (value, group.label, TOP)
        for group in mapped.groups
        if group.label is not None
        for value in group.values
    ]
    hierarchy = Hierarchy.from_rows(rows, name=f"the plan's groups of {name}")
    return replace(attribute, hierarchy=hierarchy, min_level=1, max_level=1)


def _unsatisfied(suppressed: int, records: int, *, policy: Policy) -> UnsatisfiableError:
    allowed = policy.allowance(records)
    return UnsatisfiableError(
        f"by the recoding of the plan {suppressed:,} of {counted(records, 'record')} of the batch "
        f"are in classes that do not satisfy its models, and {allowed:,} may be suppressed; allow "
        "for more with suppression_limit (--suppression-limit SHARE), wait for a larger batch, or "
        "make a plan of its own for it"
    )


def typed_batch(engine: Engine, plan: Plan, *, batch: exp.Table) -> exp.Table:
    """A batch with the columns of a plan, in their order and types.

    A text file of few records may read as other types than that of many; a value that another type
    would change is refused.

    Raises:
        SourceError: Columns are missing or new, or hold values of other types.
    """
    columns, wanted = column_types(engine, batch), dict(plan.columns)
    changes = list(changed_columns(wanted, columns, seen=()))
    if {*wanted} != {*columns}:
        raise SourceError(
            f"the columns of the batch are not those of the plan: {'; '.join(changes)}"
        )
    seen = plan.policy.seen(list(wanted))
    others = {name: wanted[name] for name in seen if columns[name] != wanted[name]}
    if not others and not changes:
        return batch
    cells = {name: _as_type(name, others.get(name)) for name in wanted}
    if others:
        lost = [
            exp.CountIf(
                this=exp.NullSafeNEQ(
                    this=exp.TryCast(this=cells[name], to=columns[name]), expression=column(name)
                )
            )
            for name in others
        ]
        counts = zip(others.items(), engine.rows(select(lost, batch))[0], strict=True)
        faults = [
            f"column {name!r} has {counted(count, 'value')} that {type_name(kind)} does not hold "
            "as they are"
            for (name, kind), count in counts
            if count
        ]
        if faults:
            raise SourceError(f"the batch does not have the types of the plan: {'; '.join(faults)}")
    return engine.materialize("batch", select([alias(c, n) for n, c in cells.items()], batch))


def _as_type(name: str, kind: exp.DataType | None) -> exp.Expr:
    value = column(name)
    return value if kind is None else exp.TryCast(this=varchar(value), to=kind)
