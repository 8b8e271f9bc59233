"""Whatever a table holds: the policy file reads back, and tells no value that it must not."""

import datetime
import itertools
import json
import random
import shutil
from decimal import Decimal

import pytest
from databases import empty_database, insert, quoted
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Policy
from sqlanon.suggestion.roles import Role

_markers = itertools.count(1_000_003, 7_919)


def marker():
    """A number of seven or more digits that is no round one, other than all before."""
    number = next(_markers)
    return number + (number % 10 in (0, 5))


DAY = datetime.date(1970, 1, 1)
KINDS = {
    "BIGINT": lambda chance: chance.randint(-3, 90),
    "INTEGER": lambda chance: chance.choice([0, 0, 0, 0, 7, 20_011]),
    "HUGEINT": lambda _: 10**20 + marker(),
    "UTINYINT": lambda chance: chance.randint(0, 255),
    "DOUBLE": lambda chance: chance.choice([float("nan"), float("inf"), -0.0, chance.gauss(0, 9)]),
    "FLOAT": lambda chance: chance.random(),
    "DECIMAL(9, 2)": lambda chance: Decimal(chance.randint(0, 10**6)) / 100,
    "DECIMAL(38, 30)": lambda chance: Decimal(chance.randint(1, 9)) / 7,
    "VARCHAR": lambda chance: chance.choice(["a", "b;c", "", "*", ' "x', "d\ne", "f", "gh", "é"]),
    "VARCHAR(9)": lambda chance: f"{chance.randint(10000, 10400)}",
    "TEXT": lambda _: f"own {marker()}",
    "DATE": lambda chance: DAY + datetime.timedelta(chance.randint(-20_000, 20_000)),
    "TIMESTAMP": lambda chance: datetime.datetime(2020, 1, 1, chance.randint(0, 23)),
    "TIMESTAMPTZ": lambda chance: datetime.datetime(
        2020, chance.randint(1, 12), 1, tzinfo=datetime.UTC
    ),
    "TIMESTAMP_NS": lambda chance: f"1969-12-{chance.randint(1, 31):02} 23:59:59.123456789",
    "TIME": lambda chance: datetime.time(chance.randint(0, 23)),
    "INTERVAL": lambda chance: f"{chance.randint(1, 40)} days",
    "BOOLEAN": lambda chance: chance.random() < 0.5,
    "UUID": lambda _: f"{marker():032x}",
    "BLOB": lambda _: b"x",
    "BIT": lambda _: "101",
    "JSON": lambda _: '{"a": 1}',
    "INTEGER[]": lambda chance: [chance.randint(0, 9)],
    "STRUCT(x INTEGER)": lambda chance: {"x": chance.randint(0, 9)},
    "ENUM('one', 'two')": lambda chance: chance.choice(["one", "two"]),
}
NAMES = st.one_of(
    st.sampled_from(
        ["age", "income", "zip", "person_id", "name", "city", "remarks", "id", "class"]
    ),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
    ),
)


@st.composite
def tables(draw):
    """Names and types of columns, and records with some NULLs."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique_by=lambda name: name.casefold()))
    kinds = [draw(st.sampled_from(sorted(KINDS))) for _ in names]
    chance = random.Random(draw(st.integers(0, 10**6)))
    size, empty = draw(st.integers(1, 60)), draw(st.sampled_from([0, 0, 0.3, 1]))
    records = [
        [None if chance.random() < empty else KINDS[kind](chance) for kind in kinds]
        for _ in range(size)
    ]
    return names, kinds, records


@pytest.fixture(scope="module")
def connection():
    with empty_database() as opened:
        yield opened


def filled(connection, drawn):
    """A table of what was drawn."""
    names, kinds, records = drawn
    declared = ", ".join(f"{quoted(n)} {k}" for n, k in zip(names, kinds, strict=True))
    connection.execute(f"CREATE OR REPLACE TABLE drawn ({declared})")
    insert(connection, "drawn", records)


@settings(max_examples=20)
@given(drawn=tables())
def test_any_table_gives_a_policy_that_reads_back_and_tells_nothing(
    tmp_path_factory, connection, drawn
):
    filled(connection, drawn)
    folder = tmp_path_factory.mktemp("any")
    written = sqlanon.suggest(connection, table="drawn").write(folder / "policy.toml")
    text = (folder / "policy.toml").read_text("utf-8")
    assert Policy.from_toml(folder / "policy.toml") == written.policy
    assert [each.name for each in written.columns] == drawn[0]
    said = [text, json.dumps(written.to_dict(), ensure_ascii=False), written.to_text()]
    said += [path.read_text("utf-8") for path in folder.iterdir()]
    shutil.rmtree(folder)
    for each, cells in zip(written.columns, zip(*drawn[2], strict=True), strict=True):
        present = [cell for cell in cells if cell is not None]
        if len({str(cell) for cell in present}) > 0.5 * len(present) and each.type in (
            *("VARCHAR", "TEXT", "HUGEINT", "UUID"),
        ):
            told = [str(c) for c in present if len(str(c)) > 6 and any(str(c) in s for s in said)]
            assert told == []
        _refuse_extremes(each, present)


def _refuse_extremes(column, present):
    """The ends of a column's intervals are neither its least nor its greatest number."""
    if column.role is not Role.QUASI_IDENTIFIER or column.hierarchy.kind != "intervals":
        return
    rule = column.hierarchy.rule
    finite = [Decimal(str(cell)) for cell in present if Decimal(str(cell)).is_finite()]
    for end in (rule.low, rule.high):
        assert end is None or min(finite) < end < max(finite)
    for width, wider in itertools.pairwise(rule.widths):
        assert wider % width == 0


def test_markers_are_found_where_they_are_told(connection):
    filled(
        connection,
        (["city"], ["VARCHAR"], [["town 1000003"]] * 3 + [[f"t{n}"] for n in "abcdefgh"] * 3),
    )
    found = sqlanon.suggest(connection, table="drawn")
    rows = next(iter(found.files.values())).rows
    assert any("1000003" in str(row) for row in rows)
    assert "1000003" not in found.to_toml() + found.to_text() + json.dumps(found.to_dict())
