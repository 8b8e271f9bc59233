"""A release beside an earlier one: which candidates both leave of a person."""

from __future__ import annotations

import pytest
from databases import empty_database, insert, tables_of
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier
from sqlanon.errors import PolicyError, SourceError, UnsatisfiableError, VerificationError

LEVELS = [[str(age), f"{age // 2 * 2}+", f"{age // 4 * 4}++", "*"] for age in range(8)]
LEVELS.append([None, "none", "none", "*"])
# Classes of four and two illnesses each, by the age and by the district, which part them otherwise.
PEOPLE = [
    *[(1, 0, "flu"), (1, 0, "cold"), (1, 1, "flu"), (1, 1, "gout")],
    *[(5, 0, "flu"), (5, 0, "cold"), (5, 1, "cold"), (5, 1, "gout")],
]


def people(rows=PEOPLE):
    connection = empty_database()
    connection.execute("CREATE TABLE people (age INT, home INT, ill VARCHAR, row INT)")
    insert(connection, "people", [(*row, number) for number, row in enumerate(rows)])
    return connection


def release(connection, name, rows):
    connection.execute(f"CREATE TABLE {name} (age VARCHAR, home VARCHAR, ill VARCHAR)")
    insert(connection, name, rows)


def asked(*, age=2, home=1, k=2, l=2, entity=None):  # noqa: E741
    return Policy(
        {
            "age": QuasiIdentifier(Hierarchy.from_rows(LEVELS), min_level=age, max_level=age),
            "home": QuasiIdentifier(Hierarchy.suppression(), min_level=home, max_level=home),
        },
        sensitive=["ill"],
        models=[KAnonymity(k), LDiversity(l)],
        keep=["row"],
        entity=entity,
    )


def published(connection, policy=None, *, against=("earlier",), into="later", **how):
    return sqlanon.anonymize(
        connection, policy or asked(), table="people", into=into, against=list(against), **how
    )


BY_HOME = [("*", str(home), ill) for _, home, ill in PEOPLE]
BY_AGE = [(LEVELS[age][2], "*", ill) for age, _, ill in PEOPLE]


@pytest.mark.slow
def test_classes_that_part_a_table_otherwise_leave_one_value_and_nothing_is_published():
    """At age 0 to 3 are flu, cold and gout, in home 0 flu and cold: who is in both has no gout."""
    with people() as connection:
        release(connection, "earlier", BY_HOME)
        assert sqlanon.check(
            connection,
            Policy(["age", "home"], sensitive=["ill"], models=asked().models),
            table="earlier",
        ).holds
        with pytest.raises(VerificationError) as told:
            published(connection, asked(k=4))
        assert len(tables_of(connection)) == 2
    message = str(told.value)
    assert "have too few candidates in this release and 'earlier' together" in message
    assert "nothing is published" in message
    assert not any(ill in message for ill in ("flu", "cold", "gout"))


@pytest.mark.slow
def test_the_same_release_once_more_leaves_every_candidate():
    with people() as connection:
        release(connection, "earlier", BY_AGE)
        [found] = published(connection).to_dict()["against"]
    assert found == {
        "earlier": "earlier",
        "quasi_identifiers": ["age", "home"],
        "links": ["ill"],
        "records": 8,
        "candidates": 4,
        "values": {"ill": 3},
    }


@pytest.mark.slow
def test_each_earlier_release_is_looked_at():
    with people() as connection:
        release(connection, "earlier", BY_AGE)
        release(connection, "other", BY_HOME)
        with pytest.raises(VerificationError, match="'other'"):
            published(connection, asked(k=4), against=["earlier", "other"])


def test_a_kept_number_of_both_leaves_who_is_in_both_classes():
    with people() as connection:
        release(connection, "labels", BY_HOME)
        connection.execute(
            "CREATE TABLE earlier AS SELECT '*' AS age, home::VARCHAR AS home, row FROM people"
        )
        with pytest.raises(
            VerificationError, match=r"8 records in 2 classes .* at least 2 where k is 4"
        ):
            published(connection, asked(k=4))


@pytest.mark.slow
def test_a_release_that_shares_no_record_leaves_nothing_to_intersect():
    with people() as connection:
        release(connection, "earlier", [("4++", "*", "plague")] * 2)
        [found] = published(connection).against
    assert (found.records, found.candidates) == (0, None)
    assert found.to_line().endswith("no record may be in both")


@pytest.mark.slow
def test_labels_that_no_hierarchy_knows_are_refused_by_their_number():
    with people() as connection:
        release(connection, "earlier", [("0-3", "*", "flu")] * 2)
        with pytest.raises(SourceError, match=r"'age' .* has 1 label, of 2 records, that stand"):
            published(connection)


@pytest.mark.slow
def test_an_earlier_table_without_quasi_identifiers_is_refused():
    with people() as connection:
        connection.execute("CREATE TABLE earlier AS SELECT ill FROM people")
        with pytest.raises(PolicyError, match="'earlier' has no quasi-identifier"):
            published(connection)


@pytest.mark.slow
def test_a_plan_is_held_against_earlier_files_too(tmp_path):
    with people() as connection:
        release(connection, "earlier", BY_HOME)
        file = tmp_path / "earlier.csv"
        connection.execute(f"COPY earlier TO '{file}'")
        plan = sqlanon.plan(connection, asked(k=4), table="people")
        with pytest.raises(VerificationError, match="too few candidates"):
            sqlanon.apply(connection, plan, output=tmp_path / "later.csv", against=[file])
        assert not (tmp_path / "later.csv").exists()


def candidates(rows, later, earlier):
    """Per record that may be in both releases how many candidates and illnesses are left."""
    label = {row: tuple(own) for *own, _, row in later}
    for number, (age, home, ill) in enumerate(rows):
        if number not in label:
            continue
        known = {
            value
            for one, other, value in earlier
            if one in [*LEVELS[-1 if age is None else age], "*"] and other in (str(home), "*")
        }
        left = [r for r, own in label.items() if own == label[number] and rows[r][2] in known]
        if ill in known:
            yield len(left), len({rows[row][2] for row in left})


AGES, ILLS = st.sampled_from([0, 1, 2, 3, 5, None]), st.sampled_from(["flu", "cold", "gout"])


@given(
    st.lists(st.tuples(AGES, st.integers(0, 1), ILLS), min_size=4, max_size=12),
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=12, max_size=12),
    st.integers(0, 3),
    st.integers(0, 1),
    st.integers(0, 3),
)
@settings(max_examples=25)
def test_candidates_are_those_of_plain_python(rows, levels, age, home, gone):
    """The earlier release has levels of its own for each record, and lacks the last ones."""
    earlier = [
        (LEVELS[-1 if old is None else old][level], "*" if hidden else str(place), ill)
        for (old, place, ill), (level, hidden) in zip(rows[gone:], levels, strict=False)
    ]
    with people(rows) as connection:
        release(connection, "earlier", earlier)
        policy = asked(age=age, home=home, k=2, l=1)
        try:
            published(connection, policy, against=[], into="alone")
        except UnsatisfiableError:
            return
        later = connection.execute("FROM alone").fetchall()
        left = list(candidates(rows, later, earlier))
        if any(own < 2 for own, _ in left):
            failing = sum(own < 2 for own, _ in left)
            with pytest.raises(VerificationError, match=rf"^{failing} records? in"):
                published(connection, policy)
            return
        [found] = published(connection, policy).against
    assert found.records == len(left)
    assert found.candidates == min((own for own, _ in left), default=None)
    assert found.values["ill"][1] == min((values for _, values in left), default=None)
