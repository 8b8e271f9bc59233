"""Mining: frequent generalized itemsets against brute force, an itemset miner, published counts."""

import random
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, product

import fim
import numpy as np
import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import hierarchies, records_of

from sqlanon import Hierarchy, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import PolicyError
from sqlanon.methods.itemsets import KINDS, MiningRequest, mined, taxonomy_of
from sqlanon.microdata.binding import Subject, bind
from sqlanon.microdata.encoding import Encoded, encode_subject
from sqlanon.progress import following
from sqlanon.search.clustering.taxonomy import Taxonomy

BRANCHY = [("a", "a", "x", "*"), ("b", "bc", "x", "*"), ("c", "bc", "x", "*"), ("d", "d", "d", "*")]
FLAT = [("f", "*"), ("m", "*")]


@dataclass
class Case:
    """A table, encoded, and where it is."""

    engine: DuckDB
    subject: Subject
    encoded: Encoded

    def mined(self, k, kind="closed", levels=None):
        low, high = levels or (self.subject.low, self.subject.high)
        wanted = MiningRequest(k, kind, low, high)
        return mined(self.engine, self.encoded, trees=self.subject.trees, wanted=wanted)


@contextmanager
def case(records, hierarchies, threads=2):
    """Records as a table in the database; hierarchies as rows."""
    names = [f"a{number}" for number in range(len(hierarchies))]
    policy = Policy(dict(zip(names, map(Hierarchy.from_rows, hierarchies), strict=True)))
    with empty_database(threads) as connection:
        connection.execute(f"CREATE TABLE records ({', '.join(f'{n} VARCHAR' for n in names)})")
        insert(connection, "records", records)
        engine = DuckDB(connection)
        subject = bind(engine, engine.tables.resolve("records"), policy=policy)
        yield Case(engine, subject, encode_subject(engine, subject, policy))


def itemsets(records, hierarchies, k, kind="closed", levels=None):
    """What is mined: supports by itemset, an itemset a tuple of sets of values."""
    with case(records, hierarchies) as opened:
        made = opened.mined(k, kind, levels)
        found = made.fetch(opened.engine)
    assert made.count == len(found.supports)
    assert made.memberships == found.supports.sum()
    columns = [
        list(map(values_below(tree).__getitem__, numbers.tolist()))
        for tree, numbers in zip(opened.subject.trees, found.nodes, strict=True)
    ]
    rows = list(zip(*columns, strict=True))
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, found.supports.tolist(), strict=True))


def values_below(tree):
    """The values under each node, by its number in the taxonomy."""
    costs = [[0] * len(tree.sizes(level)) for level in range(tree.height + 1)]
    taxonomy = Taxonomy.of(tree, costs)
    runs = zip(taxonomy.low.tolist(), taxonomy.high.tolist(), strict=True)
    return [frozenset(tree.leaves[low : high + 1]) for low, high in runs]


def nodes_of(rows, levels=None):
    """The distinct nodes of a hierarchy within some levels, as sets of values."""
    low, high = levels or (0, len(rows[0]) - 1)
    found = set()
    for level in range(low, high + 1):
        for label in {row[level] for row in rows}:
            found.add(frozenset(row[0] for row in rows if row[level] == label))
    return found


def by_brute_force(records, hierarchies, k, kind="closed", levels=None):
    """Every combination of nodes, counted; closed where no node could be lower."""
    bounds = [None] * len(hierarchies) if levels is None else list(zip(*levels, strict=True))
    nodes = [nodes_of(rows, own) for rows, own in zip(hierarchies, bounds, strict=True)]
    found = {}
    for chosen in product(*nodes):
        support = [r for r in records if all(v in n for v, n in zip(r, chosen, strict=True))]
        closure = tuple(
            min((n for n in own if values <= n), key=len)
            for own, values in zip(nodes, map(set, zip(*support, strict=True)), strict=True)
        ) if support else None  # fmt: skip
        if len(support) >= k and (kind == "frequent" or chosen == closure):
            found[chosen] = len(support)
    return found


@st.composite
def tables(draw):
    """Records, hierarchies and k."""
    trees = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    return draw(records_of(trees)), trees, draw(st.integers(1, 5))


@settings(max_examples=28)
@given(tables(), st.data())
def test_itemsets_within_levels_are_those_of_brute_force(given_table, data):
    records, trees, k = given_table
    low, high = [0] * len(trees), [len(rows[0]) - 1 for rows in trees]
    if data.draw(st.booleans()):
        low = [data.draw(st.integers(0, top)) for top in high]
        high = [data.draw(st.integers(*own)) for own in zip(low, high, strict=True)]
    kind = data.draw(st.sampled_from(KINDS))
    found = itemsets(records, trees, k, kind, (low, high))
    assert found == by_brute_force(records, trees, k, kind, (low, high))


