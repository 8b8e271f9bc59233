"""An entity column: plan, anonymize and check count the same persons, and say so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from databases import empty_database, insert, tables_of
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.models import fails

import sqlanon
from sqlanon import (
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    Hierarchy,
    KAnonymity,
    LDiversity,
    Plan,
    Policy,
    TCloseness,
)
from sqlanon.errors import PolicyError, UnsatisfiableError, VerificationError
from sqlanon.methods.registry import METHODS

pytestmark = pytest.mark.slow

# Four persons: 1 has three records in town, 2 has one there, 3 and 4 have two each outside.
ROWS = [("town", 1)] * 3 + [("town", 2)] + [("out", 3)] * 2 + [("out", 4)] * 2


POLICY = Policy(["place"], models=[KAnonymity(2)], entity="person")
KEPT = Policy(["place"], models=[KAnonymity(2)], entity="person", keep=["person"])


@pytest.fixture
def connection(connection):
    connection.execute("CREATE TABLE visits (place VARCHAR, person INTEGER)")
    connection.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
    return connection


def documents(connection, tmp_path):
    """What plan, a plan that was saved, anonymize and apply say of the published table."""
    plan = sqlanon.plan(connection, POLICY, table="visits")
    plan.save(tmp_path / "plan.json")
    stored = Plan.load(tmp_path / "plan.json")
    return [
        plan.to_dict(),
        stored.to_dict(),
        sqlanon.anonymize(connection, POLICY, table="visits", into="out").to_dict(),
        sqlanon.apply(connection, stored, into="again").to_dict(),
    ]


def test_classes_risk_and_models_count_persons_wherever_they_are_told(connection, tmp_path):
    dropped = replace(POLICY, drop=["person"])
    checked = sqlanon.check(connection, dropped, table="visits").to_dict()
    for document in documents(connection, tmp_path):
        assert document["entity"] == checked["entity"] == "person"
        for key in ("k", "classes", "class_size", "unique_records", "risk", "models"):
            assert document[key] == checked[key]
        assert (document["k"], document["class_size"]["max"]) == (2, 2)
        assert document["models"][0]["value"] == 2


def test_records_are_counted_beside_persons(connection, tmp_path):
    for document in documents(connection, tmp_path):
        assert (document["records"], document["published_records"]) == (8, 8)


def test_the_page_says_that_persons_are_counted(connection):
    pages = [
        sqlanon.plan(connection, POLICY, table="visits").to_text(),
        sqlanon.check(connection, KEPT, table="visits").to_text(),
    ]
    for page in pages:
        assert "  counted         persons by 'person'" in page
    without = Policy(["place"], drop=["person"], models=[KAnonymity(2)])
    assert "persons" not in sqlanon.plan(connection, without, table="visits").to_text()


def publications(connection, tmp_path):
    """Every way to publish a table under a policy that keeps the entity."""
    plan = replace(sqlanon.plan(connection, POLICY, table="visits"), policy=KEPT)
    return [
        lambda: sqlanon.plan(connection, KEPT, table="visits"),
        lambda: sqlanon.anonymize(connection, KEPT, table="visits", into="out"),
        lambda: sqlanon.apply(connection, plan, into="out"),
        lambda: plan.save(tmp_path / "plan.json"),
        plan.sql,
    ]


def test_an_entity_that_would_be_published_is_refused(connection, tmp_path):
    for publish in publications(connection, tmp_path):
        with pytest.raises(PolicyError, match=r"'person' is kept, .* \(--drop person\)"):
            publish()
    assert len(tables_of(connection)) == 1


MODELS = [
    LDiversity(2),
    LDiversity(1.5, "entropy"),
    LDiversity(2, "recursive", 2),
    TCloseness(0.3),
    AlphaAnonymity(0.6),
    BetaLikeness(0.5),
    BetaLikeness(1, "enhanced"),
    DeltaDisclosure(0.8),
]
PERSONAL = [name for name in METHODS if name != "scheme"]
"""The methods that count persons."""


def sick(rows, kind="INT"):
    """A table of places, whom records are of, their illness, and their number."""
    connection = empty_database()
    columns = f"place INT, home INT, person {kind}, ill VARCHAR, row INT"
    connection.execute(f"CREATE TABLE sick ({columns})")
    insert(connection, "sick", [(*row, number) for number, row in enumerate(rows)])
    return connection


def asked_of(model, *, limit=0.0, entity="person"):
    return Policy(
        {"place": Hierarchy.intervals(2, 4), "home": Hierarchy.suppression()},
        sensitive=["ill"],
        models=[KAnonymity(2), model],
        suppression_limit=limit,
        keep=["row"],
        drop=["person"] if entity is None else [],
        entity=entity,
    )


def breaches(rows, released, model):
    """Classes of a release that have too few persons, or too alike; by the numbers of records."""
    records = [(label, *rows[number][2:]) for *label, _, number in released]
    whole = {(person, ill) for _, person, ill in records}
    members = len({person for person, _ in whole})
    for label in {tuple(label) for label, *_ in records}:
        held = {(person, ill) for own, person, ill in records if tuple(own) == label}
        persons = len({person for person, _ in held})
        values, every = ([ill for _, ill in pairs] for pairs in (held, whole))
        if persons < 2 or fails(
            model, values, every, order=["cold", "flu", "gout"], members=(persons, members)
        ):
            yield label


def settings_of(method):
    given = {"patterns": "all", "refine": False, "seed": 0}
    return {name: given[name] for name in given if METHODS[method].takes(name)}


VISITS = st.tuples(
    st.integers(0, 5),
    st.integers(0, 1),
    st.integers(0, 5),
    st.sampled_from(["cold", "flu", "gout"]),
)


@pytest.mark.parametrize("method", PERSONAL)
@given(
    st.lists(VISITS, min_size=4, max_size=24),
    st.sampled_from(MODELS),
    st.sampled_from(["INT", "VARCHAR"]),
)
@settings(max_examples=3)
def test_persons_of_a_release_satisfy_every_model_by_every_method(method, rows, model, kind):
    if method == "pattern-exact":
        pytest.importorskip("highspy")
    with sick(rows, kind) as connection:
        policy = asked_of(model, limit=0.3)
        try:
            sqlanon.anonymize(
                connection, policy, table="sick", method=method, into="out", **settings_of(method)
            )
        except UnsatisfiableError:
            return
        released = connection.execute("SELECT place, home, ill, row FROM out").fetchall()
        assert not list(breaches(rows, released, model))


# Two pairs with halves each, 4 and 3, 2 and 4, whose union has two persons of three with the flu.
PAIRS = [(0, 0, 4, "flu"), (0, 0, 2, "flu"), (0, 0, 3, "cold"), (0, 0, 4, "gout")]


@pytest.mark.parametrize("method", ["mondrian", "set-cover", "agglomerative", "partial-domain"])
def test_clusters_with_one_label_are_judged_as_the_class_that_they_are(method):
    rows = [*PAIRS, (5, 0, 1, "gout"), (5, 0, 4, "flu")]
    with sick(rows) as connection:
        policy = asked_of(AlphaAnonymity(0.5), limit=0.7)
        sqlanon.anonymize(connection, policy, table="sick", method=method, into="out", seed=1)
        released = connection.execute("SELECT place, home, ill, row FROM out").fetchall()
        assert not list(breaches(rows, released, AlphaAnonymity(0.5)))


# Persons 1 and 2 have both illnesses, and 3 and 4 have one each: all of place 0 have the flu.
BOTH = [(0, 0, 1, "flu"), (0, 0, 1, "cold"), (0, 0, 2, "flu"), (0, 0, 2, "cold")]
OTHERS = [(5, 0, 3, "flu"), (5, 0, 4, "cold"), (5, 0, 5, "gout"), (5, 0, 6, "gout")]


@pytest.mark.parametrize("model", [AlphaAnonymity(0.5), BetaLikeness(0.9), DeltaDisclosure(1.6)])
def test_a_value_that_every_person_of_a_class_has_is_all_of_their_share(model):
    with sick([*BOTH, *OTHERS, (9, 0, 3, "cold"), (9, 0, 4, "gout")]) as connection:
        connection.execute("CREATE TABLE town AS FROM sick WHERE place = 0")
        asked = asked_of(AlphaAnonymity(0.5))
        assert not sqlanon.check(connection, asked, table="town").holds
        assert sqlanon.check(
            connection, asked_of(AlphaAnonymity(0.5), entity=None), table="town"
        ).holds
        found = sqlanon.check(connection, asked_of(model), table="sick").to_dict()["sensitive"][
            "ill"
        ]
        assert found["alpha"] == 1.0


@pytest.mark.parametrize("method", ["incognito", "set-cover", "mondrian"])
@pytest.mark.parametrize("model", [LDiversity(1), AlphaAnonymity(0.5)], ids=["k", "alpha"])
def test_what_is_published_is_counted_again_by_persons(method, model):
    """The plan counts records, as one that was changed by hand may, and is carried out."""
    one = [(0, 0, 7, "flu"), (0, 0, 7, "cold")] if model == LDiversity(1) else BOTH
    with sick([*one, *OTHERS]) as connection:
        plan = sqlanon.plan(
            connection,
            asked_of(model, entity=None),
            table="sick",
            method=method,
            **settings_of(method),
        )
        changed = replace(plan, policy=asked_of(model), fingerprint=None)
        with pytest.raises(VerificationError, match="nothing is published"):
            sqlanon.apply(connection, changed, into="out")
        assert len(tables_of(connection)) == 1
