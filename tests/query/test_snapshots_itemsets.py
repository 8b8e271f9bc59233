"""Itemsets: every query, and what DuckDB answers."""

from snapshots import TABLES, Snapshot
from sqlglot import exp

from sqlanon.query import itemsets
from sqlanon.query.itemsets import Depth, Step
from sqlanon.query.syntax import table

# Two attributes: bits 1 and 2 tell values 1 and 2 from others below a top; the third bit the only
# frequent value of the second.
TABLES += """
CREATE TABLE item_values (
    attribute BIGINT, word_0 BIGINT, word_1 BIGINT, every_0 BIGINT, some_0 BIGINT
);
INSERT INTO item_values VALUES
    (0, 1, 0, 1, 1), (0, 2, 0, 2, 2), (1, 0, 0, 0, 4), (1, 4, 1, 4, 4);

CREATE TABLE prefixes (code_0 BIGINT, every_0 BIGINT, some_0 BIGINT, support BIGINT);
INSERT INTO prefixes VALUES (0, 0, 7, 6);

CREATE TABLE members (code_0 BIGINT, every_0 BIGINT, some_0 BIGINT, size BIGINT);
INSERT INTO members VALUES (5, 5, 5, 2), (1, 1, 5, 1), (6, 6, 6, 3);

CREATE TABLE itemsets (code_0 BIGINT, every_0 BIGINT, some_0 BIGINT, support BIGINT);
INSERT INTO itemsets VALUES (0, 0, 7, 6), (1, 0, 6, 3), (2, 4, 6, 3);

CREATE TABLE extended_members (code_0 BIGINT, every_0 BIGINT, some_0 BIGINT, size BIGINT);
INSERT INTO extended_members VALUES
    (5, 4, 6, 2), (1, 0, 6, 1), (6, 4, 6, 3), (4, 4, 7, 5), (0, 1, 5, 1);

CREATE TABLE labels (attribute BIGINT, code_0 BIGINT, label VARCHAR);
INSERT INTO labels VALUES (0, 0, '*'), (0, 1, 'a'), (0, 2, NULL), (1, 0, 'any');

CREATE TABLE costs (attribute BIGINT, code_0 BIGINT, code_1 BIGINT, cost BIGINT);
INSERT INTO costs VALUES (0, 1, 0, 1), (0, 2, 0, 2), (0, 3, 0, 9), (1, 0, 1, 5), (1, 0, 2, 4);

CREATE TABLE wide (code_0 BIGINT, code_1 BIGINT, support BIGINT);
INSERT INTO wide VALUES (1, 2, 5), (2, 1, 7), (3, 1, 6);
"""
CODES, VALUES = table("codes"), table("item_values")
PREFIXES, MEMBERS = table("prefixes"), table("members")
COSTS = table("costs")
ITEMSETS, EXTENDED, WIDE = table("itemsets"), table("extended_members"), table("wide")
TOP = Depth(above=(0,), path=(0,), below=(3,))
DEEPEST = Depth(above=(3,), path=(3,), below=(0,))
FIRST = Step(
    attribute=0, k=2, depths=(TOP, DEEPEST), bits=(3,), before=(0,), rest=(4,), closed=((1,), (2,))
)
LAST = Step(
    attribute=1,
    k=2,
    depths=(Depth(above=(4,), path=(4,), below=(0,)),),
    bits=(4,),
    before=(3,),
    rest=(0,),
    closed=((1,), (6,)),
)
FREQUENT = Step(
    attribute=0, k=4, depths=(TOP, DEEPEST), bits=(3,), before=(0,), rest=(4,), closed=None
)


SNAPSHOTS = [
    Snapshot(
        "compacted",
        itemsets.compacted(CODES, VALUES, masks={0: (3, 0), 1: (4, 1)}, words=1),
        [(1, 1, 5, 1), (5, 5, 5, 2), (6, 6, 6, 1), (2, 2, 6, 4)],
    ),
    Snapshot(
        "compacted where no attribute tells itemsets apart",
        itemsets.compacted(CODES, VALUES, masks={}, words=1),
        [(0, 0, 0, 8)],
    ),
    Snapshot("whole", itemsets.whole(MEMBERS, 5, words=1), [(0, 0, 7, 6)]),
    Snapshot("whole table of less than k records", itemsets.whole(MEMBERS, 7, words=1), []),
    Snapshot(
        "extended",
        itemsets.extended(PREFIXES, MEMBERS, step=FIRST),
        [(0, 0, 7, 6), (1, 0, 6, 3), (2, 4, 6, 3)],
    ),
    Snapshot(
        "extended by the last attribute, which has no top",
        itemsets.extended(ITEMSETS, EXTENDED, step=LAST),
        [(5, 0, 6, 2), (6, 0, 6, 3), (4, 0, 7, 5)],
    ),
    Snapshot(
        "extended whether closed or not",
        itemsets.extended(PREFIXES, MEMBERS, step=FREQUENT),
        [(0, 0, 7, 6)],
    ),
    Snapshot(
        "extended_members",
        itemsets.extended_members(ITEMSETS, MEMBERS, step=FIRST),
        [(5, 4, 6, 2), (1, 0, 6, 1), (6, 4, 6, 3), (4, 4, 7, 5), (0, 1, 5, 1)],
    ),
    Snapshot(
        "finished", itemsets.finished(exp.select("*").from_(ITEMSETS), 1), [(0, 6), (1, 3), (2, 3)]
    ),
    Snapshot("ordered", itemsets.ordered(WIDE, 2), [(2, 1, 7), (3, 1, 6), (1, 2, 5)], ordered=True),
    Snapshot(
        "cheaper",
        itemsets.cheaper(WIDE, COSTS, columns={0: (3, 0), 1: (0, 3)}, spare=1, below=7),
        [(1, 2, 5, 6)],
    ),
    Snapshot(
        "cheaper than nothing known",
        itemsets.cheaper(WIDE, COSTS, columns={1: (0, 3)}, spare=0, below=None),
        [(1, 2, 5, 4), (2, 1, 7, 5), (3, 1, 6, 5)],
    ),
    Snapshot("cost_beyond", itemsets.cost_beyond(COSTS, 2), [(4,)]),
    Snapshot("below", itemsets.below(COSTS, 2), [(0, 1, 0, 1)]),
    Snapshot(
        "labelled",
        itemsets.labelled(ITEMSETS, table("labels"), columns={"age": (3,), "sex": (4,)}),
        [("*", "any", 6), ("a", "any", 3), (None, "any", 3)],
        ordered=True,
    ),
]
