"""Prints each condition of a template that no query ever meets, or that all of them do.

Queries are those of the snapshots, and, for what these leave out, some that are only parsed.
"""

import importlib
import sys
from pathlib import Path

from sqlglot import exp

from sqlanon import sqltext
from sqlanon.query.privacy.figures import Needed
from sqlanon.sqltext import name, names, render, value

ROOT = Path(__file__).parent.parent
SQL = {path.read_text(): path for path in (ROOT.parent / "sql").rglob("*.sql")}
met = {}
holes = {}
read, choose, fill = sqltext._Reader.__init__, sqltext._Reader._if, sqltext._file


def reading(self, text, known):
    read(self, text, known)
    self.path = SQL.get(text)


def choosing(self, source):
    outcomes = met.setdefault((self.path, source), set())
    compiled = self._expression

    def expression(text):
        del self._expression  # those within the block are no conditions of this one
        condition = compiled(text)

        def asked(scope):
            outcomes.add(bool(condition(scope)))
            return condition(scope)

        return asked

    self._expression = expression
    return choose(self, source)


class Filling:
    """A template that keeps what it is filled with."""

    def __init__(self, path):
        self.path, self.template = path, fill(path)

    def filled(self, given):
        holes.setdefault(self.path, given)
        return self.template.filled(given)


sqltext._Reader.__init__, sqltext._Reader._if, sqltext._file = reading, choosing, Filling
sys.path[:0] = [str(ROOT), str(ROOT / "query")]
for path in sorted((ROOT / "query").glob("test_*.py")):
    importlib.import_module(path.stem)

BIGINT = exp.DataType.build("BIGINT")
T, HIERARCHICAL = name("t"), Needed(distances=("hierarchical",))
WHOLE = {
    "classes/parted": {
        "coded": T,
        "words": names("w"),
        "keys": names("k"),
        "carried": [],
        "bits": [],
    },
    "classes/marginal": {"state": T, "bits": [(0, 1)], "carried": [], "parts": None},
    "classes/gains": {
        "value_counts": T,
        "keys": names("k"),
        "by": names("k"),
        "k": 2,
        "squared_records": 9,
        "squares": 5,
        "parts": value(0.5),
        "is_wide": False,
    },
    "assess/furthest_values": {"spread": T, "furthest": T, "labels": names("l")},
    "publish/class_means": {
        "rows": T,
        "columns": [
            (name("a"), name("n"), BIGINT, True, value(0.5), BIGINT),
            (name("b"), None, None, None, None, None),
        ],
        "keys": names("k"),
        "least": 2,
        "sorted_by": names("a"),
    },
}
CHANGED = [
    ("classes/parted", {"bits": [(0, 1), (1, 1)]}),
    ("classes/marginal", {"parts": [1, 2]}),
    ("assess/furthest_values", {"labels": []}),
    (
        "publish/class_means",
        {
            "columns": [(name("a"), name("n"), BIGINT, False, value(1.0), BIGINT)],
            "sorted_by": [],
        },
    ),
    ("privacy/class_figures", {"grouped": True}),
    ("encoding/spelling_counts", {"texts": []}),
    ("encoding/coded_rows", {"words": [(name("w"), [])]}),
    ("assess/mapped", {"words": [(0, [])]}),
    ("privacy/class_figures", {"needed": HIERARCHICAL, "reference": T, "levels": []}),
    ("privacy/class_figures", {"needed": HIERARCHICAL, "reference": T, "levels": [1, 2]}),
    ("privacy/worst", {"needed": Needed(), "distances": []}),
    ("classes/gains", {"by": [], "is_wide": True}),
    ("itemsets/candidates", {"is_top": False, "above": []}),
    ("itemsets/candidates", {"is_top": False, "above": [(0, 1), (1, 1)]}),
    ("itemsets/members", {"above": [(0, 1), (1, 1)]}),
    ("itemsets/closed", {"fields": [(1, 1), (2, 2)]}),
    ("itemsets/labelled", {"order": [0, 1]}),
]
for path, given in WHOLE.items():
    render(path, **given).tree()
for path, given in CHANGED:
    render(path, **holes[path] | given).tree()
for path in SQL.values():
    if path.stem != "macros" and path.parent.name != "duckdb":
        fill(str(path.relative_to(ROOT.parent / "sql").with_suffix("")))
for (path, source), outcomes in met.items():
    if path is not None and len(outcomes) < 2:
        print(path.relative_to(ROOT.parent), source, sorted(outcomes))
