"""Suggested roles and hierarchies, on tables whose columns say what they are, or do not."""

import math
import tomllib

import pytest
from databases import empty_database, tables_of
from sqlglot import exp

import sqlanon
from sqlanon import Hierarchy, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.suggestion import hierarchies, profile, suggesting
from sqlanon.suggestion.roles import Role

PEOPLE = """
CREATE TABLE people AS SELECT
    1000 + range AS person_id,
    'Person ' || range AS name,
    'p' || range || '@example.org' AS contact,
    18 + range * 7 % 67 AS age,
    DATE '1930-01-01' + (range * 97 % 28000)::INTEGER AS born,
    TIMESTAMP '2024-01-01' + INTERVAL (range * 37) MINUTE AS seen,
    TIMESTAMPTZ '2024-01-01 00:00:00+00' + INTERVAL (range) HOUR AS sent,
    printf('%05d', 10000 + range * 131 % 700 * 37) AS zip,
    CASE range % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex,
    'job ' || chr((97 + range * 11 % 23)::INTEGER) AS job,
    CASE range % 3 WHEN 0 THEN 'flu' WHEN 1 THEN 'cough' END AS diagnosis,
    (range * 7919 % 90000) / 100 AS salary,
    'the ' || range || 'th of many remarks that name somebody' AS remarks,
    0.5 + range * 31 % 997 / 997 AS survey_weight,
    'same' AS constant,
    CASE WHEN range % 50 = 0 THEN range % 7 END AS rare,
    [range] AS listed,
    'blob'::BLOB AS picture,
    range % 11 = 0 AS flag,
    NULL::INTEGER AS nothing
FROM range(2000)
"""


@pytest.fixture(scope="module")
def connection():
    with empty_database() as opened:
        opened.execute(PEOPLE)
        yield opened


@pytest.fixture(scope="module")
def suggestion(connection):
    return sqlanon.suggest(connection, table="people")


def of(connection, query, **how):
    """The columns of a suggestion for the rows of a query, by name."""
    connection.execute(f"CREATE OR REPLACE TABLE drawn AS {query}")
    return {each.name: each for each in sqlanon.suggest(connection, table="drawn", **how).columns}


def test_every_column_has_the_role_that_its_name_type_and_figures_suggest(suggestion):
    assert {each.name: each.role.value for each in suggestion.columns} == {
        **dict.fromkeys(("person_id", "name", "contact", "remarks"), "identifier"),
        **dict.fromkeys(("age", "born", "seen", "sent", "zip", "sex", "job"), "quasi-identifier"),
        **dict.fromkeys(("diagnosis", "salary"), "sensitive"),
        **dict.fromkeys(("survey_weight", "constant", "rare", "listed", "nothing"), "undecided"),
        **dict.fromkeys(("picture", "flag"), "undecided"),
    }
    assert suggestion.undecided == (
        "survey_weight", "constant", "rare", "listed", "picture", "flag", "nothing",
    )  # fmt: skip
    assert all(suggestion.reasons[each.name] for each in suggestion.columns)


def test_hierarchies_suit_the_values(suggestion):
    found = {each.name: each.described() for each in suggestion.of(Role.QUASI_IDENTIFIER)}
    assert found == {
        "age": "intervals of 5, 10, 20, open below 20, open from 80",
        "born": "dates by month, quarter, year, decade",
        "seen": "dates by day, week",
        "sent": found["sent"],
        "zip": "prefixes of 3, 2, 1 characters",
        "sex": "suppression",
        "job": "hierarchy_job.csv, to be filled in",
    }
    assert "AT TIME ZONE 'UTC'" in found["sent"]


