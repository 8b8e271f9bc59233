"""What one column is taken for, by its name and its figures alone."""

from decimal import Decimal

import pytest
from databases import empty_database
from sqlglot import exp

import sqlanon
from sqlanon.suggestion.profile import ColumnProfile, NumberFigures
from sqlanon.suggestion.roles import Role, advise


def of_numbers(
    name, *, distinct, records=1000, least=0, most=10_000, whole=True, lengths=(1, 3, 5)
):
    """A column of numbers between two outer quantiles."""
    return ColumnProfile(
        name,
        exp.DataType.build("BIGINT" if whole else "DOUBLE", dialect="duckdb"),
        records,
        present=records,
        distinct=distinct,
        uniqueness=distinct / records,
        lengths=lengths,
        numbers=NumberFigures(records, records if whole else 0, (Decimal(least), Decimal(most))),
    )


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("distinct", "found"),
    [
        (
            950,
            "; whoever does, as from another file of the same source, finds the record, with 95%",
        ),
        (500, "; whoever does, as from another file of the same source, is left with 2 records on"),
        (10, "; whoever does, as from another file of the same source, is left with 100 records"),
        (9, ". Is it what nobody should learn"),
    ],
)
def test_who_knows_a_measurement_finds_as_many_records_as_share_it(distinct, found):
    own = advise(of_numbers("score", distinct=distinct, whole=False))
    assert own.role is Role.UNDECIDED
    assert f"which others seldom know exactly{found}" in own.reason


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("distinct", "role"), [(899, Role.UNDECIDED), (900, Role.IDENTIFIER), (1000, Role.IDENTIFIER)]
)
def test_whole_numbers_of_which_nearly_every_record_has_its_own_are_no_measurements(distinct, role):
    assert advise(of_numbers("figure", distinct=distinct)).role is role


@pytest.mark.parametrize("name", ["fnlwgt", "perwt", "pweight", "WTMEC2YR", "x"])
@pytest.mark.parametrize("distinct", [500, 950, 1000])
@pytest.mark.parametrize("whole", [True, False])
def test_a_survey_weight_is_not_published_before_it_is_decided(name, distinct, whole):
    advice = advise(of_numbers(name, distinct=distinct, whole=whole))
    assert advice.role in (Role.UNDECIDED, Role.IDENTIFIER)


@pytest.mark.every_row
@pytest.mark.parametrize("distinct", [20, 200, 1000])
def test_an_address_is_an_identifier_however_many_records_share_it(distinct):
    own = ColumnProfile(
        "address",
        exp.DataType.build("VARCHAR", dialect="duckdb"),
        1000,
        present=1000,
        distinct=distinct,
        uniqueness=distinct / 1000,
        lengths=(4, 5.0, 9),
    )
    assert advise(own).role is Role.IDENTIFIER


def of_texts(name, values, records=2000):
    """The role of a column that holds some texts in turn, beside an age."""
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (age INTEGER, place INTEGER)")
        connection.execute(
            "INSERT INTO people SELECT 20 + range % 50, range FROM range(?)", [records]
        )
        query = 'SELECT age, (?::VARCHAR[])[1 + place % ?] AS "{}" FROM people'
        connection.execute(
            f"CREATE TABLE drawn AS {query.format(name)}", [list(values), len(values)]
        )
        [_, own] = sqlanon.suggest(connection, table="drawn").columns
        return own


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("f7", "{1} {0}"),
        ("f7", "{0}, {1}"),
        ("f7", "Dr. {1} van {0}"),
        ("AttendingPhysician", "{1} {0}"),
        ("Médecin traitant", "Dr {0}"),
        ("Manager", "{0}"),
        ("Ansprechpartner", "{1} {0}"),
        ("contact", "{1} {0}"),
        ("Nom de naissance", "{0}"),
        ("name_at_birth", "{0}"),
        ("Name des Patienten", "{1} {0}"),
        ("nombre del paciente", "{1}"),
    ],
)
def test_names_of_persons_are_identifiers_by_their_column_or_their_shape(name, written):
    values = dict.fromkeys(written.format(last, first) for last in FAMILY for first in GIVEN)
    assert of_texts(name, [*values]).role is Role.IDENTIFIER


GIVEN, FAMILY, TITLES, JOBS, ORGANS, ILLNESSES = map(
    str.split,
    (
        "Anna Ben Clara David Elena Felix Greta Hugo Ines Jonas Klara Lukas Maria Noah Olga",
        "Schmidt O'Brien García Weber Rossi Novak Dubois Jensen Costa Meyer Silva Keller",
        "Senior Junior Chief Regional Deputy Lead Assistant Principal Associate Interim",
        "Engineer Analyst Manager Director Nurse Teacher",
        "Heart Lung Kidney Liver Skin Bone Eye Nerve Blood Brain",
        "Failure Cancer Disease Inflammation Infection Injury",
    ),
)
PLACES = "New Zealand, South Korea, France, United Kingdom, Costa Rica, Peru, United States, Italy"
CITIES = "New York, San Francisco, Paris, Los Angeles, Bad Homburg, Oslo, San Diego, Rome, Lima"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", [f"{one} {other}" for one in TITLES for other in JOBS]),
        ("JobTitle", [f"{one} {other}" for one in TITLES for other in JOBS]),
        ("x", [f"{one} {other}" for one in ORGANS for other in ILLNESSES]),
        ("diagnosis", [f"{one} {other}" for one in ORGANS for other in ILLNESSES]),
        ("x", PLACES.split(", ")),
        ("country", PLACES.split(", ")),
        ("x", CITIES.split(", ")),
        ("city", [f"{one} {other}" for one in FAMILY for other in GIVEN]),
        ("contact", ["cellular", "telephone", "unknown"]),
        ("doctor_visits", ["none", "one", "many"]),
    ],
)
def test_titles_illnesses_and_places_are_no_names_of_persons(name, values):
    assert of_texts(name, values).role is not Role.IDENTIFIER


def test_the_names_of_patients_say_whose_records_they_are():
    values = [f"{first} {last}" for last in FAMILY for first in GIVEN]
    assert of_texts("name", values).is_entity
    assert not of_texts("surgeon", values).is_entity
