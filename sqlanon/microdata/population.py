"""Population: the people that the records of a table are of, opened beside it.

They have the quasi-identifiers of the table as these are before anything is generalized. For as
long as they are open, the engine knows them by `opened.population`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from sqlanon.arguments import is_file
from sqlanon.engine.base import Engine, Use
from sqlanon.engine.open import TextReading, embedded, is_database, second_table
from sqlanon.errors import SourceError
from sqlanon.policy.policy import Policy
from sqlanon.query.syntax import select


@contextmanager
def with_population(engine: Engine, policy: Policy, *, how: TextReading) -> Iterator[None]:
    """Opens the population that a policy's models ask for, for as long as it lasts.

    Args:
        engine: Where the table is.
        policy: Its policy.
        how: How a text file is read.

    Raises:
        SourceError: There is neither such a table nor such a file, or the table is elsewhere.
    """
    here = embedded(engine)
    if here is not engine:
        raise SourceError(
            "classes are compared with a population in DuckDB alone, and the table is in another "
            "database; bring both into files, or leave k_map (--k-map) and delta_presence "
            "(--delta-presence) out"
        )
    names = frozenset(policy.attributes)

    def use(columns: Sequence[str]) -> Use:
        known = how.use(columns)
        left_out = frozenset(columns) - names if names else frozenset[str]()
        return replace(known, left_out=left_out)

    opened = opened_population(engine, policy.population, how=replace(how, use=use))
    with opened as population:
        assert population is not None, "a policy with such models has one"
        here.opened.populations.append(population)
        try:
            yield
        finally:
            here.opened.populations.pop()


def population_of(engine: Engine, policy: Policy) -> exp.Table | None:
    """The population that a policy's models ask for; None where they ask for none."""
    if not policy.population_models:
        return None
    assert engine.opened.population is not None, "the population is opened with the table"
    return engine.opened.population


@contextmanager
def opened_population(
    engine: Engine, population: object, *, how: TextReading | None = None, what: str = "population"
) -> Iterator[exp.Table | None]:
    """A population as a table beside the one that it is compared with, for as long as it lasts.

    It is a table of the same source or a frame, or a path to a file of data; a name that is both
    is the table's.

    Raises:
        SourceError: There is neither, the file is a database, or it has no records.
    """
    if population is None:
        yield None
        return
    path = Path(population) if isinstance(population, str | Path) else None
    if path is not None and is_file(path) and is_database(path):
        raise SourceError(
            f"the {what} {path.name!r} is a database; name a table of the database that holds "
            "the released one, or give a CSV or Parquet file"
        )
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(second_table(engine, population, how=how))
        except SourceError as error:
            raise SourceError(f"the {what}: {error}") from None
        if not engine.rows(select([exp.convert(1)], opened).limit(1)):
            raise SourceError(f"the {what} has no records; name another file or table")
        yield opened
