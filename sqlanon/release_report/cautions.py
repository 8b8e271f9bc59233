"""Findings: what both tables tell of a release besides what `lint` finds in it, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

from sqlanon.release_report.figures import ValueShares
from sqlanon.release_report.gathering import Gathered
from sqlanon.reports.findings import Finding, by_severity
from sqlanon.wording import FAILS, counted, listed, part_of, percent

MANY_LEFT_OUT = 0.1
"""Share of records left out from which a reader is told to look whom that leaves out."""
SILENT = 0.5
"""Share of a column's cells that say nothing from which a reader is told."""
FAR_SHARE = 0.5
"""Share of a class that would have to hold other values from which it tells much."""
FAR_IN_ORDER = 0.25
"""How far the values of a class would have to move, as of one that holds the upper half alone."""
MAX_OPTIONS = 3
"""Most columns whose options a sentence writes out."""
MAX_NAMES = 5
"""Most columns that a sentence names."""


def cautions(facts: Gathered, *, holds: bool) -> tuple[Finding, ...]:
    """All cautions and findings, the gravest first; every release has some."""
    every = [
        *_of_policy(facts, holds=holds),
        *_of_sensitive(facts),
        *facts.findings,
        *_of_use(facts),
        *_of_knowledge(facts),
    ]
    return by_severity(every)


def _of_policy(facts: Gathered, *, holds: bool) -> Iterator[Finding]:
    """What of the policy does not hold."""
    labelled = facts.policy.attributes.keys() - facts.policy.class_means.keys()
    if facts.loss.missing and facts.released and labelled:
        yield Finding(
            "labels-unread",
            "error",
            "The released labels could not be read",
            f"What the release loses is not measured: {facts.loss.missing}.",
            "Compare the right tables, and name the hierarchies that the release was made with.",
        )
    failed = [result for result in facts.models if not result.holds]
    for result in failed:
        whose = "" if result.column is None else f" for {result.column!r}"
        yield Finding(
            "model-fails",
            "error",
            f"{result.model}{whose} {FAILS}",
            f"The policy asks for {result.threshold:,}; the released table has "
            f"{result.figure_text()}.",
            "Do not hand the table out. Anonymize the original again under this policy.",
        )
    if not holds and not failed and facts.released and not facts.models:
        yield Finding(
            "no-model",
            "warning",
            "No privacy model is asked for",
            "The policy has neither k nor another model, so there was nothing to check.",
            "Ask for a smallest class size k, such as 5, and for models of sensitive columns.",
        )
    if facts.uncounted is not None:
        yield Finding(
            "persons-uncounted",
            "error",
            "Persons cannot be counted in the release",
            f"The policy counts persons by {facts.uncounted!r}, and some have several records. The "
            "released table has no such column: records are counted, not persons. One person alone "
            "may make up a class, so no model is proven.",
            "Let the publication write the report (--report of anonymize and apply): it counts "
            "persons while the original still tells whose each record is.",
        )
    if facts.after.by_unit.unique:
        yield Finding(
            "unique-records",
            "error" if facts.policy.k > 1 else "warning",
            "Records are unique in the release",
            f"{part_of(facts.after.by_unit.unique, facts.after.by_unit.members)} of the released "
            f"{facts.after.unit} are the only ones with their quasi-identifiers.",
            "Generalize further, or leave these records out: ask for k of at least 2.",
        )


def _of_sensitive(facts: Gathered) -> Iterator[Finding]:
    """What classes tell of sensitive columns: one caution for all that are alike."""
    asked = {demand.column for demand in facts.policy.demands}
    given = {
        name: figures.homogeneous_records
        for name, figures in facts.after.sensitive.items()
        if figures.homogeneous_records
    }
    open_ones = [name for name in facts.after.sensitive if name not in {*given, *asked}]
    if given:
        yield _given_away(facts, given)
    if open_ones:
        yield _unprotected(facts, open_ones)
    if facts.after.trajectories is not None and facts.after.trajectories.sharing.unique:
        trajectories = facts.after.trajectories
        yield Finding(
            "trajectories",
            "warning",
            "All records of a person together single the person out",
            f"{trajectories.entity!r} joins the records of a person: "
            f"{part_of(trajectories.sharing.unique, trajectories.sharing.members)} of the persons "
            "are alone with all their records.",
            f"Leave {trajectories.entity!r} out of the release.",
        )


def _given_away(facts: Gathered, given: Mapping[str, int]) -> Finding:
    """The caution for columns of which some classes have one value, with records of these."""
    names, side = list(given), facts.after
    if len(names) == 1:
        [(name, number)] = given.items()
        what = repr(name)
        where = (
            f"{counted(number, f'released {side.one}')} {'is' if number == 1 else 'are'} in "
            f"classes whose members all have the same value of {name!r}."
        )
    else:
        what = "sensitive columns"
        numbers = listed([f"{name!r} ({number:,})" for name, number in given.items()])
        where = (
            f"Of each of these columns, released {side.unit} are in classes whose members all have "
            f"the same value: {numbers}."
        )
    models = _options("--l", names, bound="2")
    return Finding(
        "classes-tell",
        "warning",
        f"Some classes give {what} away",
        f"{where} Whoever knows that a person is in such a class knows the value, without finding "
        "the record.",
        f"Ask for l-diversity of {'the column' if len(names) == 1 else 'each'}: {models} or more.",
    )


