"""Check of sensitive attributes: the worst class decides, and a reader learns why."""

import json
import math
from collections import Counter
from itertools import combinations

import duckdb
import pytest
from databases import empty_database
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.models import SHARES, fails, figures_of, grouped

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, Sensitive, TCloseness
from sqlanon.assessment import classes as tabulation
from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy import layout

pytestmark = pytest.mark.slow

DATABASE = empty_database()
TYPES = {"q": "VARCHAR", "a": "INTEGER", "b": "VARCHAR", "person": "INTEGER"}
ORDER_A = [1, 2, 5, None]
ORDER_B = ["mild", "bad", "fatal", None]
PATHS_B = {"mild": ("ill", "*"), "bad": ("ill", "*"), "fatal": ("dead", "*"), None: ("-", "*")}

records = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "z", None]),
        st.sampled_from(ORDER_A),
        st.sampled_from(ORDER_B),
        st.sampled_from([1, 2, 3, None]),
    ),
    min_size=1,
    max_size=24,
)


def fill(rows, types=TYPES):
    """The table t with these columns."""
    lists = ", ".join(f"unnest(?::{kind}[]) AS {name}" for name, kind in types.items())
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in types]
    DATABASE.execute(f"CREATE OR REPLACE TABLE t AS SELECT {lists}", columns)


def check(rows, types=TYPES, **roles):
    fill(rows, types)
    return sqlanon.check(DATABASE, Policy(["q"], **roles), table="t")


def sensitive_of(nulls="value", models=()):
    hierarchy = Hierarchy.from_rows([(value, *path) for value, path in PATHS_B.items()])
    return {
        "a": Sensitive(nulls=nulls, models=models),
        "b": Sensitive(hierarchy=hierarchy, order=ORDER_B, nulls=nulls, models=models),
    }


def worst(pairs, order, *, paths=None, nulls="value"):
    """The figures of a report by brute force over pairs of class and value."""
    counted = [(key, v) for key, v in pairs if nulls == "value" or v is not None]
    values = [value for _, value in counted]
    classes = {key: [] for key, _ in pairs} | grouped(counted)
    found = [figures_of(v, values, order=order, paths=paths) for v in classes.values()]
    names = [name for name in found[0] if name.startswith("distance_")]
    fewest = min(each["distinct_values"] for each in found)
    entropy = math.exp(min(each["entropy"] for each in found)) if fewest else 0.0
    shares = {key: max(map(share, found)) for key, share in SHARES.items()}
    ratios = {
        l: max(e["largest"] / e[f"tail_{l}"] if e[f"tail_{l}"] else math.inf for e in found)
        for l in (2, 3)  # noqa: E741
    }
    furthest = {name.removeprefix("distance_"): max(e[name] for e in found) for name in names}
    distances = {k.replace("_", "-"): d for k, d in furthest.items()}
    return fewest, entropy, ratios, distances, shares


def agrees(figures, wanted):
    fewest, entropy, ratios, distances, shares = wanted
    assert figures.distinct_l == fewest
    assert figures.entropy_l == pytest.approx(entropy)
    for l, c in figures.recursive_c.items():  # noqa: E741
        assert c == pytest.approx(ratios[l])
    assert figures.t == pytest.approx(distances, abs=1e-11)
    assert figures.shares == pytest.approx(shares, rel=1e-11, abs=1e-11)


@pytest.fixture(params=["plain", "singles apart"])
def _paths(request, monkeypatch):
    """Both ways of counting, which depend on the number of records otherwise."""
    if request.param == "singles apart":
        monkeypatch.setattr(tabulation, "APART_FROM", 0)
        monkeypatch.setattr(tabulation, "APART_SHARE", 0.0)


