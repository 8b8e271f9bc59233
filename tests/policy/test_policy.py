"""Policy: what it reads, what it refuses, and what follows from its figures."""

import json
import math
from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import PolicyError, SourceError, SqlanonError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.policy.policy import Demand, Policy, QuasiIdentifier, Sensitive, read_document
from sqlanon.policy.privacy import (
    DISTANCES,
    LIKENESSES,
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    TCloseness,
    strictest,
)
from sqlanon.policy.sizes import KAnonymity

FULL = """
k = 5
l = { value = 2, kind = "entropy" }
t = [0.3, { value = 0.2, distance = "ordered" }]
entity = "person_id"
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
education = { file = "education.csv", order = ["college", "school"] }
sex = {}
born = { dates = ["month", "year"], level = 2 }

[sensitive]
diagnosis = {}
job = { l = 3, t = { value = 0.5, distance = "kl" }, prefix = [1], nulls = "none" }
income = { order = ["low", "high"], l = { value = 3, kind = "recursive", c = 2.0 } }
"""
ONE = {"quasi_identifiers": ["age"], "sensitive": ["job"]}
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
        "sensitive": ("diagnosis", "job", "income"),
        "identifier": ("name",),
        "keep": ("region",),
        "drop": ("note",),
    }


def test_toml_gives_every_part_of_a_policy(full):
    assert full == Policy(
        {
            "age": QuasiIdentifier(Hierarchy.intervals(5, 10, 20), weight=2.0, max_level=3),
            "zip": QuasiIdentifier(Hierarchy.prefix(4, 3, 2), min_level=1),
            "education": QuasiIdentifier(
                Hierarchy.from_rows(PATHS, name="education.csv"), order=("college", "school")
            ),
            "sex": QuasiIdentifier(Hierarchy.suppression()),
            "born": QuasiIdentifier(Hierarchy.dates("month", "year"), min_level=2, max_level=2),
        },
        {
            "diagnosis": Sensitive(),
            "job": Sensitive(
                [LDiversity(3), TCloseness(0.5, "kl")], Hierarchy.prefix(1), nulls="none"
            ),
            "income": Sensitive([LDiversity(3, "recursive", 2.0)], order=["low", "high"]),
        },
        **{"identifiers": ["name"], "keep": ["region"], "drop": ["note"], "others": "drop"},
        models=[
            KAnonymity(5),
            LDiversity(2, "entropy"),
            TCloseness(0.3),
            TCloseness(0.2, "ordered"),
        ],
        suppression_limit=0.02,
        **{"suppressed": "keep", "suppressed_label": "?", "entity": "person_id"},
    )
    assert full.k == 5


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["a", "b", "a"], "order repeats 1 value; keep one each"),
        ("ab", "order must be a list of values as texts, lowest first"),
        ([1, 2], "order must be a list of values as texts, lowest first"),
    ],
)
def test_an_order_of_a_quasi_identifier_names_each_value_once(order, message):
    assert refusal(QuasiIdentifier, Hierarchy.suppression(), order=order) == message


def test_models_of_a_sensitive_column_replace_those_of_their_family(full):
    assert full.demands == (
        Demand("diagnosis", LDiversity(2, "entropy")),
        Demand("diagnosis", TCloseness(0.3)),
        Demand("diagnosis", TCloseness(0.2, "ordered")),
        Demand("job", LDiversity(3)),
        Demand("job", TCloseness(0.5, "kl")),
        Demand("income", LDiversity(3, "recursive", 2.0)),
        Demand("income", TCloseness(0.3)),
        Demand("income", TCloseness(0.2, "ordered")),
    )


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


