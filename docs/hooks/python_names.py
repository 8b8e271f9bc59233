"""The page of the Python interface: every public name, from its docstring."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlanon
from sqlanon.methods.registry import OPTIONS, owners_of
from sqlanon.publishing.settings import Settings

_DECLARED = ("sqlanon.policy", "sqlanon.hierarchy")
GROUPS: Mapping[str, Callable[[str], bool]] = {
    "Functions": str.islower,
    "Policy, hierarchies and models": lambda name: getattr(sqlanon, name).__module__.startswith(
        _DECLARED
    ),
    "Errors": lambda name: name.endswith("Error"),
    "Plans, reports and other results": lambda name: True,
}
_CALLS = """Whatever reads a table takes its source, the policy and, where the source holds more
than one table, its name:

| call | reads |
|---|---|
| `check(frame, policy)` | a frame of pandas, Polars or Arrow, or a relation of DuckDB |
| `check("people.csv", policy)` | a file, or a database with one table |
| `check("census.duckdb", policy, table="people")` | a table of a database |
| `check(connection, policy, table="people")` | a table, view or frame that a connection sees |

A `policy` is a `Policy`, a dict with the keys of [`policy.toml`](policy.md), or the path of such a
file. `anonymize` and `apply` return a frame for a frame, with `with_report=True` the frame and its
report, and the report where they are told a place: `into`, `in_place` or `output`.
"""
_OPENING = {
    "threads": "Threads of the database.",
    "memory_limit": "Memory of the database, such as `2GB`.",
    "temp_directory": "Where the database writes what its memory does not hold.",
    "temp_limit": "The most that it writes there, such as `10GB`.",
    "date_format": "How a text file writes dates, such as `%d/%m/%Y`.",
    "nullstr": "Texts of a file that stand for NULL, besides an empty field.",
    "delimiter": "What parts the fields of a CSV file.",
    "encoding": "Encoding of a CSV file.",
    "engine": "`spark` or `postgres`, where the source is the name of a table there.",
    "remote": "Its address: `sc://host:port`, `sail` or `local[4]`, or a URL of PostgreSQL.",
    "spark_config": "Settings of the session of Spark that is begun.",
    "local_rows": "Most rows of an intermediate of a database elsewhere that goes on here.",
    "materialize": "How larger ones are stored there: `parquet`, `table` or `checkpoint`.",
    "scratch": "The folder or schema where they are.",
    "seed": "What chance is drawn from; equal seeds give equal results.",
    "progress": "Called with a line that says how far the work is.",
}


_LISTED = {
    "method": "One of the [methods](../explanation/methods.md), or `auto`.",
    "loss": "What is lost least: a [loss that steers the method]"
    "(../explanation/methods.md#losses-that-steer-them).",
}


def page() -> str:
    """The page in Markdown."""
    parts = [
        "# Python\n",
        "Import names from `sqlanon` itself, as in `from sqlanon import Policy`; other modules "
        "may change. This page is made from the docstrings of the code.\n",
    ]
    left = list(sqlanon.__all__)
    grouped = {}
    for title, belongs in GROUPS.items():
        grouped[title] = [name for name in left if belongs(name)]
        left = [name for name in left if name not in grouped[title]]
    for title, names in grouped.items():
        parts.append(f"## {title}\n")
        if title == "Functions":
            parts.append(_CALLS)
        parts += [f"::: sqlanon.{name}\n" for name in names]
        if title == "Functions":
            parts.append(_settings())
    return "\n".join(parts)


def _settings() -> str:
    """The keywords of `plan` and `anonymize`, as a table."""
    rows = []
    for name in Settings.__annotations__:
        option = OPTIONS.get(name)
        if name in _LISTED:
            text, default = _LISTED[name], f"`{OPTIONS[name].default!r}`"
        elif option is None:
            text, default = _OPENING[name], ""
        else:
            owners = owners_of(name)
            whose = "" if not owners or len(owners) > 6 else f" Of {', '.join(owners)}."
            text, default = option.help + whose, f"`{option.default!r}`"
        rows.append(f"| `{name}` | {text.replace('|', '&#124;')} | {default} |")
    return "\n".join(
        [
            "### Keywords of plan and anonymize {#keywords}\n",
            "`plan` and `anonymize` take these besides what stands in their own description:\n",
            "| keyword | meaning | default |\n|---|---|---|",
            *rows,
            "",
        ]
    )