@pytest.mark.usefixtures("_paths")
@pytest.mark.parametrize("nulls", ["value", "none"])
def test_check_agrees_with_brute_force(nulls):
    @settings(max_examples=6, database=None)
    @given(records)
    def agree(rows):
        three = [LDiversity(3, "recursive", c=2)]
        report = check(rows, sensitive=sensitive_of(nulls, three))
        for name, number, order, paths in (("a", 1, ORDER_A, None), ("b", 2, ORDER_B, PATHS_B)):
            pairs = [(row[0], row[number]) for row in rows]
            agrees(report.sensitive[name], worst(pairs, order, paths=paths, nulls=nulls))
        together = [
            {(a, b) for q, a, b, _ in rows if q == key and (nulls == "value" or None not in (a, b))}
            for key in {row[0] for row in rows}
        ]
        assert report.joint == {("a", "b"): min(map(len, together))}
        assert report.statistics.histogram == Counter(Counter(row[0] for row in rows).values())

    agree()


@settings(max_examples=11)
@given(records)
def test_check_counts_persons_of_an_entity_column(rows):
    report = check(rows, sensitive=sensitive_of(), entity="person")
    persons = {(q, person) for q, _, _, person in rows}
    assert report.statistics.histogram == Counter(Counter(q for q, _ in persons).values())
    assert report.statistics.records == len(rows)
    for name, number, order, paths in (("a", 1, ORDER_A, None), ("b", 2, ORDER_B, PATHS_B)):
        held = {(row[0], row[number], row[3]) for row in rows}
        # A person counts once for each value of the table, in however many classes.
        values = [value for value, _ in {(row[number], row[3]) for row in rows}]
        found = [
            figures_of([v for q, v, _ in held if q == key], values, order=order, paths=paths)
            for key in {row[0] for row in rows}
        ]
        figures = report.sensitive[name]
        assert figures.distinct_l == min(each["distinct_values"] for each in found)
        assert figures.entropy_l == pytest.approx(math.exp(min(e["entropy"] for e in found)))
        for distance, value in figures.t.items():
            key = f"distance_{distance.replace('-', '_')}"
            assert value == pytest.approx(max(each[key] for each in found), abs=1e-11)
        told = {who for q, _, who in held if len({v for own, v, _ in held if own == q}) == 1}
        assert figures.homogeneous_records == len(told)


def test_a_person_whose_value_several_classes_give_away_counts_once():
    rows = [(q, 1, "bad", person) for q in "xyz" for person in (1, 2)] + [("z", 2, "bad", 3)]
    report = check(rows, sensitive=["a", "b"], entity="person")
    assert report.sensitive["a"].homogeneous_records == 2
    assert report.sensitive["b"].homogeneous_records == 3
    assert any("of 'b' hold 3 persons:" in note for note in report.notes)


MODELS = [
    LDiversity(2),
    LDiversity(1.9, "entropy"),
    LDiversity(2, "recursive", c=1.1),
    LDiversity(3, "recursive", c=2.5),
    TCloseness(0.25),
    TCloseness(0.25, "ordered"),
    TCloseness(0.25, "hierarchical"),
    TCloseness(0.5, "kl"),
    TCloseness(0.3, "scaled"),
    TCloseness(0.3, "scaled-literal"),
]


@settings(max_examples=11)
@given(records)
def test_models_hold_where_every_class_satisfies_them(rows):
    report = check(rows, sensitive={"b": sensitive_of(models=MODELS)["b"]})
    values = [row[2] for row in rows]
    classes = grouped([(row[0], row[2]) for row in rows]).values()
    assert {result.column for result in report.models} == {"b"}
    found = {result.model: result.holds for result in report.models}
    assert found == {
        model.describe(): not any(
            fails(model, held, values, order=ORDER_B, paths=PATHS_B) for held in classes
        )
        for model in MODELS
    }


def test_recursive_diversity_is_decided_by_the_decimal_number_written():
    # r_1 = 11 is not below 1.1 times 10, though 1.1 * 10 > 11 in binary.
    rows = [("x", 1, "mild", 1)] * 11 + [("x", 1, "bad", 1)] * 10
    for c, holds in ((1.1, False), (1.11, True)):
        report = check(rows, sensitive=["b"], models=[LDiversity(2, "recursive", c=c)])
        assert report.holds is holds
        assert report.models[0].value == 1.1


