"""Plans in groups of values that were changed by hand: held to the hierarchies of their policy."""

import pytest
from databases import empty_database
from edits import edit

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Plan, Policy, QuasiIdentifier
from sqlanon.errors import SourceError, VerificationError

WORK = [("a", "A", "*"), ("b", "B", "*"), ("c", "B", "*"), ("d", "D", "*")]
GROUPS = {"A": ["a"], "{B, D}": ["b", "c", "d"]}


@pytest.fixture
def edited(tmp_path):
    """Loads a plan of the groups A and {B, D}, with other groups and levels in their place."""

    def load(groups, levels, **bounds):
        with empty_database() as connection:
            connection.execute("CREATE TABLE people AS SELECT 'abbbcd'[1 + i % 6] AS work, i % 2 "
                               "AS sex FROM range(12) AS r(i)")  # fmt: skip
            works = QuasiIdentifier(Hierarchy.from_rows(WORK), **bounds)
            policy = Policy({"work": works}, models=[KAnonymity(2)], others="drop")
            file = tmp_path / "plan.json"
            plan = sqlanon.plan(connection, policy, table="people", method="scheme", scheme="bhs")
            plan.save(file)
            listed = [{"label": label, "values": own} for label, own in groups.items()]

            def change(document):
                document["recoding"]["columns"] = [{"levels": levels, "groups": listed}]
                document["report"]["levels"] = {"work": levels[0]} if len(levels) == 1 else None

            edit(file, change)
            return Plan.load(file)

    return load


def test_groups_that_a_policy_allows_are_read(edited):
    assert edited(GROUPS, [1, 2], min_level=1).recoding.levels == ((1, 2),)


@pytest.mark.parametrize(
    ("groups", "levels", "bounds", "number"),
    [
        ({"a": ["a"], "b": ["b"], "c": ["c"], "d": ["d"]}, [1], {"min_level": 1}, 4),
        ({"A": ["a"], "{b, D}": ["b", "d"], "c": ["c"]}, [1, 2], {"min_level": 1}, 2),
        (GROUPS, [0, 1], {"max_level": 1}, 1),
        ({"a": ["b"], "b": ["a"], "B": ["c", "d"]}, [0, 1], {}, None),  # each is a value elsewhere
        ({"A": ["a"], "B": ["b", "c", "d"]}, [1, 2], {}, 1),  # the label of other values
        ({"A": ["a"], "{B, D}": ["b", "c"]}, [1, 2], {}, 2),  # a value is missing
    ],
)
def test_groups_that_a_policy_does_not_allow_are_refused(edited, groups, levels, bounds, number):
    with pytest.raises(SourceError) as caught:
        edited(groups, levels, **bounds)
    message = str(caught.value)
    if number is None:
        assert "a map has groups whose label stands for other values, too" in message
    else:
        groups = f"{number} group{'s' if number > 1 else ''}"
        assert f"it publishes {groups} of values of column 'work' that its policy" in message


@pytest.fixture
def carried_out(tmp_path):
    """Publishes a plan of ages in tens at least, with other groups in place of its own."""

    def publish(change):
        with empty_database() as connection:
            connection.execute("CREATE TABLE people AS SELECT 20 + i % 20 AS age, i % 2 AS sex "
                               "FROM range(80) AS r(i)")  # fmt: skip
            ages = QuasiIdentifier(Hierarchy.intervals(5, 10, 20), min_level=2)
            policy = Policy({"age": ages}, models=[KAnonymity(2)], others="drop")
            file = tmp_path / "plan.json"
            sqlanon.plan(connection, policy, table="people", method="scheme", scheme="gops").save(
                file
            )

            def changed(document):
                [column] = document["recoding"]["columns"]
                column["groups"] = change(column["groups"])

            edit(file, changed)
            return sqlanon.apply(connection, Plan.load(file), into="out")

    return publish


def halves(group):
    """The groups of five years that a group of ten is made of."""
    low, values = int(group["values"][0]), group["values"]
    return [{"label": f"{start}-{start + 4}", "values": values[start - low : start - low + 5]}
            for start in (low, low + 5)]  # fmt: skip


def test_groups_of_a_rule_are_carried_out(carried_out):
    assert carried_out(lambda groups: groups).statistics.classes == 2


@pytest.mark.parametrize(
    ("change", "number"),
    [
        (lambda groups: [part for group in groups for part in halves(group)], "4 groups"),
        (lambda groups: [*halves(groups[0]), groups[1]], "2 groups"),
        (lambda groups: [groups[0], {**groups[1], "label": "31-39"}], "1 group"),
    ],
)
def test_groups_of_a_rule_are_held_against_the_levels_allowed(carried_out, change, number):
    with pytest.raises(VerificationError) as caught:
        carried_out(change)
    assert f"it publishes {number} of values of column 'age' that its policy" in str(caught.value)
