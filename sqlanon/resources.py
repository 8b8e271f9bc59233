"""Resources: SQL files, templates and data that ship with the package, and are read only here.

A file holds SQL in which nothing varies; a template holds SQL in which names and numbers vary.
Both leave this module as syntax trees, so that no caller ever joins pieces of SQL text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

import sqlglot
from sqlglot import exp

from sqlanon.wording import drawable

DIALECT = "duckdb"
"""The dialect in which the templates are written."""


def statements(name: str, dialect: str = DIALECT) -> list[exp.Expr]:
    """The statements of the file sql/<dialect>/<name>.sql.

    Args:
        name: The file's name without its ending.
        dialect: The folder, and the dialect in which the file is parsed.
    """
    return _parse(_text("sqlanon.sql", f"{dialect}/{name}.sql"), dialect)


def render(name: str, /, **holes: exp.Expr | int) -> list[exp.Expr]:
    """The statements of the template templates/sql/<name>.sql.jinja with its holes filled.

    A tree is written with every identifier quoted, and in parentheses where an operator beside
    the hole could tear it apart; so is a negative number, since `-` before `-1` opens a comment.

    Args:
        name: The template's name without its endings.
        **holes: A sqlglot tree or an integer for every hole of the template, and nothing else.

    Raises:
        TypeError: A hole is filled with something else, is left open, or does not exist.
    """
    import jinja2
    from jinja2 import meta

    for hole, value in holes.items():
        _fill(value, hole)
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda path: _text("sqlanon.templates", path)),
        undefined=jinja2.StrictUndefined,
        finalize=_fill,
    )
    environment.globals.clear()
    path = f"sql/{name}.sql.jinja"
    wanted = meta.find_undeclared_variables(environment.parse(_text("sqlanon.templates", path)))
    if wanted != set(holes):
        raise TypeError(f"template {name!r} has the holes {sorted(wanted)}, not {sorted(holes)}")
    return _parse(environment.get_template(path).render(holes), DIALECT)


def html_page(name: str, /, **values: object) -> str:
    r"""The page of the template templates/html/<name>.html.jinja; what it shows is escaped.

    Characters that no page may hold stand as escapes such as `\x1b`.

    Args:
        name: The template's name without its endings.
        **values: What it shows, all of it there.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda path: _text("sqlanon.templates", path)),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
    )
    return drawable(environment.get_template(f"html/{name}.html.jinja").render(values))


def plain_text(name: str, filters: Mapping[str, Callable[..., str]], /, **values: object) -> str:
    """The text of the template templates/text/<name>.jinja; nothing that it shows is escaped.

    Args:
        name: The template's name without its ending.
        filters: What the template writes its values by.
        **values: What it shows, all of it there.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda path: _text("sqlanon.templates", path)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters)
    return environment.get_template(f"text/{name}.jinja").render(values)


def toml_document(package: str, name: str) -> dict[str, Any]:
    """What a TOML file beside the modules of a package holds."""
    return tomllib.loads(_text(package, name))


def _text(package: str, path: str) -> str:
    return files(package).joinpath(path).read_text(encoding="utf-8")


def _parse(text: str, dialect: str) -> list[exp.Expr]:
    # A comment behind the last statement is parsed as a bare semicolon.
    trees = sqlglot.parse(text, dialect=dialect)
    return [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]


def _fill(value: object, hole: str = "") -> str:
    """The SQL text of a value in a hole; anything but a tree or an integer is refused."""
    if isinstance(value, bool) or not isinstance(value, exp.Expression | int):
        raise TypeError(
            f"a hole{f' ({hole})' if hole else ''} takes a syntax tree or an integer, "
            f"not {type(value).__name__}"
        )
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    splits = isinstance(value, exp.Binary | exp.Unary | exp.Predicate | exp.Query)
    closed = isinstance(value, exp.Paren | exp.Subquery)
    tree = exp.Paren(this=value.copy()) if splits and not closed else value
    return tree.sql(dialect=DIALECT, identify=True)
