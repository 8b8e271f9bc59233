"""From options and a policy file to a policy: what goes before what."""

import pytest
from cli_options import policy_options

from sqlanon.cli.options import PublishingOptions
from sqlanon.cli.policies import PolicyMaker
from sqlanon.cli.search_options import SearchOptions, search_settings
from sqlanon.errors import HierarchyError, PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.policy.policy import Sensitive
from sqlanon.policy.privacy import (
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    TCloseness,
)
from sqlanon.publishing.settings import completed
from sqlanon.wording import split_list

COLUMNS = ["name", "age", "sex", "diagnosis"]


def made(file=None, columns=COLUMNS, publishing=None, **options):
    given = policy_options(policy=file, **options)
    return PolicyMaker(given, PublishingOptions(**(publishing or {})))(columns)


@pytest.mark.parametrize(
    ("text", "columns", "names"),
    [
        ("age,sex", ["age", "sex"], ["age", "sex"]),
        ("age, sex", ["age", "sex"], ["age", "sex"]),
        ("zip, home", ["zip, home"], ["zip, home"]),
        ("a,b", ["a", "b", "a,b"], ["a,b"]),
        ("age,zip, home,sex", ["age", "zip, home", "sex"], ["age", "zip, home", "sex"]),
        (" age", [" age", "age"], [" age"]),
        ("age,age", ["age"], ["age", "age"]),
        ("age,nothing", ["age"], ["age", "nothing"]),
        ("", ["age"], [""]),
    ],
)
def test_a_comma_parts_columns_where_none_has_that_very_name(text, columns, names):
    assert split_list(text, columns) == names


@pytest.mark.parametrize("given", [["age,age"], ["age", "age"], ["age, zip", "age"]])
@pytest.mark.parametrize(
    ("option", "flag"),
    [("qi", "--qi"), ("sensitive", "--sensitive"), ("identifier", "--identifier")],
)
def test_a_column_that_an_option_names_twice_is_an_error(option, flag, given):
    maker = PolicyMaker(policy_options(**{option: given}))
    with pytest.raises(PolicyError, match=f"^{flag} names 'age' twice; name each once$"):
        maker(["age", "zip"])


@pytest.mark.parametrize("option", ["weight_column", "household"])
def test_risk_by_a_column_that_an_option_misspells_is_an_error(option):
    options = policy_options(**{option: "diagnos"})
    with pytest.raises(PolicyError, match="no column 'diagnos'; did you mean 'diagnosis'"):
        PolicyMaker(options, compares=True)(COLUMNS)
    assert PolicyMaker(options)(COLUMNS)  # as a release is checked


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
    assert (list(policy.sensitive), policy.identifiers) == (["diagnosis"], ("name",))


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


def test_quasi_identifiers_of_options_replace_those_of_the_file(policy_file):
    policy = made(policy_file, qi=["age,diagnosis"])
    assert list(policy.attributes) == ["age", "diagnosis"]
    assert policy.attributes["age"].hierarchy == Hierarchy.intervals(5, 10)
    assert policy.attributes["diagnosis"].hierarchy == Hierarchy.suppression()
    assert policy.sensitive == {}


def test_a_column_that_an_option_names_leaves_its_role_in_the_file(policy_file):
    policy = made(policy_file, publishing={"drop": ["diagnosis"], "keep": ["sex"]})
    assert policy.sensitive == {}
    assert (policy.drop, policy.keep) == (("diagnosis",), ("sex",))
    assert list(policy.attributes) == ["age"]


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


