"""SQL text: the queries below sql/, which are read only here, and the fragments that fill them.

A query is a file in DuckDB's dialect, which a person reads as SQL. What varies in it are holes,
`{{ hole }}`, and parts that depend on them, `{% if %}`, `{% for %}`, `{% set %}` and macros, all
written as in Jinja. A hole takes a fragment, a whole number or a syntax tree, and refuses all else,
so that no text of a user can become a piece of SQL: `name` and `value` quote it, and what
`expression`, `render` and `word` take is text of the program.

DuckDB gets the text as it is; it is parsed for other engines alone. Trees remain where SQL is data:
expressions of users, labels by type, other dialects.

These templates need less than Jinja and more safety: its operators join texts behind any check,
importing it takes longer than a plan's queries do, and what it compiles would have to be shipped.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import itemgetter
from types import CodeType
from typing import Any, NoReturn, TypeAlias

import sqlglot
from sqlglot import exp

DIALECT = "duckdb"
"""The dialect of the files."""


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL, made by the functions of this module alone; it is no text.

    Args:
        text: What an engine that reads the dialect of the files gets.
        is_open: Whether it has to stand in parentheses within another piece.
    """

    text: str
    is_open: bool = False

    def __str__(self, _: str = "") -> NoReturn:
        raise TypeError("a piece of SQL is no text: fill a hole with it")

    __format__ = __str__

    def tree(self) -> exp.Query:
        """The syntax tree of a query, for another engine: parsing takes 2 to 50 ms."""
        query = sqlglot.parse_one(self.text, dialect=DIALECT)
        assert isinstance(query, exp.Query)
        return query


Fragment: TypeAlias = "Sql | exp.Expr | int"
"""What fills a hole."""
Statement: TypeAlias = "Sql | exp.Expr"
"""What an engine carries out."""


def tree(query: Statement) -> exp.Select:
    """The syntax tree of a query, which is parsed where it is a text."""
    result = query.tree() if isinstance(query, Sql) else query
    assert isinstance(result, exp.Select)
    return result


def name(text: str) -> Sql:
    """A quoted identifier."""
    return Sql('"' + text.replace('"', '""') + '"')


def names(texts: Iterable[str]) -> list[Sql]:
    """Quoted identifiers."""
    return [name(text) for text in texts]


def value(literal: str | float | bool | None) -> Sql:
    """A literal.

    Raises:
        ValueError: It is a number that is not finite.
    """
    if literal is None or isinstance(literal, bool):
        return Sql(str(literal).upper().replace("NONE", "NULL"))
    if isinstance(literal, str):
        return Sql("'" + literal.replace("'", "''") + "'")
    if isinstance(literal, float):
        if not math.isfinite(literal):
            raise ValueError("a literal is finite")
        return Sql(f"CAST({literal!r} AS DOUBLE)")
    return Sql(_filled(literal))


def word(text: str) -> Sql:
    """A type, function, option, keyword or plain column of the program: "DECIMAL(18, 2)".

    What a user names is no such word: it is quoted by `name` or `value`.

    Raises:
        ValueError: It is more than a name and whole numbers in parentheses.
    """
    if not _WORD.fullmatch(text):
        raise ValueError("a word is a name, and whole numbers in parentheses")
    return Sql(text)


def listed(items: Iterable[object]) -> Sql:
    """Fragments with commas between them."""
    return Sql(", ".join(map(_filled, items)))


def projected(values: Mapping[str, object]) -> Sql:
    """Fragments as columns of these names."""
    parts = (f"{_filled(part)} AS {name(column).text}" for column, part in values.items())
    return Sql(", ".join(parts))


def expression(text: str, /, **holes: object) -> Sql:
    """A short piece whose text, with its holes, is written where it is called.

    Raises:
        TypeError: A hole is left open, does not exist, or is filled with what is no fragment.
    """
    return _parsed(text).filled(holes)


def render(path: str, /, **holes: object) -> Sql:
    """The query of the file sql/<path>.sql.

    Args:
        path: The file below sql/ without its ending.
        **holes: What fills its holes, and what its conditions and loops look at, all of it.

    Raises:
        TypeError: A hole is left open, does not exist, or is filled with what is no fragment.
    """
    return _file(path).filled(holes)


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\([0-9]+(, [0-9]+)?\))?")


