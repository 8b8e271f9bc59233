"""Together: models of a batch and of what was released before by the same plan, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.assessment.check import demanded_results
from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError, VerificationError
from sqlanon.policy.policy import Policy
from sqlanon.query.encode import fingerprint
from sqlanon.query.syntax import alias, column, select, varchar
from sqlanon.reports.earlier import Together
from sqlanon.sqltext import expression
from sqlanon.wording import columns_named


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


def refuse_together(together: Together) -> None:
    """Refuses a batch that breaks a model together with what was released before.

    Raises:
        VerificationError: A model does not hold.
    """
    for result in together.models:
        if not result.holds:
            raise VerificationError(
                f"{result.verdict()} on the batch together with what was released before, "
                f"which have {result.figure_text()}; nothing is published"
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
    cells = [
        alias(exp.TryCast(this=varchar(column(name)), to=kind), name)
        for name, kind in types.items()
    ]
    return select(cells, table)
