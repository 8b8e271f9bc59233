"""Joined tables: what two published tables tell together, by the columns that both have.

Whoever has both puts each record beside those of the other table that agree in these columns, and
knows of a person what either table tells. A class is then of the quasi-identifiers of both, also of
those that both have. A record may have several partners, so classes are not counted in joined rows:
their members are the records of one table that have a partner there, and then those of the other,
each once; or the persons of either, where it says whose its records are.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.assessment.check import TableResults, as_published, table_results
from sqlanon.classes import RISK_THRESHOLD
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, SourceError
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import Policy
from sqlanon.query.assess import joined
from sqlanon.query.syntax import rows_of
from sqlanon.reports.check import CheckReport
from sqlanon.sqltext import Sql
from sqlanon.wording import columns_named, counted, listed

OF_OTHER = " of the other table"
"""What follows the name of a model whose classes are counted in records of the other table."""


def check_joined(
    engine: Engine, table: exp.Table, *, other: exp.Table, on: Sequence[str], policy: Policy
) -> CheckReport:
    """Which models two tables satisfy together, joined by columns.

    Args:
        engine: Where both are.
        table: One published table.
        other: Another.
        on: Columns of both, of whose values NULL is one.
        policy: Quasi-identifiers and sensitive columns of either table.

    Raises:
        PolicyError: No quasi-identifier, or columns that a table does not have.
        SourceError: No record has a partner.
    """
    started = time.monotonic()
    if policy.population_models:
        raise PolicyError(
            "classes of two joined tables are of neither's population; leave join (--join) out, or "
            "k_map (--k-map) and delta_presence (--delta-presence)"
        )
    if whole := (*policy.of_sizes, *policy.of_subsets):
        raise PolicyError(
            f"{' and '.join(model.describe() for model in whole)} cannot count joined records, "
            "which may have several partners and so be in several classes; leave join (--join) "
            "out, or ask for k (--k) alone, which bounds the risk of every record"
        )
    with engine.transaction():
        types = column_types(engine, table), column_types(engine, other)
        _refuse_missing(on, types[0], types[1])
        policy, notes = as_published(policy, [*dict.fromkeys([*types[0], *types[1]])])
        # What both tables say of a quasi-identifier is known of both.
        again = {
            name: _unused(f"{name} (joined)", [*types[0], *types[1]])
            for name in policy.attributes
            if name not in on and name in types[0] and name in types[1]
        }
        attributes = policy.attributes
        asked = {**attributes, **{called: attributes[name] for name, called in again.items()}}
        policy = replace(policy, quasi_identifiers=asked)
        needed = [*attributes, *policy.sensitive]
        alike = {name: types[0][name] == types[1][name] for name in on}
        results, shares = [], []
        for one, another, columns in ((table, other, types[0]), (other, table, types[1])):
            entity = policy.entity if policy.entity in columns else None
            query = joined.joined_rows(
                one,
                [name for name in needed if name in columns],
                entity=entity,
                other=another,
                added={name: name for name in needed if name not in columns} | again,
                on=alike,
            )
            with engine.workspace():
                outcome, share = _joined_results(engine, query, table=one, policy=policy, on=on)
            results.append(outcome)
            shares.append(share)
    first, second = results
    others = (replace(result, model=result.model + OF_OTHER) for result in second.models)
    return CheckReport(
        statistics=replace(first.statistics, rows=None),
        models=(*first.models, *others),
        threshold=RISK_THRESHOLD,
        quasi_identifiers=tuple(policy.attributes),
        notes=(
            *notes,
            f"counted on the join by {listed(list(map(repr, on)))}: {shares[0]} of the table "
            f"and {shares[1]} of the other have a partner",
        ),
        seconds=time.monotonic() - started,
        sensitive=first.sensitive,
        joint=first.joint,
    )


def _joined_results(
    engine: Engine, query: Sql, *, table: exp.Table, policy: Policy, on: Sequence[str]
) -> tuple[TableResults, str]:
    """Classes and models of joined rows by whose they are, and how many records have any."""
    rows = engine.materialize("joined", query)
    [(matched,)] = engine.rows(joined.matched(rows))
    [(records,)] = engine.rows(rows_of(table))
    if not matched:
        raise SourceError(
            f"no record of either table has a partner in the other by {', '.join(map(repr, on))}; "
            "join them by other columns (--on)"
        )
    results = table_results(engine, rows, policy=replace(policy, entity=joined.WHOSE))
    return results, f"{matched:,} of {counted(records, 'record')}"


def _refuse_missing(on: Sequence[str], *tables: Collection[str]) -> None:
    if not on:
        raise PolicyError("no column says how the tables are joined; name some with --on COLUMN")
    for which, columns in zip(("the table", "the table to join"), tables, strict=True):
        missing = [name for name in on if name not in columns]
        if missing:
            raise PolicyError(
                f"{which} has no {columns_named(missing)}; join by columns of both (--on)"
            )


def _unused(name: str, columns: Sequence[str]) -> str:
    """A name that no column has."""
    return name if name not in columns else _unused(f"{name}'", columns)
