"""Shared work: what searches of one table, policy and loss have in common, found once.

Whoever finds a thing here is told how long it took, and counts that, so that seconds are compared
as if each search ran alone. A thing is known by its name and a digest of its records: blocks and
divisions have each their own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

Found = TypeVar("Found")
Name = tuple[str, *tuple[Hashable, ...]]
"""What something is and what it is of: of one name there is one thing."""


@dataclass(slots=True)
class SharedWork:
    """Things that one search found and the next ones need, too: codes, itemsets, near records.

    Whoever runs several searches by one policy and loss hands the same on to each. By itself a
    search keeps nothing.

    Args:
        most: Records that things of one kind may be about in all, for the memory that they take;
            0 to keep nothing.
        stored: Things in temporary tables of the database by their names, where whoever shares has
            a workspace around all searches; None where none may outlive a search.
        borrowed: How long those took to find that were there already, each time that they were
            asked for [seconds].
    """

    most: int = 0
    stored: dict[Name, Any] | None = None
    borrowed: float = field(default=0.0, init=False)
    _table: Hashable = field(default=None, init=False)
    _kept: dict[Name, tuple[Any, float]] = field(default_factory=dict, init=False)
    _records: Counter[str] = field(default_factory=Counter, init=False)

    def read_from(self, table: Hashable) -> None:
        """Forgets everything where this is not the table, by its fingerprint, that it is about."""
        if self.stored is not None and self.stored.setdefault(("table",), table) != table:
            self.stored.clear()
            self.stored["table",] = table
        if table != self._table:
            self._table = table
            self._kept.clear()
            self._records.clear()

    def stored_once(self, name: Name, find: Callable[[], Found]) -> Found:
        """What is in temporary tables already, else what is put there now.

        Args:
            name: What it is, and of what: all that it depends on but the table and the loss.
            find: Puts it there.
        """
        if self.stored is None:
            return find()
        if name not in self.stored:
            self.stored[name] = find()
        found: Found = self.stored[name]
        return found

    def once(
        self,
        name: Name,
        find: Callable[[], Found],
        *,
        records: int,
        is_whole: Callable[[Found], bool] = lambda _: True,
    ) -> Found:
        """What was found before, else what is found now.

        Nothing is kept that an error ended. Nobody may change what is kept.

        Args:
            name: What it is, and of which records; what a policy and a loss say need not be there.
            find: Finds it.
            records: How many records it is about.
            is_whole: Whether it is all there is; else nobody gets it but who found it, as where a
                time limit cut it short.
        """
        if name in self._kept:
            kept, seconds = self._kept[name]
            self.borrowed += seconds
            found: Found = kept
            return found
        started = time.monotonic()
        found = find()
        kind = name[0]
        if self._records[kind] + records <= self.most and is_whole(found):
            self._records[kind] += records
            self._kept[name] = found, time.monotonic() - started
        return found
