"""Cautions: what of a release endangers people or its use, and what to do about each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

from sqlanon.release_report.figures import SEVERITIES, Caution, ValueShares
from sqlanon.release_report.gathering import Gathered
from sqlanon.wording import FAILS, counted, listed, part_of, percent

MANY_LEFT_OUT = 0.1
"""Share of records left out from which a reader is told to look whom that leaves out."""
SILENT = 0.5
"""Share of a column's cells that say nothing from which a reader is told."""
FAR = 0.5
"""Share of a class that would have to hold other values from which it tells much."""
FAR_IN_ORDER = 0.25
"""How far the values of a class would have to move, as of one that holds the upper half alone."""
MANY_UNIQUE = 0.1
"""Share of records with a sensitive value of their own from which a reader is told."""
MAX_OPTIONS = 3
"""Most columns whose options a sentence writes out."""
MAX_NAMES = 5
"""Most columns that a sentence names."""


def cautions(found: Gathered, *, holds: bool) -> tuple[Caution, ...]:
    """All cautions, the gravest first."""
    every = [
        *_of_policy(found, holds=holds),
        *_of_columns(found),
        *_of_sensitive(found),
        *_of_use(found),
        *_of_knowledge(found),
    ]
    return tuple(sorted(every, key=lambda each: [*SEVERITIES].index(each.severity)))


def _of_policy(found: Gathered, *, holds: bool) -> Iterator[Caution]:
    """What of the policy does not hold."""
    if found.loss.missing and found.released:
        yield Caution(
            "error",
            "The released labels could not be read",
            f"What the release loses is not measured: {found.loss.missing}.",
            "Compare the right tables, and name the hierarchies that the release was made with.",
        )
    failed = [result for result in found.models if not result.holds]
    for result in failed:
        whose = "" if result.column is None else f" for {result.column!r}"
        yield Caution(
            "error",
            f"{result.model}{whose} {FAILS}",
            f"The policy asks for {result.threshold:,}; the released table has {result.found()}.",
            "Do not hand the table out. Anonymize the original again under this policy.",
        )
    if not holds and not failed and found.released and not found.models:
        yield Caution(
            "warning",
            "No privacy model is asked for",
            "The policy has neither k nor another model, so there was nothing to check.",
            "Ask for a smallest class size k, such as 5, and for models of sensitive columns.",
        )
    if found.uncounted is not None:
        yield Caution(
            "error",
            "Persons cannot be counted in the release",
            f"The policy counts persons by {found.uncounted!r}, and some have several records. The "
            "released table has no such column: records are counted, not persons. One person alone "
            "may make up a class, so no model is proven.",
            "Let the publication write the report (--report of anonymize and apply): it counts "
            "persons while the original still tells whose each record is.",
        )
    if found.unexpected:
        yield Caution(
            "error",
            "Columns are released that the policy leaves out",
            f"The released table has {_named(found.unexpected)}.",
            "Drop these columns, or give them a role in the policy and check again.",
        )
    if found.after.by_unit.unique:
        yield Caution(
            "error" if found.policy.k > 1 else "warning",
            "Records are unique in the release",
            f"{part_of(found.after.by_unit.unique, found.after.by_unit.members)} of the released "
            f"{found.after.unit} are the only ones with their quasi-identifiers.",
            "Generalize further, or leave these records out: ask for k of at least 2.",
        )


def _of_columns(found: Gathered) -> Iterator[Caution]:
    """Columns that no model counts."""
    kept = found.kept
    if kept is None:
        return
    telling = [one.name for one in kept.identifying]
    if telling:
        yield Caution(
            "warning",
            "Kept columns may identify people",
            f"{_named(telling)} {'is' if len(telling) == 1 else 'are'} released unchanged and "
            "single records out, or have more values than classes can share. No model covers them.",
            "Make them quasi-identifiers if others may know them, or leave them out.",
        )
    if kept.joining:
        yield Caution(
            "warning",
            "A kept column joins the records of a person",
            f"{_named([one.name for one in kept.joining])} join records as "
            f"{kept.entity!r} does, and all records of a person together are easier to recognize.",
            "Leave the column out, or replace it by one that does not stay the same for a person.",
        )
    beside = [name for name, _ in kept.beside_quasi_identifiers if name not in telling]
    if beside:
        yield Caution(
            "warning",
            "Kept columns tell people apart beside the quasi-identifiers",
            f"Whoever knows {_named(beside)} as well as the quasi-identifiers can single out more "
            "records.",
            "Make them quasi-identifiers if others may know them, or leave them out.",
        )


def _of_sensitive(found: Gathered) -> Iterator[Caution]:
    """What classes tell of sensitive columns: one caution for all that are alike."""
    asked = {demand.column for demand in found.policy.demands}
    given = {
        name: figures.homogeneous_records
        for name, figures in found.after.sensitive.items()
        if figures.homogeneous_records
    }
    open_ones = [name for name in found.after.sensitive if name not in {*given, *asked}]
    if given:
        yield _given_away(found, given)
    if open_ones:
        yield _unprotected(found, open_ones)
    exact = [each for each in found.sensitive if each.unique >= max(MANY_UNIQUE * each.records, 1)]
    if exact:
        yield _exact(exact)
    if found.after.trajectories is not None and found.after.trajectories.sharing.unique:
        trajectories = found.after.trajectories
        yield Caution(
            "warning",
            "All records of a person together single the person out",
            f"{trajectories.entity!r} joins the records of a person: "
            f"{part_of(trajectories.sharing.unique, trajectories.sharing.members)} of the persons "
            "are alone with all their records.",
            f"Leave {trajectories.entity!r} out of the release.",
        )