@pytest.mark.slow
def test_nothing_is_published_before_all_is_decided(connection, suggestion):
    with pytest.raises(PolicyError, match="7 columns have no role"):
        sqlanon.anonymize(connection, suggestion.policy, table="people", into="published")
    settled = suggestion
    for name in suggestion.undecided:
        settled = settled.with_column(name, "drop")
    report = sqlanon.anonymize(connection, settled.policy, table="people", into="published")
    assert report.holds
    columns = connection.execute("FROM published LIMIT 0").description
    assert [name for name, *_ in columns] == [
        each.name
        for each in settled.columns
        if each.role.value in ("quasi-identifier", "sensitive")
    ]
    connection.execute("DROP TABLE published")


def test_lines_without_their_mark_settle_what_is_undecided(suggestion, tmp_path):
    written = suggestion.write(tmp_path / "policy.toml")
    text = (tmp_path / "policy.toml").read_text()
    for mark, settled in (
        ("# drop = [", suggestion.undecided),
        ('# others = "drop"', None),
        ("# t = 0.3", None),
    ):
        (tmp_path / "policy.toml").write_text(text.replace(mark, mark.removeprefix("# ")))
        policy = Policy.from_toml(tmp_path / "policy.toml")
        assert policy != written.policy
        assert policy.drop == (settled or ())


@pytest.mark.slow
def test_the_table_is_left_as_it_is_and_nothing_stays_beside_it(connection):
    before = tables_of(connection)
    sqlanon.suggest(connection, table="people")
    assert tables_of(connection) == before


def test_columns_that_only_together_make_records_unique_are_quasi_identifiers(connection):
    found = of(
        connection,
        "SELECT range % 40 AS p, range // 40 AS q, range % 2 AS r, 7 AS s FROM range(1600)",
    )
    assert {name: each.role.value for name, each in found.items()} == {
        "p": "quasi-identifier", "q": "quasi-identifier", "r": "undecided", "s": "undecided",
    }  # fmt: skip
    assert found["p"].reason == (
        "beside all other columns it makes another 100% of the records unique"
    )


def test_columns_that_are_known_with_sensitive_ones_alone_count_too(connection):
    found = of(
        connection,
        "SELECT range % 40 AS x, range // 40 AS income FROM range(1600)",
    )
    assert found["income"].role.value == "sensitive"
    assert found["x"].role.value == "quasi-identifier"
    assert "beside all other columns it makes another 100%" in found["x"].reason


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("beside", "pairs", "name", "role"),
    [
        ("age", 25, "x", "quasi-identifier"),
        ("age", 24, "x", "undecided"),
        ("age", 25, "b12", "undecided"),
        ("income", 250, "x", "quasi-identifier"),
        ("income", 249, "x", "undecided"),
    ],
)
def test_a_column_of_unknown_meaning_counts_by_how_many_records_it_makes_unique(
    connection, beside, pairs, name, role
):
    query = f"""
    SELECT if(range < {2 * pairs}, range // 2, 10000) AS {beside}, range % 2 AS {name}
    FROM range(1000)"""
    assert of(connection, query)[name].role.value == role


@pytest.mark.slow
@pytest.mark.parametrize("known", [11, 12])
def test_beside_many_known_columns_none_of_unknown_meaning_is_a_quasi_identifier(connection, known):
    ages = [f"hash(range, {number}) % 3 AS age_{number}" for number in range(known)]
    found = of(connection, f"SELECT {', '.join(ages)}, 'v' || range % 500 AS x FROM range(2000)")
    assert (found["x"].role.value == "undecided") == (known == suggesting.MAX_QUASI_IDENTIFIERS)


def test_of_very_many_columns_those_of_most_values_are_put_together(connection, monkeypatch):
    query = "SELECT range % 40 AS p, range // 40 AS q, range % 2 AS r FROM range(1600)"
    assert of(connection, query)["q"].role.value == "quasi-identifier"
    monkeypatch.setattr(suggesting, "MAX_TOGETHER", 1)
    assert {own.role.value for own in of(connection, query).values()} == {"undecided"}