wholes = st.integers(1, 9)
diversities = (
    st.builds(LDiversity, wholes)
    | st.builds(LDiversity, wholes | st.floats(1, 9), st.just("entropy"))
    | st.builds(LDiversity, wholes, st.just("recursive"), wholes | st.floats(0.1, 9))
)
closenesses = st.builds(TCloseness, st.floats(0, 1), st.sampled_from(DISTANCES))
of_values = diversities | closenesses | st.builds(AlphaAnonymity, st.floats(0.01, 1))
of_values |= st.builds(DeltaDisclosure, st.floats(0.1, 9))
of_values |= st.builds(BetaLikeness, st.floats(0.1, 9), st.sampled_from(LIKENESSES))
quasi = st.builds(
    lambda tree, weight, levels: QuasiIdentifier(tree, weight, *levels),
    hierarchies,
    figures,
    bounds,
)
sensitive = st.builds(
    Sensitive,
    st.lists(of_values, max_size=3),
    st.none() | hierarchies,
    st.none() | st.lists(st.none() | st.text(), min_size=1, max_size=4, unique=True),
    st.sampled_from(["value", "none"]),
)


@st.composite
def policies(draw):
    """Any policy: each of a few columns has one role, or none."""
    roles = draw(st.dictionaries(st.text(), st.sampled_from("qsikd-"), max_size=8))
    named = {role: [name for name, its in roles.items() if its == role] for role in "qsikd-"}
    models = st.builds(KAnonymity, wholes)
    if named["s"]:
        models |= of_values
    return Policy(
        draw(st.just(named["q"]) | st.fixed_dictionaries(dict.fromkeys(named["q"], quasi))),
        draw(st.just(named["s"]) | st.fixed_dictionaries(dict.fromkeys(named["s"], sensitive))),
        named["i"],
        named["k"],
        named["d"],
        draw(st.sampled_from([None, "keep", "drop"])),
        draw(st.lists(models, max_size=4)),
        draw(st.floats(0, 1)),
        draw(st.sampled_from(["keep", "drop"])),
        draw(st.text()),
        draw(st.sampled_from([None, *named["i"], *named["k"], *named["d"], *named["-"]])),
    )


@given(policies())
def test_any_policy_is_read_back(policy):
    assert Policy.from_dict(policy.to_dict()) == policy
    assert Policy.from_dict(json.loads(json.dumps(policy.to_dict(), allow_nan=False))) == policy


def test_unknown_keys_are_refused_all_at_once():
    message = refusal(Policy.from_dict, {"K": 2, "quasi_identifier": {}, "zzz": 1, "k": 2})
    assert message.startswith(
        "unknown keys in the policy: K (did you mean k?), "
        "quasi_identifier (did you mean quasi_identifiers?), zzz; known are k, k_map, "
        "delta_presence, average_risk, share_at_risk, k_subsets, l, t, "
    )
    for key in ("method", "loss", "entity", "sensitive", "suppressed_label"):
        assert key in message.partition("known are")[2]


def test_unknown_key_of_a_sensitive_column_names_the_column():
    message = refusal(Policy.from_dict, {"sensitive": {"job": {"level": 1}}})
    assert message.startswith("unknown key in sensitive column 'job': level; known are l, t, ")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"l": {"valeu": 2}}, "unknown key in l: valeu (did you mean value?); known are value, "),
        ({"t": {"kind": "kl", "value": 1}}, "unknown key in t: kind; known are value, distance"),
        ({"l": {"kind": "entropy"}}, "l has no value, such as l = { value = 1 }"),
        ({"l": "many"}, "l: 'many' is not a number"),
        (
            {"t": [0.2, {"value": 2}]},
            "t of equal t-closeness is 2; it must be a number between 0 and 1",
        ),
    ],
)
def test_models_of_a_file_that_are_wrong(form, expected):
    everywhere = refusal(Policy.from_dict, {**ONE, **form})
    of_one = refusal(Policy.from_dict, {"quasi_identifiers": ["age"], "sensitive": {"job": form}})
    assert everywhere.startswith(expected)
    assert of_one.startswith(f"sensitive column 'job': {expected}")


