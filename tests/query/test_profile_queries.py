"""Queries that look at columns: what DuckDB answers."""

from snapshots import Snapshot, text

from sqlanon.query.assess import profile
from sqlanon.query.syntax import table

TABLES = """
CREATE TABLE people (code VARCHAR, age INTEGER, share DOUBLE, born TIMESTAMP);
INSERT INTO people VALUES
    ('a10', 20, 0.5, '2000-01-01'), ('a11', 30, 1, '2000-01-02 12:00:00'), ('a11', 30, 'nan', NULL),
    ('b2', 30, 'inf', '2000-02-01'), (NULL, 40, 2, 'infinity');
"""
PEOPLE = table("people")
UNFIT = set()
NEAR = "init looks at tables of DuckDB and at files alone"
SNAPSHOTS = [
    Snapshot("sample", profile.sample(PEOPLE, ["age"], parts=1), [(20,), *[(30,)] * 3, (40,)]),
    Snapshot("counts", profile.counts(PEOPLE, ["code", "age"]), [(5, 4, 3, 5, 3)]),
    Snapshot("parted_counts", profile.parted_counts(PEOPLE, ["code"], parts=1), [(4, 3)]),
    Snapshot("lengths", profile.lengths(PEOPLE, ["code", "age"]), [(2, 2.75, 3, 2, 2.0, 2)]),
    Snapshot("shapes", profile.shapes(PEOPLE, ["code"], patterns=["^a", "^[a-z][0-9]$"]), [(3, 1)]),
    Snapshot("outer_words", profile.outer_words(PEOPLE, ["code"]), [(3, 3)]),
    Snapshot("commonest", profile.commonest(PEOPLE, ["code", "age"]), [(0, 2), (1, 3)]),
    Snapshot("misfits", profile.misfits(PEOPLE, ["code"], formats=["a%d", "%Y"]), [(1, 4)]),
    Snapshot(
        "quantiles",
        profile.quantiles(PEOPLE, ["age", "share"], shares=[0.25, 1], floats=["share"]),
        [(5, 5, [30, 40], 3, 2, [0.5, 2.0])],
    ),
    Snapshot(
        "quantiles_beside",
        profile.quantiles_beside(PEOPLE, "age", shares=[0, 1], is_float=False),
        [(2, [20, 40])],
    ),
    Snapshot("spans", profile.spans(PEOPLE, ["born"], share=0), [(31, 1)]),
    Snapshot("prefix_counts", profile.prefix_counts(PEOPLE, "code", length=3), [(2, 2, 3)]),
]


def test_a_sample_is_the_same_whatever_the_order_of_the_rows(connection):
    connection.execute("CREATE OR REPLACE TABLE many AS SELECT range AS n FROM range(5000)")
    connection.execute("CREATE OR REPLACE TABLE turned AS FROM many ORDER BY n DESC")
    one, other = (
        sorted(connection.execute(text(profile.sample(table(name), ["n"], parts=50))).fetchall())
        for name in ("many", "turned")
    )
    assert one == other
    assert 50 < len(one) < 200