def test_null_is_a_value_unless_it_is_said_to_be_none():
    rows = [("x", None, "mild", 1), ("x", 1, "mild", 1), ("y", None, "mild", 1)] * 2
    assert check(rows, sensitive=["a"]).sensitive["a"].distinct_l == 1
    figures = check(rows, sensitive={"a": Sensitive(nulls="none")}).sensitive["a"]
    assert (figures.distinct_l, figures.entropy_l, figures.values) == (0, 0.0, 1)
    lost = check(rows, sensitive={"a": Sensitive(nulls="none", models=[LDiversity(1)])})
    assert not lost.holds


def test_thresholds_of_one_column_replace_those_of_the_policy():
    rows = [("x", value, "mild", 1) for value in (1, 2, 5)]
    report = check(
        rows,
        sensitive={"a": Sensitive(), "b": Sensitive(models=[LDiversity(1)])},
        models=[KAnonymity(3), LDiversity(3), TCloseness(0)],
    )
    found = [(r.model, r.column, r.value, r.holds) for r in report.models]
    assert found == [
        ("k-anonymity", None, 3, True),
        ("distinct 3-diversity", "a", 3, True),
        ("0-closeness (equal)", "a", 0.0, True),
        ("distinct 1-diversity", "b", 1, True),
        ("0-closeness (equal)", "b", 0.0, True),
    ]


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "BOOLEAN", "DECIMAL(9, 2)", "DOUBLE"])
def test_types_with_an_order_of_their_own_need_no_other(kind):
    DATABASE.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT 'x' AS q, CAST(v AS {kind}) AS a FROM (VALUES "
        + {
            "DATE": "('2024-01-01'), ('2024-02-29')",
            "TIMESTAMP": "('2024-01-01'), ('2024-02-29')",
            "BOOLEAN": "(true), (false)",
        }.get(kind, "(1.5), (-2)")
        + ") AS r(v)"
    )
    policy = Policy(["q"], sensitive=["a"], models=[TCloseness(0, "ordered")])
    assert sqlanon.check(DATABASE, policy, table="t").holds


def test_texts_are_ordered_by_the_order_or_the_leaves_of_the_hierarchy():
    rows = [("x", 1, "mild", 1), ("y", 1, "bad", 1), ("y", 1, "fatal", 1)]
    order = ["bad", "mild", "fatal"]
    by_order = check(rows, sensitive={"b": Sensitive(order=order)}).sensitive["b"]
    tree = Hierarchy.from_rows([(value, "*") for value in order])
    by_leaves = check(rows, sensitive={"b": Sensitive(hierarchy=tree)}).sensitive["b"]
    # x: |0 - 1/3| + |1 - 2/3| of 2; in the order mild, bad, fatal it were 2/3 + 1/3.
    assert by_order.t["ordered"] == by_leaves.t["ordered"] == pytest.approx(1 / 3)
    assert "ordered" not in check(rows, sensitive=["b"]).sensitive["b"].t


def test_rule_hierarchies_serve_the_hierarchical_distance():
    rows = [("x", 1, "mild", 1), ("y", 2, "bad", 1), ("y", 5, "bad", 1)]
    tree = Hierarchy.intervals(3, 6)
    figures = check(rows, sensitive={"a": Sensitive(hierarchy=tree)}).sensitive["a"]
    paths = {1: ("low", "all", "*"), 2: ("low", "all", "*"), 5: ("high", "all", "*")}
    pairs = [(q, a) for q, a, _, _ in rows]
    agrees(figures, worst(pairs, ORDER_A, paths=paths))


def refused(error, match, rows=(("x", 1, "mild", 1),), types=TYPES, **roles):
    with pytest.raises(error, match=match) as caught:
        check(list(rows), types, **roles)
    assert "mild" not in str(caught.value)
    assert "fatal" not in str(caught.value)