def test_one_sensitive_value_of_all_is_told_of_everybody(connection):
    found = of(connection, "SELECT range % 40 AS age, 'flu' AS diagnosis FROM range(80)")
    assert found["diagnosis"].role.value == "sensitive"
    assert "tells it of everybody" in found["diagnosis"].reason


@pytest.mark.slow
def test_more_quasi_identifiers_than_a_table_can_have_are_told_of(connection):
    for number, is_told in ((12, False), (13, True)):
        names = ", ".join(f"hash(range, {one}) % 3 AS age_{one}" for one in range(number))
        connection.execute(f"CREATE OR REPLACE TABLE drawn AS SELECT {names} FROM range(60)")
        notes = sqlanon.suggest(connection, table="drawn").notes
        assert any("leave little to publish" in note for note in notes) is is_told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frequent", "k", "least"),
    [(79, 5, 2), (81, 5, None), (60, 2, None), (85, 10, 2), (100, 5, None)],
)
def test_sensitive_columns_hold_two_values_where_records_of_k_have_another(
    connection, frequent, k, least
):
    connection.execute(
        "CREATE OR REPLACE TABLE drawn AS SELECT hash(range) % 40 AS age, "
        f"if(hash(range, 1) % 1000 < {10 * frequent}, 'flu', 'asthma') AS diagnosis "
        "FROM range(4000)"
    )
    found = sqlanon.suggest(connection, table="drawn", k=k)
    own = found.policy.sensitive_attributes["diagnosis"]
    assert [model.l for model in own.models] == [least] * (least is not None)
    assert ("seldom hold another" in found.to_toml()) == (least is None and frequent < 100)
    report = sqlanon.anonymize(
        connection, found.policy, table="drawn", into="published", overwrite=True
    )
    assert report.holds
    assert report.suppressed_records < 0.02 * 4000
    connection.execute("DROP TABLE published")


@pytest.mark.parametrize(
    ("values", "described"),
    [
        ("range % 3", "suppression"),
        (
            "CASE WHEN range % 30 = 0 THEN 17.5 ELSE 18 + range % 14 END::DOUBLE",
            "intervals of 2, 4",
        ),
        ("range % 90", "intervals of 5, 10, 20, open below 5, open from 85"),
        ("range * 1000 % 200000", "intervals of 10000, 50000, 100000, open below 10000, open from"),
        ("CASE WHEN range % 10 = 0 THEN range % 777 ELSE 0 END", "intervals of"),
        ("DATE '2024-01-01' + (range % 30)::INTEGER", "dates by week"),
        ("DATE '2020-01-01' + (range % 1000)::INTEGER", "dates by month, quarter, year"),
        ("TIME '00:00:00' + INTERVAL (range % 300) MINUTE", "prefixes of 5, 2 characters"),
        (
            "printf('%02d/%02d/%d', range % 28 + 1, range % 12 + 1, 1950 + range % 60)",
            "expressions",
        ),
        ("'v' || range % 6 || 'x'", "suppression"),
        ("'val ' || range % 50", "hierarchy_age.csv, to be filled in"),
    ],
)
def test_a_hierarchy_follows_the_values(connection, values, described):
    own = of(connection, f"SELECT {values} AS age FROM range(1200)")["age"]
    assert own.described().startswith(described)


def test_places_are_generalized_on_a_round_grid_without_ends(connection):
    found = of(
        connection,
        "SELECT 48.1 + range * 7919 % 10007 / 50000 AS latitude, range * 31 % 40 AS age "
        "FROM range(5000)",
    )
    assert found["latitude"].role.value == "quasi-identifier"
    assert found["latitude"].described() == "intervals of 0.01, 0.05, 0.1"


