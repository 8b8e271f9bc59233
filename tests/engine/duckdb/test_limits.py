"""Limits of the whole process: a second database takes its share of those of the first."""

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.export import second_database
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.errors import EngineError

LIMITS = {"threads": 4, "memory_limit": "1000MB", "temp_limit": "2000MB"}
NAMES = ("threads", "memory_limit", "max_temp_directory_size")


def settings(engine):
    return [engine.setting(name) for name in NAMES]


def test_the_limit_of_temporary_space_reaches_duckdb():
    with Resources(temp_limit="3GiB").connect() as engine:
        assert engine.setting("max_temp_directory_size") == "3.0 GiB"


def test_two_databases_together_keep_to_the_limits_and_the_first_gets_them_back():
    with Resources(**LIMITS).connect() as engine:
        whole = settings(engine)
        with second_database(engine) as second:
            half = [2, "476.8 MiB", "953.6 MiB"]
            assert settings(engine) == settings(second) == half
        assert settings(engine) == whole == [4, "953.6 MiB", "1.8 GiB"]


def test_a_second_database_spills_below_the_same_folder(tmp_path):
    with Resources(temp_directory=tmp_path).connect() as engine, second_database(engine) as second:
        for each in (engine, second):
            assert each.setting("temp_directory").startswith(str(tmp_path))


def test_limits_come_back_after_a_failure():
    with Resources(**LIMITS).connect() as engine:
        whole = settings(engine)
        with pytest.raises(ZeroDivisionError), second_database(engine):
            raise ZeroDivisionError
        assert settings(engine) == whole


def test_a_second_database_beside_a_callers_connection_has_its_limits():
    from sqlanon.engine.duckdb.connection import DuckDB

    with duckdb.connect(config={"threads": 1, "memory_limit": "500MB"}) as connection:
        engine = DuckDB(connection)
        with second_database(engine) as second:
            assert settings(second)[:2] == [1, "476.7 MiB"]
            assert settings(engine)[:2] == [1, "476.8 MiB"]


@pytest.mark.slow
@pytest.mark.every_row
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".duckdb"])
def test_every_database_of_a_publication_is_limited(tmp_path, monkeypatch, ending):
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "30\n" * 50)
    opened, connect = [], Resources.connect

    def noted(self, *words, **how):
        opened.append(self)
        return connect(self, *words, **how)

    monkeypatch.setattr(Resources, "connect", noted)
    (tmp_path / "spill").mkdir()
    policy = Policy({"age": Hierarchy.intervals(10)}, models=[KAnonymity(5)])
    sqlanon.anonymize(
        path,
        policy,
        output=tmp_path / f"out{ending}",
        temp_directory=tmp_path / "spill",
        **LIMITS,
    )
    assert len(opened) == (3 if ending == ".duckdb" else 2)
    for each in opened[1:]:
        assert (each.threads, each.memory, each.temp_directory) == (
            2,
            500_000_000,
            tmp_path / "spill",
        )
        assert each.temporary == 1_000_000_000


@pytest.mark.slow
def test_too_little_temporary_space_is_said_so(tmp_path):
    with Resources(memory_limit="20MB", threads=1, temp_limit="1MB").connect() as engine:
        from sqlglot import exp, parse_one

        text = "md5(i::VARCHAR) || md5((i + 1)::VARCHAR) || md5((i + 2)::VARCHAR)"
        query = parse_one(f"SELECT {text} AS a FROM range(3000000) AS t(i)", read="duckdb")
        assert isinstance(query, exp.Query)
        with pytest.raises(EngineError, match="--temp-limit"):
            engine.materialize("large", query)


def test_memory_that_runs_out_names_every_limit_that_may_be_meant():
    told = str(fault(duckdb.OutOfMemoryException("failed to pin block"), "run a query"))
    assert all(
        name in told for name in ("--memory-limit", "--temp-limit", "--temp-directory", "--threads")
    )