def _unprotected(facts: Gathered, names: Sequence[str]) -> Finding:
    """The caution for sensitive columns without a model, with what their furthest classes tell."""
    shares = {one.name: one for one in facts.sensitive if one.name in names}
    furthest = " ".join(["", *_furthest(list(shares.values()))]).rstrip()
    l_diversity = _options("--l", names, bound="3")
    in_order = [name for name in names if name in shares and shares[name].is_ranged]
    bound = "ordered:0.15" if len(in_order) == len(names) else "0.3"
    bounds = dict.fromkeys(in_order, "ordered:0.15")
    t_closeness = _options("--t", names, bound=bound, bounds=bounds)
    return Finding(
        "no-model-for-column",
        "warning",
        f"No model protects {_named(list(names))}",
        f"k-anonymity hides which record is whose, not what the records of a class have in common."
        f"{furthest}",
        f"Ask for l-diversity ({l_diversity}) or t-closeness ({t_closeness}) if the value of a "
        "person must stay unknown.",
    )


def _furthest(every: Sequence[ValueShares]) -> Iterator[str]:
    """What the classes furthest from the table tell of columns without a model, a sentence each."""
    for is_ranged, least, sentence in (
        (False, FAR_SHARE, "{} of the records would have to hold another value"),
        (True, FAR_IN_ORDER, "values would have to move past {} of all different values"),
    ):
        alike = [one for one in every if one.is_ranged == is_ranged and one.distance >= least]
        alone = len(every) == 1
        texts = [(percent(one.distance), "" if alone else f" ({one.name!r})") for one in alike]
        if texts:
            share = listed([f"{share}{name}" for share, name in texts])
            yield f"In the class furthest from the table {sentence.format(share)} to look like it."


def _options(
    option: str, names: Sequence[str], *, bound: str, bounds: Mapping[str, str] | None = None
) -> str:
    """What asks for a model of columns, each by its own bound; of many, how each is asked for."""
    shown, bounds = names if len(names) <= MAX_OPTIONS else ["COLUMN"], bounds or {}
    return " ".join(f"{option} {quote(f'{name}={bounds.get(name, bound)}')}" for name in shown)


def _of_use(facts: Gathered) -> Iterator[Finding]:
    """What makes a release of little use, or of less for some people."""
    if not facts.released:
        yield Finding(
            "nothing-released",
            "warning",
            "Nothing is released",
            "The released table has no record. It discloses nothing, and nobody can use it.",
            "Ask for less, allow more generalization, or raise the suppression limit.",
        )
        return
    left = facts.suppressed or 0
    if left >= MANY_LEFT_OUT * facts.records:
        yield Finding(
            "many-left-out",
            "warning",
            "Many records are left out",
            f"{part_of(left, facts.records)} of the records are left out, or released without "
            "any quasi-identifier. These are the unusual ones, so small groups may be missing.",
            "Compare the distributions below, and say so to whoever uses the table.",
        )
    limit = facts.policy.allowance(facts.records)
    if left > limit and facts.suppressed is not None:
        yield Finding(
            "over-limit",
            "warning",
            "More records are left out than the policy's limit",
            f"The policy allows for {limit:,}; {left:,} are left out or fully suppressed.",
            "Records of a class without any quasi-identifier do not count against the limit; look "
            "at both.",
        )
    silent = [one.name for one in facts.columns if one.silent >= SILENT * facts.released]
    if silent:
        yield Finding(
            "columns-say-little",
            "info",
            "Some columns say little",
            f"At least half of the released cells of {_named(silent)} are fully suppressed.",
            "A hierarchy with finer levels, a higher suppression limit or a method that decides "
            "record by record may keep more.",
        )


def _of_knowledge(facts: Gathered) -> Iterator[Finding]:
    """What no figure of one table tells."""
    if facts.models or facts.after.statistics.classes:
        yield Finding(
            "other-releases",
            "info",
            "Other releases can be combined with this one",
            "Two releases that share people can be compared, and give away together what neither "
            "gives away alone.",
            "Keep this report, and look at it before the next release about the same people.",
        )
        yield Finding(
            "other-knowledge",
            "info",
            "What others know decides which columns identify",
            f"All figures assume that others may know {_named(list(facts.policy.attributes))} of a "
            "person, and nothing else. If they know more, the risk is higher.",
            "Consider who will receive the table, and what they can look up.",
        )


def _named(names: list[str] | tuple[str, ...]) -> str:
    """Columns as a sentence names them, the first of many."""
    shown = [repr(name) for name in names[:MAX_NAMES]]
    more = len(names) - len(shown)
    return listed([*shown, *([counted(more, "other column")] if more else [])])
