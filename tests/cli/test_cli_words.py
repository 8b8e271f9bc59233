"""Words: what the command line and a policy file say alike, and what is wrong with figures."""

import pytest
from cli_options import policy_options

from sqlanon.cli.policies import PolicyMaker
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.policy.privacy import LDiversity, TCloseness

COLUMNS = ["name", "age", "sex", "diagnosis"]


def by_options(**options):
    return PolicyMaker(policy_options(**options))(COLUMNS)


def by_file(tmp_path, text, **options):
    file = tmp_path / "policy.toml"
    file.write_text(text)
    return PolicyMaker(policy_options(policy=file, **options))(COLUMNS)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("l", "entropy:2"),
        ("l", "recursive:2:3"),
        ("l", "3"),
        ("t", "ordered:0.2"),
        ("alpha", "0.5"),
        ("beta_likeness", "enhanced:2"),
    ],
)
def test_a_policy_file_takes_the_models_of_the_command_line(key, text, tmp_path):
    options = {"qi": ["age"], "sensitive": ["diagnosis"], key: [text]}
    common = f'{key} = "{text}"\nquasi_identifiers = ["age"]\nsensitive = ["diagnosis"]'
    own = f'quasi_identifiers = ["age"]\n[sensitive]\ndiagnosis = {{ {key} = ["{text}"] }}'
    assert by_file(tmp_path, common) == by_options(**options)
    assert by_file(tmp_path, own).demands == by_options(**options).demands


@pytest.mark.parametrize(
    "entry", ['"intervals:5,10;low=0"', '{ hierarchy = "intervals:5,10;low=0", weight = 1 }']
)
def test_a_policy_file_takes_the_hierarchies_of_the_command_line(entry, tmp_path):
    found = by_file(tmp_path, f"[quasi_identifiers]\nage = {entry}")
    assert found.attributes["age"].hierarchy == Hierarchy.intervals(5, 10, low=0)
    assert found == by_options(qi=["age"], hierarchy=["age=intervals:5,10;low=0"])


def test_a_file_that_a_policy_file_names_in_words_starts_at_its_folder(tmp_path):
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    found = by_file(tmp_path, '[quasi_identifiers]\nsex = "sex.csv"')
    assert found.attributes["sex"].hierarchy.rows == (("f", "*"), ("m", "*"))


def test_options_refine_a_hierarchy_in_words(tmp_path):
    text = '[quasi_identifiers]\nage = "intervals:5,10"'
    refined = by_file(tmp_path, text, weight=["age=2"]).attributes["age"]
    assert (refined.hierarchy, refined.weight) == (Hierarchy.intervals(5, 10), 2.0)
    replaced = by_file(tmp_path, text, hierarchy=["age=suppress"]).attributes["age"]
    assert replaced.hierarchy == Hierarchy.suppression()


def test_a_sensitive_hierarchy_can_be_in_words(tmp_path):
    (tmp_path / "d.csv").write_text("flu;lung;*\ngastritis;stomach;*\n")
    entry = '[sensitive]\ndiagnosis = { hierarchy = "d.csv", t = "hierarchical:0.2" }'
    [found] = by_file(tmp_path, f'quasi_identifiers = ["age"]\n{entry}').demands
    assert found.model == TCloseness(0.2, "hierarchical")


def test_check_does_not_read_a_hierarchy_file_that_is_named_in_words(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text('[quasi_identifiers]\nage = "missing.csv"\nsex = { hierarchy = "file:m.csv" }')
    maker = PolicyMaker(policy_options(policy=file), reads_hierarchies=False)
    assert list(maker(COLUMNS).attributes) == ["age", "sex"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('l = "entropie:2"', "l: kind of l-diversity is 'entropie'"),
        ('l = "recursive:3"', "l: 'recursive:3' must have the form 3, entropy:3 or"),
        ('[quasi_identifiers]\nage = "intervalls:5"', "'age': hierarchy 'intervalls:5' has an unk"),
        ('[quasi_identifiers]\nage = { hierarchy = "suppress", prefix = [2] }', "keep one"),
        ("[quasi_identifiers]\nage = { hierarchy = 5 }", "hierarchy must be a text such as"),
    ],
)
def test_words_of_a_policy_file_that_are_wrong(text, expected, tmp_path):
    with pytest.raises((PolicyError, ValueError)) as caught:
        by_file(tmp_path, text)
    assert expected in str(caught.value)


def test_the_command_line_takes_what_a_policy_file_says(tmp_path):
    (tmp_path / "sex.txt").write_text("f|*\nm|*\n")
    found = by_options(
        qi=["age", "sex"],
        sensitive=["diagnosis"],
        hierarchy=[
            "age={ intervals = [5, 10], low = 0 }",
            f'sex={{ file = "{tmp_path}/sex.txt", delimiter = "|" }}',
        ],
        l=['{ value = 2, kind = "entropy" }'],
        t=['diagnosis={ value = 0.2, distance = "ordered" }'],
        nulls=["diagnosis=none"],
        order=['diagnosis=["flu", "a, b"]'],
    )
    assert found.attributes["age"].hierarchy == Hierarchy.intervals(5, 10, low=0)
    assert found.attributes["sex"].hierarchy.rows == (("f", "*"), ("m", "*"))
    models = [demand.model for demand in found.demands]
    assert models == [LDiversity(2, "entropy"), TCloseness(0.2, "ordered")]
    diagnosis = found.sensitive_attributes["diagnosis"]
    assert (diagnosis.nulls, diagnosis.order) == ("none", ("flu", "a, b"))


def test_an_order_is_parted_by_commas():
    found = by_options(qi=["age"], sensitive=["diagnosis"], order=["diagnosis=low,mid,high"])
    assert found.sensitive_attributes["diagnosis"].order == ("low", "mid", "high")


def test_an_order_can_be_that_of_a_quasi_identifier():
    assert by_options(qi=["age", "sex"], order=["sex=m,f"]).attributes["sex"].order == ("m", "f")


@pytest.mark.parametrize(
    "more",
    [
        ["--policy", "a.toml", "--policy", "b.toml"],
        ["--k", "2", "--k", "3"],
        ["--loss", "lm", "--loss=tree"],
        ["--threads", "1", "--threads", "1"],
    ],
)
def test_an_option_of_one_value_that_is_given_twice_is_refused(more, refused, database):
    flag = more[0]
    line = refused("plan", database, "people", "--qi", "age", *more)
    assert f"{flag} is given twice; keep one of them" in line


def test_options_that_repeat_and_switches_can_be_given_again(run, database):
    outcome = run(
        "check", database, "people", "--qi", "age", "--qi", "sex", "--k", 1, "-q", "--quiet"
    )
    assert outcome.code == 0, outcome
