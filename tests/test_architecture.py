"""The house: who may import whom, and that every package is shipped."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STDLIB_ONLY = {
    "bound_report", "cautions", "check_report", "classes", "codes", "documents", "errors",
    "hierarchy", "hierarchy_report", "itemsets_report", "loss", "masks", "measure_report",
    "measures", "objective", "plan_report", "policy", "privacy", "reading", "recoding",
    "reidentification", "release", "report_document", "roles", "rules", "separation", "tree",
    "wording",
}  # fmt: skip
HEAVY = {"duckdb", "pyarrow", "sqlglot", "numpy", "jinja2", "typer"}
ALLOWED = {"search": {"numpy"}, "query": {"sqlglot"}, "engine": {"duckdb", "pyarrow", "sqlglot"}}


def imports(path, *, nested=True):
    """Modules that a file imports, absolute."""
    tree = ast.parse(path.read_text())
    body = ast.walk(tree) if nested else tree.body
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(folder):
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("name", sorted(STDLIB_ONLY))
def test_the_ground_floor_imports_the_standard_library_alone(name):
    found = set(imports(ROOT / "sqlanon" / f"{name}.py"))
    assert not {module.split(".")[0] for module in found} & HEAVY
    upstairs = {m.split(".")[1] for m in found if m.startswith("sqlanon.")} - STDLIB_ONLY
    assert not upstairs


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_rooms_import_neither_each_other_nor_what_is_not_theirs(room):
    for path in modules(f"sqlanon/{room}"):
        found = set(imports(path))
        heavy = {module.split(".")[0] for module in found} & HEAVY
        assert heavy <= ALLOWED[room], path
        inside = {m.split(".")[1] for m in found if m.startswith("sqlanon.")}
        assert inside <= STDLIB_ONLY | {room}, path


@pytest.mark.slow
def test_only_the_engine_imports_duckdb():
    for path in modules("sqlanon") + modules("cli"):
        if "engine" not in path.parts:
            assert not {m for m in imports(path) if m.split(".")[0] == "duckdb"}, path


def test_nothing_above_the_engines_names_one():
    seam = {f"sqlanon.engine.{name}" for name in ("base", "open", "rewrite")}
    for path in modules("sqlanon") + modules("cli"):
        if "engine" not in path.parts:
            named = {m for m in imports(path) if m.startswith("sqlanon.engine.")}
            assert all(".".join(m.split(".")[:3]) in seam for m in named), path


def test_only_resources_reads_sql_files_and_templates():
    for path in modules("sqlanon") + modules("cli"):
        if path.name != "resources.py":
            assert "importlib.resources" not in path.read_text(), path


@pytest.mark.parametrize("path", modules("sqlanon") + modules("cli"), ids=lambda p: p.name)
def test_nobody_asks_for_the_type_of_a_recoding(path):
    asked = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "type")
        if {"Clusters", "FullDomain", "Recoding"} & {ast.unparse(each) for each in node.args}
        or any(ast.unparse(each).split(".")[-1] == "recoding" for each in node.args)
    ]
    assert not asked


def test_no_module_is_called_like_a_shipped_folder():
    for name in ("sql", "cli", "templates"):
        assert not (ROOT / "sqlanon" / name).exists()
        assert not (ROOT / "sqlanon" / f"{name}.py").exists()


def test_every_package_is_shipped():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(project["tool"]["setuptools"]["packages"])
    homes = {"sqlanon": "sqlanon", "cli": "sqlanon.cli", "sql": "sqlanon.sql"}
    homes["templates"] = "sqlanon.templates"
    found = set()
    for folder, package in homes.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            inner = init.parent.relative_to(ROOT / folder).parts
            found.add(".".join((package, *inner)))
    assert listed == found


@pytest.mark.parametrize("path", modules("sqlanon") + modules("cli"), ids=lambda p: p.name)
def test_slow_modules_are_imported_where_they_are_needed(path):
    late = {m.split(".")[0] for m in imports(path, nested=False)} & {"pyarrow", "jinja2", "rich"}
    assert not late