_PARTS = ("this", "table", "db", "catalog")
_PLAIN_TYPES = {
    exp.DataType.Type[kind] for kind in ("BIGINT", "BOOLEAN", "DATE", "DOUBLE", "INT", "TEXT")
}


def _is_name(tree: exp.Table | exp.Column) -> bool:
    """Whether a table or column is a name alone."""
    others = (part for key, part in tree.args.items() if key not in _PARTS)
    return isinstance(tree.this, exp.Identifier) and not any(others)


def _is_plain(kind: exp.DataType) -> bool:
    """Whether a type is one of the most common ones."""
    others = (part for key, part in kind.args.items() if key != "this")
    return kind.this in _PLAIN_TYPES and not any(others)


def _filled(fragment: object) -> str:
    """The text of a fragment in a hole: the one way in which anything becomes SQL."""
    if isinstance(fragment, Sql):
        return f"({fragment.text})" if fragment.is_open else fragment.text
    if isinstance(fragment, int) and not isinstance(fragment, bool):
        # Without parentheses a minus before it would open a comment.
        return repr(fragment) if fragment >= 0 else f"({fragment!r})"
    # To load what writes other trees takes a twentieth of the time of a small plan.
    if isinstance(fragment, exp.Table | exp.Column) and _is_name(fragment):
        return ".".join(name(part.name).text for part in fragment.parts)
    if isinstance(fragment, exp.DataType) and _is_plain(fragment):
        return str(fragment.this.value)
    if isinstance(fragment, exp.Expression):
        text = fragment.sql(dialect=DIALECT, identify=True)
        splits = isinstance(fragment, exp.Binary | exp.Unary | exp.Predicate | exp.Query)
        closed = isinstance(fragment, exp.Paren | exp.Subquery)
        return f"({text})" if splits and not closed else text
    raise TypeError(
        "a hole takes a piece of SQL, a syntax tree or a whole number, "
        f"not {type(fragment).__name__}"
    )


Scope: TypeAlias = "dict[str, object]"
Part: TypeAlias = "Callable[[Scope], Iterator[str]]"
_TAG = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)
_TAG_ALONE = re.compile(r"^[ \t]*(\{%(?:(?!%\}).)*%\})[ \t]*(?:\n|\Z)", re.MULTILINE)
_ALLOWED = (
    *(ast.Expression, ast.Name, ast.Load, ast.Attribute, ast.Constant, ast.Call, ast.Subscript),
    *(ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.Not),
)


_WRITTEN = {"__builtins__": {}, "_written": Sql}


@dataclass(frozen=True, slots=True)
class _Loop:
    index0: int

    @property
    def first(self) -> bool:
        return not self.index0


@dataclass(frozen=True, slots=True)
class _Template:
    """A parsed text: its parts, and the names that it does not make itself."""

    block: Part
    wanted: frozenset[str]

    def filled(self, holes: Scope) -> Sql:
        if self.wanted != holes.keys():
            raise TypeError(f"the holes are {sorted(self.wanted)}, not {sorted(holes)}")
        return Sql(_joined(self.block, _macros() | holes), is_open=True)


def _joined(block: Part, scope: Scope) -> str:
    return "".join(block(scope)).strip()


def _text(path: str) -> str:
    return files("sqlanon.sql").joinpath(f"{path}.sql").read_text(encoding="utf-8")


@cache
def _file(path: str) -> _Template:
    return _parsed(_text(path))


@cache
def _parsed(text: str) -> _Template:
    reader = _Reader(text, _macros())
    return _Template(reader.block(), frozenset(reader.wanted))


@cache
def _macros() -> Scope:
    """What every template may call."""
    scope: Scope = {"range": range, "listed": listed}
    _joined(_Reader(_text("macros"), scope).block(), scope)
    return scope


