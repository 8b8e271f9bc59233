"""Individual and household risk by survey weights, against direct sums and a published example."""

import math
from collections import defaultdict

import pytest
from databases import empty_database
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.errors import PolicyError, SourceError

pytestmark = pytest.mark.slow

POLICY = Policy(["age", "sex"], weight="w", household="home")
COLUMNS = "age VARCHAR, sex VARCHAR, w DOUBLE, home INTEGER"


def posterior(f, people):
    """E[1 / F | f], F negative binomial from f on with probability f / people: term by term."""
    p = f / people
    probability, size, total, left = p**f, f, 0.0, 1.0
    while left > 1e-13:
        total += probability / size
        left -= probability
        probability *= (1 - p) * size / (size + 1 - f)
        size += 1
        if size > 200 * people:
            break
    return total


def risk(rows, policy=POLICY, columns=COLUMNS, **options):
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE t ({columns})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", rows)
        return sqlanon.risk(connection, policy, table="t", max_columns=0, **options)


RECORDS = st.tuples(
    st.sampled_from(["30", "40"]),
    st.sampled_from(["f", None]),
    st.one_of(st.floats(1, 60), st.integers(1, 3).map(float)),
    st.integers(1, 4),
)


@settings(max_examples=25)
@given(st.lists(RECORDS, min_size=1, max_size=40), st.sampled_from([0.05, 0.2, 1]))
def test_risks_equal_the_posterior_summed_term_by_term(records, threshold):
    figures = risk(records, threshold=threshold).to_dict()["weights"]
    classes = defaultdict(list)
    for age, sex, weight, _ in records:
        classes[age, sex].append(weight)
    own = {key: posterior(len(each), sum(each)) for key, each in classes.items()}
    each = [own[record[:2]] for record in records]
    assert figures["people"] == pytest.approx(sum(record[2] for record in records))
    assert figures["expected"] == pytest.approx(sum(each), rel=1e-9)
    assert figures["share"] == pytest.approx(sum(each) / len(records), rel=1e-9)
    assert figures["risk_max"] == pytest.approx(max(each), rel=1e-9)
    at_risk = {sum(r > threshold + sign * 1e-9 for r in each) for sign in (-1, 1)}
    assert min(at_risk) <= figures["records_at_risk"] <= max(at_risk)

    homes = defaultdict(list)
    for record, r in zip(records, each, strict=True):
        homes[record[3]].append(r)
    found = {home: 1 - math.prod(1 - r for r in risks) for home, risks in homes.items()}
    own = figures["households"]
    assert own["count"] == len(homes)
    assert own["risk_max"] == pytest.approx(max(found.values()), rel=1e-9)
    expected = sum(found[record[3]] for record in records)
    assert own["expected"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("f", "people"),
    [
        (1, 1.0),
        (3, 3.0),
        (3, 3.3),
        (20, 39.0),
        (20, 41.0),
        (21, 900.0),
        (2, 4000.0),
        (3, 2500.0),
        (90, 100.0),
    ],
)
def test_risk_of_one_class_is_the_posterior_mean(f, people):
    rows = [("30", "f", people / f, number) for number in range(f)]
    found = risk(rows).to_dict()["weights"]["risk_max"]
    assert found == pytest.approx(posterior(f, people), rel=1e-9)


def test_risks_are_those_of_the_example_of_capobianchi_polettini_and_lucarelli():
    # `francdat` of sdcMicro by its columns 2, 4, 5 and 6, with the risks of its indivRisk.
    key = ["1111", "1112", "1112", "2111", "3111", "4111", "5111", "1111"]
    weights = [18, 45.5, 39, 17, 541, 8, 5, 92]
    risks = [
        0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948,
        0.01714426,
    ]  # fmt: skip
    rows = list(zip(key, weights, strict=True))
    policy = Policy(["key"], weight="w")
    found = risk(rows, policy, "key VARCHAR, w DOUBLE").to_dict()["weights"]
    assert found["expected"] == pytest.approx(sum(risks), abs=4e-8)
    assert found["risk_max"] == pytest.approx(0.40235948, abs=5e-9)
    assert found["people"] == 765.5
    assert found["households"] is None


def test_without_a_weight_each_record_stands_for_itself():
    rows = [("30", "f", 1.0, 1), ("30", "f", 1.0, 1), ("30", "f", 1.0, 2)]
    policy = Policy(["age", "sex"], household="home", drop=["w"])
    found = risk(rows, policy).to_dict()["weights"]
    assert (found["risk_max"], found["people"], found["column"]) == (1 / 3, 3, None)
    assert found["households"]["risk_max"] == pytest.approx(1 - (2 / 3) ** 2)


