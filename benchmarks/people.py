"""Made-up people, more and more of them, for the benchmarks of growth."""

import tempfile
from pathlib import Path

from sqlglot import exp

from sqlanon import Policy
from sqlanon.demo import census

GENERATED = (30_000, 60_000, 90_000, 120_000)


def generated(connection, sizes=GENERATED):
    """Makes up more and more people, and yields their hierarchies each time."""
    with tempfile.TemporaryDirectory() as folder:
        census.write(Path(folder))
        made = Policy.from_toml(Path(folder) / "policy.toml")
    hierarchies = {name: own.hierarchy for name, own in made.attributes.items()}
    for records in sizes:
        connection.execute("DROP TABLE IF EXISTS people")
        for statement in census.statements(exp.to_table("people"), records):
            connection.execute(statement.text)
        yield hierarchies
