"""Models of all classes together: their forms, figures, bounds, and what a policy refuses."""

from dataclasses import fields
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon import AverageRisk, KAnonymity, Policy, ShareAtRisk, SubsetAnonymity
from sqlanon.errors import PolicyError
from sqlanon.policy.privacy import TABLE_FAMILIES, figure_of, strictest
from sqlanon.policy.sizes import least_size
from sqlanon.policy.varied import variation
from sqlanon.policy.warnings import policy_notes
from sqlanon.reports.check import ModelResult

histograms = st.dictionaries(st.integers(1, 9), st.integers(1, 3), min_size=1, max_size=5)
sizes = st.one_of(
    st.builds(AverageRisk, st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.8])),
    st.builds(ShareAtRisk, st.sampled_from([0.15, 0.2, 0.5]), st.sampled_from([0, 0.1, 0.5])),
)


@given(sizes, histograms)
def test_no_choice_of_classes_leaves_out_fewer_records_than_the_bound(model, held):
    """Of all classes, each kept or left out, by the definition; and what suffices suffices."""
    every = [size for size, classes in held.items() for _ in range(classes)]
    fewest = sum(every)
    for keep in product([False, True], repeat=len(every)) if len(every) < 9 else []:
        kept = [size for size, own in zip(every, keep, strict=True) if own]
        if isinstance(model, AverageRisk):
            holds = len(kept) <= Fraction(str(model.risk)) * sum(kept)
        else:
            high = sum(size for size in kept if Fraction(1, size) > Fraction(str(model.risk)))
            holds = high <= Fraction(str(model.share)) * sum(kept)
        if holds:
            fewest = min(fewest, sum(every) - sum(kept))
    assert 0 <= model.fewest_left_out(held) <= fewest
    assert (model.fewest_left_out(held) == 0) == model.holds(held)
    large = {size: classes for size, classes in held.items() if size >= model.sufficient_k}
    assert model.holds(large)


@given(st.lists(sizes, min_size=1, max_size=2), histograms, st.integers(1, 4))
def test_least_size_is_the_least_that_is_tried(models, held, k):
    found = least_size(models, held, k=k)
    tried = next(
        size
        for size in range(k, 12)
        if all(model.holds({s: n for s, n in held.items() if s >= size}) for model in models)
    )
    assert found == tried


@pytest.mark.parametrize(
    ("document", "models"),
    [
        ({"average_risk": 0.05}, [AverageRisk(0.05)]),
        ({"share_at_risk": "0.2:0.01"}, [ShareAtRisk(0.2, 0.01)]),
        ({"share_at_risk": {"risk": 0.2, "share": 0.01}}, [ShareAtRisk(0.2, 0.01)]),
        ({"k": 5, "k_subsets": 1}, [SubsetAnonymity(1, 5)]),
        ({"k": 2, "k_subsets": "2:5"}, [KAnonymity(2), SubsetAnonymity(2, 5)]),
        ({"k_subsets": ["1:9", {"subsets": 2, "k": 5}]},
         [SubsetAnonymity(1, 9), SubsetAnonymity(2, 5)]),
    ],
)  # fmt: skip
def test_forms_of_a_policy_file_are_read_and_written_back(document, models):
    policy = Policy.from_dict({**document, "quasi_identifiers": ["a", "b"]})
    assert policy.models == tuple(models)
    assert Policy.from_dict(policy.to_dict()).models == tuple(models)


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"average_risk": 1}, "average_risk is 1; it must be between 0 and 1"),
        ({"average_risk": "0.1:2"}, "average_risk '0.1:2' must have the form 0.05"),
        ({"average_risk": "low"}, "average_risk: 'low' is not a number"),
        ({"share_at_risk": 0.2}, "share_at_risk lacks share; it has the form RISK:SHARE"),
        ({"share_at_risk": "0:1"}, "risk of share_at_risk is 0; it must be between 0 and 1; share "
         "of share_at_risk is 1; it must be at least 0 and below 1"),
        ({"k_subsets": 2}, "k_subsets says how many quasi-identifiers are combined and not how "),
        ({"k_subsets": "0:1.5"}, "the number of columns of k_subsets is 0; it must be a whole "
         "number of at least 1; k of k_subsets is 1.5; it must be"),
        ({"k_subsets": "3:2"}, "k_subsets combines 3 quasi-identifiers, and there are 2; combine"),
        ({"k_subsets": {"m": 2}}, "unknown key in k_subsets: m; known are subsets, k"),
        ({"average_risk": 0.1, "k_subsets": "1:2", "entity": "who"},
         "average_risk and k_subsets cannot count persons ('who')"),
    ],
)  # fmt: skip
def test_what_is_no_such_model_is_one_clear_error(document, fault):
    with pytest.raises(PolicyError) as caught:
        Policy.from_dict({**document, "quasi_identifiers": ["a", "b"]})
    assert str(caught.value).startswith(fault)