@pytest.mark.parametrize("text", ["'level ' || range % 16", "range % 16"])
def test_of_columns_that_say_the_same_one_is_left_out(connection, text):
    found = of(
        connection,
        f"SELECT 30 - range % 16 AS education_num, {text} AS education, range % 17 AS age, "
        "DATE '2000-01-01' + range::INTEGER AS born, DATE '2020-01-01' - range::INTEGER AS died, "
        "range = 7 AS is_married, range = 7 AS is_veteran FROM range(1000)",
    )
    kept, left = sorted(["education", "education_num"], reverse="level" not in text)
    assert (found[left].role.value, found[kept].role.value) == ("drop", "quasi-identifier")
    assert f"it says the same as {kept!r}" in found[left].reason
    by_chance = ("age", "born", "died", "is_married", "is_veteran")
    assert {found[name].role.value for name in by_chance} == {"quasi-identifier"}


def test_of_two_columns_of_two_values_that_say_the_same_one_is_left_out(connection):
    found = of(
        connection,
        "SELECT if(range % 2 = 0, 'f', 'm') AS sex, range % 2 AS gender, range % 17 AS age "
        "FROM range(300)",
    )
    assert (found["sex"].role.value, found["gender"].role.value) == ("quasi-identifier", "drop")


def test_columns_that_differ_beyond_the_sample_are_both_kept(connection, monkeypatch):
    monkeypatch.setattr(profile, "MAX_WHOLE_RECORDS", 1000)
    monkeypatch.setattr(profile, "SAMPLE_RECORDS", 500)
    monkeypatch.setattr(profile, "MIN_SAMPLE_RECORDS", 100)
    query = "SELECT range AS id, range % 9 AS age, {} AS age_group FROM range(4000)"
    assert of(connection, query.format("range % 9"))["age_group"].role.value == "drop"
    differing = {
        of(connection, query.format(f"if(range = {row}, 3, range % 9)"))["age_group"].role.value
        for row in (1, 2, 4)
    }
    assert differing == {"quasi-identifier"}


@pytest.mark.parametrize(
    ("values", "role"),
    [
        ("hash(range) % 700 / 10", "undecided"),
        (
            "CASE range % 50 WHEN 0 THEN 'NA' ELSE (hash(range) % 700 / 10)::VARCHAR END",
            "undecided",
        ),
        ("100 + hash(range) % 3000", "undecided"),
        ("1900 + hash(range) % 110", "quasi-identifier"),
        ("hash(range) % 110", "quasi-identifier"),
        ("10000 + hash(range) % 700", "quasi-identifier"),
        ("hash(range) % 18 / 2.0", "quasi-identifier"),
    ],
)
def test_measurements_of_unknown_meaning_are_left_to_whoever_knows_it(connection, values, role):
    query = f"SELECT 20 + range % 50 AS age, range % 2 AS sex, {values} AS figure FROM range(900)"
    found = of(connection, query)["figure"]
    assert found.role.value == role
    assert ("others seldom know exactly" in found.reason) == (role == "undecided")


def test_a_named_score_of_few_values_is_undecided(connection):
    found = of(connection, "SELECT range % 7 AS score, 20 + range % 61 AS age FROM range(500)")
    assert "suggests a score" in found["score"].reason
    assert "is left with 71.4 records on average" in found["score"].reason


@pytest.mark.slow
def test_of_many_columns_those_that_tell_most_are_quasi_identifiers(connection):
    names = ", ".join(f"hash(range, {one}) % {one} AS x{one}" for one in range(3, 23))
    found = of(connection, f"SELECT range % 50 AS age, {names} FROM range(1000)")
    quasi = [name for name, own in found.items() if own.role.value == "quasi-identifier"]
    assert len(quasi) == suggesting.MAX_QUASI_IDENTIFIERS
    assert "age" in quasi
    assert {"x22", "x21", "x20"} < {*quasi}
    assert found["x22"].reason.startswith("together with 'age' it makes ")
    assert "neither its name nor its figures" in found["x3"].reason


