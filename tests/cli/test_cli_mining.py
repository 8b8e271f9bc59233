"""The command mine, from the command line to the document and the new table."""

import duckdb
import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy

pytestmark = pytest.mark.slow

QUASI = ["--qi", "age,sex", "--hierarchy", "age=intervals:5,10", "--k", 5]


def test_mine_counts_closed_itemsets(run, database):
    outcome = run("mine", database, "people", *QUASI, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    # Ages 30 to 34, 35 to 39, all of them, and these five of each sex.
    document = outcome.document
    assert (document["itemsets"], document["memberships"]) == (5, 30)
    assert document["seconds"] > 0
    assert document["schema_version"] == 1


@pytest.fixture
def unknown(database):
    """The database, with the sex of the younger half unknown."""
    with duckdb.connect(str(database)) as connection:
        connection.execute("UPDATE people SET sex = NULL WHERE age < 35")
    return database


def test_mine_prints_a_line(run, database):
    outcome = run("mine", database, "people", *QUASI)
    assert outcome.out.startswith("5 closed frequent generalized itemsets of at least 5 of 10")


def test_mine_writes_generalized_values_and_support(run, unknown):
    given = ["mine", unknown, "people", *QUASI, "--into", "itemsets", "--json"]
    assert run(*given).document["output"] == "itemsets"
    with duckdb.connect(str(unknown)) as connection:
        rows = set(connection.execute("SELECT age, sex, support FROM itemsets").fetchall())
    assert rows == {("30-34", None, 5), ("35-39", "*", 5), ("30-39", "*", 10)}


def test_mine_replaces_a_table_only_when_told(run, refused, database):
    given = ["mine", database, "people", *QUASI, "--into", "itemsets"]
    assert run(*given).code == 0
    assert "--overwrite" in refused(*given)
    assert run(*given, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--qi", "age,sex"], "--k"),
        ([*QUASI, "--kind", "maximal"], "closed, frequent"),
        ([*QUASI, "--entity", "name"], "not persons"),
        ([*QUASI, "--into", "people"], "itself"),
        ([*QUASI, "--into", "seen"], "is a view"),
        ([*QUASI, "--into", "seen", "--overwrite"], "is a view"),
    ],
)
def test_mine_refuses_in_one_line(refused, database, words, part):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE VIEW seen AS FROM people")
    assert part in refused("mine", database, "people", *words)


def test_mine_refuses_a_quasi_identifier_called_like_the_counts(refused, database):
    with duckdb.connect(str(database)) as connection:
        connection.execute("ALTER TABLE people RENAME sex TO Support")
    given = ["mine", database, "people", "--qi", "Support", "--k", 2, "--into", "x"]
    assert "is called 'support'" in refused(*given)


def test_mine_takes_level_bounds(run, database):
    given = ["mine", database, "people", *QUASI, "--level", "sex=1", "--json"]
    assert run(*given).document["itemsets"] == 3


def test_mine_of_the_library_joins_an_open_transaction():
    policy = Policy({"sex": Hierarchy.suppression()}, models=[KAnonymity(2)])
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT 'f' AS sex FROM range(3)")
        connection.begin()
        report = sqlanon.mine(connection, policy, table="people", into="itemsets")
        assert (report.itemsets, report.memberships, report.output) == (1, 3, "itemsets")
        assert connection.execute("FROM itemsets").fetchall() == [("f", 3)]
        connection.rollback()
        names = [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
    assert names == ["people"]


@pytest.mark.parametrize("command", ["mine", "bound"])
def test_a_time_limit_that_is_none_is_refused(refused, database, command):
    assert "above 0" in refused(command, database, "people", *QUASI, "--time-limit", 0)


def test_bound_takes_the_loss_of_the_policy_file(run, database, policy_file):
    arguments = ["bound", database, "people", "--policy", policy_file, "--json"]
    assert run(*arguments).document["loss"] == "precision"
    assert run(*arguments, "--loss", "lm").document["loss"] == "lm"
    assert run(*arguments).document["allowance"] == 5
    assert run(*arguments, "--suppression-limit", 0, "--level", "sex=0").document["levels"] == {
        "sex": [0, 0]
    }


def test_bound_takes_an_effort(run, refused, database):
    given = ["bound", database, "people", *QUASI, "--json"]
    quick = run(*given, "--effort", "quick").document
    full = run(*given, "--effort", "full").document
    assert (quick["effort"], full["effort"]) == ("quick", "full")
    assert 0 < quick["lower_bound"] <= full["lower_bound"]
    assert "effort" in refused("bound", database, "people", *QUASI, "--effort", "long")


def test_the_options_of_a_plan_fit_the_bound(run, database):
    given = ["bound", database, "people", *QUASI, "--json"]
    alone = run(*given).document["lower_bound"]
    asked = run(*given, "--others", "drop", "--suppressed", "keep")
    assert asked.document["lower_bound"] == alone
