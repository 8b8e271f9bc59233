"""Notes of columns that may say whose record each is, where models count records."""

import csv
import datetime
import random

import duckdb
import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet
from sqlglot import exp

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.errors import SourceError
from sqlanon.microdata.opening import reading

pytestmark = pytest.mark.slow

COLUMNS = ("MRN", "birth_year", "sex", "zip", "visit_date", "diagnosis")
QUASI = ("birth_year", "sex", "zip", "visit_date")
PATIENTS = 300
MEANT = "k counts records, so a class may be one person; if it says whose record each is, name it"


def visits(seed=1):
    """300 patients with 5 to 11 visits each."""
    chance = random.Random(seed)
    rows = []
    for patient in range(PATIENTS):
        person = (f"P{patient:05}", chance.randint(1930, 2010), chance.choice("MF"))
        home = f"{chance.randint(10, 29)}"
        for _ in range(chance.randint(5, 11)):
            day = datetime.date(2022, 1, 1) + datetime.timedelta(chance.randint(0, 900))
            rows.append((*person, home, str(day), chance.choice("abcdefgh")))
    return pandas.DataFrame(rows, columns=COLUMNS)


VISITS = visits()
MEAN = f"{len(VISITS) / PATIENTS:.1f}".removesuffix(".0")
NOTE = f"identifier 'MRN' has {MEAN} records per value: {MEANT} as entity (--entity MRN)"


def policy(quasi=QUASI, **roles):
    hierarchies = {name: Hierarchy.suppression() for name in quasi}
    given = {"identifiers": ["MRN"], "sensitive": ["diagnosis"], **roles}
    return Policy(hierarchies, models=[KAnonymity(5)], suppression_limit=1, **given)


def told(notes):
    return [note for note in notes if "records per value" in note]


def checked(frame, **roles):
    return told(sqlanon.check(frame, policy(**roles)).notes)


def test_every_command_notes_an_identifier_with_several_records_per_value(tmp_path):
    source, release = tmp_path / "visits.csv", tmp_path / "release.csv"
    VISITS.to_csv(source, index=False)
    pages = tmp_path / "page.html", tmp_path / "report.html"
    done = sqlanon.anonymize(source, policy(), output=release, report=pages[0])
    made = sqlanon.report(source, release, policy(), effort="none")
    made.write(pages[1])
    for report in (
        done,
        made,
        sqlanon.plan(source, policy()).report,
        sqlanon.check(source, policy()),
        sqlanon.risk(source, policy()),
    ):
        assert told(report.to_dict()["notes"]) == [NOTE]
        assert f"note: {NOTE}" in report.to_text()
    for page in pages:
        assert NOTE.replace("'", "&#39;") in page.read_text()


def written(path, kind):
    """The visits as a source of a kind."""
    table = pyarrow.Table.from_pandas(VISITS)
    match kind:
        case "csv":
            VISITS.to_csv(path / "v.csv", index=False)
        case "json":
            VISITS.to_json(path / "v.json", orient="records", lines=True)
        case "parquet":
            parquet.write_table(table, path / "v.parquet")
        case "arrow":
            with pyarrow.ipc.new_file(path / "v.arrow", table.schema) as file:
                file.write_table(table)
        case "pandas":
            return VISITS
        case "lazy":
            return polars.from_pandas(VISITS).lazy()
    return path / f"v.{kind}"


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "arrow", "pandas", "lazy"])
def test_what_is_dropped_of_any_source_is_counted(tmp_path, kind):
    dropped = policy(identifiers=[], drop=["MRN"])
    notes = told(sqlanon.plan(written(tmp_path, kind), dropped).report.notes)
    assert notes == [NOTE.replace("identifier", "dropped column")]


def test_a_dropped_column_that_no_table_can_hold_is_still_dropped():
    mixed = VISITS.assign(note=[object() if row % 2 else row for row in range(len(VISITS))])
    assert sqlanon.check(mixed, policy(drop=["note"])).statistics.records == len(VISITS)


