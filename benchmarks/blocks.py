"""Clusters of a table elsewhere: parts cut by counts, blocks improved one by one, the whole table.

    python benchmarks/blocks.py --records 300000 1000000 --block-records 30000

Generated people in Parquet on Sail in this process, each row a program of its own: the loss,
seconds of `plan` and of the release with its check, and the most memory of all processes. `anytime`
has all combinations in this process where `--local-rows` lets them come; else it reads one block
after the other.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import duckdb
from cores import available, followed
from sqlglot import exp

from sqlanon.demo import census

KINDS = (("mondrian", True), ("anytime", True), ("anytime", False))


def main():
    """Generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[300_000, 1_000_000])
    parser.add_argument("--local-rows", type=int, default=10_000)
    parser.add_argument("--block-records", type=int, default=250_000)
    given = parser.parse_args()
    print("| records | method | combinations here | lm | plan | publish | memory |")
    print("|---|---|---|---|---|---|---|")
    for records in given.records:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            census.write(folder)
            with duckdb.connect() as made:
                for statement in census.statements(exp.to_table("people"), records):
                    made.execute(statement.text)
                made.execute(
                    f"COPY people TO '{folder}/people' (FORMAT parquet, PER_THREAD_OUTPUT)"
                )
            for number, (method, is_far) in enumerate(KINDS):
                words = ["anonymize", f"{folder}/people", "--engine", "spark", "--remote", "sail"]
                words += ["--policy", f"{folder}/policy.toml", "--method", method, "--json"]
                words += ["--into", f"{folder}/published{number}"]
                words += ["--local-rows", str(given.local_rows)] * is_far
                if method == "anytime":
                    words += ["--block-records", str(given.block_records)]
                call = [sys.executable, "-m", "sqlanon", *words]
                code, out, told, memory = followed(call, available())
                if code:
                    raise SystemExit(told)
                report = json.loads(out)
                seconds = report["seconds"]
                publish = seconds["apply"] + seconds["check"]
                print(
                    f"| {records:,} | {method} | {'by blocks' if is_far else 'all'} | "
                    f"{report['loss']['lm']:.5f} | {seconds['total'] - publish:.0f} s | "
                    f"{publish:.0f} s | {memory:.2f} GB |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
