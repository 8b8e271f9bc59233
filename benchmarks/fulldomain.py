"""Full-domain search on public data: optimum, node checks, and time against one GROUP BY.

    python benchmarks/fulldomain.py adult
    python benchmarks/fulldomain.py models
    python benchmarks/fulldomain.py ihis

`models` has occupation of Adult sensitive, k = 5, and compares each search with that for k alone of
the same limit and turn.

Reads the folder named by SQLANON_DATA, or ../shared/data. Ratios are taken within one run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

DATA = Path(os.environ.get("SQLANON_DATA", Path(__file__).parent.parent.parent / "shared/data"))
SETS = {
    "adult": (
        "adult.csv.gz",
        "sex,age,race,marital_status,education,native_country,workclass,occupation,income",
        [(2, 0), (5, 0), (5, 0.05), (5, 1)],
    ),
    "ihis": (
        "ihis_like.csv.gz",
        "year,quarter,region,pernum,age,marstat,sex,racea,educ",
        [(5, 0), (5, 0.05)],
    ),
}

MODELS = {
    "k alone": ["--others", "drop"],
    "entropy l = 3": ["--sensitive", "occupation", "--l", "entropy:3"],
    "t = 0.2": ["--sensitive", "occupation", "--t", "0.2"],
}


def prepare(name, folder):
    """The file to anonymize: complete rows only for adult."""
    file, columns, _ = SETS[name]
    if name != "adult":
        return DATA / file
    path = folder / "adult.csv"
    complete = " AND ".join(f"{c} <> '?'" for c in ("workclass", "occupation", "native_country"))
    duckdb.execute(
        f"COPY (SELECT {columns} FROM read_csv('{DATA / file}') WHERE {complete}) TO '{path}'"
    )
    return path


def group_by_seconds(path, columns):
    """One GROUP BY of the distinct combinations, small integers, by all columns; median of 5."""
    connection = duckdb.connect()
    names = columns.split(",")
    codes = ", ".join(f"(dense_rank() OVER (ORDER BY {n}))::SMALLINT AS {n}" for n in names)
    connection.execute(
        f"CREATE TABLE encoded AS SELECT {codes}, size FROM (SELECT {columns}, "
        f"count(*)::INTEGER AS size FROM read_csv('{path}') GROUP BY {columns})"
    )
    times = []
    for _ in range(6):
        started = time.perf_counter()
        connection.execute(
            f"SELECT count(*) FROM (SELECT sum(size) FROM encoded GROUP BY {columns})"
        ).fetchall()
        times.append(time.perf_counter() - started)
    return sorted(times[1:])[2]


def run(name, path, columns, *options):
    """One plan as a process of its own: its document, and seconds from command to exit."""
    command = [sys.executable, "-c", "from sqlanon.cli import app; app()", "plan", str(path)]
    command += ["--qi", columns, *map(str, options), "--json"]
    folder = DATA / ("adult_hierarchies" if name == "adult" else "ihis_like_hierarchies")
    for column in columns.split(","):
        command += ["--hierarchy", f"{column}={folder / column}.csv"]
    started = time.perf_counter()
    result = subprocess.run(command, capture_output=True, check=True, text=True)
    return json.loads(result.stdout), time.perf_counter() - started


def told(runs):
    """The optimum of some runs of one policy, and their medians of search and whole process."""
    document = runs[0][0]
    search = statistics.median(d["seconds"]["search"] for d, _ in runs)
    whole = statistics.median(seconds for _, seconds in runs)
    levels = ",".join(map(str, document["levels"].values()))
    assert document["search"]["proven"]
    return (
        f"levels {levels} lm {document['loss']['lm']:.6f}; "
        f"{document['search']['checked']} of {document['search']['nodes']} nodes checked; "
        f"search {search:.3f} s, whole {whole:.2f} s"
    ), search


def policies(name, path, count, only=None):
    """A line per policy of k and limit."""
    _, columns, asked = SETS[name]
    base = group_by_seconds(path, columns)
    print(f"one GROUP BY of the encoded table: {base * 1000:.1f} ms")
    for k, limit in asked:
        if only not in (None, k):
            continue
        options = ["--k", k, "--suppression-limit", limit]
        line, search = told([run(name, path, columns, *options) for _ in range(count)])
        print(f"k={k} limit={limit}: {line} = {search / base:.0f} GROUP BYs")


def models(path, count, limits):
    """A line per model and limit; the models take turns."""
    columns = ",".join(c for c in SETS["adult"][1].split(",") if c != "occupation")
    for limit in limits:
        runs = {model: [] for model in MODELS}
        for _ in range(count):
            for model, options in MODELS.items():
                asked = ["--k", 5, "--suppression-limit", limit, *options]
                runs[model].append(run("adult", path, columns, *asked))
        for model, own in runs.items():
            pairs = zip(own, runs["k alone"], strict=True)
            ratios = [a["seconds"]["search"] / b["seconds"]["search"] for (a, _), (b, _) in pairs]
            line, _ = told(own)
            print(f"{model}, limit {limit}: {line}; {statistics.median(ratios):.2f} times k alone")


def main():
    """Prints a line per policy: medians of the runs asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*SETS, "models"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--k", type=int, help="only the policies with this k")
    limits = {"nargs": "+", "default": [0, 0.05]}
    parser.add_argument("--limits", type=float, **limits, help="suppression limits of models")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.name == "models":
            models(prepare("adult", Path(folder)), arguments.runs, arguments.limits)
        else:
            path = prepare(arguments.name, Path(folder))
            policies(arguments.name, path, arguments.runs, arguments.k)


if __name__ == "__main__":
    main()