def test_errors_of_a_file_name_it(written):
    path = written('quasi_identifiers = ["age"]\nk = 0')
    message = refusal(Policy.from_toml, path)
    assert message == f"policy file '{path}': k is 0; it must be a whole number of at least 1"
    path = written('[quasi_identifiers]\nage = { file = "none.csv" }')
    with pytest.raises(SourceError) as caught:
        Policy.from_toml(path)
    start = f"policy file '{path}': quasi-identifier 'age': hierarchy file "
    assert str(caught.value).startswith(start)


@pytest.mark.parametrize("key", ["quasi_identifiers", "sensitive"])
def test_a_list_that_names_a_column_twice_is_refused(key):
    message = refusal(Policy.from_dict, {**ONE, key: ["age", "job", "age"]})
    assert message == f"{key} names 'age' twice; name each once"


@pytest.mark.parametrize(
    "entry", [{"weigth": 2.0}, {"prefix": [3], "dates": ["year"]}, {"prefix": "abc"}]
)
def test_faulty_hierarchy_of_a_quasi_identifier_names_the_column(entry):
    with pytest.raises(SqlanonError, match="'zip'"):
        Policy.from_dict({"quasi_identifiers": {"zip": entry}})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
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


@pytest.mark.parametrize(("others", "published"), [("keep", ["other"]), ("drop", [])])
def test_published_columns_are_those_of_a_role_in_the_order_of_the_table(others, published):
    policy = Policy(["sex", "age"], **ROLES, others=others)
    columns = ["id", "age", "job", "region", "note", "sex", "other"]
    assert policy.published(columns) == ["age", "job", "region", "sex", *published]


@pytest.mark.parametrize("k", [0, -1, 1.0, "2", None, True])
def test_k_is_a_whole_number_of_at_least_1(k):
    assert refusal(KAnonymity, k) == f"k is {k!r}; it must be a whole number of at least 1"


ROLES = {"sensitive": ["job"], "identifiers": ["id"], "keep": ["region"], "drop": ["note"]}


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
        "1 column has no role: 'age'; "
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((0,), "l of distinct l-diversity is 0; it must be a whole number of at least 1"),
        ((2.5,), "l of distinct l-diversity is 2.5; it must be a whole number of at least 1"),
        ((True,), "l of distinct l-diversity is True; it must be a whole number of at least 1"),
        ((0.5, "entropy"), "l of entropy l-diversity is 0.5; it must be a number of at least 1"),
        ((math.inf, "entropy"), "l of entropy l-diversity is inf; it must be a number of at least"),
        ((2, "recursive"), "recursive l-diversity needs c, such as c = 2"),
        ((2.0, "recursive", 2), "l of recursive l-diversity is 2.0; it must be a whole number"),
        ((2, "recursive", 0), "c of recursive l-diversity is 0; it must be a number above 0"),
        ((2, "entropy", 2), "c belongs to recursive l-diversity; leave it out of entropy"),
        ((2, "entrpy"), "kind of l-diversity is 'entrpy'; it must be one of distinct, entropy, "),
        ((2, ["entropy"]), "kind of l-diversity is ['entropy']; it must be one of distinct, "),
    ],
)
def test_l_diversity_out_of_range_is_refused(arguments, expected):
    assert refusal(LDiversity, *arguments).startswith(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((1.5,), "t of equal t-closeness is 1.5; it must be a number between 0 and 1"),
        (
            (-0.1, "ordered"),
            "t of ordered t-closeness is -0.1; it must be a number between 0 and 1",
        ),
        ((-1, "kl"), "t of kl t-closeness is -1; it must be a number of at least 0"),
        ((math.inf, "scaled"), "t of scaled t-closeness is inf; it must be a number of at least 0"),
        ((math.nan,), "t of equal t-closeness is nan; it must be a number between 0 and 1"),
        (("0.2",), "t of equal t-closeness is '0.2'; it must be a number between 0 and 1"),
        (
            (0.2, "ordred"),
            "distance of t-closeness is 'ordred'; it must be one of equal, ordered, ",
        ),
    ],
)
def test_t_closeness_out_of_range_is_refused(arguments, expected):
    assert refusal(TCloseness, *arguments).startswith(expected)