def _given_away(found: Gathered, given: Mapping[str, int]) -> Caution:
    """The caution for columns of which some classes have one value, with records of these."""
    names, side = list(given), found.after
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
    return Caution(
        "warning",
        f"Some classes give {what} away",
        f"{where} Whoever knows that a person is in such a class knows the value, without finding "
        "the record.",
        f"Ask for l-diversity of {'the column' if len(names) == 1 else 'each'}: {models} or more.",
    )


def _unprotected(found: Gathered, names: Sequence[str]) -> Caution:
    """The caution for sensitive columns without a model, with what their furthest classes tell."""
    shares = {one.name: one for one in found.sensitive if one.name in names}
    furthest = " ".join(["", *_furthest(list(shares.values()))]).rstrip()
    l_diversity = _options("--l", names, bound="3")
    in_order = [name for name in names if name in shares and shares[name].is_ranged]
    bound = "ordered:0.15" if len(in_order) == len(names) else "0.3"
    bounds = dict.fromkeys(in_order, "ordered:0.15")
    t_closeness = _options("--t", names, bound=bound, bounds=bounds)
    return Caution(
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
        (False, FAR, "{} of the records would have to hold another value"),
        (True, FAR_IN_ORDER, "values would have to move past {} of all different values"),
    ):
        alike = [one for one in every if one.is_ranged == is_ranged and one.distance >= least]
        alone = len(every) == 1
        texts = [(percent(one.distance), "" if alone else f" ({one.name!r})") for one in alike]
        if texts:
            share = listed([f"{share}{name}" for share, name in texts])
            yield f"In the class furthest from the table {sentence.format(share)} to look like it."


def _exact(found: Sequence[ValueShares]) -> Caution:
    """The caution for columns of which many records have a value of their own."""
    shares = [f"{part_of(one.unique, one.records)} of {one.name!r}" for one in found[:MAX_NAMES]]
    more = len(found) - MAX_NAMES
    values = listed([*shares, *([counted(more, "other column")] if more > 0 else [])])
    return Caution(
        "warning",
        f"Exact values of {_named([one.name for one in found])} single records out",
        f"Values that no other record has: {values}. They are released unchanged, so whoever knows "
        "one, as from another file of the same source, finds the record in any class.",
        "Round the values before the table is anonymized, unless nobody else can know them.",
    )


def _options(
    option: str, names: Sequence[str], *, bound: str, bounds: Mapping[str, str] | None = None
) -> str:
    """What asks for a model of columns, each by its own bound; of many, how each is asked for."""
    shown, bounds = names if len(names) <= MAX_OPTIONS else ["COLUMN"], bounds or {}
    return " ".join(f"{option} {quote(f'{name}={bounds.get(name, bound)}')}" for name in shown)


def _of_use(found: Gathered) -> Iterator[Caution]:
    """What makes a release of little use, or of less for some people."""
    if not found.released:
        yield Caution(
            "warning",
            "Nothing is released",
            "The released table has no record. It discloses nothing, and nobody can use it.",
            "Ask for less, allow more generalization, or raise the suppression limit.",
        )
        return
    left = found.suppressed or 0
    if left >= MANY_LEFT_OUT * found.records:
        yield Caution(
            "warning",
            "Many records are left out",
            f"{part_of(left, found.records)} of the records are left out, or released without "
            "any quasi-identifier. These are the unusual ones, so small groups may be missing.",
            "Compare the distributions below, and say so to whoever uses the table.",
        )
    limit = found.policy.allowance(found.records)
    if left > limit and found.suppressed is not None:
        yield Caution(
            "warning",
            "More records are left out than the policy's limit",
            f"The policy allows for {limit:,}; {left:,} are left out or fully suppressed.",
            "Records of a class without any quasi-identifier do not count against the limit; look "
            "at both.",
        )
    silent = [one.name for one in found.columns if one.silent >= SILENT * found.released]
    if silent:
        yield Caution(
            "info",
            "Some columns say little",
            f"At least half of the released cells of {_named(silent)} are fully suppressed.",
            "A hierarchy with finer levels, a higher suppression limit or a method that decides "
            "record by record may keep more.",
        )


def _of_knowledge(found: Gathered) -> Iterator[Caution]:
    """What no figure of one table tells."""
    if found.models or found.after.statistics.classes:
        yield Caution(
            "info",
            "Other releases can be combined with this one",
            "Two releases that share people can be compared, and give away together what neither "
            "gives away alone.",
            "Keep this report, and look at it before the next release about the same people.",
        )
        yield Caution(
            "info",
            "What others know decides which columns identify",
            f"All figures assume that others may know {_named(list(found.policy.attributes))} of a "
            "person, and nothing else. If they know more, the risk is higher.",
            "Consider who will receive the table, and what they can look up.",
        )


def _named(names: list[str] | tuple[str, ...]) -> str:
    """Columns as a sentence names them, the first of many."""
    shown = [repr(name) for name in names[:MAX_NAMES]]
    more = len(names) - len(shown)
    return listed([*shown, *([counted(more, "other column")] if more else [])])
