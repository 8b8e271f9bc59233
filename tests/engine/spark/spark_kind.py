"""Which Spark the tests of a process run on."""

import os

from servers import QUICK

KIND = os.environ.get("SQLANON_SPARK", "sail")
IS_SAIL = KIND == "sail"
SETTINGS = {
    **QUICK,
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "Europe/Berlin",
}
