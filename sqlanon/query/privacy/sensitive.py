"""Sensitive attributes: how the values of each class are spread, and how far from the table's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.query.privacy.figures import Needed, Reference
from sqlanon.sqltext import Fragment, Sql, names, render

_BIGINT = 1 << 62
_NO_REFERENCE = Reference(0, 0, 0)


def class_figures(
    source: Fragment,
    keys: Sequence[str],
    *,
    needed: Needed,
    reference: Reference | None = None,
    grouped: bool = False,
) -> Sql:
    """Figures of one attribute's values in every class: one row per class.

    Rows of the keys, CLASS_SIZE (records, NULLs of the attribute included), COUNTED (n),
    DISTINCT_VALUES, LARGEST (r_1), and as needed ENTROPY [nats], `tail(l)` (n without the l - 1
    largest counts), `distance(name)`, EXCEEDING and FAVOURED. A class without any value that counts
    has zeros.

    Args:
        source: Rows of the keys, VALUE and SIZE [records].
        keys: Columns that tell classes apart, at least one.
        needed: Which figures are.
        reference: The distribution over the table that is looked at; only distances need it.
        grouped: Whether the source has one row per class and value.
    """
    whole = reference or _NO_REFERENCE
    records, values = whole.records, whole.values
    fits = isinstance(records, int) and isinstance(values, int) and values * records**2 < _BIGINT
    return render(
        "privacy/class_figures",
        source=source,
        keys=names(keys),
        needed=needed,
        grouped=grouped,
        reference=whole.table,
        records=records,
        all_values=values,
        levels=whole.levels,
        height=max(whole.height, 1),
        is_wide=not fits,
    )
