"""Safe Harbor: what a draft leaves out, and what is found in a release."""

from __future__ import annotations

from datetime import date

import pytest
from databases import empty_database

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.resources import toml_document
from sqlanon.suggestion.safe_harbor import SMALL_ZIP3

pytestmark = pytest.mark.slow

LATER = (830, 831, 878, 879, 884, 890, 893)
PROFILE = "hipaa-safe-harbor"
PATIENTS = """
CREATE TABLE patients AS SELECT
    100000 + i AS mrn,
    'Anna ' || chr(65 + i % 26) || 'erg' AS patient_name,
    printf('%03d-%02d-%04d', 100 + i, 10 + i % 80, 1000 + i) AS ssn,
    DATE '1900-01-01' + (i * 397 % 40000) AS birth_date,
    i * 7 % 100 AS age,
    ['02139', '03601', '10001', '10201', '94110'][1 + i % 5] AS zip,
    ['Boston', 'Springfield'][1 + i % 2] AS city,
    ['MA', 'NY'][1 + i % 2] AS state,
    ['f', 'm'][1 + i % 2] AS sex,
    DATE '2023-01-01' + (i * 31 % 700) AS admission_date,
    ['flu', 'cough', 'asthma'][1 + i % 3] AS diagnosis,
    i % 2 = 0 AS has_email
FROM (SELECT CAST(range AS INTEGER) AS i FROM range(400))
"""


def findings(columns, *, rows=40):
    """The findings of Safe Harbor about a table of some expressions over i, by column."""
    with empty_database() as connection:
        connection.execute(
            f"CREATE TABLE released AS SELECT {columns} FROM"
            f" (SELECT CAST(range AS INTEGER) AS i FROM range({rows}))"
        )
        report = sqlanon.lint(connection, table="released", profile=PROFILE)
    found = {}
    for each in report.findings:
        if each.id.startswith("safe-harbor") and each.column is not None:
            found.setdefault(each.column, []).append((each.id, each.message))
    return found


def test_small_areas_are_those_of_the_guidance():
    document = toml_document("sqlanon.suggestion", "safe_harbor.toml")
    assert document["zip3"]["published"] == date(2012, 11, 26)
    assert sorted(SMALL_ZIP3) == (
        list(map("{:03}".format, (36, 59, 63, 102, 203, 556, 692, 790, 821, 823, *LATER)))
    )


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("patient_name", "(A)"),
        ("street_address", "(B)"),
        ("county", "(B)"),
        ("precinct", "(B)"),
        ("latitude", "(B)"),
        ("phone_number", "(D, E, F)"),
        ("fax", "(D, E, F)"),
        ("email", "(D, E, F)"),
        ("ssn", "(G to L)"),
        ("medical_record_number", "(G to L)"),
        ("health_plan_number", "(G to L)"),
        ("account_number", "(G to L)"),
        ("certificate_number", "(G to L)"),
        ("license_plate", "(G to L)"),
        ("device_serial_number", "(G to L)"),
        ("device_id", "(M, N, O)"),
        ("url", "(M, N, O)"),
        ("ip_address", "(M, N, O)"),
        ("fingerprint", "(P, Q)"),
        ("photograph", "(P, Q)"),
        ("patient_id", "(H, R)"),
    ],
)
def test_each_identifier_is_found_by_its_name(name, letters):
    [(rule, message)] = findings(f"'x' || i % 5 AS {name}")[name]
    assert letters in message
    assert rule == ("safe-harbor-place" if "smaller" in message else "safe-harbor-identifier")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("'p' || i || '@example.org'", "e-mail addresses"),
        ("printf('617-555-%04d', i)", "telephone"),
        ("printf('123-45-%04d', i)", "social security"),
        ("printf('https://example.org/%d', i)", "web addresses"),
        ("printf('10.0.0.%d', i)", "in the internet (M, O)"),
        ("printf('1HGCM82633A%06d', i)", "vehicle"),
        ("printf('00:1b:44:11:3a:%02d', i)", "addresses of devices"),
        ("printf('02139-%04d', i)", "nine digits"),
        ("uuid()", "unique"),
        ("printf('2024-%02d', 1 + i % 12)", "finer than a year"),
        ("'came home ' || i || ' days later'", "four words"),
    ],
)
def test_each_identifier_is_found_by_its_values(value, says):
    [(_, message)] = findings(f"{value} AS col")["col"]
    assert says in message


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        ("'021**' AS zip", 0),
        ("['021', '036', '000'][1 + i % 3] AS zip", 1),
        ("36 AS zip", 1),
        ("21 AS zip", 0),
        ("2139 AS zip", 1),
        ("i + 60 AS age", 9),
        ("[30, 89, 90][1 + i % 3] AS age", 0),
        ("['80-89', '>=90', '90'][1 + i % 3] AS age", 0),
        ("['80-99', '[85, 95)', '91'][1 + i % 3] AS age", 3),
        ("['91+', '95 years', '88 years', '90+'][1 + i % 4] AS age", 2),
        ("1900 AS birth_year", 1),
        ("['1990s', '(1990, 2000]'][1 + i % 2] AS birth_year", 0),
        ("['<=1900', '1990', '1990-1999'][1 + i % 3] AS birth_year", 0),
        ("['1900-1909', '1990-05', '1990-05-01'][1 + i % 3] AS date_of_birth", 3),
        ("2024 AS admission_date", 0),
        ("202405 AS admission_date", 1),
        ("DATE '2024-05-01' AS seen", 1),
        ("['2024', '2020-2029'][1 + i % 2] AS seen", 0),
    ],
)
def test_codes_ages_and_years_are_allowed_as_far_as_the_rule_says(column, bad):
    found = findings(column)
    if bad:
        [[(_, message)]] = found.values()
        assert f"{bad} value" in message
    assert bool(found) == bool(bad)


