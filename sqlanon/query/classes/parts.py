"""Parts: a table of combinations that is cut into parts, how it is counted, and how it is cut.

Its rows have the words of a packed code, what models look at beside it, SIZE, the UNIT that numbers
combinations in the order of their values, and the PART.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.encode import set_words, word_names
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

UNIT, PART, GROUP, ROWS = "unit", "part", "new_part", "rows"


def placed_leaves(
    leaves: Fragment, places: exp.Table, *, words: Sequence[str], key: str, factor: int
) -> Sql:
    """A leaf map with the place of each value of the column in another word of its code.

    Args:
        leaves: Rows of VALUE and words.
        places: Rows of VALUE and PLACE.
        words: The words that it has.
        key: The name of the other word.
        factor: What a place counts in it.
    """
    return render(
        "classes/placed_leaves",
        leaves=leaves,
        places=places,
        words=names(words),
        key=name(key),
        factor=factor,
    )


def parted(
    coded: exp.Table,
    words: int,
    *,
    keys: Sequence[str],
    carried: Sequence[str],
    bits: Sequence[int],
) -> Sql:
    """The table of combinations, parted by some bits of their codes; parts are numbered from 0.

    Args:
        coded: Words, keys, what is carried, and SIZE.
        words: The words of a code.
        keys: The columns that tell the places of values.
        carried: What models look at.
        bits: Per word the bits that tell parts apart.
    """
    return render(
        "classes/parted",
        coded=coded,
        words=names(word_names(words)),
        keys=names(keys),
        carried=names(carried),
        bits=set_words(bits),
    )


def part_sizes(state: exp.Table) -> Sql:
    """PART, ROWS and SIZE of every part, in the order of parts."""
    return expression(
        'SELECT part, CAST(COUNT(*) AS BIGINT) AS "rows", {{ total("size") }} AS size'
        " FROM {{ state }} GROUP BY part ORDER BY part",
        state=state,
    )


def marginal(
    state: exp.Table,
    bits: Sequence[int],
    *,
    carried: Sequence[str],
    parts: Sequence[int] | None = None,
) -> Sql:
    """Records of parts by one column's code and what is carried, in the order of parts.

    Args:
        state: The table of combinations.
        bits: Per word the bits of the column.
        carried: What models look at.
        parts: The parts to count; without them all.
    """
    return render(
        "classes/marginal", state=state, bits=set_words(bits), carried=names(carried), parts=parts
    )


def rows_of(state: exp.Table, parts: Sequence[int], *, carried: Sequence[str]) -> Sql:
    """The rows of some parts, in the order of units and of what is carried, which no two share."""
    query = "SELECT * FROM {{ state }} WHERE part IN ({{ parts }}) ORDER BY {{ keys }}"
    return expression(query, state=state, parts=listed(parts), keys=listed(names([UNIT, *carried])))


def cut(
    state: exp.Table, marks: exp.Table, cuts: exp.Table, *, words: int, carried: Sequence[str]
) -> Sql:
    """The table of combinations with the parts that were cut named anew.

    Args:
        state: The table of combinations.
        marks: Per part that is cut its bits of each word, `mask`.
        cuts: Per part and code of the bits the GROUP that it goes to.
        words: The words of a code.
        carried: What models look at.
    """
    return render(
        "classes/cut", state=state, marks=marks, cuts=cuts, words=words, carried=names(carried)
    )


def without(state: exp.Table, gone: exp.Table) -> Sql:
    """The table of combinations without the parts that another lists."""
    return expression(
        "SELECT * FROM {{ state }} AS state"
        " WHERE NOT EXISTS (SELECT 1 FROM {{ gone }} AS gone WHERE gone.part = state.part)",
        state=state,
        gone=gone,
    )


def combinations(coded: exp.Table, keys: Sequence[str]) -> Sql:
    """How many combinations there are, by the columns that tell them apart."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT)"
        " FROM (SELECT DISTINCT {{ keys }} FROM {{ coded }}) AS held",
        keys=listed(names(keys)),
        coded=coded,
    )
