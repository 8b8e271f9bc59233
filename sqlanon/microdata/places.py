"""Places for new tables, tried before there is any work."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.query.publish.recode import create_table


def try_place(engine: Engine, place: exp.Table) -> None:
    """Makes an empty table beside a place and drops it, to learn whether one can be made there.

    Raises:
        SourceError: The database is open for reading only, or the open transaction has written to
            another one already.
    """
    trial = engine.beside(place)
    nothing = exp.select(exp.Null().as_("nothing")).where(exp.false())
    engine.run(create_table(trial, nothing, temporary=place.catalog == "temp"))
    engine.drop(trial)
