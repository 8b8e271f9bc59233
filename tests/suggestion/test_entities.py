"""Which column persons are counted by, where they have several records."""

import pytest
from databases import empty_database

import sqlanon

VISITS = """
CREATE TABLE visits AS
SELECT patient, birth_year, sex, zip, visit,
    DATE '2023-01-01' + (hash(patient, visit) % 365)::INTEGER AS visit_date,
    ['flu', 'asthma', 'angina', 'fracture'][1 + (hash(visit, patient) % 4)::INTEGER] AS diagnosis
FROM (
    SELECT range AS patient, 1935 + hash(range, 0) % 70 AS birth_year,
        if(hash(range, 1) % 2 = 0, 'f', 'm') AS sex,
        printf('%05d', 10000 + hash(range, 2) % 30 * 100 + hash(range, 3) % 9) AS zip,
        unnest(range(5 + (hash(range, 4) % 7)::INTEGER)) AS visit
    FROM range(300)
)
"""
PERSONS = """
MRN email phone iban device_id card_number ssn username login vin nhs_number customer_no subject
participant student_no emp_no account patient_id PatientID member_no case_id resp_id policy_number
UserID custno PatNr KdNr Aktenzeichen Kundennummer VersichertenNr Personalnummer Mitarbeiter-Nr
Fallnummer Vorgangsnr Mitgliedsnummer Matrikelnummer Konto-Nr personenkennzeichen num_client
id_client no_client numéro_dossier code_client num_assuré NIR matricule id_cliente codigo_cliente
num_expediente DNI NIF id_usuario cedula
"""
FACTS = "birth_year, sex, zip, "


@pytest.fixture(scope="module")
def connection():
    with empty_database() as opened:
        opened.execute(VISITS)
        yield opened


def drafted(connection, columns, source="visits"):
    """The suggestion for columns of the visits."""
    connection.execute(f"CREATE OR REPLACE TABLE drawn AS SELECT {columns} FROM {source}")
    return sqlanon.suggest(connection, table="drawn")


@pytest.mark.every_row
@pytest.mark.parametrize("name", PERSONS.split())
def test_a_repeated_column_that_is_named_for_persons_is_the_entity(connection, name):
    found = drafted(connection, f'400000 + patient * 37 AS "{name}", visit_date, diagnosis')
    assert found.entity == name
    assert "records on average, so models count persons" in found.reasons[name]


@pytest.mark.parametrize("name", ["subject", "Aktenzeichen", "historia_clinica_no", "store_id"])
def test_what_may_name_persons_or_things_is_asked_about(connection, name):
    letters = "chr(97 + (patient % 26)::INTEGER) || 'word' || chr(97 + (patient // 26)::INTEGER)"
    found = drafted(connection, f"{letters} AS {name}, visit_date, diagnosis")
    assert (found.entity, found.asked) == (None, (name,))
    assert f"WHOSE RECORDS ARE THESE? Values of '{name}' repeat" in found.question
    text = " ".join(found.to_toml().replace("#", "").split())
    assert "WHOSE RECORDS ARE THESE?" in text
    assert f'entity = "{name}"' in text


def test_visits_are_published_in_classes_of_k_patients(connection):
    found = drafted(connection, f"patient AS MRN, {FACTS} visit_date, diagnosis, patient AS trace")
    assert found.entity == "MRN"
    settled = found.with_column("trace", "keep")
    report = sqlanon.anonymize(connection, settled.policy, table="drawn", into="published")
    assert report.holds
    [(least,)] = connection.execute(
        "SELECT min(persons) FROM (SELECT count(DISTINCT trace) AS persons FROM published "
        "GROUP BY birth_year, sex, zip, visit_date)"
    ).fetchall()
    assert least >= 5


MRN = "'M' || patient AS MRN"
EMAIL = "'p' || patient || '@example.org' AS email"
DEVICE = "patient * 10 + visit % 3 AS device_id"
FAMILY = "'+49 30 ' || (1000000 + patient // 2) AS phone"


@pytest.mark.parametrize(
    ("columns", "entity", "reason"),
    [
        (f"{MRN}, {EMAIL}, {FACTS} visit", "MRN", "each value of 'email' has one of it"),
        (f"row_number() OVER () AS id, {EMAIL}, visit", "email", "so models count persons"),
        (f"{DEVICE}, {EMAIL}, visit", "email", "each value of 'device_id' has one of it"),
        (f"{FAMILY}, {EMAIL}, {FACTS} visit", "email", "so models count persons"),
        (f"{FAMILY}, {MRN}, visit", "MRN", "'phone' may stand for other persons"),
        (f"visit % 40 AS visit, hash(patient) AS x, {FACTS} diagnosis", "x", "all with the same"),
    ],
)
def test_of_several_the_entity_is_the_one_that_stands_for_persons(
    connection, columns, entity, reason
):
    found = drafted(connection, columns)
    assert (found.entity, found.asked) == (entity, ())
    assert reason in found.reasons[entity]
    assert found.policy.identifiers[0] in found.to_toml()


def test_some_slips_do_not_part_a_person(connection):
    sex = "if(hash(patient, visit, 9) % 100 = 0, 'f', sex) AS sex"
    found = drafted(connection, f"{FAMILY}, hash(patient) AS x, birth_year, {sex}, visit_date")
    assert found.entity == "x"


def test_what_persons_share_is_asked_about(connection):
    found = drafted(connection, f"{FAMILY}, {FACTS} visit_date")
    assert (found.entity, found.asked) == (None, ("phone",))
    assert found.policy.identifiers == ("phone",)


NAMES = "'F' || chr(97 + {0} % 20) AS first_name, 'L' || chr(97 + {0} // 12) AS last_name"


@pytest.mark.parametrize(
    ("number", "asked"), [("patient", ("first_name", "last_name")), ("hash(patient, visit)", ())]
)
def test_first_and_last_names_that_go_with_a_birth_are_asked_about(connection, number, asked):
    found = drafted(
        connection,
        f"{NAMES.format(f'({number} % 200)::INTEGER')}, birth_year, visit_date",
        "visits WHERE patient < 200",
    )
    assert (found.entity, found.asked) == (None, asked)


def test_where_nearly_each_number_of_a_person_has_one_record_records_are_persons(connection):
    columns = "range AS patient_id, 'DE00 1234 1234 ' || (1000 + range // 3) AS iban, 7 AS age"
    found = drafted(connection, columns, "range(900)")
    assert (found.entity, found.asked) == (None, ())


def test_a_place_or_a_category_is_no_person(connection):
    columns = f"zip AS area, hash(patient, 7) % 40 AS grp, {FACTS} visit_date"
    found = drafted(connection, columns)
    assert (found.entity, found.asked) == (None, ())