@settings(max_examples=28)
@given(tables(), st.integers(1, 8), st.data())
def test_the_cheapest_itemsets_are_all_that_cost_less_than_told(given_table, most, data):
    records, trees, k = given_table
    with case(records, trees) as opened:
        taxonomies = [taxonomy_of(tree) for tree in opened.subject.trees]
        costs = [
            (own.high - own.low) * data.draw(st.integers(0, 3)) + data.draw(st.integers(0, 2))
            for own in taxonomies
        ]
        low, high = opened.subject.low, opened.subject.high
        wanted = MiningRequest(k, "closed", low, high, most=most, costs=costs)
        made = mined(opened.engine, opened.encoded, trees=opened.subject.trees, wanted=wanted)
        found, every = made.fetch(opened.engine), opened.mined(k).fetch(opened.engine)
    rows, whole = (list(zip(*own.nodes, own.supports, strict=True)) for own in (found, every))
    paid = [sum(own[n] for own, n in zip(costs, row[:-1], strict=True)) for row in whole]
    assert (made.below is None) == (len(whole) <= most)
    least = np.inf if made.below is None else made.below
    assert rows == [row for row, cost in zip(whole, paid, strict=True) if cost < least]
    assert made.count == len(rows) <= most


def shuffled_table(seed, attributes=5, records=150):
    """Many records with few values, and random unbalanced trees of up to nine leaves."""
    chance = random.Random(seed)
    trees = []
    for _ in range(attributes):
        paths = [[f"v{leaf}"] for leaf in range(chance.randint(2, 9))]
        for level in range(chance.randint(0, 2)):
            labels, above = {}, 0
            for path in paths:
                above += chance.random() < 0.5
                labels.setdefault(path[-1], f"{level}:{above}")
            held = Counter(labels.values())
            for path in paths:
                label = labels[path[-1]]
                path.append(path[-1] if held[label] == 1 else label)
        trees.append([(*path, "*") for path in paths])
    weights = [[chance.random() ** 3 for _ in rows] for rows in trees]
    values = [
        chance.choices([row[0] for row in rows], own, k=records)
        for rows, own in zip(trees, weights, strict=True)
    ]
    return list(zip(*values, strict=True)), trees


def by_miner(records, trees, k):
    """Closed itemsets of transactions that hold all nodes above their values but the roots."""
    nodes = [[n for n in nodes_of(rows) if len(n) < len(rows)] for rows in trees]
    items = [
        [(place, node) for place, own in enumerate(nodes) for node in own if record[place] in node]
        for record in records
    ]
    everything = {item for held in items for item in held}
    names = {item: number for number, item in enumerate(sorted(everything, key=repr))}
    transactions = [[names[item] for item in held] for held in items]
    rows = fim.fpgrowth(transactions, target="c", supp=-k, zmin=1, report="a")
    return {frozenset(own): n for own, n in rows if n < len(records)}, names


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.integers(2, 20))
def test_closed_itemsets_are_those_of_an_itemset_miner(seed, k):
    records, trees = shuffled_table(seed)
    expected, names = by_miner(records, trees, k)
    found = {}
    for nodes, support in itemsets(records, trees, k).items():
        held = frozenset(number for (place, node), number in names.items() if nodes[place] <= node)
        found[held] = support
    # The miner leaves out the itemset that all records have.
    assert {held: n for held, n in found.items() if n < len(records)} == expected


@pytest.mark.slow
def test_closed_itemsets_of_wide_tables_are_the_closures_of_all_groups():
    chance, k = random.Random(3), 2
    width = 35  # codes and itemsets take two words
    records = [tuple(chance.choice("abc") for _ in range(width)) for _ in range(7)]
    trees = [[(value, "*") for value in "abc"]] * width
    root, expected = frozenset("abc"), {}
    for size in range(k, len(records) + 1):
        for group in combinations(records, size):
            values = [set(own) for own in zip(*group, strict=True)]
            closure = tuple(frozenset(v) if len(v) == 1 else root for v in values)
            held = [r for r in records if all(v in n for v, n in zip(r, closure, strict=True))]
            expected[closure] = len(held)
    assert itemsets(records, trees, k) == expected


@pytest.mark.slow
def test_closed_itemsets_of_a_deep_hierarchy_are_those_of_brute_force():
    deep = [
        (f"v{n}", *(f"up to {level}" if n <= level else f"v{n}" for level in range(1, 40)))
        for n in range(40)
    ]  # a code of 78 bits
    chance = random.Random(1)
    records = [(f"v{chance.randrange(40)}", chance.choice("abcd")) for _ in range(60)]
    assert itemsets(records, [deep, BRANCHY], 2) == by_brute_force(records, [deep, BRANCHY], 2)


