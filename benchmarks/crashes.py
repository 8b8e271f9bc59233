"""Runs that are killed at random moments: what stands then, and what the next run leaves.

    python benchmarks/crashes.py kills --kills 100
    python benchmarks/crashes.py interrupts --records 2000000 --interrupts 20

`kills` ends `anonymize --in-place` and `anonymize --output` by SIGKILL, `--kills` of each, at
moments drawn by `--seed` from the time that the whole run before it took; one that was over by then
is not counted. Each time the database must be the original to the byte, or the release whole; the
output missing, or whole; and the next run must succeed and leave nothing beside them, here or in
the temporary folder, and no marker of the original. Prints how often which stood. `interrupts`
sends SIGINT instead and prints how long each run took to end: 130 within a second, nothing left.

The runs are forks of a process that has loaded everything, so that all moments are of the work.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import duckdb

OPTIONS = ("--qi", "age,zip", "--hierarchy", "age=intervals:5,10,20", "--hierarchy",
           "zip=prefix:3,2,1", "--k", "5", "--suppression-limit", "0.02", "--identifier", "name",
           "--keep", "note", "--quiet")  # fmt: skip
TARGETS = {
    "in-place": ("--in-place", "--yes"),
    "csv": ("--output", "{}/out.csv"),
    "parquet": ("--output", "{}/out.parquet"),
    "duckdb": ("--output", "{}/out.duckdb"),
}
INTERRUPTED = 130
OVER = "over before"


def make(path, records):
    """A database of people, a marker in each name."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET force_compression = 'uncompressed'")
        connection.execute(
            "CREATE TABLE people AS SELECT 'MARKER' || md5(i::VARCHAR) AS name, (i * 7919) % 90 AS"
            " age, (10000 + (i * 104729) % 4000)::VARCHAR AS zip, 'n' || i % 9 AS note "
            f"FROM range({records}) AS t(i)"
        )


def start(folder, target):
    """The process number of a run."""
    words = ["anonymize", f"{folder}/people.duckdb", "people", *OPTIONS]
    words += [word.format(folder) for word in TARGETS[target]]
    child = os.fork()
    if child:
        return child
    try:
        # Who is started in the background ignores it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ["TMPDIR"] = tempfile.tempdir = f"{folder}/tmp"
        sys.stderr = sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 -- until it ends
        from sqlanon.cli.main import status

        os._exit(status(words))
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


