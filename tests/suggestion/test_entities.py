"""Which column persons are counted by, where they have several records."""

import pytest
from databases import empty_database

import sqlanon

pytestmark = pytest.mark.slow

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
ADDRESS = "'p' || patient || '@example.org'"
EMAIL = f"{ADDRESS} AS email"
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


# A few have most of the records, and some have one.
LOPSIDED = """
CREATE TABLE lopsided AS
SELECT *, DATE '2023-01-01' + (visit * 3 + hash(patient) % 90)::INTEGER AS visit_date
FROM (
    SELECT patient, birth_year, sex,
        unnest(range(1 + (hash(patient, 5) % 4)::INTEGER + if(patient % 25 = 0, 60, 0))) AS visit
    FROM (SELECT DISTINCT patient, birth_year, sex FROM visits)
)
"""
SHORT = "patient"
LONG = "400000 + patient * 37"
CODE = "'q' || patient"


@pytest.fixture(scope="module")
def lopsided(connection):
    connection.execute(LOPSIDED)
    return lambda columns: drafted(connection, columns, "lopsided")


@pytest.mark.parametrize("values", [SHORT, LONG, CODE])
@pytest.mark.parametrize(
    "name",
    [
        *("asthma_clinic_no", "Impfausweisnummer", "therapy_id", "mortgage_number", "BiopsyNr"),
        *("dosage_patient", "sibling_id", "pet_no", "citizenship_id", "Familie", "menage"),
        *("qz", "inwoner", "anagrafica", "folk"),
    ],
)
def test_numbers_that_repeat_are_asked_about_whatever_else_their_name_says(lopsided, name, values):
    suggestion = lopsided(f'{values} AS "{name}", visit_date, visit % 3 AS mood')
    assert (suggestion.entity, suggestion.asked) == (None, (name,))
    assert name not in suggestion.policy.attributes


def test_numbers_that_hardly_repeat_are_identifiers_whatever_else_their_name_says(connection):
    suggestion = drafted(
        connection,
        "range * 5 // 6 AS sibling_id, 'm' || range * 5 // 6 AS mortgage_no, range % 50 AS age",
        "range(1200)",
    )
    assert suggestion.policy.identifiers == ("sibling_id", "mortgage_no")


def test_levels_of_what_others_know_are_no_numbers_of_persons(connection):
    columns = "range % 16 AS education_num, range % 30 AS birth_place_code, range % 50 AS age"
    suggestion = drafted(connection, columns, "range(1000)")
    assert suggestion.asked == ()


def test_a_key_of_unknown_meaning_is_no_quasi_identifier_beside_the_entity(lopsided):
    suggestion = lopsided(f"patient AS mrn, {LONG} AS qz, visit_date")
    assert (suggestion.entity, suggestion.asked) == ("mrn", ())
    assert suggestion.undecided == ("qz",)


@pytest.mark.parametrize("name", ["rownum", "lfd_nr", "sequence", "ref"])
def test_the_number_of_a_visit_is_no_person(lopsided, name):
    number = f'visit AS "{name}", birth_year, sex, visit_date'
    suggestion = lopsided(number)
    assert (suggestion.entity, suggestion.asked) == (None, (name,))
    assert lopsided(f"{LONG} AS alias, {number}").entity == "alias"
    assert lopsided(f'patient AS "{name}", birth_year, sex').entity == name


def test_what_has_persons_born_in_other_years_is_asked_about_whatever_its_name(lopsided):
    suggestion = lopsided("visit AS patient_no, birth_year, sex, visit_date")
    assert (suggestion.entity, suggestion.asked) == (None, ("patient_no",))
    noisy = "birth_year, if(visit % 2 = 0, 'f', 'm') AS sex, visit_date"
    assert lopsided(f"patient AS patient_no, {noisy}").entity == "patient_no"


@pytest.mark.parametrize("percent", [11, 40, 70])
def test_a_number_of_a_person_that_many_lack_is_the_entity(lopsided, percent):
    lacking = f"if(hash(patient, 8) % 100 < {percent}, NULL, {{}})"
    suggestion = lopsided(f"{lacking.format(LONG)} AS MRN, birth_year, visit_date")
    assert suggestion.entity == "MRN"
    suggestion = lopsided(f"{lacking.format(ADDRESS)} AS contact_1, visit_date")
    assert (suggestion.entity, suggestion.asked) == (None, ("contact_1",))


@pytest.mark.parametrize("name", ["Names", "full_name", "name_of_student", "Nombre completo"])
@pytest.mark.parametrize(
    "written",
    [
        "'anna b' || patient",
        "'A. Bauer' || patient",
        "'Bau' || chr(97 + patient % 26) || chr(97 + patient // 26)",
        "chr(20000 + patient) || '伟'",
        "'Dr. med. Anna B' || chr(97 + patient % 26) || chr(97 + patient // 26)",
    ],
)
def test_names_that_look_like_none_are_asked_about(lopsided, name, written):
    written = written.replace("patient", "patient::INTEGER")
    suggestion = lopsided(f'{written} AS "{name}", visit_date')
    assert (suggestion.entity, suggestion.asked) == (None, (name,))
    assert lopsided(f'{written} AS "{name}", birth_year, sex').entity == name


PART = "chr(97 + (patient % 26)::INTEGER) || chr(97 + (patient // 26)::INTEGER)"


@pytest.mark.parametrize("name", ["x7", "spouse", "parent"])
def test_last_names_before_first_names_are_names_of_persons(lopsided, name):
    suggestion = lopsided(
        f"'B' || {PART} || ', An' || chr(97 + (patient % 9)::INTEGER) AS {name}, visit_date"
    )
    assert suggestion.policy.identifiers == (name,)


def test_names_of_things_are_not_asked_about(lopsided):
    suggestion = lopsided(f"'Blue B' || {PART} AS brand, visit_date, visit % 3 AS mood")
    assert suggestion.asked == ()


@pytest.mark.parametrize("name", ["alumno", "Nutzer", "étudiant", "Bewohner", "personne"])
def test_a_bare_word_for_a_person_is_one_in_every_language(lopsided, name):
    suggestion = lopsided(f'{LONG} AS "{name}", visit_date')
    assert suggestion.entity == name


def test_a_case_that_is_the_entity_is_told_to_be_one_of_several_perhaps(lopsided):
    suggestion = lopsided("patient AS Vorgangsnr, visit_date")
    assert "a person may have several of it" in suggestion.reasons["Vorgangsnr"]
    suggestion = lopsided("patient AS customer_no, visit_date")
    assert "may have several" not in suggestion.reasons["customer_no"]


def test_figures_that_hardly_repeat_are_no_numbers_of_persons(connection):
    columns = "hash(range) % 5000 AS figure, 20 + range % 50 AS age"
    suggestion = drafted(connection, columns, "range(3000)")
    assert suggestion.asked == ()
    assert "holds figures" in suggestion.reasons["figure"]


def test_figures_and_codes_that_go_with_both_sexes_are_no_numbers_of_persons(connection):
    columns = (
        "range % 2 AS sex, 60 + hash(range, 2) % 140 AS hr, 'S' || hash(range, 3) % 80 "
        "AS shelf, DATE '2020-01-01' + (hash(range, 4) % 700)::INTEGER AS seen"
    )
    assert drafted(connection, columns, "range(1500)").asked == ()
