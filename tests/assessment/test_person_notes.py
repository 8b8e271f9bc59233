"""Notes of columns that may say whose record each is, where models count records."""

import datetime
import random

import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy

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
NOTE = (
    f"identifier 'MRN' has {MEAN} records per value, which agree in 'birth_year', 'sex' and 'zip': "
    f"{MEANT} as entity (--entity MRN)"
)


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


@pytest.mark.every_row
@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "arrow", "pandas", "lazy"])
def test_what_is_dropped_of_any_source_is_counted(tmp_path, kind):
    dropped = policy(identifiers=[], drop=["MRN"])
    notes = told(sqlanon.plan(written(tmp_path, kind), dropped).report.notes)
    assert notes == [NOTE.replace("identifier", "dropped column")]


def test_a_dropped_column_that_no_table_can_hold_is_still_dropped():
    mixed = VISITS.assign(note=[object() if row % 2 else row for row in range(len(VISITS))])
    assert sqlanon.check(mixed, policy(drop=["note"])).statistics.records == len(VISITS)


def test_an_identifier_is_noted_by_its_number_of_values_where_it_settles_nothing():
    [note] = checked(VISITS, quasi=("visit_date",), drop=["birth_year", "sex", "zip"])
    assert note.startswith(f"identifier 'MRN' has {MEAN} records per value: k counts records")


def test_a_quasi_identifier_that_is_a_key_of_persons_is_noted_with_its_way_out():
    notes = checked(VISITS, quasi=(*QUASI, "MRN"), identifiers=[])
    assert [note.partition(", which")[0] for note in notes] == [
        f"quasi-identifier 'MRN' has {MEAN} records per value"
    ]
    assert notes[0].endswith("as entity (--entity MRN) instead of quasi-identifier")


def test_nothing_is_noted_of_one_record_per_person_or_where_persons_are_counted():
    assert checked(VISITS.drop_duplicates("MRN")) == []
    assert checked(VISITS, entity="MRN") == []


def test_a_released_table_that_lacks_what_is_dropped_is_not_looked_at():
    assert checked(VISITS.drop(columns="MRN").assign(zip=VISITS["MRN"])) == []


@pytest.mark.every_row
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
