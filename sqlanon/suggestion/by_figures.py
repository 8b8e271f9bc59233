"""Roles by figures: what a column is taken for beside the other columns of its table."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from sqlanon.reports.separation import SubsetRisk
from sqlanon.suggestion.advice import Advice, Role
from sqlanon.wording import listed, percent

IDENTIFYING = 0.05
"""Share of records that a set makes unique, or a column beside all others, to count."""
MOSTLY = 0.5
"""The same beside all others, from which numbers of unknown meaning count."""
PAIR = 2
"""Columns of a set that speaks for such numbers, at most, where others are of unknown meaning."""


def advise_by_sets(name: str, risk: SubsetRisk, *, among: Sequence[str] | None) -> Advice | None:
    """The role of a column that nothing is known of, from the sets that make records unique.

    None where it is in none of the smallest sets, and adds little to all other columns.

    Args:
        name: The column.
        risk: The sets.
        among: Of numbers, whose name says nothing, the columns that are known by their names. Such
            a column is left undecided where no pair and no set of those speaks for it: codes of
            events and treatments add to what tells records apart, too. None of other values.
    """
    sets = [one for one in risk.minimal if name in one.columns]
    if among is not None:
        known = {*among, name}
        sets = [one for one in sets if len(one.columns) <= PAIR or known.issuperset(one.columns)]
    if sets:
        best = max(sets, key=lambda one: (-len(one.columns), one.unique))
        others = [one for one in best.columns if one != name]
        return together(others, best.unique, best.total)
    [own] = [one for one in risk.columns if one.name == name]
    if own.lost < IDENTIFYING * own.total:
        return None
    reason = (
        f"beside all other columns it makes another {percent(own.lost, own.total)} of the records "
        "unique"
    )
    if among is None or own.lost >= MOSTLY * own.total:
        return Advice(Role.QUASI_IDENTIFIER, reason, is_counted=True)
    return Advice(
        Role.UNDECIDED,
        f"{reason}, but its name does not say what its numbers stand for. May others know it, as a "
        "number of children (quasi-identifier), is it sensitive, as how a treatment ended, or is "
        "it not needed (drop)?",
    )


def unknown() -> Advice:
    """The advice where neither a name nor figures tell what a column is."""
    return Advice(
        Role.UNDECIDED,
        "it adds little to what tells records apart, and its name does not say what it is; is it "
        "sensitive, may it be published as it is (keep), or is it not needed (drop)?",
    )


def item() -> Advice:
    """The advice for answers to a question that is known by its number alone."""
    return Advice(
        Role.UNDECIDED,
        "its name is that of an item of a questionnaire or a form and does not say what was asked; "
        "may others know the answer (quasi-identifier), is it sensitive, or is it not needed "
        "(drop)?",
    )


def together(others: Sequence[str], unique: int, records: int) -> Advice:
    """The advice for a column that makes so many records unique, together with others."""
    beside = f"together with {listed(list(map(repr, others)))}" if others else "alone"
    return Advice(
        Role.QUASI_IDENTIFIER,
        f"{beside} it makes {percent(unique, records)} of the records unique",
        is_counted=True,
        beside=tuple(others),
    )


def beside_undecided(own: Advice, left: Container[str]) -> Advice:
    """The advice for a column that was chosen, where its reason names some that were not."""
    names = [repr(name) for name in own.beside if name in left]
    if not names:
        return own
    are = "is" if len(names) == 1 else "are"
    return replace(own, reason=f"{own.reason} ({listed(names)} {are} left undecided)")


def left_undecided(own: Advice, chosen: int, asked: int) -> Advice:
    """The advice for a column that is not among those of most figures.

    Args:
        own: What its figures say.
        chosen: How many columns were chosen by theirs.
        asked: Among how many.
    """
    return Advice(
        Role.UNDECIDED,
        f"{own.reason}, but so do others: of {asked} columns that figures alone speak for, the "
        f"{chosen} that tell most records apart are quasi-identifiers. May others know this one, "
        "too (quasi-identifier), is it sensitive, or is it not needed (drop)?",
    )


def doubled(kept: str) -> Advice:
    """The advice for a column each of whose values goes with one of another that is kept."""
    return Advice(
        Role.DROP,
        f"it says the same as {kept!r}: each value of one goes with one value of the other, so one "
        "of them is enough. To publish this one instead, let both change places in the policy",
    )
