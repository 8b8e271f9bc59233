"""From options and a policy file to a policy: what goes before what."""

import doctest

import pytest

from sqlanon.cli import output, policies
from sqlanon.cli.options import PolicyOptions, PublishingOptions, SearchOptions
from sqlanon.cli.policies import PolicyMaker, policy_document, search_settings, split_columns
from sqlanon.errors import HierarchyError, PolicyError
from sqlanon.hierarchy import Hierarchy

COLUMNS = ["name", "age", "sex", "diagnosis"]


@pytest.mark.parametrize("module", [policies, output])
def test_examples_in_docstrings_are_true(module):
    assert doctest.testmod(module).failed == 0


def made(file=None, columns=COLUMNS, publishing=None, **options):
    maker = PolicyMaker(
        policy_document(file),
        PolicyOptions(policy=file, **options),
        PublishingOptions(**(publishing or {})),
    )
    return maker(columns)


@pytest.mark.parametrize(
    ("text", "columns", "names"),
    [
        ("age,sex", ["age", "sex"], ["age", "sex"]),
        ("age, sex", ["age", "sex"], ["age", "sex"]),
        ("zip, home", ["zip, home"], ["zip, home"]),
        ("a,b", ["a", "b", "a,b"], ["a,b"]),
        ("age,zip, home,sex", ["age", "zip, home", "sex"], ["age", "zip, home", "sex"]),
        (" age", [" age", "age"], [" age"]),
        ("age,age", ["age"], ["age"]),
        ("age,nothing", ["age"], ["age", "nothing"]),
        ("", ["age"], [""]),
    ],
)
def test_a_comma_parts_columns_where_none_has_that_very_name(text, columns, names):
    assert split_columns(text, columns) == names


def test_options_alone_make_a_policy():
    policy = made(
        qi=["age", "sex"],
        sensitive=["diagnosis"],
        identifier=["name"],
        hierarchy=["age=intervals:5,10"],
        weight=["age=2"],
        min_level=["age=1"],
        max_level=["age=2"],
        level=["sex=0"],
        k=3,
        suppression_limit=0.1,
    )
    age, sex = policy.attributes["age"], policy.attributes["sex"]
    assert age.hierarchy == Hierarchy.intervals(5, 10)
    assert (age.weight, age.min_level, age.max_level) == (2.0, 1, 2)
    assert sex.hierarchy == Hierarchy.suppression()
    assert (sex.min_level, sex.max_level) == (0, 0)
    assert (policy.k, policy.suppression_limit) == (3, 0.1)
    assert (policy.sensitive, policy.identifiers) == (("diagnosis",), ("name",))


def test_the_file_goes_before_the_defaults(policy_file):
    policy = made(policy_file)
    assert (policy.k, policy.suppression_limit) == (2, 0.5)
    assert policy.attributes["age"].weight == 2.0
    assert list(policy.attributes) == ["age", "sex"]


def test_options_go_before_the_file(policy_file):
    policy = made(
        policy_file, k=4, suppression_limit=0.25, weight=["age=3"], hierarchy=["age=prefix:1"]
    )
    assert (policy.k, policy.suppression_limit) == (4, 0.25)
    assert policy.attributes["age"].weight == 3.0
    assert policy.attributes["age"].hierarchy == Hierarchy.prefix(1)


def test_a_hierarchy_of_an_option_leaves_the_weight_of_the_file(policy_file):
    policy = made(policy_file, hierarchy=["age=prefix:1"])
    assert policy.attributes["age"].weight == 2.0


def test_quasi_identifiers_of_options_replace_those_of_the_file(policy_file):
    policy = made(policy_file, qi=["age,diagnosis"])
    assert list(policy.attributes) == ["age", "diagnosis"]
    assert policy.attributes["age"].hierarchy == Hierarchy.intervals(5, 10)
    assert policy.attributes["diagnosis"].hierarchy == Hierarchy.suppression()
    assert policy.sensitive == ()


def test_a_column_that_an_option_names_leaves_its_role_in_the_file(policy_file):
    policy = made(policy_file, publishing={"drop": ["diagnosis"], "keep": ["sex"]})
    assert policy.sensitive == ()
    assert (policy.drop, policy.keep) == (("diagnosis",), ("sex",))
    assert list(policy.attributes) == ["age"]


def test_two_roles_by_options_are_an_error():
    with pytest.raises(PolicyError, match="both quasi-identifier and sensitive"):
        made(qi=["age"], sensitive=["age"])


@pytest.mark.parametrize(
    ("written", "options", "bounds"),
    [
        ("level = 1", {"max_level": ["age=2"]}, (0, 2)),
        ("min_level = 1, max_level = 2", {"level": ["age=0"]}, (0, 0)),
        ("min_level = 1", {"max_level": ["age=2"]}, (1, 2)),
        ("level = 1", {"level": ["sex=0"], "min_level": ["age=1"]}, (1, None)),
    ],
)
def test_level_bounds_of_options_replace_rivals_in_the_file(tmp_path, written, options, bounds):
    file = tmp_path / "policy.toml"
    file.write_text(f"[quasi_identifiers]\nage = {{ prefix = [1], {written} }}\nsex = {{}}\n")
    age = made(file, **options).attributes["age"]
    assert (age.min_level, age.max_level) == bounds


