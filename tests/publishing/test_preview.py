"""Preview: own records before and after, as the plan will publish them; and levels by name."""

import pytest
from databases import empty_database, tables_of

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier
from sqlanon.errors import PolicyError, SqlanonError, StalePlanError
from sqlanon.hierarchy.rules import level_names
from sqlanon.publishing.preview import preview_text

ROWS = [(30 + n // 3, "fm"[n % 2], f"note {n}") for n in range(12)] + [(99, None, None)]


@pytest.fixture
def connection(connection):
    connection.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, note VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    return connection


def policy_of(**more):
    quasi = {"age": Hierarchy.intervals(5, 10), "sex": Hierarchy.suppression()}
    return Policy(quasi, keep=["note"], models=[KAnonymity(2)], suppression_limit=0.1, **more)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"method": "incognito"},
        {"method": "set-cover"},
        {"method": "pattern-greedy", "patterns": [["sex"], ["none"]]},
    ],
)
def test_the_preview_is_what_is_published_of_each_record(connection, settings):
    """Every record has a note of its own, by which it is found again in the published table."""
    plan = sqlanon.plan(connection, policy_of(), table="people", **settings)
    shown = sqlanon.preview(connection, plan, rows=50)
    assert [record.before["note"] for record in shown] == [row[2] for row in ROWS]
    sqlanon.apply(connection, plan, into="made")
    found = connection.execute("SELECT age::VARCHAR, sex::VARCHAR, note FROM made").fetchall()
    after = [tuple(record.after.values()) for record in shown if record.after is not None]
    assert sorted(after, key=repr) == sorted(found, key=repr)
    assert all(r.after is None or r.after["note"] == r.before["note"] for r in shown)


@pytest.mark.slow
def test_a_record_that_is_left_out_has_nothing_after(connection):
    plan = sqlanon.plan(connection, policy_of(), table="people")
    [*_, last] = sqlanon.preview(connection, plan, rows=13)
    assert (last.before["age"], last.before["sex"], last.after) == ("99", None, None)
    assert "– is not published" in preview_text((last,))


def test_a_preview_shows_as_many_records_as_are_asked_for(connection):
    plan = sqlanon.plan(connection, policy_of(), table="people")
    assert len(sqlanon.preview(connection, plan, rows=2)) == 2
    for wrong in (0, -1, 1.5, "2", True):
        with pytest.raises(SqlanonError):
            sqlanon.preview(connection, plan, rows=wrong)


@pytest.mark.slow
def test_a_table_that_changed_has_no_preview(connection):
    plan = sqlanon.plan(connection, policy_of(), table="people")
    connection.execute("DELETE FROM people WHERE age = 99")
    with pytest.raises(StalePlanError):
        sqlanon.preview(connection, plan)


@pytest.mark.slow
def test_a_preview_leaves_nothing_behind(connection):
    plan = sqlanon.plan(connection, policy_of(), table="people")
    sqlanon.preview(connection, plan)
    assert len(tables_of(connection)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hierarchy", "names"),
    [
        (Hierarchy.suppression(), ["original value", "*"]),
        (Hierarchy.intervals("2.5e1"), ["original value", "intervals of 25", "*"]),
        (Hierarchy.dates("month", "year"), ["original value", "month", "year", "*"]),
        (Hierarchy.expressions("age // 10"), ["original value", "age // 10", "*"]),
        (
            Hierarchy.from_rows([("1", "a", "Any"), ("2", "b", "Any"), ("3", "c", "Any")]),
            ["original value", "a, b, …", "Any"],
        ),
        (
            Hierarchy.from_rows([("1", "a", "*")], others=("rest", "*")),
            ["original value", "a, rest", "*"],
        ),
        (
            Hierarchy.from_rows([("1", "low", "*"), ("2", "low", "*"), ("3", "3", "*")]),
            ["original value", "low, …", "*"],
        ),
        (
            Hierarchy.from_rows([("1", "1", "*"), ("2", "1", "*"), ("3", "3", "*")]),
            ["original value", "level 1 (2 groups)", "*"],
        ),
        (
            Hierarchy.from_rows([("1", "1", "*"), ("2", "2", "*")]),
            ["original value", "no groups yet", "*"],
        ),
    ],
)  # fmt: skip
def test_levels_are_named_without_a_value_of_the_table(hierarchy, names):
    assert level_names(hierarchy.rule) == names


