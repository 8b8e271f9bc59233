"""Which Spark the tests of a process run on."""

import os

KIND = os.environ.get("SQLANON_SPARK", "sail")
IS_SAIL = KIND == "sail"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "Europe/Berlin",
    "spark.ui.showConsoleProgress": "false",
}
