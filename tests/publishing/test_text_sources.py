"""Text files from end to end: kept columns as they were written, dropped ones never loaded."""

import csv
import json

import duckdb
import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, Sensitive, TCloseness
from sqlanon.cli.main import status
from sqlanon.microdata.opening import opened_for, reading

pytestmark = pytest.mark.slow

KEPT = {
    "zip": "0123{}",
    "price": "{}.50",
    "share": "{}.0",
    "mixed": "{}",
    "day": "0{}/02/2000",
    "at": "2000-02-08T1{}:00:00",
    "flag": "TRUE",
    "blank": " {} ",
    "sum": "1.00{},50",
    "sign": "+4{}",
    "long": "1234567890123456{}",
    "born": "2000-02-0{}",
    "none": "",
}
HEADER = ["name", "age", "seen", *KEPT]


@pytest.fixture
def people(tmp_path):
    """Forty records in a file whose kept columns are written in ways that no type writes."""
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for number in range(40):
            kept = [text.format(1 + number % 9) for text in KEPT.values()]
            kept[HEADER.index("mixed") - 3] = "1" if number % 2 else "2.5"
            day = f"{1 + number % 12:02}/02/2000"
            writer.writerow([f"secret {number}", 20 + number % 10, day, *kept])
    return path


def policy(**more):
    quasi = {"age": Hierarchy.intervals(5, 10, 20), "seen": Hierarchy.dates("month", "year")}
    return Policy(quasi, identifiers=["name"], keep=list(KEPT), models=[KAnonymity(2)], **more)


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_kept_columns_are_published_as_they_were_written(people, tmp_path):
    output = tmp_path / "out.csv"
    report = sqlanon.anonymize(people, policy(), output=output, date_format="%d/%m/%Y")
    assert report.holds
    for column in KEPT:
        before, after = (sorted(row[column] for row in read(path)) for path in (people, output))
        assert after == before, column


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_saved_plan_reads_the_file_as_it_was_planned(people, tmp_path, ending):
    saved, output = tmp_path / "plan.json", tmp_path / f"out.{ending}"
    sqlanon.plan(people, policy(), date_format="%d/%m/%Y").save(saved)
    plan = sqlanon.Plan.load(saved)
    assert sqlanon.apply(people, plan, output=output, date_format="%d/%m/%Y").holds
    with pytest.raises(sqlanon.SqlanonError, match="not those of the plan: other types: 'seen'"):
        sqlanon.apply(people, plan, output=output, overwrite=True)


def test_an_ambiguous_date_is_not_generalized_unasked(people, tmp_path):
    with pytest.raises(sqlanon.SqlanonError, match=r"needs a DATE .* --date-format"):
        sqlanon.anonymize(people, policy(), output=tmp_path / "out.csv")


@pytest.mark.parametrize("opened", [reading, opened_for])
@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "arrow"])
def test_nothing_of_a_column_that_is_dropped_is_loaded(people, tmp_path, opened, ending):
    path = tmp_path / f"people.{ending}"
    if ending == "arrow":
        from pyarrow import feather

        feather.write_feather(duckdb.sql(f"FROM '{people}'").to_arrow_table(), str(path))
    elif ending != "csv":
        duckdb.sql(f"COPY (FROM '{people}') TO '{path}'")
    with opened(path, None, policy(), read_only=True) as (source, _):
        connection = source.engine.connection
        assert list(source.engine.columns(source.table)) == HEADER
        assert connection.execute("SELECT COUNT(name) FROM people").fetchone() == (0,)
        stored = connection.execute(
            "SELECT data_type FROM duckdb_columns() JOIN duckdb_tables() USING (table_name)"
            " WHERE column_name = 'name'"
        )
        assert stored.fetchall() == []


def test_the_entity_is_loaded_though_it_is_dropped(people):
    made = Policy(
        {"age": Hierarchy.suppression()},
        drop=["seen"],
        entity="name",
        others="drop",
        models=[KAnonymity(2)],
    )
    with opened_for(people, None, made, read_only=True) as (source, _):
        found = source.engine.connection.execute("SELECT count(name), count(seen) FROM people")
        assert found.fetchall() == [(40, 0)]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "duckdb"])
def test_check_and_measure_agree_with_what_was_published(people, tmp_path, ending):
    output, form = tmp_path / f"out.{ending}", {"date_format": "%d/%m/%Y"}
    made = policy(suppression_limit=0.2)
    report = sqlanon.anonymize(people, made, output=output, **form)
    checked = sqlanon.check(output, made)
    measured = sqlanon.measure(people, output, made, **form)
    assert checked.holds
    assert (checked.to_dict()["classes"], checked.to_dict()["k"]) == (
        report.to_dict()["classes"],
        report.to_dict()["k"],
    )
    assert measured.to_dict()["lm"] == pytest.approx(report.loss["lm"])


def test_a_sensitive_column_with_an_order_is_a_number(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,pay\n" + "".join(f"3,{n}{'' if n % 2 else '.5'}\n" for n in range(20)))
    made = Policy(["age"], sensitive={"pay": Sensitive([TCloseness(0.5, "ordered")])})
    assert sqlanon.check(path, made).holds


@pytest.mark.parametrize(
    ("command", "more"),
    [
        *((name, ["--qi", "âge,seen"]) for name in ("check", "risk")),
        *((name, ["--qi", "âge,seen", "--k", "2"]) for name in ("plan", "mine", "bound")),
        ("anonymize", ["--qi", "âge,seen", "--k", "2", "--dry-run", "--others", "drop"]),
        ("hierarchy check", []),
    ],
)
def test_every_command_takes_the_format_of_a_text_file(tmp_path, capsys, command, more):
    path = tmp_path / "people.csv"
    rows = "".join(f"{30 + n % 2}:0{1 + n % 2}/02/2000:NA\n" for n in range(8))
    path.write_bytes(f"âge:seen:note\n{rows}".encode("latin-1"))
    form = ["--delimiter", ":", "--encoding", "latin-1", "--nullstr", "NA"]
    form += ["--date-format", "%d/%m/%Y", "--hierarchy", "seen=dates:month,year"]
    words = [*command.split(), str(path), *more, *form, "--json"]
    assert status(words) in (0, 1), capsys.readouterr().err
    assert json.loads(capsys.readouterr().out)["schema_version"]


@pytest.mark.parametrize(
    "form",
    [{"delimiter": ";"}, {"encoding": "latin-1"}, {"nullstr": "NA"}, {"date_format": "%d/%m/%Y"}],
    ids=str,
)
def test_what_is_no_text_file_takes_no_format(tmp_path, form):
    policy = Policy(["age"], models=[KAnonymity(1)])
    option = next(iter(form)).replace("_", "-")
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT 3 AS age")
        sources = [connection]
        for kind in ("parquet", "arrow", "duckdb"):
            sources.append(tmp_path / f"people.{kind}")
            sqlanon.anonymize(connection, policy, table="people", output=sources[-1])
        for source in sources:
            with pytest.raises(sqlanon.SqlanonError, match=f"leave --{option} out"):
                sqlanon.check(source, policy, table="people", **form)


def test_a_stored_hierarchy_takes_no_format(capsys):
    assert status(["hierarchy", "show", "intervals:5,10", "--nullstr", "NA"]) == 2
    assert "whose column is named with --column" in capsys.readouterr().err
