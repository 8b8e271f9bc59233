"""Frozen recodings: a saved plan for records that it was not made of."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import sqlanon
from sqlanon import DeltaPresence, Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.errors import HierarchyError, PolicyError, SourceError, VerificationError

AGES, SEXES = (20, 23, 31, 34, 38), ("f", "m")


def policy(*models, **more):
    return Policy(
        quasi_identifiers={
            "age": Hierarchy.intervals(5, 10, 20),
            "sex": Hierarchy.from_rows([("f", "any"), ("m", "any")]),
        },
        sensitive=["ill"],
        models=models or [KAnonymity(3)],
        **more,
    )


def fill(connection, name, rows):
    connection.execute(f"CREATE TABLE {name} (age INTEGER, sex VARCHAR, ill VARCHAR)")
    connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)


def saved(connection, folder, *models, rows=None, method="incognito", **more):
    """A plan of the table `people`, saved and read again."""
    rows = rows or [(age, sex, ill) for age in AGES for sex in SEXES for ill in "abc"]
    fill(connection, "people", rows)
    made = sqlanon.plan(connection, policy(*models, **more), table="people", method=method)
    made.save(folder / "plan.json")
    return sqlanon.Plan.load(folder / "plan.json")


def rows_of(connection, name):
    return connection.execute(f"SELECT age, sex, ill FROM {name} ORDER BY ALL").fetchall()


def sizes(rows):
    return Counter(row[:2] for row in rows)


def alike(age, sex, ill="a", times=3):
    return [(age, sex, ill)] * times


@pytest.mark.slow
def test_a_batch_gets_the_labels_of_the_plan(connection, tmp_path):
    plan = saved(connection, tmp_path)
    fill(connection, "batch", alike(20, "f") + alike(38, "m"))
    sqlanon.apply(connection, plan, into="first")
    report = sqlanon.apply(connection, plan, to="batch", into="second")
    first, second = (sizes(rows_of(connection, name)) for name in ("first", "second"))
    assert report.holds
    assert report.records == 6
    assert second.keys() <= first.keys()


@pytest.mark.slow
def test_intervals_do_not_move_with_the_extremes_of_a_batch(connection, tmp_path):
    rows = [(age, "f", "a") for age in (20, 21, 22)] * 3
    policied = Policy(quasi_identifiers={"age": Hierarchy.intervals(5)}, others="keep")
    fill(connection, "people", rows)
    plan = sqlanon.plan(
        connection,
        Policy(policied.quasi_identifiers, models=[KAnonymity(4)], others="keep"),
        table="people",
    )
    fill(connection, "batch", [(19, "f", "a"), (24, "f", "a"), (-3, "f", "a")] * 4)
    sqlanon.apply(connection, plan, to="batch", into="second")
    assert set(connection.sql("SELECT age FROM second").fetchall()) == {
        ("15-19",), ("20-24",), ("-5 to -1",),
    }  # fmt: skip


@pytest.mark.slow
def test_a_value_without_a_place_in_its_hierarchy_is_refused_by_count(connection, tmp_path):
    plan = saved(connection, tmp_path)
    fill(connection, "batch", alike(20, "secret-x") + alike(20, "secret-y") + alike(31, "f"))
    with pytest.raises(HierarchyError, match=r"'sex'.* 2 values") as caught:
        sqlanon.apply(connection, plan, to="batch", into="second")
    assert "secret" not in str(caught.value)
    assert not connection.sql("SHOW TABLES").filter("name = 'second'").fetchall()


@pytest.mark.slow
def test_a_batch_that_breaks_a_model_is_refused_by_counts(connection, tmp_path):
    plan = saved(connection, tmp_path)
    fill(connection, "batch", [*alike(20, "f"), (38, "m", "a")])
    with pytest.raises(sqlanon.UnsatisfiableError, match=r"1 of 4 records .*suppression-limit"):
        sqlanon.apply(connection, plan, to="batch", into="second")


@pytest.mark.slow
def test_a_batch_of_fewer_records_than_k_is_refused_by_counts(connection, tmp_path):
    plan = saved(connection, tmp_path)
    fill(connection, "batch", [(20, "f", "a")])
    with pytest.raises(sqlanon.UnsatisfiableError, match="1 of 1 record "):
        sqlanon.apply(connection, plan, to="batch", into="second")


@pytest.mark.slow
def test_violating_classes_are_suppressed_within_a_limit(connection, tmp_path):
    plan = saved(connection, tmp_path)
    fill(connection, "batch", [*alike(20, "f"), (38, "m", "a")])
    report = sqlanon.apply(connection, plan, to="batch", into="second", suppression_limit=0.25)
    assert report.suppressed_records == 1
    assert list(sizes(rows_of(connection, "second")).values()) == [3]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_is_suppressed_is_what_brute_force_suppresses(connection, tmp_path, seed):
    plan = saved(connection, tmp_path, KAnonymity(3), LDiversity(2))
    draw = random.Random(seed)
    rows = [(draw.choice(AGES), draw.choice(SEXES), draw.choice("ab")) for _ in range(40)]
    fill(connection, "batch", rows)
    level, sex_level = plan.report.levels["age"], plan.report.levels["sex"]
    width = (1, 5, 10, 20, 1000)[level]

    def label(age):
        low = age // width * width
        return {0: age, 4: "*"}.get(level, f"{low}-{low + width - 1}")

    recoded = [(label(age), "any" if sex_level else sex, ill) for age, sex, ill in rows]
    held = {}
    for *key, ill in recoded:
        held.setdefault(tuple(key), []).append(ill)
    kept = sorted(
        (*key, ill) for key, ills in held.items() if len(ills) > 2 and len(set(ills)) > 1
        for ill in ills
    )  # fmt: skip
    report = sqlanon.apply(connection, plan, to="batch", into="second", suppression_limit=1)
    assert rows_of(connection, "second") == kept
    assert report.suppressed_records == len(rows) - len(kept)


@pytest.mark.slow
def test_together_a_batch_need_not_satisfy_the_models_by_itself(connection, tmp_path):
    plan = saved(connection, tmp_path)
    sqlanon.apply(connection, plan, into="first")
    fill(connection, "batch", [(20, "f", "a")])
    report = sqlanon.apply(connection, plan, to="batch", released=["first"], into="second")
    together = sizes(rows_of(connection, "first") + rows_of(connection, "second"))
    assert report.holds
    assert report.models[0].value == min(together.values()) >= 3
    assert any("released before" in note for note in report.notes)


@pytest.mark.slow
def test_together_a_class_that_no_release_has_is_refused(connection, tmp_path):
    plan = saved(connection, tmp_path)
    sqlanon.apply(connection, plan, into="first")
    fill(connection, "batch", [(70, "f", "a")])
    with pytest.raises(sqlanon.VerificationError, match="together with what was released"):
        sqlanon.apply(connection, plan, to="batch", released=["first"], into="second")
    assert not connection.sql("SHOW TABLES").filter("name = 'second'").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_together_a_manifest_is_verified_with_what_was_released_before(
    connection, tmp_path, ending
):
    plan = saved(connection, tmp_path, KAnonymity(3), LDiversity(2))
    first, second = (tmp_path / f"{name}.{ending}" for name in ("first", "second"))
    sqlanon.apply(connection, plan, output=first)
    fill(connection, "batch", [(20, "f", "a")])
    page, manifest = tmp_path / "page.html", tmp_path / "m.json"
    report = sqlanon.apply(
        connection, plan, to="batch", released=[first], output=second, manifest=manifest,
        report=page,
    )  # fmt: skip
    assert report.holds
    found = sqlanon.verify(second, manifest, earlier=[first])
    assert found.holds, found.differences
    assert found.models == report.models
    assert f"{len(rows_of(connection, 'people'))} records released before" in page.read_text()
    for earlier in ([], [first, second]):
        with pytest.raises(PolicyError, match="with 1 earlier release, and"):
            sqlanon.verify(second, manifest, earlier=earlier)
    other = sqlanon.verify(second, manifest, earlier=[second])
    assert "earlier releases are not those" in other.differences[0]
    assert "k-anonymity 3 does NOT hold" in other.differences[1]


@pytest.mark.slow
def test_together_persons_are_refused_since_those_of_a_release_may_be_in_the_batch(
    connection, tmp_path
):
    persons = Policy(
        {"age": Hierarchy.intervals(5)}, entity="ill", drop=["sex"], models=[KAnonymity(2)]
    )
    fill(connection, "people", [(20, "f", "a"), (20, "f", "b")])
    plan = sqlanon.plan(connection, persons, table="people", method="incognito")
    sqlanon.apply(connection, plan, into="first")
    fill(connection, "batch", [(20, "f", "a")])
    with pytest.raises(PolicyError, match="may all be in the batch"):
        sqlanon.apply(connection, plan, to="batch", released=["first"], into="second")


@pytest.mark.slow
def test_a_batch_keeps_candidates_beside_an_earlier_release_of_the_same_people(
    connection, tmp_path
):
    plan = saved(connection, tmp_path, KAnonymity(3))
    batch = [(20, "f", "a")] * 3 + [(20, "f", "b")] * 3
    fill(connection, "batch", batch)
    for name, ills in (("two", "ab"), ("one", "a")):
        connection.execute(f"CREATE TABLE {name} AS SELECT '20-24' AS age, 'f' AS sex, ill FROM "
                           f"(SELECT UNNEST({[*ills]}) AS ill)")  # fmt: skip
    report = sqlanon.apply(connection, plan, to="batch", against=["two"], into="second")
    assert [each.candidates for each in report.against] == [6]
    connection.execute("DELETE FROM batch WHERE rowid = 0")
    with pytest.raises(sqlanon.VerificationError, match="too few candidates"):
        sqlanon.apply(connection, plan, to="batch", against=["one"], into="third")


@pytest.mark.slow
def test_an_earlier_release_may_be_a_file(connection, tmp_path):
    plan = saved(connection, tmp_path)
    for name in ("first.csv", "first.parquet"):
        sqlanon.apply(connection, plan, output=tmp_path / name)
    fill(connection, "batch", [(20, "f", "a")])
    for number, name in enumerate(("first.csv", "first.parquet")):
        report = sqlanon.apply(
            connection, plan, to="batch", released=[tmp_path / name], into=f"second_{number}"
        )
        assert report.holds


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mondrian", "set-cover"])
def test_recodings_record_by_record_are_refused_with_the_reason(connection, tmp_path, method):
    plan = saved(connection, tmp_path, method=method)
    fill(connection, "batch", alike(20, "f"))
    with pytest.raises(PolicyError, match="record by record"):
        sqlanon.apply(connection, plan, to="batch", into="second")


@pytest.mark.slow
def test_groups_of_a_scheme_are_applied_to_other_records(connection, tmp_path):
    plan = saved(connection, tmp_path, method="scheme")
    sqlanon.apply(connection, plan, into="first")
    fill(connection, "batch", [row for row in rows_of(connection, "people") if row[2] == "a"] * 3)
    sqlanon.apply(connection, plan, to="batch", into="second")
    assert sizes(rows_of(connection, "second")) == sizes(rows_of(connection, "first"))


@pytest.mark.slow
def test_a_value_that_no_group_of_a_scheme_has_is_refused(connection, tmp_path):
    rows = [(age, "f", "a") for age in AGES for _ in range(2)]
    plan = saved(connection, tmp_path, rows=rows, method="scheme")
    fill(connection, "batch", alike(20, "f") + alike(77, "f"))
    with pytest.raises(HierarchyError, match="'age'") as caught:
        sqlanon.apply(connection, plan, to="batch", into="second")
    assert "77" not in str(caught.value)


@pytest.mark.slow
def test_a_text_file_is_read_as_the_types_of_the_plan(connection, tmp_path):
    plan = saved(connection, tmp_path)
    batch = tmp_path / "batch.csv"
    batch.write_text("ill,sex,age\n1,f,20\n1,f,20\n1,f,20\n", "utf-8")
    sqlanon.apply(connection, plan, to=str(batch), into="second")
    assert [row[2] for row in rows_of(connection, "second")] == ["1"] * 3


@pytest.mark.slow
def test_a_value_that_the_type_of_the_plan_would_change_is_refused(connection, tmp_path):
    plan = saved(connection, tmp_path)
    batch = tmp_path / "batch.csv"
    batch.write_text("age,sex,ill\n20.5,f,a\n20,f,a\n20,f,a\n", "utf-8")
    with pytest.raises(SourceError, match="'age' has 1 value "):
        sqlanon.apply(connection, plan, to=str(batch), into="second")


@pytest.mark.slow
def test_the_file_of_a_batch_is_not_overwritten(connection, tmp_path):
    plan = saved(connection, tmp_path)
    batch = tmp_path / "batch.csv"
    batch.write_text("age,sex,ill\n" + "20,f,a\n" * 3, "utf-8")
    with pytest.raises(SourceError, match="holds the original"):
        sqlanon.apply(connection, plan, to=str(batch), output=batch, overwrite=True)


@pytest.mark.slow
def test_columns_that_the_plan_does_not_have_are_refused(connection, tmp_path):
    plan = saved(connection, tmp_path)
    connection.execute("CREATE TABLE batch AS SELECT age, sex, ill, 1 AS extra FROM people")
    with pytest.raises(SourceError, match="new 'extra'"):
        sqlanon.apply(connection, plan, to="batch", into="second")


@pytest.mark.slow
def test_what_contradicts_other_records_is_refused(connection, tmp_path):
    plan = saved(connection, tmp_path)
    with pytest.raises(PolicyError, match="in place"):
        sqlanon.apply(connection, plan, to="people", in_place=True)
    with pytest.raises(PolicyError, match="--to BATCH"):
        sqlanon.apply(connection, plan, suppression_limit=0.1, into="second")
    with pytest.raises(PolicyError, match="suppressed where the batch"):
        sqlanon.apply(
            connection, plan, to="people", released=["people"], into="x", suppression_limit=0.1
        )


def test_a_frame_of_other_records_gives_a_frame(connection):
    pandas = pytest.importorskip("pandas")
    rows = [(age, sex, ill) for age in AGES for sex in SEXES for ill in "abc"]
    frame = pandas.DataFrame(rows, columns=["age", "sex", "ill"])
    plan = sqlanon.plan(frame, policy())
    batch = frame[frame["age"] == 20].reset_index(drop=True)
    made = sqlanon.apply(frame, plan, to=batch)
    assert isinstance(made, pandas.DataFrame)
    assert len(made) == len(batch)


@pytest.mark.slow
def test_a_batch_and_what_was_released_have_a_share_of_the_population_together(
    connection, tmp_path
):
    everybody = [(age, sex, ill) for age in AGES for sex in SEXES for ill in "abcdefgh"]
    fill(connection, "everybody", everybody)
    one = [(age, sex, "a") for age in AGES for sex in SEXES]
    shares = DeltaPresence(0, 0.25)
    plan = saved(connection, tmp_path, shares, rows=one, population="everybody")
    sqlanon.apply(connection, plan, into="first")
    fill(connection, "batch", one)
    done = sqlanon.apply(connection, plan, to="batch", released=["first"], into="second")
    assert [result.value for result in done.models] == [0.25, 0.25]
    with pytest.raises(VerificationError, match="together with what was released"):
        sqlanon.apply(connection, plan, to="batch", released=["first", "second"], into="third")
