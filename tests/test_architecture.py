"""The house: who may import whom, one name per class, and that every package is shipped."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.every_row
ROOT = Path(__file__).parent.parent
# Each row may import the rows above it. Within a row a tuple is in order, too; a set holds
# siblings, which never import each other.
LAYERS = (
    ("errors", "wording", "deadline", "workers", "progress", "arguments"),
    ("recoding", "regions", "classes", "hierarchy"),
    ("policy", "loss", "reports", "sqlglot_version", "sqltext", "dialects"),
    {"search", "query", "engine", "resources"},
    ("microdata",),
    {"assessment", "methods"},
    ("publishing", "comparison", "release_report", "suggestion"),
    ("inspection", "api", "demo", "cli", "__main__"),
)
METHODS = (
    "options",
    "registry",
    "choice",
    "unsatisfiable",
    "local",
    "itemsets",
    {"fulldomain", "clustering", "patterns", "schemes"},
)
GROUND = {name for row in LAYERS[:3] for name in row}
LIBRARIES = {
    "wording": {"rich"},
    "search": {"numpy"},
    "sqlglot_version": {"sqlglot"},
    "sqltext": {"sqlglot"},
    "dialects": {"sqlglot"},
    "query": {"sqlglot"},
    "engine": {"duckdb", "numpy", "psycopg", "pyarrow", "sqlglot"},
    "resources": {"jinja2", "sqlglot"},
}
HEAVY = {
    *("duckdb", "psycopg", "pyarrow", "sqlglot", "numpy", "jinja2"),
    *("typer", "rich", "highspy", "altair", "vl_convert"),
}


@cache
def tree(text):
    """The syntax of a text, parsed once however many tests ask."""
    return ast.parse(text)


@cache
def nodes(text):
    """What the tests ask for in a text, at any depth."""
    asked = ast.Import | ast.ImportFrom | ast.ClassDef | ast.Call
    return [node for node in ast.walk(tree(text)) if isinstance(node, asked)]


def imported(path, *, late=True):
    """Modules that a file imports, absolute, those for type checkers included."""
    package = dotted(path) if path.stem == "__init__" else dotted(path)[:-1]
    for node in nodes(path.read_text()) if late else tree(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            near = package[: len(package) - node.level + 1] if node.level else ()
            home = ".".join((*near, *filter(None, [node.module])))
            yield from (f"{home}.{alias.name}" for alias in node.names)


def dotted(path):
    """The parts of the name that a file is imported by; the command line is a package inside."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return parts if parts[0] == "sqlanon" else ("sqlanon", *parts)


def sources():
    """Every file of the library and of the command line."""
    return [*(ROOT / "sqlanon").rglob("*.py"), *(ROOT / "cli").rglob("*.py")]


def modules():
    """Every module and package by its name inside the package, which itself is left out."""
    named = {".".join(dotted(path)[1:]): path for path in sorted(sources())}
    return {name: path for name, path in named.items() if name}


def arrows():
    """Which modules each module imports; a name of the package itself counts as `api`."""
    known = modules()
    found = {}
    for name, path in known.items():
        own = set()
        for target in imported(path):
            first, *parts = target.split(".")
            while parts and ".".join(parts) not in known:
                parts.pop()
            if first == "sqlanon":
                own.add(".".join(parts) or "api")
        found[name] = own - {name}
    return found


def ranks(rows):
    """The place of every name: its row, and its place in it where the row is in order."""
    return {
        name: (number, place if isinstance(row, tuple) else 0)
        for number, row in enumerate(rows)
        for place, name in enumerate(row if isinstance(row, tuple | set) else (row,))
    }


def upward(found, rows, prefix=""):
    """Imports that do not point from a row to one above it, as pairs of modules."""
    place = ranks(rows)

    def room(module):
        return module.removeprefix(prefix).split(".")[0]

    return [
        (module, target)
        for module, targets in found.items()
        for target in sorted(targets)
        if module.startswith(prefix) and target.startswith(prefix)
        if room(module) != room(target) and not place[room(target)] < place[room(module)]
    ]


def circles(found):
    """Groups of modules that import each other, directly or by way of others."""
    reached = {}
    for start in found:
        seen, left = set(), [start]
        while left:
            for target in found[left.pop()] - seen:
                seen.add(target)
                left.append(target)
        reached[start] = seen
    return sorted({tuple(sorted(m for m in reached[n] if n in reached[m])) for n in found} - {()})


def test_every_import_points_to_a_layer_above():
    assert len(LAYERS) <= 8
    assert not upward(arrows(), LAYERS)
    found = {"policy": {"search.cover"}, "query.text": {"search.cover"}, "search.cover": {"errors"}}
    assert upward(found, LAYERS) == [("policy", "search.cover"), ("query.text", "search.cover")]


def test_methods_are_siblings_on_common_ground():
    assert not upward(arrows(), METHODS, "methods.")


def test_no_modules_import_each_other():
    assert not circles(arrows())
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [("a", "b", "c")]


def test_every_public_class_has_a_name_of_its_own():
    homes = defaultdict(list)
    for name, path in modules().items():
        for node in nodes(path.read_text()):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name)
    assert not [found for found in homes.values() if len(found) > 1]


@pytest.mark.parametrize("room", sorted(GROUND | set(LIBRARIES)))
def test_libraries_are_loaded_in_their_layer_alone(room):
    for name, path in modules().items():
        if name.split(".")[0] == room:
            found = {module.split(".")[0] for module in imported(path)}
            assert found & HEAVY <= LIBRARIES.get(room, set()), path