def test_class_means_are_of_a_column_alone_or_of_one_with_a_figure():
    policy = made(columns=["a", "a=b"], qi=["a", "a=b"], class_mean=["a=b", "a=median:0.5"])
    assert {name: own.class_mean for name, own in policy.attributes.items()} == {
        "a": "median:0.5",
        "a=b": "mean",
    }
    with pytest.raises(PolicyError, match="'c' is not a quasi-identifier"):
        made(columns=["a"], qi=["a"], class_mean=["c"])


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
        "--hierarchy: 'zip' is neither quasi-identifier nor sensitive",
        "--hierarchy of column 'age': hierarchy 'intervals' does not nest",
        "--hierarchy 'nothing' must have the form COLUMN=VALUE",
        "--weight of column 'age': 'heavy' is not a number",
        "level 'high' is not a whole number",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("weight", ["age=2", "age=3"]),
        ("level", ["age=0", "age=1"]),
        ("min_level", ["age=0", "age=1"]),
        ("max_level", ["age=1", "age=0"]),
        ("hierarchy", ["age=prefix:1", "age=suppress"]),
    ],
)
def test_an_option_that_says_two_things_of_a_column_is_an_error(option, values):
    flag = f"--{option.replace('_', '-')}"
    with pytest.raises(PolicyError, match=f"^{flag} is given twice for column 'age'; keep one"):
        made(qi=["age"], **{option: values})


def test_an_option_may_say_a_thing_of_a_column_twice():
    assert made(qi=["age"], weight=["age=2", "age=2.0"]).attributes["age"].weight == 2.0


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


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "kk = 5",
            r"unknown key in the policy: kk \(did you mean k\?\); known are k, .*, loss",
        ),
        ("k = 0", "k is 0"),
        ("[sensitive]\njob = { l = 0 }", "sensitive column 'job': l of distinct l-diversity is 0"),
        ("method = 3", "method must be a text in quotes"),
        ("k = ", "not valid TOML"),
    ],
)
def test_a_policy_that_is_wrong_is_one_error(tmp_path, written, message):
    file = tmp_path / "policy.toml"
    file.write_text(written)
    for call in (made, made_for_check):
        with pytest.raises((PolicyError, HierarchyError), match=message) as caught:
            call(file)
        assert str(caught.value).startswith(f"policy file '{file}'")


def made_for_check(file, **options):
    options = policy_options(policy=file, **options)
    return PolicyMaker(options, reads_hierarchies=False)(COLUMNS)


def test_an_error_of_file_and_options_together_says_so(policy_file):
    with pytest.raises(PolicyError) as caught:
        made(policy_file, k=0)
    start = f"policy file '{policy_file}' with the options given: k is 0"
    assert str(caught.value).startswith(start)


def test_settings_of_the_file_are_no_part_of_the_policy(policy_file):
    maker = PolicyMaker(policy_options(policy=policy_file))
    assert maker.said == {"loss": "precision"}
    assert completed(search_settings(SearchOptions()), maker.said)["loss"] == "precision"
    assert completed(search_settings(SearchOptions(loss="lm")), maker.said)["loss"] == "lm"


@pytest.mark.parametrize("more", ["", ', delimiter = ","', ", weight = 2, max_level = 1"])
def test_a_check_reads_no_hierarchy_of_the_file(tmp_path, more):
    file = tmp_path / "policy.toml"
    file.write_text(f'k = 2\n[quasi_identifiers]\nage = {{ file = "missing.csv"{more} }}\n')
    assert list(made_for_check(file).attributes) == ["age"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("weight = -1", "quasi-identifier 'age': weight -1 is not a number above 0"),
        ('file = "a.csv", weigth = 1', "weigth .did you mean weight"),
        ('file = "a.csv", prefix = [1]', "hierarchy has 2 kinds"),
        ("file = 5", "has a value of the wrong type"),
        ("level = 1, max_level = 1", "has level beside min_level or max_level"),
    ],
)
def test_a_check_checks_the_rest_of_what_the_file_says(tmp_path, entry, message):
    file = tmp_path / "policy.toml"
    file.write_text(f"[quasi_identifiers]\nage = {{ {entry} }}\n")
    with pytest.raises((PolicyError, HierarchyError), match=message):
        made_for_check(file)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"weight": ["zip=2"]}, "--weight: 'zip' is not a quasi-identifier; name it with --qi"),
        ({"max_level": ["age=x"]}, "--max-level of column 'age': level 'x' is not a whole number"),
        ({"hierarchy": ["age=intervals:5,7"]}, "--hierarchy of column 'age': .*does not nest"),
        ({"hierarchy": ["age=missing.csv"]}, "--hierarchy of column 'age': hierarchy file"),
        ({"suppression_limit": 1.5}, "suppression_limit 1.5 is not a share between 0 and 1"),
    ],
)
def test_a_check_checks_options_that_it_has_no_use_for(policy_file, option, message):
    for file in (None, policy_file):
        with pytest.raises(PolicyError, match=message):
            made_for_check(file, qi=["age"], **option)