def test_bad_sensitive_columns_are_one_clear_error_each():
    refused(PolicyError, "no column 'c'", sensitive=["c"])
    refused(PolicyError, "both quasi-identifier and sensitive", sensitive=["q"])
    nested = {"q": "VARCHAR", "a": "INTEGER[]"}
    refused(SourceError, "'a' is of a nested type", [("x", [1])], nested, sensitive=["a"])
    ordered, tree = [TCloseness(0.2, "ordered")], [TCloseness(0.2, "hierarchical")]
    written = (
        r"needs an order of sensitive column 'b', .* in Python sensitive=\{'b': Sensitive\(order=\["
        r"'A', 'B', \.\.\.\]\)\}, in policy.toml 'b' = \{ order = \['A', 'B', \.\.\.\] \} below "
        r"\[sensitive\], as option --order b=A,B,\.\.\.;"
    )
    refused(PolicyError, written, sensitive=["b"], models=ordered)
    refused(PolicyError, "needs a hierarchy of sensitive column 'a'", sensitive=["a"], models=tree)


def test_orders_that_do_not_fit_their_column_are_refused_with_counts():
    rows = [("x", 1, "mild", 1), ("x", 2, "fatal", 1), ("y", 2, "fatal", 1)]
    short = {"b": Sensitive(order=["bad", "mild"])}
    advice = r"2 records hold; name every value of the column \(.*, --order b=A,B,...\)"
    refused(HierarchyError, f"^order of .*'b' misses 1 value that {advice}", rows, sensitive=short)
    twice = {"a": Sensitive(order=["1", "01", "2"])}
    refused(HierarchyError, "'a' has 1 value in several spellings", rows, sensitive=twice)
    tree = {"b": Sensitive(hierarchy=Hierarchy.from_rows([("mild", "*")]))}
    match = "^hierarchy of .*'b' misses 1 value that 2 records hold; .*--hierarchy b=FILE"
    refused(HierarchyError, match, rows, sensitive=tree)


def test_an_empty_table_is_refused_and_one_record_is_checked():
    refused(SourceError, "the table is empty", [], sensitive=["a"])
    report = check([("x", None, None, None)], sensitive=sensitive_of(), entity="person")
    assert report.statistics.smallest == 1
    assert report.sensitive["a"].distinct_l == 1
    none = check([("x", None, None, None)], sensitive=sensitive_of("none"))
    assert none.sensitive["b"].distinct_l == 0
    assert set(none.sensitive["b"].t.values()) == {0.0}


@pytest.mark.parametrize("entity", ["patient_number", "persons"])
def test_an_entity_that_is_not_there_is_noted_however_like_another_column_it_is_called(entity):
    rows = [("x", 1, "mild", 1)] * 2
    report = check(rows, sensitive=["a"], models=[KAnonymity(2)], entity=entity)
    assert (report.holds, report.entity) == (True, None)
    [note] = [each for each in report.notes if "records are counted, not persons" in each]
    meant = "; if 'person' says whose record each is, name it as entity (--entity person)"
    assert note.endswith(meant) == (entity == "persons")


def test_homogeneity_and_skew_are_noted_where_nothing_is_asked():
    rows = [("x", 1, "mild", 1)] * 3 + [("y", 2, "mild", 1), ("y", 2, "bad", 1)]
    notes = " ".join(check(rows, sensitive=["a", "b"], models=[KAnonymity(2)]).notes)
    assert "k-anonymity alone does not hide 'a', 'b'" in notes
    assert "classes with no more than one value of 'a' hold 5 records" in notes
    assert "classes with no more than one value of 'b' hold 3 records" in notes
    skewed = [("x", 1, "mild", 1)] * 1 + [("x", 2, "mild", 1)] * 99 + [("y", 1, "mild", 1)] * 300
    skewed += [("y", 2, "mild", 1)]
    report = check(skewed, sensitive=["a"], models=[KAnonymity(2)])
    assert any("0.74 away" in note for note in report.notes)
    others = {"drop": ["b", "person"]}
    asked = check(rows, sensitive=["a"], models=[KAnonymity(2), LDiversity(1)], **others)
    assert asked.notes == (
        "distinct 1-diversity does not protect 'a': a class may hold a single value",
    )


