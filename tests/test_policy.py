"""Policy: what it reads, what it refuses, and what follows from its figures."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.hierarchy import Hierarchy
from sqlanon.policy import Policy, QuasiIdentifier, read_document
from sqlanon.privacy import KAnonymity

FULL = """
k = 5
suppression_limit = 0.02
method = "incognito"
loss = "lm"
identifiers = ["name"]
keep = ["region"]
drop = ["note"]
others = "drop"
suppressed = "keep"
suppressed_label = "?"

[quasi_identifiers]
age = { intervals = [5, 10, 20], weight = 2.0, max_level = 3 }
zip = { prefix = [4, 3, 2], min_level = 1 }
education = { file = "education.csv" }
sex = {}
born = { dates = ["month", "year"], level = 2 }

[sensitive]
diagnosis = {}
"""
PATHS = [("school", "low", "*"), ("college", "high", "*")]


@pytest.fixture
def written(tmp_path):
    def write(text, name="policy.toml"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def full(written):
    """A policy file with every key, beside the hierarchy file it names."""
    written("school;low;*\ncollege;high;*\n", "education.csv")
    return Policy.from_toml(written(FULL))


def refusal(build, *arguments, **options):
    with pytest.raises(PolicyError) as caught:
        build(*arguments, **options)
    return str(caught.value)


def test_toml_gives_the_roles(full):
    assert full.roles == {
        "quasi-identifier": ("age", "zip", "education", "sex", "born"),
        "sensitive": ("diagnosis",),
        "identifier": ("name",),
        "keep": ("region",),
        "drop": ("note",),
    }


def test_toml_gives_hierarchies_weights_and_level_bounds(full):
    assert full.attributes == {
        "age": QuasiIdentifier(Hierarchy.intervals(5, 10, 20), weight=2.0, max_level=3),
        "zip": QuasiIdentifier(Hierarchy.prefix(4, 3, 2), min_level=1),
        "education": QuasiIdentifier(Hierarchy.from_rows(PATHS, name="education.csv")),
        "sex": QuasiIdentifier(Hierarchy.suppression()),
        "born": QuasiIdentifier(Hierarchy.dates("month", "year"), min_level=2, max_level=2),
    }


def test_toml_gives_the_figures(full):
    assert (full.k, full.suppression_limit, full.others) == (5, 0.02, "drop")
    assert (full.suppressed, full.suppressed_label) == ("keep", "?")


def test_toml_of_lists_gives_the_same_as_tables(written):
    lists = Policy.from_toml(written('quasi_identifiers = ["sex"]\nsensitive = ["job"]'))
    tables = Policy.from_toml(written("[quasi_identifiers]\nsex = {}\n[sensitive]\njob = {}"))
    assert lists == tables


def test_toml_may_start_with_a_byte_order_mark(written):
    assert read_document(written("\ufeffk = 2")) == {"k": 2}


def test_method_and_loss_are_read_but_no_part_of_a_policy(written):
    path = written('method = "incognito"\nloss = "lm"\nquasi_identifiers = ["sex"]')
    assert read_document(path)["loss"] == "lm"
    assert Policy.from_toml(path) == Policy.from_dict({"quasi_identifiers": ["sex"]})


def test_missing_file_is_one_line(tmp_path):
    assert "No such file" in refusal(Policy.from_toml, tmp_path / "none.toml")


def test_file_that_is_no_toml_is_refused(written):
    assert "is no valid TOML" in refusal(Policy.from_toml, written("k = "))


def test_to_dict_is_read_back(full):
    assert Policy.from_dict(full.to_dict()) == full


def test_to_dict_is_strict_json(full):
    assert Policy.from_dict(json.loads(json.dumps(full.to_dict(), allow_nan=False))) == full


def test_to_dict_of_a_policy_without_models_is_read_back_without_any():
    assert Policy.from_dict(Policy(["sex"]).to_dict()).models == ()


figures = st.floats(0.01, 100) | st.integers(1, 9)
bounds = st.tuples(st.integers(0, 3), st.none() | st.integers(3, 6))
hierarchies = st.sampled_from(
    [
        Hierarchy.suppression(),
        Hierarchy.intervals(5, 10),
        Hierarchy.prefix(2, 1),
        Hierarchy.dates("year"),
        Hierarchy.expressions("value % 2"),
        Hierarchy.table("ages"),
        Hierarchy.from_rows(PATHS),
    ]
)


@given(
    st.dictionaries(st.text(), st.tuples(hierarchies, figures, bounds), max_size=4),
    st.floats(0, 1),
    st.integers(1, 99),
)
def test_any_policy_is_read_back(columns, limit, k):
    policy = Policy(
        {name: QuasiIdentifier(tree, weight, *b) for name, (tree, weight, b) in columns.items()},
        models=(KAnonymity(k),),
        suppression_limit=limit,
    )
    assert Policy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy


def test_unknown_keys_are_refused_all_at_once():
    message = refusal(Policy.from_dict, {"K": 2, "quasi": {}, "k": 2})
    assert message.startswith("unknown keys in the policy: K, quasi; known are ")


def test_unknown_key_of_a_sensitive_column_names_the_column():
    message = refusal(Policy.from_dict, {"sensitive": {"job": {"level": 1}}})
    assert message == "unknown keys in sensitive column 'job': level"


@pytest.mark.parametrize(
    "entry", [{"weigth": 2.0}, {"prefix": [3], "dates": ["year"]}, {"prefix": "abc"}]
)
def test_faulty_hierarchy_of_a_quasi_identifier_names_the_column(entry):
    with pytest.raises(SqlanonError, match="'zip'"):
        Policy.from_dict({"quasi_identifiers": {"zip": entry}})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"k": 0}, "k is 0"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": True}, "k is True"),
        ({"k": "5"}, "k is '5'"),
        ({"keep": "region"}, "keep must be a list of column names"),
        ({"drop": [1]}, "drop must be a list of column names"),
        ({"sensitive": "job"}, "sensitive must be a list of column names"),
        ({"quasi_identifiers": "age"}, "quasi_identifiers must be a list of column names"),
        ({"quasi_identifiers": {"age": 5}}, "quasi-identifier 'age' must be a table"),
        ({"suppression_limit": "0.1"}, "suppression_limit '0.1' is not a share"),
        ({"suppression_limit": True}, "suppression_limit True is not a share"),
        ({"suppression_limit": float("nan")}, "suppression_limit nan is not a share"),
        ({"suppression_limit": 1.5}, "suppression_limit 1.5 is not a share between 0 and 1"),
        ({"others": "all"}, "others is 'all'; it must be 'keep' or 'drop'"),
        ({"suppressed": True}, "suppressed is True; it must be 'drop' or 'keep'"),
        ({"suppressed_label": 5}, "suppressed_label"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(document, expected):
    assert expected in refusal(Policy.from_dict, {"quasi_identifiers": ["sex"], **document})


@pytest.mark.parametrize("weight", [0, -1.0, float("inf"), float("nan"), "2", None, True])
def test_weight_is_a_number_above_0(weight):
    message = refusal(Policy.from_dict, {"quasi_identifiers": {"age": {"weight": weight}}})
    assert message == f"quasi-identifier 'age': weight {weight!r} is not a number above 0"


@pytest.mark.parametrize("key", ["level", "min_level", "max_level"])
@pytest.mark.parametrize("level", [-1, 1.0, "1", True])
def test_levels_are_whole_numbers_of_at_least_0(key, level):
    message = refusal(Policy.from_dict, {"quasi_identifiers": {"age": {key: level}}})
    assert message == f"quasi-identifier 'age': level {level!r} is not a whole number of at least 0"


def test_level_fixes_both_bounds():
    policy = Policy.from_dict({"quasi_identifiers": {"age": {"prefix": [1], "level": 1}}})
    assert (policy.attributes["age"].min_level, policy.attributes["age"].max_level) == (1, 1)


@pytest.mark.parametrize("bound", ["min_level", "max_level"])
def test_level_beside_a_bound_is_refused(bound):
    entry = {"level": 1, bound: 1}
    message = refusal(Policy.from_dict, {"quasi_identifiers": {"age": entry}})
    assert message == "quasi-identifier 'age' has level beside min_level or max_level"


def test_bounds_that_cross_are_refused():
    message = refusal(QuasiIdentifier, Hierarchy.suppression(), min_level=2, max_level=1)
    assert message == "min_level 2 is above max_level 1"


def test_all_mistakes_of_a_policy_are_told_at_once():
    message = refusal(
        Policy,
        ["age", "sex"],
        sensitive=["sex"],
        keep=["zip", "zip"],
        suppression_limit=-0.1,
        others="maybe",
    )
    assert message.split("; ") == [
        "column 'sex' is both quasi-identifier and sensitive",
        "give it one role",
        "column 'zip' is named twice as keep",
        "suppression_limit -0.1 is not a share between 0 and 1",
        "others is 'maybe'",
        "it must be 'keep' or 'drop'",
    ]


def test_names_alone_are_quasi_identifiers_by_suppression():
    expected = QuasiIdentifier(Hierarchy.suppression(), 1.0, 0, None)
    assert Policy(["age", "sex"]).attributes == {"age": expected, "sex": expected}


def test_with_attributes_replaces_only_the_quasi_identifiers():
    policy = Policy(["age"], keep=["region"], models=[KAnonymity(3)])
    other = policy.with_attributes({"zip": QuasiIdentifier(Hierarchy.prefix(2))})
    assert other.roles == {**policy.roles, "quasi-identifier": ("zip",)}
    assert other.k == 3


def test_k_is_the_strictest_of_the_models():
    assert Policy(["age"], models=[KAnonymity(3), KAnonymity(7), KAnonymity(5)]).k == 7


def test_k_without_models_is_1():
    assert Policy(["age"]).k == 1


@pytest.mark.parametrize(
    ("limit", "records", "allowed"),
    [(0.29, 100, 29), (0.07, 100, 7), (0.57, 100, 57), (0.05, 30_162, 1_508), (0, 9, 0), (1, 9, 9)],
)
def test_allowance_takes_the_limit_as_the_decimal_written(limit, records, allowed):
    assert Policy(["age"], suppression_limit=limit).allowance(records) == allowed


@given(st.integers(0, 1000), st.integers(0, 10**9))
def test_allowance_is_the_exact_share_rounded_down(thousandths, records):
    allowed = Policy(["age"], suppression_limit=thousandths / 1000).allowance(records)
    assert allowed == Fraction(thousandths, 1000) * records // 1


COLUMNS = ["id", "age", "job", "region", "note", "other"]
ROLES = {"sensitive": ["job"], "identifiers": ["id"], "keep": ["region"], "drop": ["note"]}


def test_published_columns_with_others_kept():
    policy = Policy(["age"], **ROLES, others="keep")
    assert policy.published(COLUMNS) == ["age", "job", "region", "other"]


def test_published_columns_with_others_dropped():
    policy = Policy(["age"], **ROLES, others="drop")
    assert policy.published(COLUMNS) == ["age", "job", "region"]


def test_published_columns_keep_the_order_of_the_table():
    assert Policy(["sex", "age"], others="drop").published(["age", "sex"]) == ["age", "sex"]


def test_columns_without_a_role_stop_publishing_with_the_ways_out():
    message = refusal(Policy(["age"]).check_columns, ["age", "b", "c d"], publish=True)
    assert message.startswith("2 columns have no role: 'b', 'c d'; ")
    for option in ("--keep COLUMN", "--drop COLUMN", "--others keep|drop"):
        assert option in message


@pytest.mark.parametrize("others", ["keep", "drop"])
def test_columns_without_a_role_are_settled_by_others(others):
    Policy(["age"], others=others).check_columns(["age", "b"], publish=True)


def test_columns_without_a_role_do_not_matter_before_publishing():
    Policy(["age"]).check_columns(["age", "b"])


def test_missing_columns_and_columns_without_a_role_are_told_at_once():
    policy = Policy(["Age"], sensitive=["zyx"])
    assert refusal(policy.check_columns, ["age"], publish=True).startswith(
        "the table has no column 'Age'; did you mean 'age'?; the table has no column 'zyx'; "
        "1 columns have no role: 'age'; "
    )


@pytest.mark.parametrize("k", [0, -1, 1.0, "2", None, True])
def test_k_is_a_whole_number_of_at_least_1(k):
    assert refusal(KAnonymity, k) == f"k is {k!r}; it must be a whole number of at least 1"