def test_models_of_options_hold_for_all_sensitive_columns():
    policy = made(
        qi=["age"],
        sensitive=["diagnosis", "sex"],
        l=["3", "entropy:2.5", "recursive:2:3"],
        t=["0.2", "ordered:0.3", "scaled-literal:1"],
    )
    assert policy.models == (
        LDiversity(3),
        LDiversity(2.5, "entropy"),
        LDiversity(3, "recursive", 2),
        TCloseness(0.2),
        TCloseness(0.3, "ordered"),
        TCloseness(1, "scaled-literal"),
    )
    assert [demand.column for demand in policy.demands] == ["diagnosis"] * 6 + ["sex"] * 6


def test_models_of_options_may_be_of_one_column():
    policy = made(
        columns=["age", "a", "a=b"],
        qi=["age"],
        sensitive=["a", "a=b"],
        l=["2", "a=entropy:3", "a=b=4", "a=b=entropy:4"],
        t=["a=kl:2"],
    )
    assert policy.models == (LDiversity(2),)
    assert policy.sensitive_attributes == {
        "a": Sensitive([LDiversity(3, "entropy"), TCloseness(2, "kl")]),
        "a=b": Sensitive([LDiversity(4), LDiversity(4, "entropy")]),
    }


@pytest.fixture
def models_file(tmp_path):
    path = tmp_path / "models.toml"
    path.write_text("""
        l = 2
        t = { value = 0.5, distance = "kl" }
        quasi_identifiers = ["age"]
        [sensitive]
        diagnosis = { l = { value = 2, kind = "entropy" }, nulls = "none" }
        sex = { order = ["f", "m"] }
    """)
    return path


def test_models_of_options_go_before_those_of_the_file(models_file, capsys):
    policy = made(models_file, l=["5", "sex=4"])
    assert policy.models == (LDiversity(5), TCloseness(0.5, "kl"))
    assert policy.sensitive_attributes == {
        "diagnosis": Sensitive(nulls="none"),
        "sex": Sensitive([LDiversity(4)], order=["f", "m"]),
    }
    said = "sqlanon: note: --l takes the place of l of 'diagnosis' in the policy file\n"
    assert capsys.readouterr().err == said


def test_models_of_a_column_by_options_leave_the_others_as_the_file_has_them(models_file, capsys):
    policy = made(models_file, t=["diagnosis=0.1"])
    assert policy.sensitive_attributes["diagnosis"] == Sensitive(
        [LDiversity(2, "entropy"), TCloseness(0.1)], nulls="none"
    )
    assert policy.models == (LDiversity(2), TCloseness(0.5, "kl"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("l", "0", "--l: l of distinct l-diversity is 0"),
        ("l", "x", "--l: 'x' is not a number"),
        ("l", "", "--l: no number is given"),
        ("l", "entrpy:3", "--l: kind of l-diversity is 'entrpy'; .* did you mean 'entropy'"),
        ("l", "recursive:3", "--l: 'recursive:3' must have the form 3, entropy:3 or recursive:C:L"),
        ("l", "entropy:2:3", "--l: 'entropy:2:3' must have the form 3, entropy:3"),
        ("l", "diagnosis=0", "--l of column 'diagnosis': l of distinct l-diversity is 0"),
        ("l", "age=3", "--l: 'age' is not a sensitive column; name it with --sensitive"),
        ("t", "a:b:1", "--t: distance of t-closeness is 'a:b'"),
        ("alpha", "diagnosis=equal:1", "--alpha of column 'diagnosis': 'equal:1' must have the"),
        ("beta_likeness", "enhancd:2", "--beta-likeness: kind of beta-likeness is 'enhancd'"),
        ("delta_disclosure", "0", "--delta-disclosure: delta of delta-disclosure is 0"),
        ("t", "diagnosis=kl:x", "--t of column 'diagnosis': 'x' is not a number"),
        ("t", "", "--t: no number is given"),
        ("l", "entropy:nan", "--l: 'nan' is not a finite number"),
        ("weight", "age=nan", "--weight of column 'age': 'nan' is not a finite number"),
        ("weight", "age=", "--weight of column 'age': no number is given"),
        ("weight", "age=0", ".*weight 0.0 is not a number above 0"),
        ("max_level", "age=", "--max-level of column 'age': no level is given"),
        ("max_level", "age=nan", ".*level 'nan' is not a whole number"),
        ("hierarchy", "age={ prefix = [3", ".*is not a table as policy.toml has it"),
    ],
)
def test_options_that_are_wrong_are_told(option, text, message):
    with pytest.raises(PolicyError, match=f"^{message}"):
        made(qi=["age"], sensitive=["diagnosis"], **{option: [text]})


