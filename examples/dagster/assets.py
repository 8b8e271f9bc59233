"""Two assets, a table of people and what may be published of it, and the check that guards it.

Run `dagster dev -f assets.py` from this folder, and materialize both.
Tables are handed on as Arrow tables, which Dagster's standard IO manager stores on disk: give the
asset `people` storage of its own, or one that deletes it, where real people are in it.
"""

import dagster as dg
import duckdb
import pyarrow as pa

import sqlanon

POLICY = dg.file_relative_path(__file__, "policy.toml")
PEOPLE = """
    SELECT n AS person_id,
           'person ' || n AS name,
           (18 + hash('age' || n) % 70)::INTEGER AS age,
           (10000 + hash('place' || n) % 8 * 10000 + n % 5 * 100)::VARCHAR AS postcode,
           ['female', 'male'][1 + (hash('sex' || n) % 2)::INTEGER] AS sex,
           ['asthma', 'diabetes', 'flu', 'none'][1 + (hash('ill' || n) % 4)::INTEGER] AS diagnosis
    FROM range(2000) AS people(n)
"""


@dg.asset
def people() -> pa.Table:
    """2,000 people who do not exist; yours come from a source."""
    with duckdb.connect() as connection:
        return pa.table(connection.sql(PEOPLE))


@dg.asset
def people_anonymous(people: pa.Table) -> dg.Output[pa.Table]:
    """What may be published of them: where that cannot be, an error, and no table."""
    published, report = sqlanon.anonymize(people, POLICY, with_report=True)
    shown = {
        "records": report.statistics.records,
        "smallest_class": report.statistics.smallest,
        "suppressed_records": report.suppressed_records,
        "loss_lm": report.loss["lm"],
    }
    return dg.Output(published, metadata=shown)


@dg.asset_check(asset=people_anonymous, blocking=True)
def satisfies_its_policy(people_anonymous: pa.Table) -> dg.AssetCheckResult:
    """Proves it again from the published table alone; what is downstream waits for it."""
    report = sqlanon.check(people_anonymous, POLICY, released=True)
    return dg.AssetCheckResult(
        passed=report.holds,
        metadata={each.verdict(): each.figure_text() for each in report.models},
    )


defs = dg.Definitions(assets=[people, people_anonymous], asset_checks=[satisfies_its_policy])
