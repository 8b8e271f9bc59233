"""Parts: a table of combinations that is cut into parts, how it is counted, and how it is cut.

Its rows have the words of a packed code, what models look at beside it, SIZE, the UNIT that numbers
combinations in the order of their values, and the PART.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import minus, number, over, times
from sqlanon.query.classes.frequency import mask
from sqlanon.query.encoding.encode import SIZE, VALUE, same_value, word, words_of
from sqlanon.query.publish.regions import PLACE
from sqlanon.query.syntax import (
    alias,
    bigint,
    column,
    count_all,
    masked,
    named,
    nested,
    select,
    star,
    total,
)
from sqlanon.sqlglot_version import EXCEPT

UNIT, PART, GROUP, ROWS = "unit", "part", "new_part", "rows"
_STATE, _MARKS, _CUTS = "state", "marks", "cuts"


def placed_leaves(
    leaves: exp.Subquery, places: exp.Table, *, words: Sequence[str], key: str, factor: int
) -> exp.Select:
    """A leaf map with the place of each value of the column in another word of its code.

    Args:
        leaves: Rows of VALUE and words, under its alias.
        places: Rows of VALUE and PLACE.
        words: The words that it has.
        key: The name of the other word.
        factor: What a place counts in it.
    """
    value, own = column(VALUE, "held"), leaves.alias
    place = times(column(PLACE, "held"), number(factor))
    figures = [value, *(column(name, own) for name in words), alias(bigint(place), key)]
    query = select(figures, named(places, "held"))
    same = same_value(value, column(VALUE, own), nullable=True)
    return query.join(leaves, on=same, join_type="left", copy=False)


def parted(
    coded: exp.Table,
    words: int,
    *,
    keys: Sequence[str],
    carried: Sequence[str],
    bits: Sequence[int],
) -> exp.Select:
    """The table of combinations, parted by some bits of their codes; parts are numbered from 0.

    Args:
        coded: Words, keys, what is carried, and SIZE.
        words: The words of a code.
        keys: The columns that tell the places of values.
        carried: What models look at.
        bits: Per word the bits that tell parts apart.
    """
    order = [exp.Ordered(this=column(name)) for name in keys]
    by = [exp.Ordered(this=masked(word(w), own)) for w, own in enumerate(bits) if own]
    part = minus(over(exp.DenseRank(), order=by), number(1)) if by else number(0)
    figures = [
        *words_of(words),
        *map(column, carried),
        column(SIZE),
        alias(bigint(minus(over(exp.DenseRank(), order=order), number(1))), UNIT),
        alias(bigint(part), PART),
    ]
    return select(figures, coded)


def part_sizes(state: exp.Table) -> exp.Select:
    """PART, ROWS and SIZE of every part, in the order of parts."""
    figures = [column(PART), alias(bigint(count_all()), ROWS), alias(total(column(SIZE)), SIZE)]
    query = select(figures, state, by=[column(PART)])
    return query.order_by(exp.Ordered(this=column(PART)), copy=False)


def marginal(
    state: exp.Table,
    bits: Sequence[int],
    *,
    carried: Sequence[str],
    parts: Sequence[int] | None = None,
) -> exp.Select:
    """Records of parts by one column's code and what is carried, in the order of parts.

    Args:
        state: The table of combinations.
        bits: Per word the bits of the column.
        carried: What models look at.
        parts: The parts to count; without them all.
    """
    codes = [masked(word(w), own) for w, own in enumerate(bits) if own]
    names = [word(w) for w, own in enumerate(bits) if own]
    by = [column(PART), *codes, *map(column, carried)]
    figures = [
        column(PART),
        *(alias(code, name) for code, name in zip(codes, names, strict=True)),
        *map(column, carried),
        alias(total(column(SIZE)), SIZE),
    ]
    query = select(figures, state, by=by)
    if parts is not None:
        query.where(_among(parts), copy=False)
    return query.order_by(exp.Ordered(this=column(PART)), copy=False)


def _among(parts: Sequence[int]) -> exp.Expr:
    return exp.In(this=column(PART), expressions=[number(part) for part in parts])


def rows_of(state: exp.Table, parts: Sequence[int]) -> exp.Select:
    """The rows of some parts, in the order of units."""
    query = select([star()], state).where(_among(parts), copy=False)
    return query.order_by(exp.Ordered(this=column(UNIT)), copy=False)


def cut(state: exp.Table, marks: exp.Table, cuts: exp.Table, *, words: int) -> exp.Select:
    """The table of combinations with the parts that were cut named anew.

    Args:
        state: The table of combinations.
        marks: Per part that is cut its bits of each word, `mask`.
        cuts: Per part and code of the bits the GROUP that it goes to.
        words: The words of a code.
    """
    same = [exp.EQ(this=column(PART, _STATE), expression=column(PART, _CUTS))]
    same += [
        exp.EQ(
            this=column(word(w), _CUTS),
            expression=exp.Paren(
                this=exp.BitwiseAnd(
                    this=column(word(w), _STATE), expression=column(mask(w), _MARKS)
                )
            ),
        )
        for w in range(words)
    ]
    kept = exp.Star(**{EXCEPT: [exp.to_identifier(PART, quoted=True)]})
    every = exp.Column(this=kept, table=exp.to_identifier(_STATE, quoted=True))
    new = exp.Coalesce(this=column(GROUP, _CUTS), expressions=[column(PART, _STATE)])
    query = select([every, alias(new, PART)], named(state, _STATE))
    of_part = exp.EQ(this=column(PART, _STATE), expression=column(PART, _MARKS))
    query.join(named(marks, _MARKS), on=of_part, join_type="left", copy=False)
    return query.join(named(cuts, _CUTS), on=exp.and_(*same), join_type="left", copy=False)


def without(state: exp.Table, gone: exp.Table) -> exp.Select:
    """The table of combinations without the parts that another lists."""
    listed = select([number(1)], named(gone, "gone"))
    same = exp.EQ(this=column(PART, "gone"), expression=column(PART, _STATE))
    kept = exp.Not(this=exp.Exists(this=listed.where(same, copy=False)))
    return select([star()], named(state, _STATE)).where(kept, copy=False)


def combinations(coded: exp.Table, keys: Sequence[str]) -> exp.Select:
    """How many combinations there are, by the columns that tell them apart."""
    distinct = select(map(column, keys), coded).distinct(copy=False)
    return select([bigint(count_all())], nested(distinct, "held"))
