"""Attacks: queries of what somebody finds in a release who knows original values.

`classes` is a table of `placed_classes`, and `own` the name of a prefix of its columns; `pairs` has
rows of words and node, as `reached` makes them, and `matching` is a table of that query. `targets`
has rows of words, WHICH (0 for a record of the original, 1 for one of the control) and SIZE, and
where values are guessed VALUE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.assess.release import label
from sqlanon.query.classes.frequency import Masks
from sqlanon.query.encoding.encode import word
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

PLACE, WHICH = "place", "sqlanon_which"
START = "node_0"
"""The prefix of no column."""


def placed_classes(
    classes: exp.Table, read: exp.Table, *, columns: int, prefixes: Mapping[str, Sequence[int]]
) -> Sql:
    """The classes of a release by the places of their labels; `read` gives a label its place.

    Args:
        classes: As of `release.table_classes`.
        read: Rows of ATTRIBUTE, LABEL and PLACE.
        columns: How many there are.
        prefixes: What prefixes are called, and the numbers of their columns.
    """
    return render(
        "attack/placed_classes",
        classes=classes,
        read=read,
        columns=range(columns),
        prefixes=[(name(own), names(map(_place, numbers))) for own, numbers in prefixes.items()],
    )


def _place(number: int) -> str:
    return f"{PLACE}_{number}"


def beginnings(encoded: exp.Table, masks: Masks) -> Sql:
    """The distinct combinations of some columns, by their bits: pairs of the empty prefix."""
    return expression(
        "SELECT DISTINCT {% for word, bits in words %}{{ word }} & {{ bits }} AS {{ word }},"
        " {% endfor %}CAST(0 AS BIGINT) AS node FROM {{ encoded }}",
        words=list(zip(_words(len(masks)), masks, strict=True)),
        encoded=encoded,
    )


def reached(
    pairs: exp.Table,
    covers: exp.Table,
    *,
    classes: exp.Table,
    columns: Mapping[int, Masks],
    parent: str,
    own: str,
) -> Sql:
    """The prefixes that combinations reach by some columns more; `covers` are the leaves' places.

    Args:
        pairs: What they reach already, by the prefix `parent`.
        covers: Rows of ATTRIBUTE, the words of a leaf, and PLACE.
        classes: The classes.
        columns: Numbers of these columns, and their bits of each word.
        parent: The prefix before.
        own: The prefix with these columns.
    """
    return render(
        "attack/reached",
        pairs=pairs,
        words=_words(len(next(iter(columns.values())))),
        covers=covers,
        classes=classes,
        columns=list(columns.items()),
        parent=0 if parent == START else name(parent),
        own=name(own),
    )


def matching(pairs: exp.Table, classes: exp.Table, *, words: int, own: str, is_led: bool) -> Sql:
    """Released records that match each combination, by its words; with its `lead` if asked for."""
    return render(
        "attack/matching",
        pairs=pairs,
        words=_words(words),
        classes=classes,
        own=name(own),
        is_led=is_led,
    )


def figures(
    targets: Fragment,
    *,
    words: int,
    whole: exp.Table,
    halves: tuple[exp.Table, exp.Table] | None,
    masks: Masks,
) -> Sql:
    """Records of the original and of the control, singled out ones, and chances of links.

    Args:
        targets: The records.
        words: Number of words.
        whole: The `matching` of all columns.
        halves: That of the first half, by all words, and of the other one; None for one column.
        masks: The bits of the other half.
    """
    one, other = (None, None) if halves is None else halves
    return render(
        "attack/figures",
        targets=targets,
        words=_words(words),
        whole=whole,
        one_half=one,
        other_half=other,
        masks=masks,
    )


def of_original(rows: exp.Table) -> Sql:
    """Rows of words, SIZE and any VALUE as targets, where there is no control."""
    return expression(
        "SELECT rows.*, 0 AS {{ which }} FROM {{ rows }} AS rows", which=name(WHICH), rows=rows
    )


def class_values(values: Fragment, classes: exp.Table, *, columns: int, own: str) -> Sql:
    """Records per class (`node`) and VALUE; `values` has rows of labels, VALUE and SIZE."""
    return render(
        "attack/class_values",
        values=values,
        classes=classes,
        labels=names(map(label, range(columns))),
        own=name(own),
    )


def led(pairs: exp.Table, matching: exp.Table, *, words: int) -> Sql:
    """The classes (`node`) of each `lead`."""
    return render("attack/led", pairs=pairs, matching=matching, words=_words(words))


def led_values(led: exp.Table, values: exp.Table) -> Sql:
    """How many rows of values all leads lead to."""
    return expression(
        "SELECT {{ total('sizes.held') }} FROM {{ led }} AS led JOIN ("
        "SELECT node, CAST(COUNT(*) AS BIGINT) AS held FROM {{ values }} AS held GROUP BY node"
        ") AS sizes ON sizes.node = led.node",
        led=led,
        values=values,
    )


def guesses(values: exp.Table, led: exp.Table | None = None) -> Sql:
    """The most frequent values that a `lead` leads to, or of all records, and how many they are."""
    return render("attack/guesses", led=led, values=values)


def inferred(
    targets: Fragment, *, words: int, matching: exp.Table, guesses: exp.Table, plain: exp.Table
) -> Sql:
    """Records of the original and the control, and chances that their values are guessed."""
    return render(
        "attack/inferred",
        targets=targets,
        words=_words(words),
        matching=matching,
        guesses=guesses,
        plain=plain,
    )


def both(original: exp.Table, control: exp.Table, *, columns: Sequence[str]) -> Sql:
    """The records of the original and of the control, with WHICH they are of."""
    return expression(
        "SELECT {{ columns }}, 0 AS {{ which }} FROM {{ original }}"
        " UNION ALL SELECT {{ columns }}, 1 AS {{ which }} FROM {{ control }}",
        columns=listed(names(columns)),
        which=name(WHICH),
        original=original,
        control=control,
    )


def _words(words: int) -> list[Sql]:
    return names(map(word, range(words)))
