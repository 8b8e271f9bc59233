"""The gate: `sqlanon check --released` of every file that a commit, or a job, is about to let out.

pre-commit calls it with the options of `check`, then `--`, then the files. It is a program of its
own, since `check SOURCE TABLE` takes a second file for a table.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .main import run_all
from .output import complain


def parted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options of `check`, and the files behind `--`.

    >>> parted(["--policy", "policy.toml", "--", "a.csv"])
    (['--policy', 'policy.toml'], ['a.csv'])
    """
    at = list(words).index("--") if "--" in words else len(words)
    return list(words[:at]), list(words[at + 1 :])


HELP = """\
Usage: sqlanon-gate [OPTIONS OF sqlanon check] -- [FILE]...

Checks that each file may be let out: it satisfies the policy, and holds no column that the policy
drops or does not know, as `sqlanon check FILE --released` does.

  sqlanon-gate --policy policy.toml -- release.csv other.parquet

Exit codes: 0 every file may be, 1 some file may not be, 2 wrong usage. `sqlanon check --help` tells
the options; .pre-commit-hooks.yaml has the hook of pre-commit."""


def main() -> None:
    """Checks every file and exits with the highest code of a check; 0 without any file."""
    options, files = parted(sys.argv[1:])
    if "--help" in options:
        print(HELP)
        return
    if "--" not in sys.argv:
        complain(
            "error: put -- between the options of sqlanon check and the files, as in "
            "sqlanon-gate --policy policy.toml -- release.csv; see sqlanon-gate --help"
        )
        raise SystemExit(2)
    run_all([["check", file, "--released", *options] for file in files])
