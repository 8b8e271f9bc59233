"""Ten million generated people: anonymize and check against plain statements of the same run.

    python benchmarks/scale.py --records 10000000 --memory-limit 2GB

Prints seconds and ratios: `anonymize --into` against CREATE TABLE AS SELECT * plus one GROUP BY of
the quasi-identifiers, `check` against the GROUP BY alone, and what `--report` takes besides against
`anonymize` without it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.demo import census


def timed(connection, statement):
    """Seconds that one statement takes."""
    started = time.perf_counter()
    connection.execute(statement).fetchall()
    return time.perf_counter() - started


def command(*words):
    """One sqlanon command as a process of its own: its document and its seconds."""
    started = time.perf_counter()
    call = [sys.executable, "-c", "from sqlanon.cli import app; app()", *words, "--json"]
    result = subprocess.run(call, check=True, capture_output=True, text=True)
    return json.loads(result.stdout), time.perf_counter() - started


def baseline(path, names, memory_limit):
    """Seconds of a plain copy and of one GROUP BY, as a second session would take them."""
    connection = duckdb.connect(str(path))
    connection.execute(f"SET memory_limit = '{memory_limit}'")
    copy = timed(connection, "CREATE TABLE copied AS SELECT * FROM people")
    connection.execute("DROP TABLE copied")
    group = timed(
        connection,
        f"SELECT count(*), min(size) FROM (SELECT count(*) AS size FROM people GROUP BY {names})",
    )
    connection.close()
    return copy, group


def main():
    """Generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--suppression-limit", default="0.02")
    arguments = parser.parse_args()
    names = ", ".join(f'"{name}"' for name in census.QUASI_IDENTIFIERS)
    limit = ["--memory-limit", arguments.memory_limit]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.duckdb"
        census.write(Path(folder))
        connection = duckdb.connect(str(path))
        for statement in census.statements(exp.to_table("people"), arguments.records):
            connection.execute(statement.text)
        connection.close()
        policy = ["--policy", str(Path(folder) / "policy.toml")]
        policy += ["--suppression-limit", arguments.suppression_limit]
        copy, group = baseline(path, names, arguments.memory_limit)
        print(f"copy {copy:.2f} s, GROUP BY {group:.2f} s")
        document, whole = command(
            "anonymize", str(path), "people", *policy, *limit, "--into", "released"
        )
        print(f"anonymize {whole:.2f} s = {whole / (copy + group):.2f} times copy + GROUP BY")
        print(json.dumps({key: document[key] for key in ("levels", "search", "seconds")}))
        page = Path(folder) / "page.html"
        reported, _ = command(
            *("anonymize", str(path), "people", *policy, *limit),
            *("--into", "released", "--overwrite", "--report", str(page)),
        )
        more = reported["seconds"]["report"]
        size = page.stat().st_size / 1e6
        print(f"report {more:.2f} s = {more / whole:.2f} times anonymize, {size:.2f} MB")
        _, whole = command(
            "check", str(path), "people", "--qi", ",".join(census.QUASI_IDENTIFIERS), *limit
        )
        print(f"check {whole:.2f} s = {whole / group:.2f} times the GROUP BY")


if __name__ == "__main__":
    main()
