"""Special uniques: what SUDA says of a table's records and columns, as text and JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.wording import counted, figure, part_of, percent

MAX_LISTED = 10
"""Scores that a document lists, the highest first."""


@dataclass(frozen=True, slots=True)
class SpecialUniques:
    """SUDA scores of records, and what columns contribute to them.

    A set S of columns is a minimal unique set of a record if no other record has the same values
    there, and there is one for each smaller set within. Among n columns, with sets of at most M of
    them, one of k columns scores

        (n - k) (n - k - 1) ... (n - M),

    where M = n counts as n - 1, so that with all sets it is (n - k)!. The score of a record is the
    sum over its minimal unique sets: the fewer columns they have, and the more there are, the
    higher. A column contributes the share of all scores that comes from sets which hold it; these
    shares add up to more than 1.

    Args:
        columns: The columns.
        largest: M, most columns of a set.
        records: Records of the table.
        scores: `{score: records}`, of the records with any minimal unique set, highest first.
        sets: `{columns of a set: minimal unique sets}`, of all records together.
        contributions: By column its share of all scores, in [0, 1].

    Source: Elliot, Manning and Ford 2002, "A computational algorithm for handling the special
        uniques problem"; Manning, Haglin and Keane 2008, "A recursive search algorithm for
        statistical disclosure assessment". With all sets of three columns or more and without
        NULL, scores and contributions are those of sdcMicro's `suda2`.
    """

    columns: tuple[str, ...]
    largest: int
    records: int
    scores: Mapping[int, int]
    sets: Mapping[int, int]
    contributions: Mapping[str, float]

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        by_set: Iterable[tuple[Sequence[int], int]],
        by_record: Iterable[Sequence[int]],
        *,
        largest: int,
        records: int,
    ) -> SpecialUniques:
        """From counts.

        Args:
            columns: The columns.
            by_set: Per set the numbers of its columns, and the records that it is minimal for.
            by_record: Rows of how many minimal sets of 1, 2, ... columns a record has, and of how
                many records that is so.
            largest: Most columns of a set.
            records: Records of the table.
        """
        of_size = [score(len(columns), size, largest) for size in range(1, largest + 1)]
        scores, sets, parts = Counter[int](), Counter[int](), Counter[str]()
        for *numbers, of_records in by_record:
            points = sum(n * weight for n, weight in zip(numbers, of_size, strict=True))
            scores[points] += of_records
        for unique_set, of_records in by_set:
            sets[len(unique_set)] += of_records
            for number in unique_set:
                parts[columns[number]] += of_records * of_size[len(unique_set) - 1]
        total = sum(points * of_records for points, of_records in scores.items())
        return cls(
            tuple(columns),
            largest,
            records,
            dict(sorted(scores.items(), reverse=True)),
            dict(sorted(sets.items())),
            {name: parts[name] / total if total else 0.0 for name in columns},
        )

    @property
    def scored(self) -> int:
        """Records with a minimal unique set."""
        return sum(self.scores.values())

    @property
    def highest(self) -> int:
        """The highest score of a record."""
        return max(self.scores, default=0)

    @property
    def mean(self) -> float:
        """The mean score of the records of the table; those without a set have 0."""
        return sum(points * records for points, records in self.scores.items()) / self.records

    def to_dict(self) -> dict[str, Any]:
        """The key `suda` of the JSON document."""
        return {
            "max_columns": self.largest,
            "records": self.scored,
            "highest": self.highest,
            "mean": self.mean,
            "scores": [
                {"score": points, "records": records}
                for points, records in [*self.scores.items()][:MAX_LISTED]
            ],
            "minimal_sets": {str(size): number for size, number in self.sets.items()},
            "contributions": dict(self.contributions),
        }

    def to_lines(self) -> list[str]:
        """For a reader."""
        limit = counted(self.largest, "column")
        lines = [
            f"SUDA scores (special uniques, by sets of up to {limit})",
            f"  scored          {part_of(self.scored, self.records)} of the records are unique by "
            "such a set",
        ]
        if not self.scored:
            return lines
        sizes = ", ".join(
            f"{number:,} of {counted(size, 'column')}" for size, number in self.sets.items()
        )
        shares = sorted(self.contributions.items(), key=lambda pair: (-pair[1], pair[0]))
        columns = ", ".join(f"{name} {percent(share)}" for name, share in shares)
        top = self.scores[self.highest]
        return [
            *lines,
            f"  score           highest {self.highest:,} ({counted(top, 'record')}), mean "
            f"{figure(self.mean)}",
            f"  minimal sets    {sizes}",
            f"  contributions   {columns}",
        ]


def score(columns: int, size: int, largest: int) -> int:
    """What a minimal unique set of so many columns of all scores, see `SpecialUniques`.

    >>> score(4, 1, 4), score(4, 2, 4), score(4, 4, 4), score(4, 1, 2)
    (6, 2, 1, 6)
    """
    return math.prod(columns - count for count in range(size, min(largest, columns - 1) + 1))
