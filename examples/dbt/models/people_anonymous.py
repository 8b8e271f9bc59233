"""The published model. dbt runs it on its own connection and creates the table from its result."""

import sqlanon


def model(dbt, session):
    """The rows of `people`, anonymized by policy.toml, or an error and no table."""
    dbt.config(materialized="table")
    # On dbt's session nothing leaves the database, and a transaction that dbt has open is joined.
    return sqlanon.anonymize(session, "policy.toml", table=dbt.ref("people"))