def test_a_near_miss_of_a_kind_or_distance_is_named():
    assert refusal(LDiversity, 2, "entrpy").endswith("; did you mean 'entropy'?")
    assert refusal(TCloseness, 0.2, "Ordered").endswith("; did you mean 'ordered'?")


@pytest.mark.parametrize("distance", ["kl", "scaled", "scaled-literal"])
def test_t_may_be_above_1_where_the_distance_may(distance):
    assert TCloseness(2.5, distance).t == 2.5


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (KAnonymity(3), "k-anonymity"),
        (LDiversity(3), "distinct 3-diversity"),
        (LDiversity(2.5, "entropy"), "entropy 2.5-diversity"),
        (LDiversity(3.0, "entropy"), "entropy 3-diversity"),
        (LDiversity(3, "recursive", 2.0), "recursive (2, 3)-diversity"),
        (TCloseness(0.2), "0.2-closeness (equal)"),
        (TCloseness(0.1 + 0.2, "ordered"), "0.3-closeness (ordered)"),
        (TCloseness(10**400, "kl"), f"{10**400}-closeness (kl)"),
    ],
)
def test_models_are_described_in_the_words_of_the_field(model, name):
    assert model.describe() == name


@pytest.mark.parametrize(
    ("model", "superset_monotone", "union_closed"),
    [
        (KAnonymity(2), True, True),
        (LDiversity(2), True, True),
        (LDiversity(2, "entropy"), False, True),
        (LDiversity(2, "recursive", 2), False, True),
        *[(TCloseness(0.2, name), False, not name.startswith("scaled")) for name in DISTANCES],
    ],
)
def test_what_a_search_may_prune_by(model, superset_monotone, union_closed):
    assert (model.superset_monotone, model.union_closed) == (superset_monotone, union_closed)


def test_only_the_strictest_models_of_a_kind_count():
    recursive = [LDiversity(2, "recursive", 1), LDiversity(3, "recursive", 2)]
    models = [TCloseness(0.3), LDiversity(2), KAnonymity(4), *recursive, LDiversity(3)]
    models += [TCloseness(0.2), TCloseness(0.2), KAnonymity(2), LDiversity(2, "recursive", 2)]
    assert strictest(models) == (KAnonymity(4), *recursive, LDiversity(3), TCloseness(0.2))
    assert Policy(["age"], ["job"], models=models).models == strictest(models)


def test_a_model_implies_none_of_another_kind():
    models = [
        KAnonymity(9),
        LDiversity(9),
        LDiversity(9, "entropy"),
        TCloseness(0),
        TCloseness(0, "kl"),
    ]
    assert [(a, b) for a in models for b in models if a is not b and a.implies(b)] == []


def test_sensitive_columns_by_name_have_the_models_of_the_policy():
    policy = Policy(["age"], ["job", "income"], models=[KAnonymity(2), LDiversity(2)])
    assert policy.sensitive_attributes == {"job": Sensitive(), "income": Sensitive()}
    assert policy.demands == (Demand("job", LDiversity(2)), Demand("income", LDiversity(2)))
    assert policy.k == 2