class _Reader:
    """Reads a template from its start to its end."""

    def __init__(self, text: str, known: Iterable[str]) -> None:
        lines = (line for line in text.splitlines() if line.strip())
        text = "\n".join(line for line in lines if not line.lstrip().startswith("--"))
        self.left = _TAG.split(_TAG_ALONE.sub(r"\1", text))
        self.known = {"loop", *known}
        self.wanted: set[str] = set()
        self.ended_by = ""

    def block(self, *ends: str) -> Part:
        """The parts up to a tag that begins with one of some words."""
        parts: list[Part] = []
        while self.left:
            piece = self.left.pop(0)
            if piece.startswith("{{"):
                parts.append(self._hole(piece[2:-2]))
            elif not piece.startswith("{%"):
                # A quote or comment around a hole would undo the quotes of what fills it.
                if piece.count("'") % 2 or piece.count('"') % 2 or "--" in piece or "/*" in piece:
                    raise SyntaxError(f"an open quote or a comment: {piece!r}")
                parts.append(lambda _, piece=piece: iter((piece,)))  # type: ignore[misc]
            else:
                self.ended_by = piece[2:-2].strip()
                word = self.ended_by.split()[0]
                if word in ends:
                    break
                parts.append(self._tag(word, self.ended_by[len(word) :].strip()))
        else:
            if ends:
                raise SyntaxError(f"there is no {ends[-1]}")
        return lambda scope: (text for part in parts for text in part(scope))

    def _hole(self, source: str) -> Part:
        fragment = self._expression(source)
        return lambda scope: iter((_filled(fragment(scope)),))

    def _tag(self, word: str, rest: str) -> Part:
        kinds = {"if": self._if, "for": self._for, "set": self._set, "macro": self._macro}
        if word not in kinds:
            raise SyntaxError(f"there is no tag {word!r} here")
        return kinds[word](rest)

    def _if(self, source: str) -> Part:
        condition, then = self._expression(source), self.block("elif", "else", "endif")
        word, _, rest = self.ended_by.partition(" ")
        other = self._if(rest) if word == "elif" else None
        if word == "else":
            other = self.block("endif")

        def chosen(scope: Scope) -> Iterator[str]:
            part = then if condition(scope) else other
            return part(scope) if part is not None else iter(())

        return chosen

    def _for(self, source: str) -> Part:
        targets, _, rest = source.partition(" in ")
        names = [target.strip() for target in targets.split(",")]
        items = self._expression(rest)
        body = self._inner("endfor", names)

        def repeated(scope: Scope) -> Iterator[str]:
            around = scope.get("loop")
            for index, item in enumerate(items(scope)):
                scope["loop"] = _Loop(index)
                scope.update(zip(names, item if len(names) > 1 else (item,), strict=True))
                yield from body(scope)
            scope["loop"] = around

        return repeated

    def _inner(self, end: str, names: Sequence[str]) -> Part:
        """A block that knows some names more."""
        around = self.known
        self.known = {*around, *names}
        body = self.block(end)
        self.known = around
        return body

    def _set(self, source: str) -> Part:
        target, _, rest = (part.strip() for part in source.partition("="))
        made = self._expression(rest)
        self.known.add(target)

        def kept(scope: Scope) -> Iterator[str]:
            scope[target] = made(scope)
            return iter(())

        return kept

    def _macro(self, source: str) -> Part:
        macro, _, rest = source.rstrip(")").partition("(")
        parameters = [parameter.strip() for parameter in rest.split(",") if parameter]
        body = self._inner("endmacro", parameters)
        self.known.add(macro)

        def defined(scope: Scope) -> Iterator[str]:
            scope[macro] = lambda *given: Sql(
                _joined(body, scope | dict(zip(parameters, given, strict=True)))
            )
            return iter(())

        return defined

    def _expression(self, source: str) -> Callable[[Scope], Any]:
        source = source.strip()
        if source in self.known:  # nearly all of them: compiling takes 0.1 ms
            return itemgetter(source)
        code, used = _compiled(source)
        self.wanted |= used - self.known
        return lambda scope: eval(code, _WRITTEN, scope)


@cache
def _compiled(source: str) -> tuple[CodeType, frozenset[str]]:
    """An expression and the names in it: Python's, of which only what takes apart and compares."""
    tree = ast.parse(source, mode="eval")
    for node in ast.walk(tree):
        hidden = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        method = isinstance(node, ast.Call) and not isinstance(node.func, ast.Name)
        if not isinstance(node, _ALLOWED) or hidden.startswith("_") or method:
            raise SyntaxError(f"not allowed in a template: {source!r}")
    used = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    code = compile(ast.fix_missing_locations(_Written().visit(tree)), "<template>", "eval")
    return code, used


class _Written(ast.NodeTransformer):
    """What is written in a template as a text is a piece of it, unless it is compared."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str):
            return node
        return ast.Call(ast.Name("_written", ast.Load()), [node], [])