def finish(child):
    """The exit code of a run, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ended(child, *, after, by):
    """The exit code of a run that gets a signal, and how long it took to end then [s]."""
    time.sleep(after)
    sent = time.monotonic()
    os.kill(child, by)
    return finish(child), time.monotonic() - sent


def standing(path):
    """The rows of what is published, sorted; None for no file, "original" for the original."""
    if not path.exists():
        return None
    with duckdb.connect() as connection:
        table = f"'{path}'"
        if path.suffix == ".duckdb":
            connection.execute(f"ATTACH '{path}' AS found (READ_ONLY)")
            [(name,)] = connection.execute(
                "SELECT table_name FROM duckdb_tables() WHERE database_name = 'found'"
            ).fetchall()
            table = f'found."{name}"'
        columns = [row[0] for row in connection.execute(f"DESCRIBE FROM {table}").fetchall()]
        if "name" in columns:
            return "original"
        query = f"SELECT age::VARCHAR, zip::VARCHAR, note FROM {table} ORDER BY ALL"
        rows = connection.execute(query).fetchall()
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def litter(place, *published):
    """The names of files and folders that nobody asked for."""
    return [path.name for path in place.rglob("*") if path.name not in ("tmp", *published)]


def empty(place, name):
    """Whether all of this name are empty folders."""
    return all(path.is_dir() and not any(path.iterdir()) for path in place.rglob(name))


def prepared(folder, records):
    """A folder of runs, and the original beside it, which each begins with."""
    place = folder / "place"
    (place / "tmp").mkdir(parents=True)
    make(folder / "original.duckdb", records)
    # Loaded once, for all forks.
    import sqlanon.cli.main
    import sqlanon.cli.publishing
    import sqlanon.engine.duckdb.export
    import sqlanon.engine.duckdb.rewrite
    import sqlanon.methods.fulldomain.method  # noqa: F401

    return place


def begun(folder, place, target):
    """The result of a target, with the original in its place and no output."""
    shutil.copy(folder / "original.duckdb", place / "people.duckdb")
    result = place / ("people.duckdb" if target == "in-place" else f"out.{target}")
    for output in place.glob("out.*"):
        output.unlink()
    return result


def whole(folder, place, target):
    """The release of a run that nobody ends, and how long it took [s]."""
    result, started = begun(folder, place, target), time.monotonic()
    assert finish(start(place, target)) == 0
    return standing(result), time.monotonic() - started


def killed(folder, place, target, *, release, after):
    """What stood after a kill, and how long the next run took; a fault of either is raised."""
    result = begun(folder, place, target)
    code, _ = ended(start(place, target), after=after, by=signal.SIGKILL)
    original = (folder / "original.duckdb").read_bytes()
    database = (place / "people.duckdb").read_bytes()
    stood = standing(result)
    assert stood in (release, "original" if target == "in-place" else None), "half a release"
    assert database == original or (target == "in-place" and stood == release), "half an original"
    if target == "in-place" and stood == release:
        shutil.copy(folder / "original.duckdb", result)
    elif stood == release:
        result.unlink()
    started = time.monotonic()
    assert finish(start(place, target)) == 0, "the next run fails"
    seconds = time.monotonic() - started
    assert standing(result) == release, "the next run publishes something else"
    # An empty folder may be one in the making, which a later run sweeps.
    left = [name for name in litter(place, "people.duckdb", result.name) if not empty(place, name)]
    assert not left, f"left behind: {left}"
    assert target != "in-place" or b"MARKER" not in result.read_bytes(), "markers"
    what = OVER if code == 0 else "release" if stood == release else "as before"
    return what, seconds


def kills(arguments, folder, draw):
    """Kills runs of each target, prints what stood; returns the number of faults."""
    place, failed = prepared(folder, arguments.records), 0
    for targets in (["in-place"], ["csv", "parquet", "duckdb"]):
        stood, faults, spans = Counter(), [], {}
        while stood.total() - stood[OVER] + len(faults) < arguments.kills:
            target = targets[stood.total() % len(targets)]
            if target not in spans:
                spans[target] = whole(folder, place, target)
            release, seconds = spans[target]
            after = draw.uniform(0, seconds)
            try:
                what, seconds = killed(folder, place, target, release=release, after=after)
            except AssertionError as error:
                faults.append(f"{target} after {after:.3f} s: {error}")
                print(faults[-1], flush=True)
                continue
            spans[target] = release, seconds
            stood[what] += 1
        told = ", ".join(f"{count} {name}" for name, count in stood.most_common())
        print(f"{', '.join(targets)}: {told}; {len(faults)} faults", flush=True)
        failed += len(faults)
    return failed


def interrupts(arguments, folder, draw):
    """Interrupts runs of two targets, prints how long they took; returns the number of faults."""
    place, failed = prepared(folder, arguments.records), 0
    for target in ("in-place", "parquet"):
        release, seconds = whole(folder, place, target)
        took, faults = [], 0
        for _ in range(arguments.interrupts):
            result, after = begun(folder, place, target), draw.uniform(0, seconds)
            code, lasted = ended(start(place, target), after=after, by=signal.SIGINT)
            stood = standing(result)
            # One that comes once the release has its place leaves it there, whole.
            is_whole = stood == release or (code != 0 and stood in (None, "original"))
            left = litter(place, "people.duckdb", result.name)
            took.append(lasted)
            if code not in (0, INTERRUPTED) or not is_whole or left or lasted > arguments.grace:
                faults += 1
                print(f"{target} after {after:.2f} s: code {code}, {lasted:.2f} s, "
                      f"stood: {stood}, left behind: {left}", flush=True)  # fmt: skip
        print(f"{target}: {arguments.interrupts} interrupts within {seconds:.1f} s: median "
              f"{statistics.median(took):.2f} s, longest {max(took):.2f} s; {faults} faults",
              flush=True)  # fmt: skip
        failed += faults
    return failed


def main():
    """Makes a database, ends runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["kills", "interrupts"])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--interrupts", type=int, default=20)
    parser.add_argument(
        "--grace", type=float, default=1.0, metavar="SECONDS", help="that an interrupt may take"
    )
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = {"kills": kills, "interrupts": interrupts}[arguments.what]
        if run(arguments, Path(folder), random.Random(arguments.seed)):
            sys.exit(1)


if __name__ == "__main__":
    main()