def test_what_is_drafted_and_published_is_allowed():
    with empty_database() as connection:
        connection.execute(PATIENTS)
        before = sqlanon.lint(connection, table="patients", profile=PROFILE)
        assert not before.passes()
        assert "safe-harbor-identifier" not in {
            each.id for each in before.findings if each.column == "has_email"
        }
        draft = sqlanon.suggest(connection, table="patients", profile=PROFILE)
        assert draft.reasons["city"].startswith("Safe Harbor (45 CFR 164.514(b)(2)(i)) removes")
        assert any("no program can judge" in note for note in draft.notes)
        assert "min_level = 1" in draft.to_toml()
        sqlanon.anonymize(
            connection,
            sqlanon.Policy.from_dict({**draft.policy.to_dict(), "others": "drop"}),
            table="patients",
            into="released",
            method="mondrian",
        )
        after = sqlanon.lint(connection, draft.policy, table="released", profile=PROFILE)
        zips = {
            zip for (zip,) in connection.execute("SELECT DISTINCT zip FROM released").fetchall()
        }
    assert [each.id for each in after.findings if each.id.startswith("safe-harbor")] == [
        "safe-harbor-unjudged"
    ]
    assert zips <= {"*", "000", "021", "100", "941"}
    assert len(zips) > 1


@pytest.mark.parametrize("limit", [0, 1, 50])
def test_identifiers_are_found_by_name_however_few_values_they_have(limit):
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT '1' || '234567' AS phone, 7 AS mrn, 'no' AS has_email, "
            f"CAST(NULL AS VARCHAR) AS fax FROM range({limit})"
        )
        found = sqlanon.lint(connection, table="t", profile=PROFILE).findings
        named = {each.column for each in found if each.id == "safe-harbor-identifier"}
        assert named == ({"phone", "mrn"} if limit else {"phone", "mrn", "has_email", "fax"})


def test_years_of_birth_are_drafted_as_years_and_ages_that_are_texts_left_out():
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1900 + i % 110 AS birth_year, i % 99 || ' years' AS age, "
            "20 + i % 40 AS size FROM range(300) AS numbers (i)"
        )
        draft = sqlanon.suggest(connection, table="t", profile=PROFILE)
        roles = {each.name: each.role.value for each in draft.columns}
        years = draft.policy.attributes["birth_year"].hierarchy
        connection.execute(
            f"CREATE TABLE r AS SELECT {years.rule.texts[0]} AS birth_year FROM "
            "(SELECT birth_year AS value FROM t)"
        )
        found = sqlanon.lint(connection, table="r", profile=PROFILE).findings
    assert roles["age"] == "drop"
    assert [each.id for each in found if each.column == "birth_year"] == []


@pytest.mark.parametrize(
    ("zips", "areas"), [([902, 36, 21], {"902", "000", "021"}), ([902, 3601], {"009", "000"})]
)
def test_numbers_are_areas_where_none_has_four_digits(zips, areas):
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT UNNEST({zips}) AS zip, i FROM range(30) r(i)")
        draft = sqlanon.suggest(connection, table="t", profile=PROFILE)
        attributes = {"zip": draft.policy.quasi_identifiers["zip"]}
        policy = sqlanon.Policy(attributes, drop=["i"], models=[sqlanon.KAnonymity(2)])
        sqlanon.anonymize(connection, policy, table="t", into="released")
        released = connection.execute("SELECT DISTINCT zip FROM released").fetchall()
    assert {zip for (zip,) in released} == areas


def test_a_profile_that_is_not_known_is_refused():
    with empty_database() as connection:
        connection.execute(PATIENTS)
        with pytest.raises(PolicyError, match="profile 'gdpr' is not known"):
            sqlanon.lint(connection, table="patients", profile="gdpr")
        with pytest.raises(PolicyError, match="profile 'gdpr' is not known"):
            sqlanon.suggest(connection, table="patients", profile="gdpr")