def test_numbers_of_a_panel_are_persons(connection):
    found = of(connection, "SELECT range // 5 AS id, range % 5 AS wave FROM range(1000)")
    assert found["id"].is_entity
    assert not of(connection, "SELECT range % 5 AS code FROM range(1000)")["code"].is_entity


@pytest.mark.slow
def test_a_frame_is_a_table(connection):
    frame = connection.sql("SELECT * EXCLUDE (listed, picture) FROM people").to_arrow_table()
    found = sqlanon.suggest(frame)
    assert found.policy.identifiers == ("person_id", "name", "contact", "remarks")
    with pytest.raises(PolicyError, match="a frame is the table itself"):
        sqlanon.suggest(frame, table="people")


def test_it_shows_itself_in_a_notebook(suggestion):
    shown = suggestion._repr_html_()
    assert "4 identifiers, 7 quasi-identifiers, 2 sensitive, 7 undecided" in shown
    assert "hierarchy_job.csv, to be filled in" in shown
    assert "job a" not in shown


@pytest.mark.parametrize("rows", ["SELECT 1 AS age", "SELECT NULL::INTEGER AS x, NULL AS y"])
def test_a_table_of_one_record_has_a_draft(connection, rows):
    connection.execute(f"CREATE OR REPLACE TABLE drawn AS {rows}")
    found = sqlanon.suggest(connection, table="drawn")
    assert found.records == 1
    assert Policy.from_dict(found.policy.to_dict()) == found.policy


def test_codes_are_no_quantities(connection):
    own = of(connection, "SELECT range % 30 * 17 AS occupation_code FROM range(1200)")
    assert own["occupation_code"].file == "hierarchy_occupation_code.csv"
    own = of(connection, "SELECT 10000 + range * 131 % 900 * 37 AS zip FROM range(3000)")
    assert own["zip"].hierarchy == Hierarchy.prefix(3, 2, 1)


def test_a_mark_for_no_value_among_numbers_is_told_of(connection):
    connection.execute(
        "CREATE OR REPLACE TABLE drawn AS SELECT CASE WHEN range % 9 = 0 THEN 'NA' ELSE "
        "(range * 7919 % 9973)::VARCHAR END AS reading, '0' || range % 9 || '/02/1990' AS day "
        "FROM range(500)"
    )
    found = sqlanon.suggest(connection, table="drawn")
    assert found.files == {}
    notes = " ".join(found.notes)
    assert "'reading' would be numbers" in notes
    assert "--nullstr" in notes
    assert "'day' looks like dates" in notes


@pytest.mark.slow
def test_dates_as_texts_are_told_of_in_the_formats_that_fit_them(connection):
    connection.execute(
        "CREATE OR REPLACE TABLE drawn AS SELECT 20 + range % 40 AS age, "
        "strftime(day, '%d-%m-%Y') AS a, strftime(day, '%d-%m-%Y') AS b, "
        "strftime(day, '%m.%d.%Y') AS c, strftime(day, '0%u/0%u/%Y') AS d, "
        "if(range % 3 = 0, strftime(day, '%d-%m-%Y'), strftime(day, '%m/%d/%Y')) AS e "
        "FROM (SELECT range, DATE '1984-01-01' + (range * 37)::INTEGER AS day FROM range(200))"
    )
    found = sqlanon.suggest(connection, table="drawn")
    assert found.notes == (
        "columns 'a' and 'b' look like dates; say how they are written with date_format "
        "(--date-format %d-%m-%Y), and run this again",
        "column 'c' looks like dates; say how they are written with date_format "
        "(--date-format %m.%d.%Y), and run this again",
        "column 'd' looks like dates; say how they are written with date_format "
        "(--date-format %d/%m/%Y or %m/%d/%Y), and run this again",
        "column 'e' looks like dates, but no one way of writing fits all their values; write them "
        "in one, and run this again",
    )


