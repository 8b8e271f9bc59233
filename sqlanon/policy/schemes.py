"""Schemes: which values of a column a global recoding may merge, as a caller asks for them.

One scheme for all columns, others for single ones:

>>> choice = SchemeChoice.of({"": "sps", "age": "ops"})
>>> choice.common, choice.of_columns(["age", "race"])
('sps', {'age': 'ops'})
>>> SchemeChoice.of(["sps", "age=ops"]) == choice
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlanon.errors import PolicyError
from sqlanon.policy.roles import all_of
from sqlanon.wording import did_you_mean

SCHEMES: Mapping[str, str] = {
    "bhs": "all values at one level of the hierarchy",
    "ghs": "nodes of the hierarchy",
    "ops": "values that follow each other in an order",
    "sps": "any values",
    "gsps": "children of one node of the hierarchy",
    "gops": "children of one node that follow each other in an order",
}
"""The schemes by name, and what a group of merged values is in each."""
GUIDED = frozenset({"bhs", "ghs", "gsps", "gops"})
"""Schemes that follow a hierarchy."""
ORDERED = frozenset({"ops", "gops"})
"""Schemes that follow an order of the values."""
IN_ORDER: Mapping[str, str] = {"sps": "ops", "gsps": "gops"}
"""Per scheme of any values the one for columns with an order, where it is asked for all."""
DEFAULT = "gsps"

Schemes = str | Mapping[str, str] | Sequence[str]


@dataclass(frozen=True, slots=True)
class SchemeChoice:
    """The schemes that are asked for.

    Args:
        common: The scheme of every column that has none of its own.
        by_column: Columns and their schemes, in the order given; as words, `age=ops`.

    Raises:
        PolicyError: A scheme that is not known, or a column that has two.
    """

    common: str = DEFAULT
    by_column: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        for name in (self.common, *(scheme for _, scheme in self.by_column)):
            if name not in SCHEMES:
                known, meant = ", ".join(SCHEMES), did_you_mean(str(name), SCHEMES)
                raise PolicyError(f"scheme {name!r} is not known; choose one of {known}{meant}")
        columns = [column for column, _ in self.by_column]
        twice = sorted({name for name in columns if columns.count(name) > 1})
        if twice:
            raise PolicyError(
                f"scheme is given twice for {', '.join(map(repr, twice))}; keep one each"
            )

    @classmethod
    def of(cls, given: Schemes | None) -> SchemeChoice:
        """Reads one scheme, a mapping of columns (with "" for all others), or words of both.

        Raises:
            PolicyError: It is something else.
        """
        if given is None:
            return cls()
        if isinstance(given, str):
            return cls(given)
        if isinstance(given, Mapping) and all_of([*given, *given.values()], str):
            pairs = [(column, scheme) for column, scheme in given.items() if column]
            return cls(given.get("", DEFAULT), tuple(pairs))
        if isinstance(given, Sequence) and all_of(given, str):
            common = [text for text in given if "=" not in text]
            if len(common) > 1:
                raise PolicyError(
                    f"{len(common)} schemes are given for all columns; keep one of them, and name "
                    "the column of any other, such as age=ops"
                )
            parted = [text.rpartition("=") for text in given if "=" in text]
            return cls(
                (common or [DEFAULT])[0], tuple((name, scheme) for name, _, scheme in parted)
            )
        raise PolicyError(
            "scheme must be the name of one, or a mapping of columns to names, with '' for all "
            "other columns"
        )

    def of_columns(self, columns: Sequence[str]) -> dict[str, str]:
        """The schemes asked for single columns of a table.

        Raises:
            PolicyError: A column that is not a quasi-identifier.
        """
        for name, _ in self.by_column:
            if name not in columns:
                raise PolicyError(
                    f"scheme: {name!r} is not a quasi-identifier{did_you_mean(name, columns)}"
                )
        return dict(self.by_column)
