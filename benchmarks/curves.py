"""Loss against seconds of every method that recodes record by record, and what more records do.

    python benchmarks/curves.py methods --rows rows.csv --chart docs/explanation/curves.svg
    python benchmarks/curves.py models
    python benchmarks/curves.py scale --records 20000 200000 1000000 --cores 1 2

`methods` plans Adult (30,162 complete records, nine columns) and the demo's census (20,000 records,
eight columns) with nobody left out, each run a process of its own, and appends a row for each:
seconds of the processor of that process and of those that it starts, the loss, and its ratio to the
bound of all closures (`sqlanon bound --effort full`). `anytime` runs with more and more time,
other methods once. Then it draws all rows of the file; `--tables` without names only draws.

`models` has occupation of Adult sensitive, or persons of two records, and gives `anytime` the
seconds that each other method took as its time limit.

`scale` compares `anytime`, under a time limit where one is given, with `mondrian` on generated
people. Reads the folder named by SQLANON_DATA.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
from adult import DATA, NINE, complete
from sqlglot import exp

from sqlanon.comparison.drawing import COLOURS, FONT, svg_of
from sqlanon.demo import census

ADULT, CENSUS = "adult", "demo"
TABLES = {"adult-5": 5, "adult-50": 50, "demo-5": 5}
"""Every table and its k."""
METHODS = (
    "incognito", "mondrian", "partial-domain", "agglomerative", "forest", "diameter-cover",
    "set-cover", "direct-cover",
)  # fmt: skip
PASSES = (10, 20, 35, 52, 104)
LIMITS = (2, 3, 4, 6)
"""Passes, and time limits below what prices alone take [seconds]."""
MODELS = {
    "l = 3": ("--sensitive", "occupation", "--l", 3),
    "entropy l = 3": ("--sensitive", "occupation", "--l", "entropy:3"),
    "t = 0.3": ("--sensitive", "occupation", "--t", 0.3),
    "persons of two records": ("--entity", "person"),
}
"""Models, as a command says them, with occupation no quasi-identifier."""
PEOPLE = 20_000
CURVE = "anytime"
FULL_DOMAIN = "incognito"
COLUMNS = ("table", "method", "seconds", "loss", "ratio")


def command(*words):
    """A command's document, processor and other seconds, and most memory of all so far [GB]."""
    call = [sys.executable, "-c", "from sqlanon.cli import app; app()", *map(str, words), "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    result = subprocess.run(call, check=True, capture_output=True, text=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(result.stdout), used, wall, after.ru_maxrss / 2**20


@contextmanager
def table(name, records, columns=NINE):
    """A database with so many people at most, and what a command says of their columns.

    Of Adult the columns given are quasi-identifiers, and every two records are a person's.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        census.write(place)
        connection = duckdb.connect(str(place / "people.duckdb"))
        if name.startswith(ADULT):
            complete(connection, NINE, most=records)
            connection.execute("ALTER TABLE people ADD COLUMN person BIGINT")
            connection.execute("UPDATE people SET person = rowid // 2")
            own = [
                f'{column} = {{ file = "{(DATA / "adult_hierarchies" / column).resolve()}.csv" }}'
                for column in columns
            ]
            text = "\n".join(["k = 5", 'others = "drop"', "[quasi_identifiers]", *own])
            (place / "policy.toml").write_text(text, "utf-8")
        else:
            for statement in census.statements(exp.to_table("people"), records or PEOPLE):
                connection.execute(statement.text)
        connection.close()
        yield (
            place / "people.duckdb", "people", "--policy", place / "policy.toml",
            "--suppression-limit", 0,
        )  # fmt: skip


def methods(given):
    """Appends a row for every table and method, and draws them."""
    with given.rows.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for name in given.tables:
            with table(name, given.records) as people:
                source = (*people, "--k", TABLES[name])
                bound = command("bound", *source, "--effort", given.effort)[0]["lower_bound"]
                asked = [(method, ()) for method in given.methods if method != CURVE]
                if CURVE in given.methods:
                    asked += [(CURVE, ("--time-limit", limit)) for limit in given.limits]
                    asked += [(CURVE, ("--passes", passes)) for passes in given.passes]
                for method, options in asked:
                    document, used, *_ = command("plan", *source, "--method", method, *options)
                    loss = document["loss"]["lm"]
                    row = (name, method, f"{used:.2f}", f"{loss:.6g}", f"{loss / bound:.4f}")
                    writer.writerow(row)
                    file.flush()
                    print("|", " | ".join((*row, *map(str, options[1:]))), "|", flush=True)

    draw(given.rows, given.chart, most=given.most)


def draw(path, chart, *, most):
    """Writes a chart of all rows: a curve for `anytime`, marks for other methods."""
    import altair

    with path.open(newline="", encoding="utf-8") as file:
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in csv.reader(file)]
    for row in rows:
        row |= {name: float(row[name]) for name in ("seconds", "loss", "ratio")}
    local = [row for row in rows if row["method"] != FULL_DOMAIN]
    names = [name for name in (CURVE, *METHODS) if name in {row["method"] for row in local}]
    panels = []
    for name in dict.fromkeys(row["table"] for row in rows):
        own = altair.Data(values=[row for row in local if row["table"] == name])
        beside = [row["ratio"] for row in rows if row["table"] == name and row not in local]
        x = altair.X(
            "seconds:Q",
            title="processor seconds of the whole process (logarithmic)",
            scale=altair.Scale(type="log", domain=[1, 300]),
            axis=altair.Axis(values=[1, 2, 5, 10, 20, 50, 100, 200], format="~g"),
        )
        y = altair.Y(
            "ratio:Q",
            title="loss, times the proven bound",
            scale=altair.Scale(domain=[1, most], clamp=True),
        )
        colour = altair.Color(
            "method:N", title=None, scale=altair.Scale(domain=names, range=(*COLOURS, "#777777"))
        )
        shape = altair.Shape("method:N", title=None, scale=altair.Scale(domain=names))
        base = altair.Chart(own).encode(x=x, y=y, color=colour)
        curve = base.transform_filter(f"datum.method == '{CURVE}'").mark_line(strokeWidth=2)
        marks = base.mark_point(filled=True, size=75, opacity=1).encode(shape=shape)
        title = altair.Title(
            f"{name.partition('-')[0].title()}, k = {TABLES[name]}",
            subtitle=[f"{FULL_DOMAIN}: {ratio:.1f} times the bound" for ratio in beside],
        )
        panels.append(altair.layer(curve, marks).properties(width=330, height=300, title=title))
    room = {"left": 5, "top": 5, "right": 25, "bottom": 5}  # for wider fonts than are measured here
    told = __doc__.splitlines()[0]
    picture = altair.hconcat(*panels, description=told, padding=room)
    picture = picture.configure(font=FONT, background="white").configure_axis(gridColor="#e4e4e4")
    chart.write_text(svg_of(picture), "utf-8")


def models(given):
    """Prints what methods lose under each model, and `anytime` in as many seconds."""
    print("| model | method | seconds | loss | anytime, limit | seconds | loss |")
    print("|---|---|---|---|---|---|---|")
    columns = [column for column in NINE if column != "occupation"]
    with table(ADULT, given.records, columns) as people:
        for model, options in MODELS.items():
            for method in given.methods:
                asked = ("plan", *people, *options, "--method")
                document, used, *_ = command(*asked, method)
                limit = max(round(used), 2)
                other, taken, *_ = command(*asked, CURVE, "--time-limit", limit)
                losses = [f"{each['loss']['lm']:.6g}" for each in (document, other)]
                print(
                    f"| {model} | {method} | {used:.1f} | {losses[0]} | {limit} | {taken:.1f} | "
                    f"{losses[1]} |",
                    flush=True,
                )


def scale(given):
    """Prints seconds, losses and memory by records and cores."""
    print("| records | cores | seconds | processor | loss | against mondrian | memory |")
    print("|---|---|---|---|---|---|---|")
    for records in given.records:
        with table(CENSUS, records) as source:
            first = command("plan", *source, "--method", "mondrian")[0]["loss"]["lm"]
            for cores in given.cores:
                words = ("plan", *source, "--method", CURVE, "--threads", cores)
                limit = ("--time-limit", given.time_limit) if given.time_limit else ()
                document, used, wall, memory = command(*words, *limit)
                loss = document["loss"]["lm"]
                print(
                    f"| {records:,} | {cores} | {wall:.1f} | {used:.1f} | {loss:.6g} | "
                    f"{loss / first - 1:+.1%} | {memory:.2f} GB |",
                    flush=True,
                )


def main():
    """Reads the command line and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    tasks = parser.add_subparsers(dest="task", required=True)
    one = tasks.add_parser("methods")
    one.add_argument("--rows", type=Path, required=True)
    one.add_argument("--chart", type=Path, required=True)
    one.add_argument("--tables", nargs="*", default=list(TABLES), choices=TABLES)
    one.add_argument("--methods", nargs="+", default=[CURVE, *METHODS])
    one.add_argument("--passes", type=int, nargs="+", default=PASSES)
    one.add_argument("--limits", type=float, nargs="*", default=LIMITS)
    one.add_argument("--records", type=int)
    one.add_argument("--effort", default="full", help="how much work to put into the bound")
    one.add_argument("--most", type=float, default=1.6, help="highest ratio that is drawn")
    three = tasks.add_parser("models")
    three.add_argument("--methods", nargs="+", default=["mondrian", "forest", "direct-cover"])
    three.add_argument("--records", type=int)
    two = tasks.add_parser("scale")
    two.add_argument("--records", type=int, nargs="+", default=[20_000, 200_000, 1_000_000])
    two.add_argument("--cores", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    two.add_argument("--time-limit", type=float)
    given = parser.parse_args()
    {"methods": methods, "models": models, "scale": scale}[given.task](given)


if __name__ == "__main__":
    main()
