"""Random tables and policies, end to end: what is published must keep what is promised.

    python benchmarks/fuzzing.py releases --cases 5000 --seed 1
    python benchmarks/fuzzing.py bounds --cases 5000 --seed 1
    python benchmarks/fuzzing.py samples --cases 500 --seed 1
    python benchmarks/fuzzing.py releases --seed 1 --only 1234
    python benchmarks/fuzzing.py releases --engine sail --cases 500

Tables of up to 24 records with columns of every scalar type, hostile names, NULLs and values that
are not finite, in five time zones; policies of random hierarchies, level bounds, weights, models,
limits and persons, by every method, to every target. The release is read by a reader that is not
DuckDB and held against its table in plain Python: every class satisfies every model, every label
stands for the value of its record, kept and sensitive cells are those of their records, and nobody
is lost beyond the suppressed. What is refused ends with an error of our own that tells no value.
With `--engine` the tables are on Sail, PostgreSQL or Spark, of the types that these have. `bounds`
holds lower bounds against the least loss of all partitions of up to eight records, and `samples`
releases under k-map and delta-presence against brute force and a check of their people.

Prints each violation with its number, and at the end how many cases came to what. A case is made
of the seed and its number alone: `--only` repeats one.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import partial
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "engine")]

import elsewhere  # noqa: E402
from oracles import population  # noqa: E402
from oracles.fuzzed import bound_of, bounding, outcome_of, releasing  # noqa: E402

VIOLATION = "violations"
ELSEWHERE = ("sail", "postgres", "spark")
EVERY = 100
"""Cases after which it is told what has come of them so far."""


def released(draw, *, database=None):
    """What became of a random case."""
    with tempfile.TemporaryDirectory() as folder:
        case = releasing(draw, there=database is not None)
        return outcome_of(case, Path(folder), database)


def proven(draw):
    """Whether a random bound is the least loss, or below it."""
    bound, least = bound_of(bounding(draw))
    if bound is None or least is None:
        return "refused" if bound is None else "of nothing possible"
    return "tight" if bound >= least - 1e-9 else "below"


def sampled(draw):
    """What became of a random sample of a population."""
    return population.hold_to_brute_force(population.drawn(draw))


def main():
    """Draws cases, tries them, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["releases", "bounds", "samples"])
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="case to begin with")
    parser.add_argument("--only", type=int)
    parser.add_argument("--engine", default="duckdb", choices=["duckdb", *ELSEWHERE])
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        run = {"bounds": proven, "samples": sampled}.get(arguments.what)
        if arguments.what == "releases":
            there = arguments.engine in ELSEWHERE
            opened = elsewhere.opened(arguments.engine) if there else contextlib.nullcontext()
            run = partial(released, database=stack.enter_context(opened))
        if not tried(run, arguments):
            sys.exit(1)


def tried(run, arguments):
    """Whether no case breaks a promise; prints those that do."""
    numbers = (
        range(arguments.first, arguments.cases) if arguments.only is None else [arguments.only]
    )
    results, started = Counter(), time.monotonic()

    def summary():
        told = ", ".join(f"{count:,} {result}" for result, count in results.most_common())
        total, seconds = sum(results.values()), time.monotonic() - started
        of = f"{arguments.what}, {arguments.engine}, seed {arguments.seed}"
        return f"{of}: {total:,} cases in {seconds:.0f} s: {told}"

    for number in numbers:
        try:
            result = run(random.Random(f"{arguments.seed} {number}"))
        except Exception as error:  # whatever it is, the others go on
            result = VIOLATION
            frame = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            print(f"case {number}: {told} ({Path(frame.filename).name}:{frame.lineno})", flush=True)
        results[result] += 1
        if not (number + 1) % EVERY:
            print(summary(), flush=True)
    print(summary())
    return not results[VIOLATION]


if __name__ == "__main__":
    main()