def test_a_plan_tells_levels_by_name(connection):
    plan = sqlanon.plan(connection, policy_of(), table="people")
    level = plan.report.levels["age"]
    assert f"{level} of 3  #..  intervals of 5" in plan.to_text()
    assert plan.to_dict()["level_names"]["sex"] == ["original value", "*"]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("loss", ["lm", "average-class-size"])
def test_every_minimal_node_has_its_loss_and_suppression(connection, limit, loss):
    quasi = {"age": Hierarchy.intervals(5, 10), "sex": Hierarchy.suppression()}
    policy = Policy(quasi, others="drop", models=[KAnonymity(2)], suppression_limit=limit)
    plan = sqlanon.plan(connection, policy, table="people", loss=loss, minimal_nodes=True)
    document = plan.to_dict()
    assert len(document["minimal_nodes"]) == len(document["minimal_node_figures"])
    for node, figures in zip(
        document["minimal_nodes"], document["minimal_node_figures"], strict=True
    ):
        if figures["suppressed_records"] == len(ROWS):
            continue
        bounds = {n: QuasiIdentifier(own, 1, node[n], node[n]) for n, own in quasi.items()}
        fixed = Policy(bounds, others="drop", models=policy.models, suppression_limit=limit)
        report = sqlanon.plan(connection, fixed, table="people", loss=loss).report
        assert report.suppressed_records == figures["suppressed_records"]
        assert report.loss[loss.replace("-", "_")] == pytest.approx(figures["loss"])
    assert f"  minimal nodes   {len(document['minimal_nodes'])}" in plan.to_text()


def written(folder, ending):
    """A file with a number that a plan drops, and a decimal that it keeps as it is written."""
    path = folder / f"people{ending}"
    with empty_database() as opened:
        opened.execute("""
            CREATE TABLE people AS
            SELECT range AS id, 30 + range % 4 AS age, CAST(1.50 AS DECIMAL(18, 2)) AS price
            FROM range(12)
        """)
        opened.execute(f"COPY people TO '{path}'")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_preview_of_a_file_reads_it_as_its_plan_did(tmp_path, ending):
    path = written(tmp_path, ending)
    policy = Policy(
        {"age": Hierarchy.intervals(5, 10)}, keep=["price"], drop=["id"], models=[KAnonymity(3)]
    )
    [record] = sqlanon.preview(path, sqlanon.plan(path, policy), rows=1, threads=1)
    assert record.before == {"age": "30", "price": "1.50"}
    assert record.after == {"age": "30", "price": "1.50"}


@pytest.mark.slow
def test_the_preview_of_a_text_file_takes_the_format_of_its_plan(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("day\n" + "31/12/2020\n" * 4)
    policy = Policy({"day": Hierarchy.dates("month")}, models=[KAnonymity(3)])
    text = {"date_format": "%d/%m/%Y"}
    [record] = sqlanon.preview(path, sqlanon.plan(path, policy, **text), rows=1, **text)
    assert record.before == {"day": "2020-12-31"}


@pytest.mark.slow
def test_records_are_shown_to_who_confirms_the_plan(connection):
    shown = []
    given = {"into": "made", "preview": 2}
    sqlanon.anonymize(
        connection, policy_of(), table="people", confirm=lambda *seen: shown.append(seen), **given
    )
    [(plan, records)] = shown
    assert records == sqlanon.preview(connection, plan, rows=2)
    with pytest.raises(PolicyError, match="give confirm"):
        sqlanon.anonymize(connection, policy_of(), table="people", **given)
