"""Re-identification risk: figures worked out by hand, against a population, for persons."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

import duckdb
import pytest
from databases import empty_database, insert, tables_of
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, Policy
from sqlanon.errors import PolicyError, SourceError

pytestmark = pytest.mark.slow


def fill(connection, table, rows, columns="age VARCHAR, sex VARCHAR"):
    connection.execute(f"CREATE OR REPLACE TABLE {table} ({columns})")
    insert(connection, table, rows)


def risk(connection, rows, **options):
    fill(connection, "t", rows)
    return sqlanon.risk(connection, Policy(["age", "sex"]), table="t", **options)


# Classes of 3, 2 and 1 records.
ROWS = [("30", "f")] * 3 + [("40", "f")] * 2 + [("40", "m")]


def test_prosecutor_risk_is_one_over_the_class_size(connection):
    figures = risk(connection, ROWS, threshold=0.4).to_dict()
    # 1/3 three times, 1/2 twice, 1 once: they add up to 3 classes, over 6 records.
    assert figures["risk"]["prosecutor_max"] == 1.0
    assert figures["risk"]["prosecutor_mean"] == 0.5
    assert figures["risk"]["records_at_risk"] == 3
    assert figures["risk"]["share_at_risk"] == 0.5
    assert (figures["unique_records"], figures["unique_share"]) == (1, pytest.approx(1 / 6))


def test_risk_agrees_with_check(connection):
    fill(connection, "t", ROWS)
    policy = Policy(["age", "sex"])
    checked = sqlanon.check(connection, policy, table="t").to_dict()
    found = sqlanon.risk(connection, policy, table="t").to_dict()
    for key in ("records", "classes", "k", "class_size", "unique_records"):
        assert found[key] == checked[key]
    for key in ("prosecutor_max", "prosecutor_mean", "records_at_risk", "threshold"):
        assert found["risk"][key] == checked["risk"][key]


def test_what_is_not_known_without_a_population_is_said(connection):
    report = risk(connection, ROWS)
    assert report.to_dict()["population"] is None
    assert "journalist risk is not known" in report.notes[0]
    assert "at most 50% of the records" in report.to_text()


def test_risk_is_text_for_a_reader(connection):
    lines = risk(connection, ROWS, threshold=0.4).to_text().split("\n")
    assert lines[:5] == [
        "6 records in 3 classes by age, sex",
        "  class size      smallest 1, median 2.0, mean 2.0, largest 3",
        "  unique records  1 (16.67%)",
        "  prosecutor      highest 100%, mean 50%; records above 40%: 3 (50%)",
        "  marketer        at most 50% of the records can be matched correctly",
    ]


# Population classes of 5, 3, 2 and 1; of the first three 2, 1 and 1 records are released, and the
# one of the last.
POPULATION = [("30", "f")] * 5 + [("40", "f")] * 3 + [("40", None)] * 2 + [(None, "m")] + ROWS[:0]
RELEASED = [("30", "f")] * 2 + [("40", "f"), ("40", None), (None, "m")]


def against(connection, rows=RELEASED, population=POPULATION, **options):
    fill(connection, "p", population)
    return risk(connection, rows, population="p", **options)


def test_journalist_risk_is_one_over_the_population_class(connection):
    figures = against(connection, threshold=0.4).to_dict()["population"]
    assert figures["journalist_max"] == 1.0
    # 2/5 + 1/3 + 1/2 + 1/1, over 5 records.
    assert figures["journalist_mean"] == pytest.approx(67 / 150, abs=1e-15)
    assert figures["marketer"] == figures["journalist_mean"]
    assert figures["records_at_risk"] == 2
    assert (figures["size"], figures["classes"]) == (11, 4)
    assert figures["sampling_fraction"] == 5 / 11


def test_population_is_in_the_text(connection):
    text = against(connection).to_text()
    assert "journalist      highest 100%, mean 44.67%; records above 20%: 3 (60%)" in text
    assert "44.67% of the records can be matched correctly with the 11 people" in text
    assert "true uniques    1 (33.33%) of 3 is unique in the population, too" in text
    assert "estimated" not in text


def test_population_without_its_people_is_one_error_with_counts(connection):
    # Class 30-f has 6 of 5, 50-f and 50-m have no match; 40-f is fine.
    released = [("30", "f")] * 6 + [("50", "f")] * 2 + [("50", "m"), ("40", "f")]
    with pytest.raises(SourceError) as caught:
        against(connection, released)
    message = str(caught.value)
    assert "2 of its 4 classes (3 of 10 records) have no match" in message
    assert "1 of its 4 classes (6 of 10 records) holds more than its match" in message
    assert "\n" not in message
    assert "50" not in message


def test_population_that_lacks_columns_is_one_error(connection):
    connection.execute("CREATE TABLE p AS SELECT 1 AS size")
    with pytest.raises(SourceError, match="the population has no columns 'age', 'sex'"):
        risk(connection, ROWS, population="p")


def test_population_of_other_types_is_one_error(connection):
    connection.execute("CREATE TABLE p AS SELECT 30 AS age, DATE '2020-01-01' AS sex")
    with pytest.raises(SourceError) as caught:
        risk(connection, ROWS, population="p")
    message = str(caught.value)
    assert "column 'age' is TEXT in the table and INT in the population" in message
    assert "column 'sex' is TEXT in the table and DATE in the population" in message


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("INTEGER", "BIGINT"),
        ("UTINYINT", "HUGEINT"),
        ("VARCHAR", "ENUM ('1', '2', '7')"),
        ("ENUM ('2', '1')", "ENUM ('1', '2')"),
        ("DATE", "DATE"),
        ("DECIMAL(5, 2)", "DECIMAL(5, 2)"),
        ("DOUBLE", "DOUBLE"),
    ],
)
def test_population_of_a_type_that_holds_the_same_values_is_compared(connection, own, other):
    values = "(DATE '2020-01-01'), (DATE '2021-01-01')" if own == "DATE" else "('1'), ('2')"
    for table, kind in (("t", own), ("p", other)):
        connection.execute(f"CREATE TABLE {table} (x {kind})")
        connection.execute(f"INSERT INTO {table} SELECT * FROM (VALUES {values}, (NULL)) v(x)")
    report = sqlanon.risk(connection, Policy(["x"]), table="t", population="p")
    assert report.population.journalist_max == 1.0
    assert report.population.size == 3


def test_population_may_be_a_file_or_a_frame(connection, tmp_path):
    fill(connection, "t", RELEASED)
    fill(connection, "p", POPULATION)
    connection.execute(f"COPY p TO '{tmp_path / 't.parquet'}'")
    connection.execute(f"COPY p TO '{tmp_path / 't.csv'}' (HEADER)")
    frame = connection.sql("FROM p").to_arrow_table()
    policy = Policy(["age", "sex"])
    wanted = sqlanon.risk(connection, policy, table="t", population="p").population
    before = connection.execute("SELECT view_name FROM duckdb_views()").fetchall()
    connection.execute("ALTER TABLE t ALTER age TYPE INTEGER")
    found = sqlanon.risk(connection, policy, table="t", population=tmp_path / "t.csv").population
    assert found == wanted
    connection.execute("ALTER TABLE t ALTER age TYPE VARCHAR")
    for population in (tmp_path / "t.parquet", str(tmp_path / "t.parquet"), frame, "main.p"):
        assert (
            sqlanon.risk(connection, policy, table="t", population=population).population == wanted
        )
    assert connection.execute("SELECT view_name FROM duckdb_views()").fetchall() == before
    assert tables_of(connection) == ["p", "t"]


def test_files_of_one_name_are_told_apart(connection, tmp_path):
    fill(connection, "t", RELEASED)
    fill(connection, "p", POPULATION)
    for table, folder in (("t", "released"), ("p", "whole")):
        (tmp_path / folder).mkdir()
        connection.execute(f"COPY {table} TO '{tmp_path / folder / 'people.parquet'}'")
    report = sqlanon.risk(
        tmp_path / "released" / "people.parquet",
        Policy(["age", "sex"]),
        population=tmp_path / "whole" / "people.parquet",
    )
    assert (report.population.size, report.population.records) == (11, 5)


def test_population_that_is_nowhere_is_an_error(connection, tmp_path):
    with pytest.raises(SourceError, match=r"there is no table 'nobody' .*no file of that name"):
        risk(connection, ROWS, population="nobody")
    with pytest.raises(SourceError, match="there is no file"):
        risk(connection, ROWS, population=tmp_path / "missing.csv")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("CREATE TABLE p AS SELECT 1 AS age")
    with pytest.raises(SourceError, match=r"'other\.duckdb' is a database"):
        risk(connection, ROWS, population=tmp_path / "other.duckdb")


# Ann has rows in two classes, in the second of which she is alone; nobody's rows are one person's.
VISITS = [
    ("ann", "30", "f"), ("ann", "30", "f"), ("bob", "30", "f"), ("ann", "40", "m"),
    ("ann", "40", "m"), ("cid", "50", "m"), (None, "50", "m"), (None, "50", "m"),
]  # fmt: skip
BY_PERSON = Policy(["age", "sex"], entity="person")
VISIT_COLUMNS = "person VARCHAR, age VARCHAR, sex VARCHAR"


def test_entity_makes_classes_count_persons(connection):
    fill(connection, "t", VISITS, VISIT_COLUMNS)
    report = sqlanon.risk(connection, BY_PERSON, table="t", threshold=0.5)
    document = report.to_dict()
    assert (document["records"], document["classes"], document["k"]) == (8, 3, 1)
    assert report.statistics.histogram == {1: 1, 2: 2}
    # Ann is as easy to find as in the class where she is alone.
    assert document["persons"] == {
        "entity": "person",
        "count": 4,
        "unique": 1,
        "risk_mean": pytest.approx((1 + 3 / 2) / 4),
        "at_risk": 1,
    }
    assert document["unique_share"] == 0.25
    assert "8 records of 4 persons in 3 classes" in report.to_text()
    assert "unique persons  4 (100%) by all their records together; 1 (25%)" in report.to_text()


def test_entity_of_one_record_each_is_as_without(connection):
    rows = [(str(number), *row) for number, row in enumerate(ROWS)]
    fill(connection, "t", rows, VISIT_COLUMNS)
    counted = sqlanon.risk(connection, Policy(["age", "sex"]), table="t").to_dict()
    persons = sqlanon.risk(connection, BY_PERSON, table="t").to_dict()
    assert persons["persons"]["unique"] == counted["unique_records"]
    for key in ("risk", "class_size", "columns", "unique_share"):
        assert persons[key] == counted[key]
    assert persons["subsets"] | {"search": 0} == counted["subsets"] | {"search": 0}


def test_entity_counts_people_of_the_population(connection):
    fill(connection, "t", VISITS[:3], VISIT_COLUMNS)
    fill(connection, "p", [*VISITS, ("dan", "30", "f"), ("dan", "30", "f")], VISIT_COLUMNS)
    found = sqlanon.risk(connection, BY_PERSON, table="t", population="p")
    assert found.population.journalist_max == pytest.approx(1 / 3)
    assert found.population.journalist_mean == pytest.approx(1 / 3)
    connection.execute("ALTER TABLE p DROP person")
    rows = sqlanon.risk(connection, BY_PERSON, table="t", population="p")
    assert rows.population.journalist_max == pytest.approx(1 / 5)
    assert any("has no column 'person': each of its rows counts" in note for note in rows.notes)


def test_entity_that_is_also_dropped_or_missing(connection):
    fill(connection, "t", VISITS, VISIT_COLUMNS)
    policy = Policy(["age", "sex"], entity="person", identifiers=["person"])
    assert sqlanon.risk(connection, policy, table="t").persons.members == 4
    misspelt = sqlanon.risk(connection, Policy(["age"], entity="persn"), table="t")
    assert misspelt.persons is None
    assert any("(--entity person)" in note for note in misspelt.notes)


def test_table_that_was_published_without_its_entity_counts_records(connection):
    fill(connection, "t", VISITS, VISIT_COLUMNS)
    fill(connection, "p", VISITS * 2, VISIT_COLUMNS)
    connection.execute("ALTER TABLE t DROP person")
    connection.execute("DELETE FROM t WHERE age <> '30'")
    connection.execute("UPDATE p SET person = person || rowid WHERE age = '30'")
    report = sqlanon.risk(connection, BY_PERSON, table="t", population="p")
    assert report.persons is None
    assert any("no column 'person': records are counted" in note for note in report.notes)
    # The population still counts its people, which are fewer than its rows in the other classes.
    assert (report.population.records, report.population.size) == (3, 6 + 1 + 2)


@pytest.mark.parametrize("bad", [0, -0.1, 1.1, math.nan])
def test_shares_out_of_range_are_errors(connection, bad):
    for option, name in (("threshold", "risk threshold"), ("identifying", "identifying share")):
        with pytest.raises(PolicyError, match=f"{name} .* is not a share above 0 and at most 1"):
            risk(connection, ROWS, **{option: bad})


def test_number_of_columns_out_of_range_is_an_error(connection):
    with pytest.raises(PolicyError, match=r"max_columns .* is not a whole number"):
        risk(connection, ROWS, max_columns=-1)


def test_table_without_records_is_an_error(connection):
    with pytest.raises(SourceError, match="the table is empty"):
        risk(connection, [])


def test_columns_whose_values_cannot_be_told_apart_are_errors(connection):
    connection.execute("CREATE TABLE t AS SELECT [1] AS l, INTERVAL 1 DAY AS i, 'a' AS x")
    with pytest.raises(SourceError, match=r"nested type: 'l'.*INTERVAL: 'i'"):
        sqlanon.risk(connection, Policy(["l", "i", "x"]), table="t")
    connection.execute("CREATE TABLE p AS SELECT 'a' COLLATE NOCASE AS x")
    with pytest.raises(SourceError, match="collation: 'x'"):
        sqlanon.risk(connection, Policy(["x"]), table="t", population="p")


def test_progress_tells_how_many_sets_are_counted(connection):
    lines = []
    risk(connection, ROWS, progress=lines.append)
    assert lines[-1] == "sets of columns: 3 sets counted of at most 3"
    assert lines[-1].share == 1


keys = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", None]))
people = st.lists(st.tuples(st.integers(0, 6), keys), min_size=1, max_size=20)
DATABASE = empty_database()


@settings(max_examples=20)
@given(people, people, st.booleans(), st.sampled_from([0.2, 0.4, 0.9]))
def test_population_risk_agrees_with_a_count_in_python(released, others, by_person, threshold):
    """Persons of the table and of the others differ, so that the union holds everybody."""
    whole = [*released, *((person + 10, key) for person, key in others)]
    for table, rows in (("t", released), ("p", whole)):
        fill(DATABASE, table, [(*key, who) for who, key in rows], "a VARCHAR, b VARCHAR, who INT")
    policy = Policy(["a", "b"], entity="who" if by_person else None)
    report = sqlanon.risk(
        DATABASE, policy, table="t", population="p", threshold=threshold, max_columns=0
    )
    sizes, matched = (class_sizes(rows, by_person) for rows in (released, whole))
    total = sum(sizes.values())
    population = report.population
    assert population.journalist_max == max(1 / matched[key] for key in sizes)
    mean = sum(Fraction(size, matched[key]) for key, size in sizes.items()) / total
    assert population.journalist_mean == pytest.approx(float(mean), abs=1e-15)
    assert population.at_risk == sum(s for key, s in sizes.items() if 1 / matched[key] > threshold)
    assert population.size == sum(matched.values())
    assert population.true_uniques == sum(s == matched[key] == 1 for key, s in sizes.items())
    assert population.population_uniques == sum(size == 1 for size in matched.values())
    assert report.statistics.histogram == Counter(sizes.values())


def class_sizes(rows, by_person):
    """Records, or persons, of each class."""
    members = defaultdict(list)
    for who, key in rows:
        members[key].append(who)
    return {key: len(set(who) if by_person else who) for key, who in members.items()}


@settings(max_examples=20)
@given(people, st.sampled_from([0.2, 0.4, 0.9]))
def test_persons_agree_with_a_count_in_python(rows, threshold):
    fill(DATABASE, "t", [(*key, who) for who, key in rows], "a VARCHAR, b VARCHAR, who INT")
    policy = Policy(["a", "b"], entity="who")
    persons = sqlanon.risk(DATABASE, policy, table="t", threshold=threshold, max_columns=0).persons
    sizes = class_sizes(rows, True)
    smallest = {}
    for who, key in rows:
        smallest[who] = min(smallest.get(who, len(rows)), sizes[key])
    assert persons.histogram == Counter(smallest.values())
    assert persons.records == len(rows)
    assert persons.at_risk(threshold) == sum(1 / size > threshold for size in smallest.values())
    assert persons.mean_risk == pytest.approx(
        sum(1 / s for s in smallest.values()) / persons.members
    )


@pytest.mark.parametrize(
    ("text", "quasi", "form"),
    [
        ("x\n1.50\n2.25\n", ["x"], {}),
        ("x\n1.50\n2.25\n", {"x": Hierarchy.intervals(5)}, {}),
        ("x\n31/12/2020\n30/11/2020\n", ["x"], {"date_format": "%d/%m/%Y"}),
        ("x\n31/12/2020\n", {"x": Hierarchy.dates("month")}, {"date_format": "%d/%m/%Y"}),
    ],
)
def test_a_file_is_its_own_population(tmp_path, text, quasi, form):
    path = tmp_path / "own.csv"
    path.write_text(text)
    found = sqlanon.risk(path, Policy(quasi), population=path, **form).to_dict()
    assert found["population"]["population_uniques"] == text.count("\n") - 1


def test_a_format_of_texts_is_no_fault_of_a_parquet_population(tmp_path, connection):
    own, everybody = tmp_path / "own.csv", tmp_path / "everybody.parquet"
    own.write_text("day\n31/12/2020\n")
    connection.execute(f"COPY (SELECT DATE '2020-12-31' AS day) TO '{everybody}'")
    policy = Policy({"day": Hierarchy.dates("month")})
    found = sqlanon.risk(own, policy, population=everybody, date_format="%d/%m/%Y")
    assert found.to_dict()["population"]["population_uniques"] == 1
