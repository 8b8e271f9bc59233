"""Risk: how easily people of a table as it stands are found again, whoever made it.

Also by a few of its columns (the special uniques of SUDA), and as a sample of weighted records.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from sqlglot import exp

from sqlanon.assessment.check import (
    as_published,
    judged_columns,
    suited_types,
    with_quasi_identifiers,
)
from sqlanon.assessment.classes import coded_trajectories
from sqlanon.assessment.codes import SubsetCodes, code_table, members
from sqlanon.assessment.subsets import MAX_GROUPS, RiskOptions, subset_risk, subsets_up_to
from sqlanon.classes import ClassStatistics
from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, SourceError, TimeLimitError
from sqlanon.microdata.binding import column_types, comparable
from sqlanon.policy.policy import Policy
from sqlanon.query import encode
from sqlanon.query.assess import risk, weights
from sqlanon.query.classes.frequency import CLASS_SIZE, in_parts
from sqlanon.query.classes.table_classes import most_records, sized_classes
from sqlanon.query.syntax import column
from sqlanon.reports.check import Trajectories
from sqlanon.reports.estimates import PopulationEstimate
from sqlanon.reports.kept import KeptColumns
from sqlanon.reports.risk import (
    Persons,
    PopulationMatch,
    PopulationRisk,
    RecordRisk,
    RiskReport,
    SubsetRisk,
    WeightedRisk,
)
from sqlanon.reports.special_uniques import SpecialUniques
from sqlanon.sqltext import Fragment, value
from sqlanon.wording import counted, did_you_mean, many


def assess(
    engine: Engine,
    table: exp.Table,
    *,
    policy: Policy,
    options: RiskOptions,
    population: exp.Table | None = None,
) -> RiskReport:
    """Measures re-identification risk; hierarchies are not needed.

    Args:
        engine: Where both tables live.
        table: The table, as it would be released.
        policy: Its quasi-identifiers and, where persons count, its entity.
        options: What is asked.
        population: Everybody the table's records were drawn from, in the same columns.

    Raises:
        PolicyError: No column that could be a quasi-identifier, columns that are missing, or too
            many sets of columns.
        SourceError: An empty table, or a population that does not hold everybody of it.
    """
    started = time.monotonic()
    columns = list(engine.columns(table))
    policy, chosen = with_quasi_identifiers(engine, table, policy=policy)
    present, notes = as_published(policy, columns)
    suited_types(engine, table, policy=present)
    names, entity = list(present.attributes), present.entity
    largest = options.largest(len(names))
    theirs = {}
    if population is not None:
        if options.population_size is not None or options.sampling_fraction is not None:
            raise PolicyError(
                "the population is given, so that nothing of it is estimated; leave its size and "
                "the sampling fraction out"
            )
        types = column_types(engine, table)
        theirs = comparable(
            engine,
            population,
            types={name: types[name] for name in names},
            way_out="cast them alike, and generalize the population as the table is",
        )
    whose, against = policy.entity if policy.entity in theirs else None, None
    with engine.workspace():
        with engine.transaction():
            coded = code_table(engine, table, names=names, entity=entity)
            kept = judged_columns(engine, table, policy=policy)
            if not coded.records:
                raise SourceError("the table is empty; there is nothing to assess")
            if population is not None:
                matches = risk.matches(
                    table,
                    population,
                    quasi_identifiers=names,
                    entity=entity,
                    population_entity=whose,
                )
                unit = "records" if entity is None else "persons"
                against = _population_risk(engine.rows(matches), options.threshold, unit=unit)
        query = risk.class_histogram(coded.table, coded.words, person=coded.person)
        statistics = ClassStatistics.of(engine.rows(query))
        if entity is not None:
            statistics = replace(statistics, rows=coded.records)
        estimate = _estimate(statistics, options)
        persons = _persons(engine, coded, statistics=statistics, entity=entity)
        is_dropped = entity in (*policy.identifiers, *policy.drop)
        trajectories = None if is_dropped else _trajectories(engine, coded, entity=entity)
        subsets = None
        uniques = None
        if largest:
            subsets = subset_risk(engine, coded, options=options, largest=largest)
            if is_scored(coded, subsets.looked_at):
                uniques = special_uniques(engine, coded, largest=largest)
        weighted = weighted_risk(engine, table, policy=present, threshold=options.threshold)
    return RiskReport(
        statistics=statistics,
        threshold=options.threshold,
        quasi_identifiers=tuple(names),
        subsets=subsets,
        population=against,
        persons=persons,
        trajectories=trajectories,
        kept_columns=kept,
        not_counted=uncounted(policy, kept, columns=columns),
        estimate=estimate,
        uniques=uniques,
        weights=weighted,
        notes=(
            *_missing_aside(policy, columns),
            *chosen,
            *notes,
            *(trajectories.notes() if trajectories else ()),
            *(kept.notes() if kept else ()),
            *_notes(against, persons, estimate=estimate, whose=whose),
            *_subset_notes(subsets, is_unscored=uniques is None and persons is None),
        ),
        seconds=time.monotonic() - started,
    )


def identifying_sets(
    engine: Engine, table: exp.Table, *, policy: Policy, options: RiskOptions
) -> SubsetRisk:
    """Which columns of a table tell people apart, and nothing else of its risk.

    Where the engine's time limit comes too early for the larger sets, those of one column and all
    columns together are told.

    Raises:
        TimeLimitError: It came too early for these, too.
    """
    names = list(policy.attributes)
    largest = options.largest(len(names))
    stages = (1, largest) if engine.deadline.is_limited and largest > 1 else (largest,)
    result = None
    with engine.workspace(), phase("counting sets of columns"):
        coded = code_table(engine, table, names=names, entity=policy.entity)
        for most in stages:
            try:
                result = subset_risk(engine, coded, options=options, largest=most)
            except TimeLimitError:
                if result is None:
                    raise
    assert result is not None
    return result


def _estimate(statistics: ClassStatistics, options: RiskOptions) -> PopulationEstimate | None:
    """What is estimated of a population by its size; None where it is not known.

    Raises:
        PolicyError: The population is smaller than the table.
    """
    size, members = options.population_size, statistics.members
    if options.sampling_fraction is not None:
        size = round(members / options.sampling_fraction)
    if size is None:
        return None
    if size < members:
        raise PolicyError(
            f"the population of {size:,} is smaller than the table's {members:,} records; give "
            "the number of all people that they are a sample of"
        )
    return PopulationEstimate(statistics.histogram, size)


def _missing_aside(policy: Policy, columns: Sequence[str]) -> list[str]:
    """Notes on a weight or a household that a table does not have, as a release has none."""
    return [
        f"{key} risk is not known: the table has no column {name!r}{did_you_mean(name, columns)}"
        for key, name in (("individual", policy.weight), ("household", policy.household))
        if name is not None and name not in columns
    ]


def uncounted(
    policy: Policy, kept: KeptColumns | None, *, columns: Sequence[str]
) -> dict[str, list[str]]:
    """The columns of a table that make no class, by what they are."""
    dropped = (*policy.identifiers, *policy.drop)
    roles = {
        "kept": [] if kept is None else [one.name for one in kept.columns],
        "sensitive": policy.sensitive,
        "dropped": dropped,
        "entity": [] if policy.entity in dropped else [policy.entity],
    }
    return {role: [name for name in columns if name in names] for role, names in roles.items()}


def _persons(
    engine: Engine, coded: SubsetCodes, *, statistics: ClassStatistics, entity: str | None
) -> Persons | None:
    """Persons by the smallest class with a record of theirs; None where records are counted."""
    if entity is None:
        return None
    if coded.person is None:
        histogram = {size: size * n for size, n in statistics.histogram.items()}
    else:
        rows = engine.rows(risk.person_histogram(coded.table, coded.words, person=coded.person))
        histogram = dict(sorted(rows))
    return Persons(entity, coded.records, histogram)


def _trajectories(engine: Engine, coded: SubsetCodes, *, entity: str | None) -> Trajectories | None:
    """Persons by all their records, which the entity column joins; None without one."""
    if entity is None or coded.of_persons is None:
        return None
    person, size = encode.word(coded.words), exp.Sum(this=column(encode.SIZE))
    _, sharing = coded_trajectories(
        engine, coded.of_persons, words=coded.words, person=person, records=size
    )
    return Trajectories(entity, sharing)


def _notes(
    against: PopulationRisk | None,
    persons: Persons | None,
    *,
    estimate: PopulationEstimate | None,
    whose: str | None,
) -> list[str]:
    """Notes on what is not estimated, and how persons count."""
    notes = []
    if estimate is not None:
        notes.append(
            "what is estimated of the population holds for a simple random sample of it; where "
            "people with rare values are drawn more often, the risk is higher"
        )
    elif against is None:
        notes.append(
            "without a population (--population) or its size (--population-size) journalist risk "
            "is not known; it is at most the prosecutor risk"
        )
    elif persons is not None and whose is None:
        notes.append(
            f"the population has no column {persons.entity!r}: each of its rows counts as a person"
        )
    if persons is not None:
        notes.append(
            "a person's risk is that of the smallest class that contains a record of the person; a "
            "class counts a person once"
        )
    return notes


def _subset_notes(subsets: SubsetRisk | None, *, is_unscored: bool) -> Iterator[str]:
    """Notes on which sets are left out, and records that are not scored by them."""
    if subsets is None:
        return
    if subsets.left_out:
        limit = "1 column" if subsets.largest == 1 else f"{subsets.largest} columns"
        yield (
            f"sets of more than {limit} were not looked at ({many(subsets.left_out)}); those among "
            "them that contain an identifying set are identifying, too, and of the others nothing "
            "is known; raise --max-columns or --max-sets to look further "
            f"({counted(subsets.looked_at, 'set was', more='sets were')} looked at, of at most "
            f"{subsets.budget:,})"
        )
    if is_unscored:
        yield (
            f"SUDA scores were not counted: {counted(subsets.looked_at, 'set')} of columns are too "
            "many for so many different records; ask for fewer columns at a time with --max-columns"
        )


def _population_risk(
    rows: Sequence[Sequence[int]], threshold: float, *, unit: str
) -> PopulationRisk:
    """The risk against a population.

    Args:
        rows: Rows of `risk.matches`.
        threshold: Risk above which a record counts as at risk.
        unit: What is counted: records, or persons.

    Raises:
        SourceError: The population does not hold everybody of the table.
    """
    matches = tuple(PopulationMatch(*row[:5]) for row in rows)
    absent = [(match.released, match.records) for match in matches if not match.size]
    larger = [row[5:] for row in rows if row[0]]
    faults = [
        f"{classes:,} of its {sum(m.released for m in matches):,} classes ({records:,} of "
        f"{sum(m.records for m in matches):,} {unit}) {one if classes == 1 else more}"
        for one, more, (classes, records) in (
            ("has no match in it", "have no match in it", _added(absent)),
            ("holds more than its match", "hold more than their match", _added(larger)),
        )
        if classes
    ]
    if faults:
        raise SourceError(
            f"the population does not hold everybody of the table: {'; '.join(faults)}; give "
            "the population that they were drawn from, generalized as the table is; or ask check "
            "for k-map (--k-map), which generalizes it by the policy's hierarchies"
        )
    return PopulationRisk(matches, threshold)


def _added(pairs: Sequence[Sequence[int]]) -> tuple[int, int]:
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


MOST_GROUPED = 40_000_000
"""Rows of the frequency set times sets of columns that are grouped, ten seconds on two cores."""
MAX_MASK_COLUMNS = 62
"""Columns that the bits of a number stand for."""


def is_scored(coded: SubsetCodes, sets: int) -> bool:
    """Whether records are counted, in so few classes that so many sets of columns are grouped."""
    few = coded.rows * sets <= MOST_GROUPED and len(coded.names) <= MAX_MASK_COLUMNS
    return few and coded.of_persons is None


def special_uniques(engine: Engine, coded: SubsetCodes, *, largest: int) -> SpecialUniques:
    """The SUDA scores of a table's records, by sets of at most so many columns.

    Sets are counted small ones first. A record is a *minimal unique* by a set if it is unique by it
    and by no smaller set within. Only classes of one record matter, and such a class holds one row
    of the frequency set, so that a GROUP BY which finds it also says whose it is.

    The temporary tables stay until the engine's workspace ends.
    """
    known = engine.materialize("minimal", risk.no_uniques(coded.words))
    for _, alike in groupby(subsets_up_to(len(coded.names), largest), key=int.bit_count):
        sets, uniques = (
            [(subset, subset.bit_count(), *coded.masks(subset)) for subset in alike],
            known,
        )
        for part in in_parts(sets, coded.rows, most=MAX_GROUPS):
            query = risk.minimal_uniques(coded.table, part, known=known)
            uniques = engine.materialize("minimal", risk.joined(uniques, query))
        known = uniques
    by_set = [
        (members(subset), records) for subset, records in engine.rows(risk.sizes_of_sets(known))
    ]
    by_record = engine.rows(risk.sets_of_records(known, coded.words, largest=largest))
    return SpecialUniques.of(coded.names, by_set, by_record, largest=largest, records=coded.records)


MAX_WEIGHT = 1e12
"""Most people that a record can stand for: more than there are, and few enough to add up."""


def weighted_risk(
    engine: Engine, table: exp.Table, *, policy: Policy, threshold: float
) -> WeightedRisk | None:
    """Individual risk by the policy's weight, and by its household; None where it has neither.

    The temporary table of its classes stays until the engine's workspace ends.

    Args:
        engine: Where the table is.
        table: The sample, of one record or more.
        policy: Its quasi-identifiers, weight and household.
        threshold: Risk above which a record counts as at risk, in (0, 1].

    Raises:
        PolicyError: A person has several records.
        SourceError: Records without a weight or household, or with a weight below 1.
    """
    weight, household = policy.weight, policy.household
    if weight is None and household is None:
        return None
    if policy.entity is not None and engine.rows(most_records(table, policy.entity))[0][0] > 1:
        raise PolicyError(
            f"persons have several records (entity {policy.entity!r}), and a weight says how many "
            "people one record stands for, so that they would count several times; leave weight "
            "and household out, or give a table of one record for each person"
        )
    types = engine.columns(table)
    number: Fragment = value(1.0)
    home: Fragment = value(1)
    if weight is not None:
        number = weights.number(weight, types[weight])
    if household is not None:
        home = weights.present(household, types[household])
    query = weights.weight_faults(
        table, weight=weight, number=number, household=home, most=MAX_WEIGHT
    )
    _refuse_faults(engine.rows(query)[0], weight=weight, household=household)
    names = list(policy.attributes)
    query = sized_classes(table, names, size=CLASS_SIZE, weight=number)
    classes = engine.materialize("weighted", query)
    query = weights.individual_risk(classes, len(names))
    risks = engine.materialize("risks", query)
    parts: list[Fragment] = [risks]
    if household is not None:
        parts.append(weights.household_risk(table, names, household=household, risks=risks))
    figures = [
        RecordRisk(*engine.rows(weights.record_risk(part, threshold=threshold))[0])
        for part in parts
    ]
    return WeightedRisk(weight, engine.rows(weights.people(classes))[0][0], *figures)


def _refuse_faults(counts: Sequence[int], *, weight: str | None, household: str | None) -> None:
    missing, wrong, homeless = counts
    faults = [
        f"{which} column {name!r} has {counted(records, 'record')} {what}"
        for which, name, records, what in (
            ("weight", weight, missing, "without a value (NULL)"),
            ("weight", weight, wrong, f"whose value is no number from 1 to {MAX_WEIGHT:,.0f}"),
            ("household", household, homeless, "without a value (NULL or NaN)"),
        )
        if records
    ]
    if missing or wrong:
        faults.append(
            "a weight says how many people a record stands for, itself among them: leave such "
            "records out, give weights that are not scaled, or name another column "
            "(--weight-column)"
        )
    if homeless:
        faults.append(
            "such records would count as one household: give each a household of its own, leave "
            "them out, or name another column (--household)"
        )
    if faults:
        raise SourceError("; ".join(faults))