def test_report_is_strict_json_with_the_documented_keys():
    rows = [("x", 1, "mild", 1), ("x", 2, "bad", 2), ("y", 2, "bad", 3)]
    report = check(rows, sensitive=sensitive_of(), models=[LDiversity(2, "recursive", c=3)])
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    wanted = {
        "values": 2,
        "distinct_l": 1,
        "entropy_l": 1.0,
        "recursive_c": {"2": None},
        "t": pytest.approx(report.sensitive["b"].t),
        "homogeneous_records": 1,
        "alpha": 1.0,
        "beta_likeness": 0.5,
        "delta_disclosure": None,
    }
    figures = document["sensitive"]["b"]
    assert {key: figures[key] for key in wanted} == wanted
    assert document["sensitive"].keys() == {"a", "b"}
    assert document["joint"] == {"a, b": 1}
    assert document["models"][0] == {
        "model": "recursive (3, 2)-diversity",
        "threshold": 3,
        "value": None,
        "holds": False,
        "column": "a",
    }
    assert document["holds"] is False


def test_report_says_it_to_a_reader():
    rows = [("x", 1, "mild", 1), ("x", 2, "bad", 2), ("y", 2, "bad", 3), ("y", 1, "bad", 4)]
    models = [KAnonymity(2), LDiversity(2), TCloseness(0.2)]
    text = check(rows, sensitive=["a", "b"], models=models).to_text()
    assert "sensitive 'a': 2 values\n  l-diversity     distinct 2, entropy 2," in text
    assert "  t-closeness     equal 0.25, kl 0.287682" in text
    assert "sensitive 'a' and 'b' together: distinct l 2" in text
    assert "distinct 2-diversity of 'b' does NOT hold: the table has 1" in text
    assert "0.2-closeness (equal) of 'a' holds: the table has 0" in text


def test_threads_and_the_order_of_rows_change_no_figure():
    reports = []
    for threads, order in ((1, "i"), (2, "hash(i)"), (8, "i DESC")):
        with duckdb.connect(config={"threads": threads}) as connection:
            connection.execute(
                "CREATE TABLE t AS SELECT (i * 7919 % 5003)::VARCHAR AS q, hash(i) % 91 AS a, "
                "(hash(-i) % 7)::VARCHAR AS b FROM range(250_000) AS r(i) "
                f"WHERE i % 3 <> 0 OR i < 9 ORDER BY {order}"
            )
            found = {"a": Sensitive(), "b": Sensitive(order=list("0123456"))}
            report = sqlanon.check(connection, Policy(["q"], sensitive=found), table="t")
            reports.append({**report.to_dict(), "seconds": 0, "created": None})
    assert reports[0] == reports[1] == reports[2]


def test_more_columns_than_one_word_holds_are_packed_into_several(monkeypatch):
    monkeypatch.setattr(layout, "WORD_BITS", 3)
    monkeypatch.setattr(tabulation, "APART_FROM", 0)
    monkeypatch.setattr(tabulation, "APART_SHARE", 0.0)
    names = [f"q{number}" for number in range(5)]
    rows = [(*(f"{(i >> n) % 6}" for n in range(5)), i % 4) for i in [*range(40), *range(30)]]
    fill(rows, {**dict.fromkeys(names, "VARCHAR"), "a": "INTEGER"})
    report = sqlanon.check(DATABASE, Policy(names, sensitive=["a"]), table="t")
    classes = grouped([(row[:-1], row[-1]) for row in rows])
    assert report.statistics.histogram == Counter(map(len, classes.values()))
    pairs = [(row[:-1], row[-1]) for row in rows]
    agrees(report.sensitive["a"], worst(pairs, range(4)))


def test_attributes_are_joined_in_pairs():
    names = ["a", "b", "person"]
    report = check([("x", 1, "mild", 1), ("x", 2, "bad", 1)], sensitive=names)
    assert report.joint == dict.fromkeys(combinations(names, 2), 2)
