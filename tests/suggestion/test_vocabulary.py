"""What names of columns are taken for, in four languages."""

import pytest

from sqlanon.resources import toml_document
from sqlanon.suggestion.vocabulary import (
    CONCEPTS,
    LANGUAGES,
    Hint,
    concept_of,
    is_label,
    is_record_number,
    words_of,
)

KNOWN = {
    Hint.NAMES: "Vorname, last_name, e-mail, eMail, phoneNumber, Straße, IBAN, ip_address, "
    "nom de famille, Apellidos, SSN, numéro de sécurité sociale, hausnummer, correo",
    Hint.PERSON: "patient_id, customerId, Kundennummer, id_cliente, numero_dossier, user_id",
    Hint.TEXT: "remarks, Bemerkungen, commentaire, observaciones, free_text",
    Hint.WEIGHT: "fnlwgt, survey_weight, Gewichtungsfaktor, pondération, factor de expansión",
    Hint.SENSITIVE: "income, monthly_salary, Einkommen, salaire_net, ingresos, diagnosis, ICD10, "
    "Krankheit, maladie, enfermedad, religion, Konfession, croyances, HIV_status, "
    "sexual_orientation, extramarital_affairs, rating, hemoglobin, arms, "
    "treat, bmi, systolic_bp, trade_union, criminal_record, party_vote, smoker, creditScore, "
    "nbaffairs, Jahreseinkommen, HourlyRate, prescriptions, treated, "
    "doctor_visits, hospital_name, Hospitalisierung, chronic_condition, sick_leave, coughing, "
    "Jahresgehalt, gehalt, StockOptionLevel, stock, networthgroup, "
    "ph.ecog, menopause, hormone, tumorsize, priors_count, nonsmoker",
    Hint.KNOWN: "age, Alter, edad, dateOfBirth, Geburtsdatum, date de naissance, ZIP, PLZ, "
    "code_postal, sex, Geschlecht, sexe, género, race, ethnicity, marital-status, Familienstand, "
    "état civil, estado_civil, occupation, Beruf, profesión, education_level, native_country, "
    "Staatsangehörigkeit, latitude, household_size, admission_date, age_at_diagnosis, "
    "hours_per_week, weeks_worked_in_year, YearsInCurrentRole, nbenfants, "
    "racegrp, educlevel, neighbourhoodcode, Wohnfläche, DistanceFromHome, distance_to_work, "
    "commute_distance, census_tract",
    Hint.MEASURE: "score_3, takeup_rate, total, risk_index, hscore, Messwert, taux, puntuación, "
    "stop_distance, Fettgehalt, Entfernung, cens, censdead, status, event, followup_days, sexrisk",
}

OTHERS = (
    "product_name file_name x agency sexton raceway doctorate hospitality chronicle "
    "sickle Coughlin treaty stock_items"
)


@pytest.mark.every_row
@pytest.mark.parametrize("hint", KNOWN)
def test_names_are_known_in_four_languages(hint):
    names = [name.strip() for name in KNOWN[hint].split(", ")]
    found = {name: concept_of(name) and concept_of(name).hint for name in names}
    assert found == dict.fromkeys(names, hint)


def test_names_of_other_things_are_not_taken_for_those_of_people():
    assert {name: concept_of(name) for name in OTHERS.split()} == dict.fromkeys(OTHERS.split())


def test_health_is_a_special_category_and_money_is_not():
    assert concept_of("diagnosis").special
    assert concept_of("religion").special
    assert not concept_of("income").special


def test_years_and_distances_are_quantities_wherever_they_are_spent():
    assert not concept_of("YearsAtCompany").nominal
    assert not concept_of("DistanceFromHome").nominal
    assert concept_of("company").nominal


def test_numbers_of_records_and_labels_are_told_by_the_name():
    assert all(map(is_record_number, ["id", "rowid", "order_id", "Unnamed: 0", "id_order", "nr"]))
    assert not any(map(is_record_number, ["idea", "width", "age", "number of children"]))
    assert is_label("class")
    assert not is_label("class_of_worker")


def test_a_name_without_latin_letters_has_words():
    assert words_of("возраст") == ("возраст",)
    assert words_of("2024") == ()


def test_every_concept_can_be_found_by_its_first_phrase():
    for concept in CONCEPTS.values():
        phrase = concept.phrases[0].strip("=* ")
        assert concept_of(phrase).hint is concept.hint, phrase


def test_words_are_of_known_languages():
    words = toml_document("sqlanon.suggestion", "vocabulary.toml")["words"]
    assert {language for table in words.values() for language in table} == {*LANGUAGES}
