"""Full-domain search on public data: optimum, node checks, and time against one GROUP BY.

    python benchmarks/fulldomain.py adult
    python benchmarks/fulldomain.py models
    python benchmarks/fulldomain.py ihis
    python benchmarks/fulldomain.py wide --time-limit 7

`wide` are tables of 14 to 24 columns, k = 5: what the best node keeps that is found within a time
limit, 1 - lm, whether or not the search ends.

`models` has occupation of Adult sensitive, k = 5, and compares each search with that for k alone of
the same limit and turn.

Reads the folder named by SQLANON_DATA, or ../shared/data. Ratios are taken within one run.
"""

import argparse
import gzip
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

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

ADULT_INTERVALS = {
    "fnlwgt": "50000,200000,400000",
    "education_num": "2,4,8",
    "capital_gain": "1000,10000",
    "capital_loss": "500,2000",
    "hours_per_week": "5,10,20,40",
}
CENSUS_INTERVALS = {
    "age": "5,10,20,40",
    "wage_per_hour": "100,1000",
    "capital_gains": "1000,10000",
    "capital_losses": "500,2000",
    "dividends_from_stocks": "500,5000",
    "weeks_worked_in_year": "5,10,20",
    "detailed_industry_recode": "5,10,20",
    "detailed_occupation_recode": "5,10,20",
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
    folder = DATA / ("adult_hierarchies" if name == "adult" else "ihis_like_hierarchies")
    hierarchies = {column: f"{folder / column}.csv" for column in columns.split(",")}
    started = time.perf_counter()
    return plan(path, columns, hierarchies, *options), time.perf_counter() - started


def plan(path, columns, hierarchies, *options):
    """The document of one plan as a process of its own."""
    command = [sys.executable, "-c", "from sqlanon.cli import app; app()", "plan", str(path)]
    command += ["--qi", columns, *map(str, options), "--json"]
    for column, hierarchy in hierarchies.items():
        command += ["--hierarchy", f"{column}={hierarchy}"]
    result = subprocess.run(command, capture_output=True, check=True, text=True)
    return json.loads(result.stdout)


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


def credit_card(path):
    """30,000 clients, 24 columns."""
    unpacked(DATA / "credit_card.csv.gz", path)
    return {file.stem: str(file) for file in (DATA / "credit_card_hierarchies").glob("*.csv")}


def census_income(path):
    """199,523 people, 21 columns: numbers by intervals, others are kept or suppressed."""
    unpacked(DATA / "census_income.csv.gz", path)
    return {name: f"intervals:{widths}" for name, widths in CENSUS_INTERVALS.items()}


def adult_14(path):
    """30,162 people, 14 columns: hierarchies, and intervals of numbers."""
    complete = " AND ".join(f"{c} <> '?'" for c in ("workclass", "occupation", "native_country"))
    source = f"read_csv('{DATA / 'adult.csv.gz'}')"
    duckdb.execute(f"COPY (SELECT * EXCLUDE income FROM {source} WHERE {complete}) TO '{path}'")
    files = {file.stem: str(file) for file in (DATA / "adult_hierarchies").glob("*.csv")}
    del files["income"]
    return files | {name: f"intervals:{widths}" for name, widths in ADULT_INTERVALS.items()}


def survey(path):
    """20,000 generated answers to 16 questions, which three traits of a person sway."""
    random, people = np.random.default_rng(0), 20_000
    traits, columns, hierarchies = random.normal(size=(people, 3)), {}, {}
    for number in range(16):
        answers = (4, 8, 8, 16, 32)[number % 5]
        leaning = traits @ random.normal(size=3) * 0.5 + random.normal(size=people)
        share = (leaning.argsort().argsort() / people) ** (1 + number % 3 / 2)
        columns[f"q{number + 1}"] = (share * answers).astype(int)
        widths = ",".join(str(width) for width in (2, 4, 8, 16) if width < answers)
        hierarchies[f"q{number + 1}"] = f"intervals:{widths}"
    rows = np.stack(list(columns.values()), axis=1)
    np.savetxt(path, rows, "%d", ",", header=",".join(columns), comments="")
    return hierarchies


def unpacked(source, path):
    """Writes a compressed file without compression."""
    with gzip.open(source) as packed, path.open("wb") as plain:
        shutil.copyfileobj(packed, plain)


WIDE = credit_card, census_income, adult_14, survey


def wide(folder, limits, options):
    """A line per wide table and limit, with the processor time of the whole process."""
    print("| table | limit | nodes | 1 - lm | suppressed | checked by queries | processor time |")
    for table in WIDE:
        path = folder / f"{table.__name__}.csv"
        hierarchies = table(path)
        with path.open() as file:
            columns = file.readline().strip().replace(";", ",")
        for limit in limits:
            asked = ["--method", "incognito", "--k", 5, "--suppression-limit", limit, *options]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            document = plan(path, columns, hierarchies, *asked)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            search = document["search"]
            print(
                f"| {table.__name__} | {limit:g} | {search['nodes']:.1e} |"
                f" {1 - document['loss']['lm']:.4f} | {document['suppressed_records']:,} |"
                f" {search['checked']} | {used:.1f} s |",
                flush=True,
            )


def main():
    """Prints a line per policy: medians of the runs asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*SETS, "models", "wide"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--k", type=int, help="only the policies with this k")
    parser.add_argument("--limits", type=float, nargs="+", help="limits of models and wide tables")
    parser.add_argument("--time-limit", type=float, help="of a wide table [seconds]")
    parser.add_argument("--seed", type=int, default=0, help="of a wide table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.name == "models":
            limits = arguments.limits or [0, 0.05]
            models(prepare("adult", Path(folder)), arguments.runs, limits)
        elif arguments.name == "wide":
            limit = arguments.time_limit
            options = ["--seed", arguments.seed]
            options += [] if limit is None else ["--time-limit", limit]
            wide(Path(folder), arguments.limits or [1, 0.05, 0], options)
        else:
            path = prepare(arguments.name, Path(folder))
            policies(arguments.name, path, arguments.runs, arguments.k)


if __name__ == "__main__":
    main()