def test_only_the_engine_imports_duckdb():
    for path in sources():
        if "engine" not in path.parts:
            assert not {m for m in imported(path) if m.split(".")[0] == "duckdb"}, path


def test_nothing_above_the_engines_names_one():
    seam = {f"sqlanon.engine.{name}" for name in ("base", "endings", "files", "open")}
    for path in sources():
        if "engine" not in path.parts:
            named = {m for m in imported(path) if m.startswith("sqlanon.engine.")}
            assert all(".".join(m.split(".")[:3]) in seam for m in named), path


def looked_at(text):
    """The attributes, keywords and texts of a module that a run meets: none of annotations."""
    left = [tree(text)]
    while left:
        node = left.pop()
        named = isinstance(node, ast.AnnAssign)
        hints = {id(node.annotation)} if isinstance(node, ast.arg | ast.AnnAssign) else set()
        hints |= {id(node.returns)} if isinstance(node, ast.FunctionDef) else set()
        left += [each for each in ast.iter_child_nodes(node) if id(each) not in hints]
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            yield f"{ast.unparse(node.func)}()"
        elif isinstance(node, ast.keyword):
            yield f"{node.arg}="
        elif isinstance(node, ast.Constant) and not named:
            yield repr(node.value)


def test_a_run_meets_nothing_that_some_versions_of_sqlglot_lack():
    other = {"exp.Expr", "exp.DType", "exp.Drop()", "from_=", "with_=", "'from_'", "'with_'"}
    for path in sources():
        if path.stem != "sqlglot_version" and "sqlglot" in path.read_text():
            found = {each.removeprefix("sqlglot.") for each in looked_at(path.read_text())}
            assert not found & other, path


def test_trees_are_built_of_parts_that_the_installed_sqlglot_knows():
    """It takes others without a word, and leaves them out of the statement."""
    from sqlglot import exp

    for path in sources():
        for call in (each for each in nodes(path.read_text()) if isinstance(each, ast.Call)):
            home, _, name = ast.unparse(call.func).rpartition(".")
            built = getattr(exp, name, None) if home == "exp" else None
            if hasattr(built, "arg_types"):
                unknown = {each.arg for each in call.keywords if each.arg} - {*built.arg_types}
                assert not unknown, (path, call.lineno, unknown)


def test_an_engine_has_few_members():
    """Whatever else only one can do is an ability, or a function of its package."""
    from sqlanon.engine.base import Engine

    members = {name for name in vars(Engine) if not name.startswith("_")}
    assert len(members) <= 15


def test_the_engine_knows_nothing_of_policies_and_reports():
    unknown = tuple(f"sqlanon.{name}." for name in ("policy", "loss", "reports"))
    for path in (ROOT / "sqlanon" / "engine").rglob("*.py"):
        assert not [module for module in imported(path) if module.startswith(unknown)], path


def test_nobody_asks_for_the_type_of_a_recoding():
    for path in sources():
        asked = [
            node
            for node in nodes(path.read_text())
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "type")
            if {"Clusters", "FullDomain", "Recoding"} & {ast.unparse(each) for each in node.args}
            or any(ast.unparse(each).split(".")[-1] == "recoding" for each in node.args)
        ]
        assert not asked, path


def test_sql_files_and_templates_are_read_in_two_places_alone():
    for path in sources():
        if path.name not in ("resources.py", "sqltext.py"):
            assert "importlib.resources" not in path.read_text(), path


def test_every_piece_of_sql_is_written_where_it_stands():
    """`expression` gets a literal or a name bound to one, and nothing else makes a piece."""
    for path in sources():
        if path.name == "sqltext.py" or "sqltext" not in path.read_text():
            continue
        module = ast.parse(path.read_text())
        bound = {
            target.id
            for node in ast.walk(module)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in (each for each in ast.walk(module) if isinstance(each, ast.Call)):
            called = ast.unparse(call.func)
            assert called.split(".")[-1] != "Sql", (path, call.lineno)
            if called == "expression":
                text = call.args[0]
                written = isinstance(text, ast.Constant) or ast.unparse(text) in bound
                assert written, (path, call.lineno)


def test_no_package_is_called_like_a_public_function_or_a_shipped_folder():
    """It would hide the function."""
    import sqlanon

    functions = {name for name in sqlanon.__all__ if name.islower()}
    for path in (ROOT / "sqlanon").iterdir():
        assert path.stem not in functions | {"sql", "cli", "templates"}


def test_every_package_is_shipped():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(project["tool"]["setuptools"]["packages"])
    homes = {"sqlanon": "sqlanon", "cli": "sqlanon.cli", "sql": "sqlanon.sql"}
    homes["templates"] = "sqlanon.templates"
    found = set()
    for folder, package in homes.items():
        for path in (ROOT / folder).rglob("*.py"):
            inner = path.parent.relative_to(ROOT / folder).parts
            found.add(".".join((package, *inner)))
    assert listed == found


def test_every_data_file_is_shipped():
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    homes = setuptools["package-dir"]
    shipped = {
        path
        for package, patterns in setuptools["package-data"].items()
        for pattern in patterns
        for path in (ROOT / homes.get(package, package.replace(".", "/"))).glob(pattern)
    }
    for folder in ("sqlanon", "cli", "sql", "templates"):
        for path in (ROOT / folder).rglob("*.*"):
            assert path.is_dir() or path.suffix in (".py", ".pyc") or path in shipped, path


def test_slow_modules_are_imported_where_they_are_needed():
    for path in sources():
        late = {m.split(".")[0] for m in imported(path, late=False)}
        assert not late & {"pyarrow", "jinja2", "rich", "highspy", "altair"}, path