def suppression(records):
    """Hierarchies of height one over the values of each column."""
    return [[(value, "*") for value in sorted(set(own))] for own in zip(*records, strict=True)]


def kept_values(found, trees):
    """Supports by the values that itemsets do not suppress, as a text."""
    return {
        "".join(
            value
            for nodes, rows in zip(itemset, trees, strict=True)
            for value in nodes
            if len(nodes) < len(rows)
        ): support
        for itemset, support in found.items()
    }


# Kenig 2009, table 6.1, one column for each item; what a transaction lacks is unlike all others.
TRANSACTIONS = [
    tuple(item if item in held else f"no {item} in {number}" for item in "abcdef")
    for number, held in enumerate(("acdef", "abe", "cef", "acdf", "cef"))
]


def test_transactions_of_table_6_1_have_the_published_closed_itemsets():
    trees = suppression(TRANSACTIONS)
    found = kept_values(itemsets(TRANSACTIONS, trees, 2), trees)
    assert found.pop("") == 5
    assert found == {"acdf": 2, "a": 3, "ae": 2, "cf": 4, "cef": 3, "e": 4}


# Park and Shim 2007, figure 1 (a).
EMPLOYEES = [
    ("20~29", "Single", "USA", "Male"),
    ("30~39", "Divorce", "China", "Female"),
    ("20~29", "Single", "USA", "Female"),
    ("30~39", "Separation", "Korea", "Female"),
]


@pytest.mark.slow
def test_employees_of_figure_1_have_the_itemsets_of_figure_10():
    trees = suppression(EMPLOYEES)
    found = kept_values(itemsets(EMPLOYEES, trees, 2), trees)
    assert found == {"": 4, "20~29SingleUSA": 2, "30~39Female": 2, "Female": 3}
    assert len(itemsets(EMPLOYEES, trees, 2, "frequent")) == 10 + 1


def test_itemsets_of_an_unbalanced_hierarchy_have_each_node_once():
    records = [(value, "f") for value in "abcdd"]
    found = itemsets(records, [BRANCHY, FLAT], 2)
    assert found == {
        (frozenset("bc"), frozenset("f")): 2,
        (frozenset("abc"), frozenset("f")): 3,
        (frozenset("d"), frozenset("f")): 2,
        (frozenset("abcd"), frozenset("f")): 5,
    }


def test_null_is_a_value_of_its_own():
    records = [(None, "f"), (None, "f"), ("a", "f"), ("b", "m")]
    found = itemsets(records, [[*BRANCHY, (None, None, None, "*")], FLAT], 2)
    assert found[frozenset([None]), frozenset("f")] == 2


def arrays(records, trees, threads):
    """The arrays as fetched."""
    with case(records, trees, threads) as opened:
        return opened.mined(3).fetch(opened.engine)


@pytest.mark.slow
def test_itemsets_come_in_one_order_whatever_the_threads_and_rows():
    records, trees = shuffled_table(7)
    one, two = arrays(records, trees, 1), arrays(records[::-1], trees, 2)
    for first, second in zip(one.nodes, two.nodes, strict=True):
        assert first.tolist() == second.tolist()
    assert one.supports.tolist() == two.supports.tolist()
    assert {column.dtype for column in one.nodes} == {np.dtype("int8")}


def tables_of(opened):
    """The names of all tables of a case."""
    query = (
        "SELECT table_name FROM duckdb_tables() WHERE database_name IN (current_database(), 'temp')"
    )
    return set(opened.engine.connection.execute(query).fetchall())


@pytest.mark.parametrize("records", [1, 100])
def test_nothing_but_the_itemsets_is_left_behind(records):
    _, trees = shuffled_table(3)
    rows = shuffled_table(3, records=100)[0][:records]
    with case(rows, trees) as opened:
        before = tables_of(opened)
        made = opened.mined(1)
        assert tables_of(opened) - before == {(made.table.name,)}


def test_progress_tells_every_attribute():
    lines = []
    with case(*shuffled_table(5, attributes=3)) as opened, following(lines.append):
        count = opened.mined(1).count
    told = [line.split(",") for line in lines]
    assert [words[0] for words in told] == [f"mining: attribute {n} of 3" for n in (1, 2, 3)]
    assert [line.share for line in lines] == [0, 1 / 3, 2 / 3]
    first, *others = [int(words[1].split()[0]) for words in told]
    assert first == 1 < others[0] < others[1] < count


@pytest.mark.parametrize(("k", "kind"), [(0, "closed"), (2, "maximal")])
def test_an_unknown_kind_or_no_k_is_refused(k, kind):
    with pytest.raises(PolicyError):
        MiningRequest(k, kind, [0], [1])