def test_sensitive_figures_that_few_records_share_are_to_be_rounded_first(connection):
    connection.execute(
        "CREATE OR REPLACE TABLE drawn AS SELECT 20 + range % 40 AS age, "
        "hash(range) % 700 / 10 AS wage, 1000 * (hash(range) % 300) AS debt, "
        "hash(range) % 90 AS bonus FROM range(1000)"
    )
    found = sqlanon.suggest(connection, table="drawn")
    told = {name: "round it first" in found.reasons[name] for name in ("wage", "debt", "bonus")}
    assert told == {"wage": True, "debt": True, "bonus": False}
    assert {found.policy.attributes.get(name) for name in told} == {None}
    [note] = [note for note in found.notes if "round the values first" in note]
    assert note.startswith("columns 'wage' and 'debt' would be published as they are")


@pytest.mark.parametrize(
    ("name", "values", "role", "described"),
    [
        ("month_of_diagnosis", "strftime(day, '%Y-%m')", "quasi-identifier", "expressions"),
        ("diagnosis", "strftime(day, '%d.%m.%Y')", "quasi-identifier", "expressions"),
        ("year_of_diagnosis", "year(day)", "quasi-identifier", "intervals"),
        ("diagnosis", "day::TIMESTAMPTZ", "quasi-identifier", "expressions"),
        ("diagnosis", "year(day)", "sensitive", ""),
        ("income_year", "20000 + range * 7919 % 9973", "sensitive", ""),
    ],
)
def test_when_something_was_found_is_known_to_others(connection, name, values, role, described):
    query = f"""
    SELECT 20 + range % 40 AS age, {values} AS {name}
    FROM (SELECT range, DATE '1940-01-01' + (range * 37)::INTEGER AS day FROM range(600))"""
    own = of(connection, query)[name]
    assert own.role.value == role
    assert own.described().startswith(described)


def test_a_column_in_another_role_keeps_its_figures(suggestion):
    changed = suggestion.with_column("zip", "quasi-identifier", hierarchy=Hierarchy.prefix(2))
    assert changed.policy.attributes["zip"].hierarchy == Hierarchy.prefix(2)
    dropped = changed.with_column("zip", "drop")
    assert "zip" in dropped.policy.drop
    assert dropped.reasons["zip"] == "as you decided"
    assert "\ndrop = [" in dropped.to_toml()


@pytest.mark.parametrize(
    ("column", "role", "hierarchy", "error", "part"),
    [
        ("zipp", "keep", None, PolicyError, "no column 'zipp'; did you mean 'zip'?"),
        ("zip", "public", None, PolicyError, "role 'public' is not known"),
        ("zip", "keep", Hierarchy.prefix(2), PolicyError, "a hierarchy is for quasi-identifiers"),
        ("zip", "quasi-identifier", Hierarchy.intervals(5), HierarchyError, "needs a numeric"),
    ],
)
def test_what_does_not_fit_a_column_is_refused(suggestion, column, role, hierarchy, error, part):
    with pytest.raises(error) as caught:
        suggestion.with_column(column, role, hierarchy=hierarchy)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("how", "part"),
    [
        ({"k": 0}, "k 0 is not a whole number"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"suppression_limit": 2}, "suppression_limit 2 is not a share"),
    ],
)
def test_figures_out_of_range_are_refused(connection, how, part):
    with pytest.raises(PolicyError, match=part):
        sqlanon.suggest(connection, table="people", **how)


def test_an_empty_table_is_refused(connection):
    connection.execute("CREATE OR REPLACE TABLE empty AS FROM people LIMIT 0")
    with pytest.raises(SourceError, match="the table is empty"):
        sqlanon.suggest(connection, table="empty")