def test_weights_and_households_that_cannot_be_counted_are_one_error():
    rows = [("30", "f", None, 1), ("30", "f", 0.5, 1), ("30", "f", -1.0, None)]
    with pytest.raises(SourceError) as error:
        risk(rows)
    for part in ("'w' has 1 record without", "'w' has 2 records whose", "'home' has 1 record"):
        assert part in str(error.value)
    assert "--weight-column" in str(error.value)
    for value in (math.inf, math.nan):
        with pytest.raises(SourceError, match="'w' has 1 record whose value is no number"):
            risk([("30", "f", value, 1)])


@pytest.mark.parametrize("home", [None, math.nan, -math.nan])
def test_records_without_a_household_are_not_one_household(home):
    columns = COLUMNS.replace("INTEGER", "DOUBLE")
    with pytest.raises(SourceError, match="'home' has 1 record without a value") as error:
        risk([("30", "f", 1.0, home), ("30", "f", 1.0, 7.0)], columns=columns)
    assert "weight" not in str(error.value)


def test_persons_with_several_records_have_no_weight_each():
    policy = Policy(["age", "sex"], weight="w", entity="home")
    rows = [("30", "f", 2.0, 1), ("40", "f", 2.0, 1)]
    with pytest.raises(PolicyError, match="persons have several records"):
        risk(rows, policy)
    rows = [("30", "f", 2.0, 1), ("40", "f", 2.0, 2)]
    assert risk(rows, policy).to_dict()["weights"]["people"] == 4


def test_weights_are_told_in_text_and_missed_where_a_release_has_none():
    text = risk([("30", "f", 10.0, 1), ("40", "f", 1.0, 1)]).to_text()
    lines = [" ".join(line.split()) for line in text.split("\n")]
    assert "individual risk, highest 100%" in lines
    assert "people by 'w' 11" in lines
    report = risk([("30", "f")], POLICY, "age VARCHAR, sex VARCHAR")
    assert report.to_dict()["weights"] is None
    assert any("has no column 'w'" in note for note in report.notes)


def published(**roles):
    policy = Policy(["age"], models=[KAnonymity(2)], weight="w", **roles)
    with empty_database() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS age, range AS w FROM range(1, 9)")
        report = sqlanon.anonymize(connection, policy, table="t", into="out")
        columns = [row[0] for row in connection.execute("DESCRIBE out").fetchall()]
    return columns, report


def test_a_weight_is_published_only_where_it_is_kept_and_then_with_a_finding():
    columns, report = published()
    assert columns == ["age"]
    assert "kept-weight" not in [each.id for each in report.findings]
    columns, report = published(keep=["w"])
    assert columns == ["age", "w"]
    about = [each.id for each in report.findings if each.column == "w"]
    assert about.count("kept-weight") == 1
    assert "kept-identifies" not in about


def test_a_weight_is_one_column_of_no_other_role():
    for other in ({"quasi_identifiers": ["w"]}, {"sensitive": ["w"]}, {"entity": "w"}):
        with pytest.raises(PolicyError, match="'w'"):
            Policy(**{"quasi_identifiers": ["age"], "weight": "w", **other})
    policy = Policy(["age"], weight="w", household="home")
    assert Policy.from_dict(policy.to_dict()) == policy


@pytest.mark.parametrize("aside", [{"household": "home"}, {"drop": ["home"]}])
def test_a_report_tells_weights_of_the_original_and_where_it_can_of_the_release(aside, tmp_path):
    policy = Policy({"age": Hierarchy.suppression()}, models=[KAnonymity(2)], weight="w", **aside)
    rows = "SELECT 'a' AS age, range AS w, range % 3 AS home FROM range(1, 9)"
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE t AS {rows}")
        page = tmp_path / "report.html"
        sqlanon.anonymize(connection, policy, table="t", into="out", report=page)
        connection.execute("CREATE TABLE c AS FROM t LIMIT 4")
        report = sqlanon.report(connection, "out", policy, table="t", control="c")
    document = report.to_dict()
    assert document["original"]["weights"]["people"] == 36
    assert document["release"]["weights"] is None
    assert document["attacks"]["singling_out"]["control"]["share"] == 0
    assert "The release holds no weights" in report.html
    assert ("Household risk" in report.html) == ("household" in aside)
    text = page.read_text()
    assert text.count(">36<") == 2
    assert "The release holds no weights" not in text
    assert "Attacks on the release" in text


def test_weights_that_cannot_be_counted_keep_no_report_from_being_made():
    policy = Policy(["age"], models=[KAnonymity(2)], weight="w")
    with empty_database() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS age, range AS w FROM range(4)")
        report = sqlanon.report(connection, "t", policy, table="t", effort="none")
    assert any("individual risk is not told: weight column 'w'" in note for note in report.notes)
    assert report.to_dict()["original"]["weights"] is None
