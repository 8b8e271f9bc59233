"""Attacks: queries of what somebody finds in a release who knows original values.

`classes` is a table of `placed_classes`; `pairs` has rows of words and node, as `reached` makes
them, and `matching` is a table of that query. `targets` has rows of words, WHICH (0 for a record of
the original, 1 for one of the control) and SIZE, and where values are guessed VALUE.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.assess.release import PLACE, labels
from sqlanon.query.classes.frequency import Masks
from sqlanon.query.encode import word_names
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

WHICH = "sqlanon_which"


def placed_classes(classes: exp.Table, read: exp.Table, *, columns: Sequence[int]) -> Sql:
    """The classes of a release by the places of some labels; `read` gives a label its place.

    Args:
        classes: As of `release.table_classes`.
        read: Rows of ATTRIBUTE, LABEL and PLACE.
        columns: The numbers of these labels.
    """
    places = names(f"{PLACE}_{number}" for number in columns)
    return render(
        "attack/placed_classes",
        classes=classes,
        read=read,
        columns=columns,
        beginnings=[(_node(n), places[:n]) for n in range(1, len(places) + 1)],
    )


def combinations(encoded: exp.Table, masks: Masks) -> Sql:
    """The distinct combinations of some columns, by their bits: pairs with no label yet."""
    return expression(
        "SELECT DISTINCT {% for word, bits in words %}{{ word }} & {{ bits }} AS {{ word }},"
        " {% endfor %}CAST(1 AS BIGINT) AS node FROM {{ encoded }}",
        words=list(zip(_words(len(masks)), masks, strict=True)),
        encoded=encoded,
    )


def reached(
    pairs: exp.Table,
    covers: exp.Table,
    *,
    classes: exp.Table,
    column: int,
    masks: Masks,
    step: int,
) -> Sql:
    """What combinations reach by one label more; `covers` are the leaves' places.

    Args:
        pairs: What they reach by `step` labels.
        covers: Rows of ATTRIBUTE, the words of a leaf, and PLACE.
        classes: The classes.
        column: The number of the label.
        masks: The bits of its column.
        step: How many labels come before it.
    """
    return render(
        "attack/reached",
        pairs=pairs,
        words=_words(len(masks)),
        covers=covers,
        classes=classes,
        column=column,
        masks=masks,
        before=_node(step),
        after=_node(step + 1),
    )


def matching(pairs: exp.Table, classes: exp.Table, *, columns: int, words: int) -> Sql:
    """Released records that match each combination by so many labels, and their `evidence`."""
    return render(
        "attack/matching", pairs=pairs, words=_words(words), classes=classes, node=_node(columns)
    )


def figures(
    targets: Fragment, *, whole: exp.Table, halves: Sequence[tuple[exp.Table, Masks]]
) -> Sql:
    """Records of the original and of the control, singled out ones, and chances of links.

    Args:
        targets: The records.
        whole: The `matching` of all columns.
        halves: That of each half, and the bits of its columns.
    """
    (one_half, one_masks), (other_half, other_masks) = halves
    return render(
        "attack/figures",
        targets=targets,
        words=_words(len(one_masks)),
        whole=whole,
        one_half=one_half,
        one_masks=one_masks,
        other_half=other_half,
        other_masks=other_masks,
    )


def of_original(rows: exp.Table) -> Sql:
    """Rows of words, SIZE and any VALUE as targets, where there is no control."""
    return expression(
        "SELECT rows.*, 0 AS {{ which }} FROM {{ rows }} AS rows", which=name(WHICH), rows=rows
    )


def class_values(values: Fragment, classes: exp.Table, *, columns: int) -> Sql:
    """Records per class (`node`) and VALUE; `values` has rows of labels, VALUE and SIZE."""
    return render(
        "attack/class_values",
        values=values,
        classes=classes,
        labels=names(labels(columns)),
        node=_node(columns),
    )


def evidence(
    pairs: exp.Table, matching: exp.Table, classes: exp.Table, *, columns: int, words: int
) -> Sql:
    """The classes (`node`) of each `evidence`, and all of them as evidence 0."""
    return render(
        "attack/evidence",
        pairs=pairs,
        matching=matching,
        words=_words(words),
        classes=classes,
        node=_node(columns),
    )


def guessed_values(evidence: exp.Table, values: exp.Table) -> Sql:
    """How many rows of values the classes of all evidence have."""
    return render("assess/guessed_values", evidence=evidence, counts=values)


def guesses(values: exp.Table, evidence: exp.Table) -> Sql:
    """The most frequent values of the classes of each `evidence`, and how many they are."""
    return render("attack/guesses", evidence=evidence, values=values)


def inferred(targets: Fragment, *, words: int, matching: exp.Table, guesses: exp.Table) -> Sql:
    """Records of the original and the control, and chances that their values are guessed."""
    return render(
        "attack/inferred",
        targets=targets,
        words=_words(words),
        matching=matching,
        guesses=guesses,
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


def in_both(both: Sql, *, columns: Sequence[str]) -> Sql:
    """Records of the control that are the original's in all columns, and all of the control.

    `both` is the query of that name; equal records of the original count once for each.
    """
    return render("assess/in_both", columns=names(columns), both=both)


def _words(words: int) -> list[Sql]:
    return names(word_names(words))


def _node(labels: int) -> Sql:
    """What the beginning of a class by so many labels is called."""
    return name(f"node_{labels}")