@pytest.mark.parametrize(
    "quasi", [("visit_date",), ("sex", "visit_date"), ("birth_year",), ("zip", "diagnosis")]
)
@pytest.mark.parametrize("role", ["identifiers", "drop"])
def test_a_column_that_is_dropped_by_name_is_noted_whatever_is_beside_it(quasi, role):
    roles = {"identifiers": [], "sensitive": [], role: ["MRN"]}
    [note] = checked(VISITS, quasi=quasi, others="drop", **roles)
    assert note.endswith(NOTE.partition("'")[2])


def test_an_identifier_of_few_persons_with_many_records_is_noted():
    frame = pandas.DataFrame({"id": [f"p{row % 30}" for row in range(1620)], "day": range(1620)})
    [note] = checked(frame, quasi=("day",), identifiers=["id"], sensitive=[])
    assert note.startswith("identifier 'id' has 54 records per value: k counts records")


def test_nothing_is_noted_where_an_identifier_is_unique_in_nearly_every_record():
    numbered = VISITS.assign(number=[max(row, 9) for row in range(len(VISITS))])
    roles = {"identifiers": ["number", "MRN"], "drop": ["birth_year"]}
    assert checked(numbered, quasi=("sex", "zip"), **roles) == []
    few = numbered.assign(number=numbered["number"].where(numbered["number"] < 100))
    assert checked(few, quasi=("sex", "zip"), **roles) == [NOTE]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_say_whose_record_it_is_nowhere(tmp_path, kind):
    dropped = policy(quasi=("sex", "zip"), identifiers=[], drop=["visit_date"], others="drop")
    source = written(tmp_path, kind)
    if kind == "parquet":
        duckdb.sql(
            f"COPY (SELECT * REPLACE (visit_date::DATE AS visit_date) FROM '{source}') "
            f"TO '{tmp_path / 'dates.parquet'}'"
        )
        source = tmp_path / "dates.parquet"
    assert told(sqlanon.check(source, dropped).notes) == []


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize(
    ("shape", "notes"),
    [
        (lambda n: f"123-45-{n:04}", [NOTE]),
        (lambda n: f"{n}.5", [NOTE]),
        (lambda n: n, [NOTE]),
        (lambda n: "" if n == 1 else f"p{n}", [NOTE]),
        (lambda n: f" {datetime.date(2000, 1, 1) + datetime.timedelta(n)}", []),
        (lambda n: f"{datetime.date(2000, 1, 1) + datetime.timedelta(n):%Y/%m/%d} 10:00", []),
        (lambda n: ("infinity", "-Infinity", "Epoch")[n % 3], []),
        (lambda n: "NA" if n % 20 else f"once {n}", []),
    ],
)
def test_texts_of_an_identifier_are_counted_but_times_and_nulls(tmp_path, kind, shape, notes):
    source, visits = tmp_path / f"visits.{kind}", VISITS.copy()
    visits["MRN"] = [shape(int(name[1:])) for name in visits["MRN"]]
    once = visits["MRN"].astype(str).str.startswith("once")
    visits = visits[~(once & visits["MRN"].duplicated())]
    if kind == "csv":
        visits.to_csv(source, index=False, quoting=csv.QUOTE_NONNUMERIC)
    else:
        visits.to_json(source, orient="records")
    asked = policy(quasi=("sex", "zip"))
    assert told(sqlanon.check(source, asked, nullstr=["NA"]).notes) == notes


def test_what_falls_under_others_is_not_looked_at():
    notes = checked(VISITS, quasi=("sex", "zip"), identifiers=[], others="drop")
    assert notes == []


def test_a_quasi_identifier_that_is_a_key_of_persons_is_noted_with_its_way_out():
    notes = checked(VISITS, quasi=(*QUASI, "MRN"), identifiers=[])
    assert [note.partition(", which")[0] for note in notes] == [
        f"quasi-identifier 'MRN' has {MEAN} records per value"
    ]
    assert notes[0].endswith("as entity (--entity MRN) instead of quasi-identifier")