def test_shares_of_options_are_of_all_sensitive_columns_or_of_one(models_file):
    policy = made(models_file, alpha=["0.5", "sex=0.6"])
    assert policy.models == (LDiversity(2), TCloseness(0.5, "kl"), AlphaAnonymity(0.5))
    assert policy.sensitive_attributes["sex"].models == (AlphaAnonymity(0.6),)
    policy = made(models_file, delta_disclosure=["sex=1.5"])
    assert policy.sensitive_attributes["sex"].models == (DeltaDisclosure(1.5),)
    policy = made(models_file, beta_likeness=["2", "sex=enhanced:3"])
    assert policy.models[2:] == (BetaLikeness(2),)
    assert policy.sensitive_attributes["sex"].models == (BetaLikeness(3, "enhanced"),)


@pytest.mark.parametrize("option", [{"l": ["3"]}, {"t": ["0.2"]}, {"nulls": ["none"]}])
def test_options_of_sensitive_columns_need_one(option):
    with pytest.raises(PolicyError, match="--sensitive"):
        made(qi=["age"], **option)


def test_nulls_of_options_are_those_of_every_sensitive_column(models_file):
    sensitive = made(models_file, nulls=["value"]).sensitive_attributes
    assert {name: entry.nulls for name, entry in sensitive.items()} == {
        "diagnosis": "value",
        "sex": "value",
    }
    for given, told in (
        (["maybe"], "nulls is 'maybe'; it must be 'value' or 'none'"),
        (["value", "none"], "--nulls is given twice; keep one of them"),
    ):
        with pytest.raises(PolicyError, match=told):
            made(models_file, nulls=given)


def test_a_sensitive_column_may_have_a_hierarchy_by_option(models_file):
    sensitive = made(models_file, hierarchy=["sex=suppress", "age=prefix:1"]).sensitive_attributes
    assert sensitive["sex"] == Sensitive(hierarchy=Hierarchy.suppression(), order=["f", "m"])
    assert sensitive["diagnosis"].hierarchy is None


def test_the_entity_of_an_option_goes_before_that_of_the_file(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text('entity = "name"\nquasi_identifiers = ["age"]\n')
    assert made(file).entity == "name"
    assert made(file, entity="sex").entity == "sex"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"qi": ["diagnosis"]},
            "--qi takes the place of quasi_identifiers in the policy file; "
            "2 columns are set aside: 'age', 'sex'",
        ),
        (
            {"identifier": ["id"]},
            "--identifier takes the place of identifiers in the policy file; "
            "1 column is set aside: 'name'",
        ),
    ],
)
def test_columns_that_an_option_sets_aside_are_told(policy_file, capsys, options, said):
    made(policy_file, **options)
    assert capsys.readouterr().err == f"sqlanon: note: {said}\n"


@pytest.mark.parametrize(
    "options",
    [
        {"qi": ["age,sex,diagnosis"]},
        {"qi": ["age"], "sensitive": ["sex", "diagnosis"]},
        {"qi": ["age"], "publishing": {"keep": ["sex"]}},
        {},
    ],
)
def test_nothing_is_told_where_no_column_is_set_aside(policy_file, capsys, options):
    made(policy_file, **options)
    assert capsys.readouterr().err == ""


def test_a_complete_policy_gives_every_column_a_role(policy_file):
    maker = PolicyMaker(policy_options(policy=policy_file), complete=True)
    maker(COLUMNS)
    with pytest.raises(PolicyError, match="1 column has no role: 'zip'"):
        maker([*COLUMNS, "zip"])