def test_more_sets_of_columns_than_can_be_counted_are_refused():
    names = [f"c{number}" for number in range(40)]
    Policy(names, models=[SubsetAnonymity(2, 5)])
    with pytest.raises(PolicyError, match="40 quasi-identifiers have 9,880 sets of 3, more than"):
        Policy(names, models=[SubsetAnonymity(3, 5)])


def test_the_strictest_of_each_family_stay_beside_k():
    """What k implies stays: its figure is asked for."""
    models = [
        SubsetAnonymity(1, 3), AverageRisk(0.5), KAnonymity(9), SubsetAnonymity(2, 4),
        AverageRisk(0.2), ShareAtRisk(0.3, 0.1), ShareAtRisk(0.2, 0.1), ShareAtRisk(0.1, 0.2),
    ]  # fmt: skip
    assert strictest(models) == (
        KAnonymity(9), AverageRisk(0.2), ShareAtRisk(0.2, 0.1), ShareAtRisk(0.1, 0.2),
        SubsetAnonymity(2, 4),
    )  # fmt: skip


def test_a_mean_risk_is_bound_by_the_decimals_that_are_written():
    assert not AverageRisk(1 / 3).holds({3: 5})
    assert AverageRisk(0.334).holds({3: 5})
    assert AverageRisk(1 / 3).sufficient_k == 4


@pytest.mark.parametrize("model", [AverageRisk(0.1), ShareAtRisk(0.2, 0.1), SubsetAnonymity(2, 5)])
def test_every_family_says_what_it_asks_and_found(model):
    said = figure_of(model.describe())
    assert said in TABLE_FAMILIES[model.family].reported
    result = ModelResult(model.describe(), model.threshold, 0.25, holds=True)
    assert all(f"{getattr(model, each.name)}" in result.verdict() for each in fields(model))
    assert "0.25" in result.figure_text()


def test_a_verdict_on_subsets_names_both_figures():
    model = SubsetAnonymity(2, 10)
    verdict = ModelResult(model.describe(), model.threshold, 1, holds=False).verdict()
    assert verdict == "k-anonymity of every 2 quasi-identifiers with k = 10 does NOT hold"


def test_figures_can_be_swept():
    policy = Policy(["a", "b"], models=[KAnonymity(3)])
    assert variation("average_risk", "0.1").policy(policy).models == (
        KAnonymity(3), AverageRisk(0.1),
    )  # fmt: skip
    subsets = variation("k-subsets", "2").policy(policy)
    assert subsets.models == (SubsetAnonymity(2, 3),)
    assert variation("k-subsets", "1").policy(subsets).models == (SubsetAnonymity(1, 3),)
    assert variation("k", 12).policy(subsets).models == (SubsetAnonymity(2, 12),)
    both = Policy(["a", "b"], models=[KAnonymity(2), SubsetAnonymity(2, 5)])
    assert variation("k", 4).policy(both).models == (KAnonymity(4), SubsetAnonymity(2, 5))
    assert variation("share_at_risk", "0.2:0.01").label == "0.2:0.01"


@pytest.mark.parametrize(
    ("k", "subsets", "is_said"), [(None, "1:2", True), (2, "1:5", False), (None, "2:2", False)]
)
def test_a_note_says_where_records_may_be_unique(k, subsets, is_said):
    document = {"k_subsets": subsets, "quasi_identifiers": {"a": {}, "b": {}}}
    policy = Policy.from_dict(document | ({} if k is None else {"k": k}))
    assert any("may be unique" in note for note in policy_notes(policy)) == is_said
