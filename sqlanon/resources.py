"""Resources: statements that never vary, pages and data that ship with the package."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlanon.wording import drawable

if TYPE_CHECKING:
    import jinja2


def statements(name: str, dialect: str) -> list[exp.Expr]:
    """The statements of the file sql/<dialect>/<name>.sql.

    Args:
        name: The file's name without its ending.
        dialect: The folder, and the dialect in which the file is parsed.
    """
    # A comment behind the last statement is parsed as a bare semicolon.
    trees = sqlglot.parse(_text("sqlanon.sql", f"{dialect}/{name}.sql"), dialect=dialect)
    return [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]


def html_page(name: str, /, **values: object) -> str:
    r"""The page of the template templates/html/<name>.html.jinja; what it shows is escaped.

    Characters that no page may hold stand as escapes such as `\x1b`.

    Args:
        name: The template's name without its endings.
        **values: What it shows, all of it there.
    """
    template = _templates(autoescape=True).get_template(f"html/{name}.html.jinja")
    return drawable(template.render(values))


def plain_text(name: str, filters: Mapping[str, Callable[..., str]], /, **values: object) -> str:
    """The text of the template templates/text/<name>.jinja; nothing that it shows is escaped.

    Args:
        name: The template's name without its ending.
        filters: What the template writes its values by.
        **values: What it shows, all of it there.
    """
    templates = _templates(trim_blocks=True, keep_trailing_newline=True)
    templates.filters.update(filters)
    return templates.get_template(f"text/{name}.jinja").render(values)


def _templates(**how: Any) -> jinja2.Environment:
    import jinja2

    loader = jinja2.FunctionLoader(lambda path: _text("sqlanon.templates", path))
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, **how)


def toml_document(package: str, name: str) -> dict[str, Any]:
    """What a TOML file beside the modules of a package holds."""
    return tomllib.loads(_text(package, name))


def _text(package: str, path: str) -> str:
    return files(package).joinpath(path).read_text(encoding="utf-8")
