"""Persons in instances: which places tell that a person, or a person with a value, is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers


@dataclass(frozen=True, slots=True)
class Presence:
    """Persons in instances, each there where any of some places has a record.

    Args:
        place: Places, each with a person it tells of.
        number: The number of that person in that instance.
        instance: Per number the instance.
        value: Per number the sensitive value that the person has there; empty for any.
    """

    place: Numbers
    number: Numbers
    instance: Numbers
    value: Numbers

    def __len__(self) -> int:
        return len(self.instance)

    def there(self, counts: Numbers) -> Flags:
        """Which of them are there, by the records of each place."""
        some: Flags = np.bincount(self.number, counts[self.place], len(self)) > 0
        return some

    def among(self, counts: Numbers) -> Numbers:
        """The instances of those that are there."""
        return self.instance[self.there(counts)]


def persons_of(instance: Numbers, persons: Numbers) -> Presence:
    """The persons of instances, from the instance and the person of each place."""
    keys, number = np.unique(np.stack([instance, persons]), axis=1, return_inverse=True)
    every = np.arange(len(instance))
    return Presence(every, number.ravel(), keys[0], np.empty(0, np.int64))


def values_of(instance: Numbers, persons: Numbers, *, values: Numbers) -> Presence:
    """The persons of instances with each of their values; -1 is none."""
    some = np.flatnonzero(values >= 0)
    keys = np.stack([instance[some], persons[some], values[some]])
    held, number = np.unique(keys, axis=1, return_inverse=True)
    return Presence(some, number.ravel(), held[0], held[2])