@pytest.mark.slow
def test_a_large_table_is_sampled_and_says_so(connection, suggestion, monkeypatch):
    monkeypatch.setattr(profile, "MAX_WHOLE_RECORDS", 1000)
    monkeypatch.setattr(profile, "SAMPLE_RECORDS", 500)
    monkeypatch.setattr(profile, "MIN_SAMPLE_RECORDS", 100)
    monkeypatch.setattr(profile, "MIN_VALUES_COUNTED", 50)
    found = sqlanon.suggest(connection, table="people")
    assert 300 < found.looked_at < 700
    assert found.records == 2000
    assert f"a sample of {found.looked_at:,} of 2,000 records" in found.notes[0]
    assert "of which a sample of" in found.to_toml()
    # In a sample a column makes a larger share of the records unique.
    same = {each.name: each.role for each in suggestion.columns if each.name != "flag"}
    assert {each.name: each.role for each in found.columns if each.name != "flag"} == same
    # A value that stands in four records is rare in a sample, but not in the table.
    monkeypatch.setattr(profile, "MIN_VALUES_COUNTED", 10)
    own = of(connection, "SELECT range // 4 AS n, range % 4 AS m FROM range(2000)")
    assert own["n"].figures["uniqueness"] == pytest.approx(0.25, abs=0.05)


@pytest.mark.slow
def test_neither_threads_nor_the_order_of_the_rows_change_a_draft(suggestion):
    with empty_database(threads=2) as other:
        other.execute(PEOPLE.replace("CREATE TABLE people AS", "CREATE TABLE made AS"))
        other.execute("CREATE TABLE people AS FROM made ORDER BY hash(person_id)")
        assert sqlanon.suggest(other, table="people").columns == suggestion.columns


def test_a_large_table_of_few_different_records_is_looked_at_whole(connection, monkeypatch):
    monkeypatch.setattr(profile, "MAX_WHOLE_RECORDS", 1000)
    monkeypatch.setattr(profile, "MIN_SAMPLE_RECORDS", 1000)
    connection.execute("CREATE OR REPLACE TABLE drawn AS SELECT range % 8 AS age FROM range(5000)")
    found = sqlanon.suggest(connection, table="drawn")
    assert found.looked_at == found.records == 5000


def test_no_more_files_are_to_be_filled_in_than_anybody_would(connection, monkeypatch):
    monkeypatch.setattr(suggesting, "MAX_FILES", 1)
    found = of(
        connection, "SELECT 'x' || range % 9 AS job, 'y' || range % 8 AS city FROM range(200)"
    )
    assert (found["job"].file, found["city"].file) == ("hierarchy_job.csv", None)
    assert found["city"].hierarchy == Hierarchy.suppression()


def test_a_collation_is_no_basis_for_classes(connection):
    connection.execute("CREATE OR REPLACE TABLE drawn (city VARCHAR COLLATE NOCASE, age INTEGER)")
    connection.execute("INSERT INTO drawn SELECT 'town ' || range % 9, range % 50 FROM range(300)")
    found = sqlanon.suggest(connection, table="drawn")
    assert found.undecided == ("city",)
    assert "collation" in found.reasons["city"]


def test_a_document_holds_roles_reasons_hierarchies_and_figures(suggestion):
    document = suggestion.to_dict()
    assert document["columns"]["age"] == {
        "role": "quasi-identifier",
        "reason": suggestion.reasons["age"],
        "type": "BIGINT",
        "hierarchy": {"intervals": [5, 10, 20], "low": 20, "high": 80},
        "remark": "intervals of 5, 10, 20 on round borders; below 20 and from 80 on one group each",
        "figures": {"values": 67, "uniqueness": 0.0335, "nulls": 0.0},
    }
    assert document["columns"]["sex"]["hierarchy"] == {"suppress": True}
    assert document["files"] == ["hierarchy_job.csv"]
    assert "draft" in document["advisory"]
    assert repr(suggestion) == (
        "<Suggestion: 4 identifiers, 7 quasi-identifiers, 2 sensitive, 7 undecided>"
    )


