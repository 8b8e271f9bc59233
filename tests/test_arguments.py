"""Arguments of another kind than they must be: one clear error, whatever the function."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy
import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Plan, Policy, QuasiIdentifier, arguments
from sqlanon.errors import SourceError, SqlanonError
from sqlanon.publishing.settings import Settings

KINDS = arguments.kinds_of(Settings.__annotations__)
WRONG = ["2", 2.5, -1, True, [], {}, object(), b"x", float("nan"), "nonsense"]
POLICY = Policy(["a", "b"], models=[KAnonymity(2)])
FUNCTIONS = ("check", "risk", "measure", "mine", "bound", "plan", "apply", "anonymize", "compare")


@pytest.fixture(scope="module")
def connection():
    with empty_database() as opened:
        opened.execute(
            "CREATE TABLE people AS SELECT range % 3 AS a, range % 2 AS b FROM range(12)"
        )
        yield opened


def test_numbers_of_numpy_are_numbers(connection):
    def given(*, k: int = 1, share: float = 0.0, ks: Sequence[int] | None = None):
        return k, share, ks

    told = arguments.checked(given)
    assert told(k=numpy.int64(5), share=numpy.float32(0.5), ks=[numpy.int8(2)]) == (5, 0.5, [2])
    assert [*map(type, told(k=numpy.int64(5), share=numpy.float32(0.5)))][:2] == [int, float]
    for value in (True, numpy.bool_(True)):
        with pytest.raises(SqlanonError, match="k must be a whole number"):
            told(k=value)
    assert sqlanon.suggest(connection, table="people", k=numpy.int64(2)).k == 2


@cache
def planned(connection):
    return sqlanon.plan(connection, POLICY, table="people")


def called(name, connection, **given):
    function = getattr(sqlanon, name)
    given = {"table": "people", **given}
    if name == "measure":
        return function(connection, "people", POLICY, **given)
    if name == "apply":
        return function(
            connection, planned(connection), **{"into": "made", "overwrite": True, **given}
        )
    if name == "anonymize":
        given = {"into": "made", "overwrite": True, **given}
    if name == "compare":
        given = {"methods": ["incognito"], **given}
    return function(connection, POLICY, **given)


def keywords(name):
    parameters = inspect.signature(getattr(sqlanon, name)).parameters.values()
    own = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    settings = [*sqlanon.api.Settings.__annotations__] if name in ("plan", "anonymize") else []
    return [*own, *settings, "threads", "memory_limit", "temp_directory"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_keyword_of_another_kind_is_one_error(name, connection, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = arguments.kinds_of(getattr(sqlanon, name).__annotations__) | KINDS
    for keyword in dict.fromkeys(keywords(name)):
        for value in WRONG:
            refused = False
            try:
                called(name, connection, **{keyword: value})
            except SqlanonError:
                refused = True
            is_fit = keyword not in kinds or kinds[keyword][0][1](value)
            assert refused or is_fit, f"{keyword}={value!r}"


def test_every_keyword_of_a_source_and_a_search_has_a_kind():
    # What patterns are is known above arguments: the search refuses any other object.
    assert Settings.__annotations__.keys() - KINDS.keys() == {"patterns"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_keyword_of_a_function_has_a_kind(name):
    function = getattr(sqlanon, name)
    unknown = {*keywords(name)} - {*arguments.kinds_of(function.__annotations__), *KINDS}
    assert unknown <= {"table", "population", "control", "patterns", "join", "to"}


@pytest.mark.parametrize("value", WRONG)
def test_patterns_of_another_kind_are_refused(connection, value):
    with pytest.raises(SqlanonError):
        called("plan", connection, method="pattern-greedy", patterns=value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_threads_in_quotes_are_refused(name, connection):
    with pytest.raises(SqlanonError, match=r"^threads must be a whole number, not a text$"):
        called(name, connection, threads="2")


@pytest.mark.parametrize(
    "make",
    [
        Hierarchy.intervals,
        Hierarchy.prefix,
        Hierarchy.dates,
        Hierarchy.expressions,
        Hierarchy.from_rows,
        Hierarchy.from_file,
        Hierarchy.table,
        Hierarchy.from_spec,
        Hierarchy.from_dict,
        QuasiIdentifier,
        KAnonymity,
        Policy,
        Policy.from_dict,
        Policy.from_toml,
        Plan.load,
        lambda value: Hierarchy.prefix(2, mask=value),
        lambda value: Hierarchy.from_rows([("a", "*")], name=value),
        lambda value: Hierarchy.from_file(__file__, delimiter=value),
        lambda value: sqlanon.apply(None, value, into="made"),
        sqlanon.rewrite,
    ],
)
def test_what_is_made_of_another_kind_is_one_error(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in WRONG:
        try:
            make(value)
        except SqlanonError:
            continue


def test_paths_are_paths(connection, tmp_path):
    for folder in (str(tmp_path), Path(tmp_path)):
        assert called("check", connection, temp_directory=None)
        with pytest.raises(SqlanonError, match=r"belong|open"):
            called("check", connection, temp_directory=folder)


def test_an_option_of_a_plan_says_its_kind(connection):
    with pytest.raises(SqlanonError) as caught:
        called("plan", connection, minimal_nodes=1, loss=5, progress="tell")
    assert str(caught.value) == (
        "minimal_nodes must be True or False, not an int; loss must be a text, not an int; "
        "progress must be a function, not a text"
    )


@pytest.mark.parametrize("name", ["check", "risk", "measure", "mine", "bound"])
def test_a_keyword_that_is_not_known_is_refused(connection, name):
    with pytest.raises(SqlanonError, match=r"'sed' is not known; keywords are .*threads"):
        called(name, connection, sed=1)


def test_a_keyword_that_is_nearly_right_is_told():
    for wrong, right in (("efort", "effort"), ("thread", "threads")):
        with pytest.raises(SqlanonError, match=f"did you mean '{right}'"):
            sqlanon.bound("any.csv", POLICY, **{wrong: 1})


LONG = "x" * 300


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda plan, source: sqlanon.check(f"{LONG}.csv", POLICY), "the source has a name"),
        (lambda plan, source: sqlanon.check("a\0b", POLICY), "the source holds a character"),
        (
            lambda plan, source: sqlanon.anonymize(source, POLICY, output=f"{LONG}.csv"),
            "the output has a name that is too long",
        ),
        (
            lambda plan, source: sqlanon.apply(source, plan, output="a\0b.csv"),
            "the output holds a character",
        ),
        (lambda plan, source: plan.save("a\0b"), "the plan file holds a character"),
        (lambda plan, source: plan.save(LONG), "the plan file has a name that is too long"),
        (lambda plan, source: sqlanon.rewrite("a\0b"), "the database holds a character"),
        (
            lambda plan, source: sqlanon.risk(source, POLICY, population=LONG),
            "no file of that name",
        ),
    ],
)
def test_a_name_that_no_file_may_have_is_told(tmp_path, call, message):
    source = tmp_path / "people.csv"
    source.write_text("a,b\n" + "1,2\n" * 4)
    plan = sqlanon.plan(source, POLICY)
    with pytest.raises(SourceError, match=message):
        call(plan, source)