def test_a_quasi_identifier_is_noted_beside_a_single_column_that_it_settles():
    [note] = checked(VISITS, quasi=("MRN", "sex", "visit_date"), identifiers=[])
    assert note.startswith(f"quasi-identifier 'MRN' has {MEAN} records per value, which agree in ")


def test_several_identifiers_are_told_in_one_note():
    named = VISITS.assign(name=VISITS["MRN"].str.replace("P0000", "P0010"))
    [note] = checked(named, quasi=("sex", "zip"), identifiers=["MRN", "name"], drop=["birth_year"])
    assert note.startswith(f"identifier 'MRN' has {MEAN} records per value and identifier 'name' ")
    assert note.endswith(
        "if one of them says whose record each is, name it as entity (--entity COLUMN)"
    )


def test_what_the_engine_fails_to_count_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(
        "sqlanon.assessment.persons.estimated_values",
        lambda table, _: exp.select(exp.cast("MRN", "DATE")).from_(table.copy()),
    )
    assert checked(VISITS) == []


def test_dropped_columns_are_loaded_as_hashes_that_differ_from_run_to_run(tmp_path):
    source = written(tmp_path, "csv")
    runs = []
    for _ in range(2):
        with reading(source, None, policy(("sex",), drop=["zip"]), finds_persons=True) as (
            opened,
            _,
        ):
            rows = exp.select("MRN", "zip").from_(opened.table)
            runs.append(opened.engine.rows(rows))
    assert len({row for run in runs for row, _ in run}) == 2 * PATIENTS
    with reading(source, None, policy()) as (opened, _):
        assert {*opened.engine.rows(exp.select("MRN").from_(opened.table))} == {(None,)}


@pytest.mark.parametrize("kind", [polars.List(polars.Int128), polars.Struct({"a": polars.Int128})])
@pytest.mark.parametrize("is_lazy", [False, True])
def test_a_nested_column_of_long_integers_can_be_dropped(kind, is_lazy):
    value = {"a": 1} if kind == polars.Struct else [1]
    frame = polars.DataFrame(
        {"id": range(60), "age": [1] * 60, "x": polars.Series([value] * 60, dtype=kind)}
    )
    source = frame.lazy() if is_lazy else frame
    dropped = policy(quasi=("age",), identifiers=["id"], sensitive=[], drop=["x"])
    assert sqlanon.check(source, dropped).holds
    kept = policy(quasi=("age",), identifiers=["id"], sensitive=[], keep=["x"])
    with pytest.raises(SourceError, match=r"column 'x' .* convert or drop it"):
        sqlanon.check(source, kept)


def test_nothing_is_noted_of_one_record_per_person_or_where_persons_are_counted():
    assert checked(VISITS.drop_duplicates("MRN")) == []
    assert checked(VISITS, entity="MRN") == []


def test_a_released_table_that_lacks_what_is_dropped_is_not_looked_at():
    assert checked(VISITS.drop(columns="MRN").assign(zip=VISITS["MRN"])) == []


@pytest.mark.parametrize("others", ["keep", "drop"])
def test_kinds_places_and_days_are_no_persons(others):
    chance = random.Random(2)
    towns = [(f"town {n}", f"county {n // 5}", f"state {n // 20}") for n in range(200)]
    rows = [
        (
            *(chance.randint(18, 90), chance.choice("MF"), *chance.choice(towns)),
            *(f"country {chance.randint(1, 100)}", f"department {chance.randint(1, 20)}"),
            *(f"day {chance.randint(1, 900)}", chance.random() < 0.02),
        )
        for _ in range(4000)
    ]
    names = ("age", "sex", "town", "county", "state", "country", "department", "day", "rare")
    frame = pandas.DataFrame(rows, columns=names)
    assert (
        checked(frame, identifiers=["department"], quasi=names[:5], sensitive=[], others=others)
        == []
    )
    quasi = ("age", "sex", "county", "state", "rare")
    assert checked(frame, identifiers=[], quasi=quasi, sensitive=[], others=others) == []