def test_no_quantile_of_few_numbers_is_near_an_extreme():
    with empty_database() as opened:
        opened.execute("CREATE TABLE people AS SELECT range AS age FROM range(100)")
        engine = DuckDB(opened)
        with engine.workspace():
            found = profile.profile_table(engine, engine.tables.resolve("people"), k=10)
    quantiles = found.columns[0].numbers.quantiles
    assert sum(age <= quantiles[0] for age in range(100)) >= 10
    assert sum(age >= quantiles[-1] for age in range(100)) >= 10


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("uniqueness", "distinct", "listed"),
    [(0.4, 40, True), (0.8, 80, False), (0.4, hierarchies.MAX_LEAVES + 1, False)],
)
def test_values_that_hardly_repeat_are_listed_in_no_file(uniqueness, distinct, listed):
    found = profile.ColumnProfile(
        "job",
        exp.DataType.build("VARCHAR", dialect="duckdb"),
        round(distinct / uniqueness),
        present=round(distinct / uniqueness),
        distinct=distinct,
        uniqueness=uniqueness,
        lengths=(2, 5.0, 9),
    )
    assert hierarchies.draft_hierarchy(found).is_listed is listed


@pytest.mark.slow
def test_a_method_that_ends_soon_is_suggested_for_a_large_lattice(connection, monkeypatch):
    draft = sqlanon.suggest(connection, table="people")
    heights = [own.hierarchy.height for own in draft.policy.quasi_identifiers.values()]
    assert draft.nodes == math.prod(height + 1 for height in heights)
    monkeypatch.setattr("sqlanon.suggestion.suggestion.MANY_NODES", draft.nodes)
    assert (draft.method, "method" in tomllib.loads(draft.to_toml())) == (None, False)
    trial = draft.to_toml().replace("# method", "method")
    assert tomllib.loads(trial)["method"] == "mondrian"
    monkeypatch.setattr("sqlanon.suggestion.suggestion.MANY_NODES", draft.nodes - 1)
    assert tomllib.loads(draft.to_toml())["method"] == draft.to_dict()["method"] == "mondrian"
    for name in draft.undecided:
        draft = draft.with_column(name, "drop")
    assert sqlanon.plan(connection, draft, table="people").report.method == "mondrian"


@pytest.mark.parametrize(
    ("query", "role"),
    [
        ("range % 60 AS column0, range % 7 AS age", "identifier"),
        ("range % 60 AS column00, range % 7 AS age", "identifier"),
        ("'row ' || range % 60 AS column0, range % 7 AS age", "identifier"),
        ("range % 3 AS column0, range % 7 AS age", "quasi-identifier"),
        ("range % 60 AS column0, range % 7 AS column1", "quasi-identifier"),
    ],
)
def test_a_first_column_called_as_one_without_a_name_holds_row_names(connection, query, role):
    found = next(iter(of(connection, f"SELECT {query} FROM range(300)").values()))
    assert (found.role.value == "identifier") == (role == "identifier")
    as_unnamed = "it is called as a first column without a name is"
    assert (as_unnamed in found.reason) == (role == "identifier")


def test_the_first_survey_weight_from_one_on_is_drafted_as_weight(connection):
    rows = "1 + range * 31 % 997 / 10 AS sample_weight, 1 + range % 9 AS household_weight"
    connection.execute(
        f"CREATE OR REPLACE TABLE drawn AS SELECT range % 60 AS age, {rows} FROM range(2000)"
    )
    suggestion = sqlanon.suggest(connection, table="drawn")
    assert suggestion.weight == suggestion.policy.weight == "sample_weight"
    assert 'weight = "sample_weight"' in suggestion.to_toml()
    assert suggestion.undecided == ("household_weight",)
    assert "'sample_weight' is taken for that" in suggestion.reasons["household_weight"]
    changed = suggestion.with_column("household_weight", "weight")
    assert changed.policy.weight == "household_weight"
    assert changed.undecided == ("sample_weight",)