@pytest.mark.parametrize("model", [LDiversity(3), TCloseness(0.2)])
def test_models_without_a_sensitive_column_are_refused(model):
    assert refusal(Policy, ["age"], models=[KAnonymity(2), model]) == (
        f"{model.describe()} needs a sensitive column; name it with sensitive (--sensitive COLUMN)"
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"models": [KAnonymity(3)]}, "models of a sensitive column must be a list of l-diversity"),
        ({"models": LDiversity(3)}, "models of a sensitive column must be a list of l-diversity"),
        ({"hierarchy": "suppress"}, "hierarchy of a sensitive column must be a Hierarchy"),
        ({"order": "abc"}, "order must be a list of values as texts, lowest first"),
        ({"order": [1, 2]}, "order must be a list of values as texts, lowest first"),
        ({"order": []}, "order must be a list of values as texts, lowest first"),
        ({"order": {"low", "high"}}, "order must be a list of values as texts, lowest first"),
        ({"order": ["a", "b", "a"]}, "order repeats 1 value; keep one each"),
        ({"nulls": "ignore"}, "nulls is 'ignore'; it must be 'value' or 'none'"),
    ],
)
def test_sensitive_refuses_what_it_cannot_use(arguments, expected):
    assert refusal(Sensitive, **arguments).startswith(expected)


def test_kinds_of_arguments_are_checked_before_anything_else():
    assert refusal(Policy, ["age"], {"job": LDiversity(2)}) == (
        "sensitive columns without a Sensitive: 'job'"
    )
    assert refusal(Policy, {"age": "suppress"}) == (
        "quasi-identifiers without a Hierarchy or QuasiIdentifier: 'age'"
    )
    assert refusal(Policy, ["age"], entity=5) == "entity must be the name of a column"


def test_a_policy_does_not_change_with_what_it_was_made_of():
    names, models = ["job"], [KAnonymity(2)]
    policy = Policy(["age"], names, models=models)
    names.append("age")
    models.clear()
    assert (list(policy.sensitive), policy.k) == (["job"], 2)


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive"])
def test_the_entity_is_no_quasi_identifier_and_not_sensitive(role):
    roles = {"quasi_identifiers": ["age"], role: ["person"]}
    assert refusal(Policy, **roles, entity="person").startswith(
        f"column 'person' is both entity and {role.rstrip('s').replace('_', '-')}; "
    )


@pytest.mark.parametrize(
    ("roles", "others", "published"),
    [
        ({}, None, ["age"]),
        ({}, "keep", ["age"]),
        ({"identifiers": ["id"]}, None, ["age"]),
        ({"drop": ["id"]}, None, ["age"]),
    ],
)
def test_the_entity_is_never_published(roles, others, published):
    policy = Policy(["age"], **roles, others=others, entity="id")
    policy.check_columns(["id", "age"], publish=True)
    assert policy.published(["id", "age"]) == published


def test_an_entity_that_the_table_does_not_have_is_named():
    message = refusal(Policy(["age"], entity="persn").check_columns, ["person", "age"])
    assert message == "the table has no column 'persn'; did you mean 'person'?"


def test_many_columns_without_a_role_are_counted_and_the_first_named():
    with pytest.raises(PolicyError) as raised:
        Policy(["a"]).check_columns(["a", *(f"c{n}" for n in range(300))], publish=True)
    assert str(raised.value).startswith("300 columns have no role: 'c0', 'c1', ")
    assert "'c19', ...; publish with keep" in str(raised.value)


def test_numbers_of_numpy_are_numbers_of_a_policy():
    own = {"k": 3, "l": 2, "t": 0.5, "suppression_limit": 0.25, "sensitive": {"ill": {}}}
    age = {"intervals": [5], "weight": 2.0, "min_level": 0, "max_level": 1}
    given = {
        **own,
        **{name: numpy.int64(own[name]) for name in ("k", "l")},
        **{name: numpy.float64(own[name]) for name in ("t", "suppression_limit")},
    }
    theirs = {"intervals": [numpy.int64(5)], "weight": numpy.float32(2)}
    theirs |= {"min_level": numpy.int8(0), "max_level": numpy.int64(1)}
    made = Policy.from_dict({**given, "quasi_identifiers": {"age": theirs}})
    assert made == Policy.from_dict({**own, "quasi_identifiers": {"age": age}})
    assert json.dumps(made.to_dict())
    with pytest.raises(PolicyError, match="k is 0; it must be a whole number"):
        KAnonymity(numpy.int64(0))
