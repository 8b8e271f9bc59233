"""Manifests: the same for the same input, and what verifies a release by them."""

from __future__ import annotations

import json
import random

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, Sensitive, TCloseness
from sqlanon.errors import PolicyError, SourceError
from sqlanon.publishing.promises import sealed

ROWS = [(20 + 7 * n % 23, "fm"[n % 2], "abc"[n % 3], n % 5 + 0.5) for n in range(60)]
POLICY = Policy(
    quasi_identifiers={
        "age": Hierarchy.intervals(5, 10),
        "sex": Hierarchy.from_rows([("f", "*"), ("m", "*")], name="sex.csv"),
    },
    sensitive=["ill"],
    keep=["score"],
    models=[KAnonymity(4), LDiversity(2)],
)


def opened(rows=ROWS, threads=2):
    connection = duckdb.connect(config={"threads": threads})
    connection.execute("CREATE TABLE t (age INTEGER, sex VARCHAR, ill VARCHAR, score DOUBLE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    return connection


def released(folder, name="r.csv", policy=POLICY, **more):
    """A release and its manifest."""
    file, manifest = folder / name, folder / f"{name}.manifest.json"
    with opened() as connection:
        sqlanon.anonymize(connection, policy, table="t", output=file, manifest=manifest, **more)
    return file, manifest


@pytest.mark.slow
def test_threads_and_the_order_of_rows_leave_a_manifest_as_it_is(tmp_path):
    texts = set()
    for number, threads in enumerate((1, 2, 8)):
        rows = random.Random(number).sample(ROWS, len(ROWS))
        path = tmp_path / f"{number}.json"
        with opened(rows, threads) as connection:
            sqlanon.anonymize(connection, POLICY, table="t", into="r", manifest=path)
        texts.add(path.read_bytes())
    assert len(texts) == 1


@pytest.mark.slow
def test_a_saved_plan_gives_the_manifest_of_both_in_one(tmp_path):
    with opened() as connection:
        sqlanon.anonymize(connection, POLICY, table="t", into="a", manifest=tmp_path / "a.json")
        sqlanon.plan(connection, POLICY, table="t").save(tmp_path / "plan.json")
        plan = sqlanon.Plan.load(tmp_path / "plan.json")
        sqlanon.apply(connection, plan, into="b", manifest=tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_manifest_has_no_time_no_path_and_no_value_of_a_hierarchy(tmp_path):
    rows = [("f", "women"), ("m", "women")]
    policy = Policy({"age": Hierarchy.intervals(50), "sex": Hierarchy.from_rows(rows)},
                    others="drop", models=[KAnonymity(2)])  # fmt: skip
    _, manifest = released(tmp_path, policy=policy)
    text = manifest.read_text("utf-8")
    assert str(tmp_path) not in text
    assert "women" not in text
    assert not {"created", "seconds", "output", "source"} & json.loads(text).keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r.csv.gz", "r.duckdb"])
def test_a_release_of_any_format_is_what_its_manifest_says(tmp_path, name):
    file, manifest = released(tmp_path, name)
    found = sqlanon.verify(file, manifest)
    assert found.holds, found.differences
    assert [result.model for result in found.models] == ["k-anonymity", "distinct 2-diversity"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.arrow"])
def test_every_type_is_verified_in_every_format(tmp_path, name):
    with duckdb.connect() as connection:
        connection.execute("""
            CREATE TABLE t AS SELECT 1 AS age, 1.50::DECIMAL(9, 2) AS a, 1e300::DOUBLE AS b,
            1.1::FLOAT AS c, 170141183460469231731687303715884105727::HUGEINT AS d,
            DATE '2020-02-29' AS e, [TIMESTAMP_S '2020-02-29 01:02:03',
            NULL] AS f, TIMESTAMP_MS '2020-02-29 01:02:03.4' AS t, TIMESTAMPTZ
            '2020-02-29 01:02:03+05' AS g, TIME '01:02:03.4' AS h, [1, NULL] AS i, {'x': 'y'} AS j,
            '\\xAA'::BLOB AS k, true AS l, uuid() AS m, ''::VARCHAR AS n, NULL::INTEGER AS o,
            INTERVAL 3 MONTH AS p, '007' AS q, 'NaN'::DOUBLE AS r, 1::UTINYINT AS s FROM range(4)
        """)
        policy = Policy({"age": Hierarchy.intervals(5)}, others="keep", models=[KAnonymity(3)])
        sqlanon.anonymize(
            connection, policy, table="t", output=tmp_path / name, manifest=tmp_path / "m.json"
        )
        found = sqlanon.verify(tmp_path / name, tmp_path / "m.json")
    assert found.holds, found.differences


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A release and its manifest that nobody changes."""
    return released(tmp_path_factory.mktemp("release"), "r.parquet")


def changed(original, folder, statement):
    """What is told of a release in which something was changed."""
    file, (release, manifest) = folder / "r.parquet", original
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE r AS FROM '{release}'")
        connection.execute(statement)
        connection.execute(f"COPY r TO '{file}' (FORMAT parquet)")
    found = sqlanon.verify(file, manifest)
    assert not found.holds
    return " | ".join(found.differences)


FIRST = "(SELECT min(rowid) FROM r)"
OTHERS = "its records are not those"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (f"UPDATE r SET score = score + 1 WHERE rowid = {FIRST}", [OTHERS]),
        (f"DELETE FROM r WHERE rowid = {FIRST}", [OTHERS, "59 records, not 60"]),
        (f"INSERT INTO r SELECT * FROM r WHERE rowid = {FIRST}", [OTHERS, "61 records, not 60"]),
        (f"UPDATE r SET sex = 'zz' WHERE rowid = {FIRST}", [OTHERS, "k-anonymity 4 does NOT hold"]),
        ("UPDATE r SET ill = 'a'", [OTHERS, "of 'ill' does NOT hold"]),
        ("ALTER TABLE r RENAME ill TO sick", ["lacks 'ill'; it has besides 'sick'"]),
        ("CREATE OR REPLACE TABLE r AS SELECT sex, age, ill, score FROM r", ["another order"]),
        ("ALTER TABLE r ALTER score TYPE FLOAT", ["'score' is REAL, where"]),
        ("DELETE FROM r", ["0 records, not 60"]),
    ],
)
def test_what_was_changed_in_a_release_is_told(original, tmp_path, statement, told):
    differences = changed(original, tmp_path, statement)
    assert all(text in differences for text in told), differences
    assert "zz" not in differences


def edited(original, folder, edit):
    """The release with its manifest edited."""
    file, manifest = original
    document = json.loads(manifest.read_text("utf-8"))
    (folder / "m.json").write_text(json.dumps(edit(document)), "utf-8")
    return sqlanon.verify(file, folder / "m.json")


def test_a_manifest_that_was_edited_is_told(original, tmp_path):
    found = edited(original, tmp_path, lambda document: {**document, "lower_bound": 0.25})
    assert found.differences == ("the manifest was changed after it was written",)


@pytest.mark.slow
def test_models_are_counted_whatever_a_manifest_says_of_them(original, tmp_path):
    def demanding(document):
        document["policy"]["k"] = document["models"][0]["threshold"] = 1000
        return sealed(document)

    found = edited(original, tmp_path, demanding)
    assert "k-anonymity 1,000 does NOT hold" in found.differences[0]


@pytest.mark.slow
def test_what_is_no_manifest_is_refused(original, tmp_path):
    file, _ = original
    with pytest.raises(SourceError, match="not a manifest"):
        edited(original, tmp_path, lambda document: {**document, "kind": "sqlanon plan"})
    with pytest.raises(SourceError, match="not a manifest"):
        edited(original, tmp_path, lambda document: {**document, "columns": [1]})
    with pytest.raises(SourceError, match="not a manifest"):
        edited(
            original,
            tmp_path,
            lambda document: {**document, "models": [{**document["models"][0], "value": "5"}]},
        )
    with pytest.raises(SourceError, match="No such file"):
        sqlanon.verify(file, tmp_path / "missing.json")


@pytest.mark.slow
def test_a_model_that_needs_an_order_asks_for_the_policy(tmp_path):
    policy = Policy(
        POLICY.quasi_identifiers,
        sensitive={"ill": Sensitive([TCloseness(0.9, "ordered")], order=["a", "b", "c"])},
        keep=["score"],
        models=[KAnonymity(4)],
    )
    file, manifest = released(tmp_path, policy=policy)
    with pytest.raises(PolicyError, match="--policy FILE"):
        sqlanon.verify(file, manifest)
    other = Sensitive([TCloseness(0.9, "ordered")], order=["c", "a", "b"])
    with pytest.raises(PolicyError, match="--policy FILE"):
        sqlanon.verify(file, manifest, policy=Policy({}, sensitive={"ill": other}))
    assert sqlanon.verify(file, manifest, policy=policy).holds


@pytest.mark.slow
def test_a_release_by_persons_is_verified_by_its_records(tmp_path):
    policy = Policy(POLICY.quasi_identifiers, entity="score", sensitive=["ill"],
                    models=[KAnonymity(2)])  # fmt: skip
    file, manifest = released(tmp_path, policy=policy)
    document = json.loads(manifest.read_text("utf-8"))
    assert document["models_of_persons"][0]["value"] <= document["models"][0]["value"]
    assert sqlanon.verify(file, manifest).holds


@pytest.mark.slow
def test_a_table_of_a_database_and_a_frame_are_verified(tmp_path):
    with opened() as connection:
        sqlanon.anonymize(connection, POLICY, table="t", into="r", manifest=tmp_path / "m.json")
        assert sqlanon.verify(connection, tmp_path / "m.json", table="r").holds
        assert not sqlanon.verify(connection, tmp_path / "m.json", table="t").holds
        pytest.importorskip("pandas")
        assert sqlanon.verify(connection.table("r").df(), tmp_path / "m.json").holds


@pytest.mark.slow
def test_nothing_is_left_of_a_manifest_where_nothing_is_published(tmp_path):
    with opened() as connection:
        connection.execute("CREATE TABLE r (a INTEGER)")
        for path in (tmp_path / "m.json", tmp_path / "m.txt"):
            with pytest.raises(SourceError):
                sqlanon.anonymize(connection, POLICY, table="t", into="r", manifest=path)
        (tmp_path / "there.json").write_text("mine", "utf-8")
        with pytest.raises(SourceError, match="--overwrite"):
            sqlanon.anonymize(
                connection, POLICY, table="t", into="s", manifest=tmp_path / "there.json"
            )
    assert [file.name for file in tmp_path.iterdir()] == ["there.json"]
