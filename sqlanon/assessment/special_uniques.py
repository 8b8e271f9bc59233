"""Special uniques: records that few columns already single out, scored by SUDA.

Columns are counted set by set, small sets first. A record is a *minimal unique* by a set if it is
unique by it and by no smaller set within. Only classes of one record matter, and such a class holds
one row of the frequency set, so that a GROUP BY which finds it also says whose it is.
"""

from __future__ import annotations

from itertools import groupby

from sqlanon.assessment.codes import SubsetCodes, members
from sqlanon.assessment.subsets import MAX_GROUPS, subsets_up_to
from sqlanon.engine.base import Engine
from sqlanon.query.assess import risk
from sqlanon.query.classes.frequency import in_parts
from sqlanon.reports.special_uniques import SpecialUniques

MOST_GROUPED = 40_000_000
"""Rows of the frequency set times sets of columns that are grouped, ten seconds on two cores."""
MOST_COLUMNS = 62
"""Columns that the bits of a number stand for."""


def is_scored(coded: SubsetCodes, sets: int) -> bool:
    """Whether records are counted, in so few classes that so many sets of columns are grouped."""
    few = coded.rows * sets <= MOST_GROUPED and len(coded.names) <= MOST_COLUMNS
    return few and coded.of_persons is None


def special_uniques(engine: Engine, coded: SubsetCodes, *, largest: int) -> SpecialUniques:
    """The SUDA scores of a table's records, by sets of at most so many columns.

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