def test_level_beside_a_bound_among_options_is_an_error():
    with pytest.raises(PolicyError, match="level beside"):
        made(qi=["age"], level=["age=1"], min_level=["age=1"])


def test_the_column_of_a_value_ends_at_the_last_fitting_sign():
    columns = ["a", "a=b", "c=d"]
    policy = made(
        columns=columns,
        qi=["a", "a=b", "c=d"],
        weight=["a=b=2", "a=3"],
        hierarchy=["a=b=sql:value = 1", "c=d=intervals:5;origin=1"],
    )
    weights = {name: entry.weight for name, entry in policy.attributes.items()}
    assert weights == {"a": 3.0, "a=b": 2.0, "c=d": 1.0}
    assert policy.attributes["a=b"].hierarchy == Hierarchy.expressions("value = 1")
    assert policy.attributes["c=d"].hierarchy == Hierarchy.intervals(5, origin=1)


def test_mistakes_in_options_are_reported_at_once():
    with pytest.raises(PolicyError) as caught:
        made(
            qi=["age"],
            hierarchy=["zip=suppress", "age=intervals:5,7", "nothing"],
            weight=["age=heavy"],
            level=["age=high"],
        )
    message = str(caught.value)
    for part in (
        "--hierarchy: 'zip' is no quasi-identifier",
        "--hierarchy of column 'age': hierarchy 'intervals' does not nest",
        "--hierarchy 'nothing' must have the form COLUMN=VALUE",
        "'heavy' is not a number",
        "level 'high' is not a whole number",
    ):
        assert part in message


def test_the_last_of_several_values_for_a_column_wins():
    assert made(qi=["age"], weight=["age=2", "age=3"]).attributes["age"].weight == 3.0


def test_files_of_a_policy_are_relative_to_it_and_those_of_options_to_the_folder(
    tmp_path, monkeypatch
):
    (tmp_path / "house").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "house" / "a.csv").write_text("1;x;*\n")
    (tmp_path / "work" / "a.csv").write_text("1;*\n")
    file = tmp_path / "house" / "policy.toml"
    file.write_text('[quasi_identifiers]\nage = { file = "a.csv" }\n')
    monkeypatch.chdir(tmp_path / "work")
    assert made(file).attributes["age"].hierarchy.height == 2
    assert made(file, hierarchy=["age=a.csv"]).attributes["age"].hierarchy.height == 1


def test_a_policy_may_name_its_roles_in_lists(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text('quasi_identifiers = ["age", "sex"]\nsensitive = ["diagnosis"]\n')
    policy = made(file, weight=["sex=2"])
    assert policy.attributes["sex"].weight == 2.0
    assert policy.sensitive == ("diagnosis",)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("kk = 5", "unknown keys in the policy: kk"),
        ("k = 0", "k is 0"),
        ('k = "five"', "k is 'five'"),
        ("identifiers = 5", "identifiers must be a list"),
        ("identifiers = [5]", "identifiers must be a list"),
        ("quasi_identifiers = 5", "quasi_identifiers must be a list"),
        ("[quasi_identifiers]\nage = 5", "quasi-identifier 'age' must be a table"),
        ("[quasi_identifiers]\nage = { prefix = [3], kk = 1 }", "unknown keys: kk"),
        ("k = ", "no valid TOML"),
    ],
)
def test_a_policy_that_is_wrong_is_one_error(tmp_path, written, message):
    file = tmp_path / "policy.toml"
    file.write_text(written)
    with pytest.raises((PolicyError, HierarchyError), match=message):
        made(file, k=None)


def test_settings_of_the_file_are_no_part_of_the_policy(policy_file):
    document = policy_document(policy_file)
    assert search_settings(document, SearchOptions())["loss"] == "precision"
    assert search_settings(document, SearchOptions(loss="lm"))["loss"] == "lm"
    assert "method" not in search_settings(document, SearchOptions())
    with pytest.raises(PolicyError, match="method of the policy file"):
        search_settings({"method": 3}, SearchOptions())


def test_a_check_reads_no_hierarchy_of_the_file(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text('k = 2\n[quasi_identifiers]\nage = { file = "missing.csv" }\n')
    maker = PolicyMaker.for_check(policy_document(file), PolicyOptions(policy=file))
    assert list(maker(COLUMNS).attributes) == ["age"]


def test_a_complete_policy_gives_every_column_a_role(policy_file):
    maker = PolicyMaker(
        policy_document(policy_file), PolicyOptions(policy=policy_file), PublishingOptions(), True
    )
    maker(COLUMNS)
    with pytest.raises(PolicyError, match="1 columns have no role: 'zip'"):
        maker([*COLUMNS, "zip"])
