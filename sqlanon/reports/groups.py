"""Groups of values, as reports of a global recoding show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.wording import counted, figure, in_columns, padded, width_of


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A group of a column's values, or all groups that no published record is in.

    Args:
        label: What it is published as, where that may be shown; None also for NULL.
        values: How many values it has.
        records: How many published records are in it [records].
        is_shown: Whether the label may be shown.
    """

    label: str | None
    values: int
    records: int
    is_shown: bool = False

    @classmethod
    def told(cls, groups: Iterable[GroupFigures]) -> tuple[GroupFigures, ...]:
        """The groups as a report tells them: without names the larger first, in no order else.

        The order of groups without names would tell which of the values they are. Groups without a
        published record are told as one, the last: each for itself would tell the values of
        suppressed records.
        """
        every = list(groups)
        found = [group for group in every if group.records]
        is_shown = any(group.label is not None for group in found)
        if not all(group.is_shown for group in every):
            bare = [cls(None, group.values, group.records) for group in found]
            found = sorted(bare, key=lambda group: (-group.values, -group.records))
            is_shown = False
        left = sum(group.values for group in every if not group.records)
        return (*found, cls(None, left, 0, is_shown)) if left else tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The group in a document."""
        return {"label": self.label, "values": self.values, "records": self.records}


Groups = Mapping[str, Sequence[GroupFigures]]


def groups_document(groups: Groups) -> dict[str, list[dict[str, Any]]] | None:
    """Groups by column, as documents hold them; None where there are none."""
    return {name: [group.to_dict() for group in own] for name, own in groups.items()} or None


def groups_of(document: Mapping[str, Any]) -> dict[str, tuple[GroupFigures, ...]]:
    """Reads what `groups_document` wrote."""
    return {
        name: tuple(
            GroupFigures(
                each["label"], each["values"], each["records"], any(g["label"] for g in own)
            )
            for each in own
        )
        for name, own in document.items()
    }


def group_lines(groups: Groups, schemes: Mapping[str, str]) -> Iterator[str]:
    """A line for each column, and one for each group of several values that may be named."""
    width = max(map(width_of, groups), default=0)
    for name, own in groups.items():
        values = sum(group.values for group in own if group.records)
        others = sum(group.values for group in own if not group.records)
        scheme = f" ({schemes[name]})" if name in schemes else ""
        number = sum(group.records > 0 for group in own)
        parts = f"{counted(number, 'group')} of {counted(values, 'value')}"
        unpublished = f"; {counted(others, 'value')} in no published record" if others else ""
        yield f"    {padded(name, width)}  {parts}{scheme}{unpublished}"
        for group in own:
            if group.is_shown and group.label is not None and group.values > 1:
                yield f"    {'':<{width}}    {group.label}  {counted(group.values, 'value')}"


def step_lines(steps: Sequence[Mapping[str, Any]], loss: str) -> Iterator[str]:
    """What less flexible schemes lose, a line each.

    Args:
        steps: Per step its `schemes` by column, its `loss`, and whether it is `proven` the least.
        loss: Name of the loss.
    """
    rows = []
    for step in steps:
        schemes = dict(step["schemes"])
        every = set(schemes.values())
        listed = ", ".join(f"{name} {scheme}" for name, scheme in schemes.items())
        proven = "proven best" if step["proven"] else "best found"
        rows.append((every.pop() if len(every) == 1 else listed, figure(step["loss"]), proven))
    if rows:
        yield f"  less flexible schemes, {loss}"
        yield from (f"  {line}" for line in in_columns(rows, "<><"))
