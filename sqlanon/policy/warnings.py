"""Warnings: dangers that a policy leaves, whatever the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.hierarchy.rules import Rows
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import BOUNDED, FAMILIES, LDiversity, TCloseness, ValueModel
from sqlanon.policy.sizes import KAnonymity, SizeModel
from sqlanon.wording import Note, counted, listed


def policy_notes(policy: Policy) -> list[str]:
    """Dangers that a policy leaves, as notes of a report."""
    notes = list[str]()
    if policy.k == 1 and any(isinstance(model, KAnonymity) for model in policy.models):
        notes.append("k = 1 protects nobody: every table is 1-anonymous")
    notes += filter(None, (model.caution() for model in policy.population_models))
    if policy.forbids_suppression and policy.suppression_limit:
        notes.append(
            "no record is suppressed, whatever the limit: delta-presence asks for a share above 0 "
            "of every class of the population, and a class that is suppressed has none"
        )
    if policy.k == 1 and any(isinstance(model, SizeModel) for model in policy.models):
        notes.append(
            "a small risk on average or of most records leaves some records free to be unique; "
            "k (--k) bounds the risk of every one"
        )
    for model in policy.of_subsets:
        if policy.k == 1 and model.subsets < len(policy.attributes):
            notes.append(
                f"{model.describe()} protects from who knows so many of them; by all "
                "quasi-identifiers together records may be unique"
            )
    asked = {demand.column for demand in policy.demands}
    left = [name for name in policy.sensitive_attributes if name not in asked]
    if left:
        alone = _of_sizes(policy)
        notes.append(
            Note(
                f"{alone} alone does not hide {', '.join(map(repr, left))}: all records of a "
                "class may share one value",
                "undemanded",
            )
        )
    cautions = (demand.model.caution(demand.column) for demand in policy.demands)
    notes += [caution for caution in cautions if caution]
    for name in dict.fromkeys(demand.column for demand in policy.demands):
        notes += _replaced(policy, name)
        notes += _passing(policy, name)
    return [*notes, *_means(policy), *_ungrouped(policy)]


def _means(policy: Policy) -> Iterator[str]:
    """What class means tell that labels do not."""
    if policy.class_means:
        names = listed(list(map(repr, policy.class_means)))
        yield (
            f"class means of {names} tell more than labels: an extreme value moves the mean of its "
            "class, the median of an odd number of records is one record's own value, a class of "
            "equal values publishes that value, and who knows all records of a class but one works "
            "the last one out, each as far as rounding allows; measures of loss are those of the "
            "labels"
        )


def _of_sizes(policy: Policy) -> str:
    """What is asked of the sizes of classes, here or in the population."""
    families = dict.fromkeys(model.family.replace("_", "-") for model in policy.population_models)
    return " and ".join(families) if families and policy.k == 1 else "k-anonymity"


def _ungrouped(policy: Policy) -> Iterator[str]:
    """Note of the hierarchies whose rows put no value into a group."""
    rules = {name: attribute.hierarchy.rule for name, attribute in policy.attributes.items()}
    files = [
        rule.name or f"the hierarchy of {name!r}"
        for name, rule in rules.items()
        if isinstance(rule, Rows) and rule.is_ungrouped
    ]
    if files:
        has = "has" if len(files) == 1 else "have"
        yield (
            f"{listed(files)} {has} no groups yet: each value is kept or suppressed; write the "
            "group of each value into level1 there, and less is lost"
        )


def role_notes(policy: Policy, columns: Sequence[str]) -> list[str]:
    """Note of the columns of a table that cannot be published as long as they have no role."""
    left = policy.unassigned(columns)
    if not left:
        return []
    return [
        f"{counted(len(left), 'column has', more='columns have')} no role, which anonymize "
        "demands before it publishes anything: keep them (--keep), drop them (--drop), or decide "
        "for all of them at once (--others keep|drop)"
    ]


def keeping_notes(policy: Policy, allowance: int, *, all_generalized: bool) -> list[str]:
    """Note of the loss that keeping suppressed records may cause.

    Args:
        policy: The policy.
        allowance: How many records may be suppressed.
        all_generalized: Whether every value is published as the top of its hierarchy.
    """
    if policy.suppressed == "drop" or not allowance or not all_generalized:
        return []
    return [
        "every value is generalized to the top of its hierarchy, since suppressed records that are "
        "kept must satisfy the models as a class of their own; suppressed = 'drop' (--suppressed "
        "drop) or a higher suppression_limit may lose less"
    ]


def _replaced(policy: Policy, name: str) -> Iterator[str]:
    """A model of the column's own that asks less than the policy's, which it replaces."""
    models = policy.sensitive_attributes[name].models
    for common in policy.models:
        if not isinstance(common, ValueModel):
            continue
        instead = [model for model in models if model.family == common.family]
        if instead and not any(_covers(model, common) for model in instead):
            yield (
                f"{name!r} has {FAMILIES[common.family].title} of its own, "
                f"{' and '.join(model.describe() for model in instead)}, in place of the policy's "
                f"{common.describe()}, and it may be weaker"
            )


def _covers(model: ValueModel, common: ValueModel) -> bool:
    """Whether every class that satisfies a model satisfies another, as far as is known.

    A class of entropy ln l has at least l values; no values are further apart than by the equal
    distance, so that no other Earth Mover's Distance is greater.
    """
    match model, common:
        case LDiversity(kind="entropy"), LDiversity(kind="distinct"):
            return model.l >= common.l
        case TCloseness(distance="equal"), TCloseness() if common.distance in BOUNDED:
            return model.t <= common.t
    return model.implies(common)


def _passing(policy: Policy, name: str) -> Iterator[str]:
    """Classes that no model of a column says anything of."""
    models = [demand.model for demand in policy.demands if demand.column == name]
    passing = all(model.holds_without_values for model in models)
    if policy.sensitive_attributes[name].nulls == "none" and passing:
        keys = list(dict.fromkeys(model.family.replace("_", "-") for model in models))
        distance = "is at distance 0 and " if "t" in keys else ""
        yield (
            f"a class whose records all have NULL in {name!r} {distance}passes any "
            f"{' and '.join(keys)}, since NULL counts as no value there; ask for l, too, or count "
            "it (nulls = 'value')"
        )
