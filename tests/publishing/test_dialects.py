"""SQL for other engines: what is printed gives the same rows there, or is refused with a reason."""

import struct
from dataclasses import dataclass, field, replace

import duckdb
import pytest
import sqlglot
from foreign import postgres_server, spark_session, spelling
from sqlglot import exp

import sqlanon
from sqlanon import BetaLikeness, Hierarchy, KAnonymity, LDiversity, Plan, Policy, TCloseness
from sqlanon.errors import PolicyError

HOSTILE = [
    "a'b", 'a"b', "a\\b", "a\\nb", "${x}", "a${x}b${y}", "$", "a\nb", "ä", "z", "Z", "a", "A",
    "b", "B", "é", "e", "ﬀ", "🤦🏼\u200d♂️", "日本", "", " ", "a ", "NULL", "--", ";", "`", "%s",
    "{{x}}", "\t", "a\\'b", "\\", "ß", "ss", "_", "-a", "ab", "$${x}", "${x", "\\${x}",
]  # fmt: skip


def people(**columns):
    """A connection with a table of those columns, each of the type and texts given."""
    connection = duckdb.connect()
    types = ", ".join(f"{quoted(name)} {kind}" for name, (kind, _) in columns.items())
    connection.execute(f"CREATE TABLE people ({types})")
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    marks = ", ".join("?" for _ in columns)
    connection.executemany(f"INSERT INTO people VALUES ({marks})", rows)
    return connection


def quoted(name):
    return exp.to_identifier(name, quoted=True).sql("duckdb")


def repeated(values, count):
    return [values[number % len(values)] for number in range(count)]


def spread(count, *values):
    """Values of different frequency, in an order that no column of another count shares."""
    return [values[(number * number + number // 7) % len(values)] for number in range(count)]


MANY = 120
TABLES = {
    "plain": {
        "age": ("INTEGER", [str(17 + number * 7 % 61) for number in range(MANY)]),
        "zip": ("VARCHAR", [f"{10000 + number * 37 % 500}" for number in range(MANY)]),
        "sex": ("VARCHAR", spread(MANY, "f", "m", None)),
        "diagnosis": ("VARCHAR", spread(MANY, "flu", "cold", "hiv", "flu", None)),
        "income": ("INTEGER", spread(MANY, "100", "200", "150", None, "900")),
        "person": ("INTEGER", [str(number // 2) for number in range(MANY)]),
    },
    "texts": {
        "name": ("VARCHAR", repeated(HOSTILE, 4 * len(HOSTILE))),
        "word": ("VARCHAR", spread(4 * len(HOSTILE), "ab", "AB", "a b", "Ab", "äb", None)),
        "kept": ("VARCHAR", repeated(HOSTILE[::-1], 4 * len(HOSTILE))),
        "diagnosis": ("VARCHAR", spread(4 * len(HOSTILE), "flu", "Flu", "${x}", "a'b\\")),
    },
    "numbers": {
        "real": ("DOUBLE", spread(MANY, "0.3", "1e16", "-0.0", "0", "nan", "inf", "-2.5", None)),
        "price": ("DECIMAL(10, 2)", spread(MANY, "1.50", "-0.05", "100", "99999.99", None)),
        "tiny": ("DECIMAL(12, 9)", spread(MANY, "0.000000001", "0.1", "0")),
        "big": ("BIGINT", spread(MANY, "9223372036854775807", "-9223372036854775808", "-1", "7")),
        "small": ("UTINYINT", spread(MANY, "255", "0", "17", "18")),
        "single": ("FLOAT", spread(MANY, "0.1", "16777216", "2.5", None)),
    },
    "days": {
        "day": ("DATE", spread(MANY, "2024-02-29", "1999-12-31", "0001-01-01", "2021-01-03", None)),
        "moment": (
            "TIMESTAMP",
            spread(MANY, "2024-02-29 12:00:00", "1969-12-31 23:59:59.5", "1999-12-31 00:00:00.25"),
        ),
        "ok": ("BOOLEAN", spread(MANY, "true", "false", None)),
    },
}


@dataclass(frozen=True)
class Case:
    """A plan whose statements are executed."""

    name: str
    of: str
    attributes: dict
    models: tuple = (KAnonymity(2),)
    more: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)

    def __repr__(self):
        return self.name

    def plan(self, connection):
        roles = {"others": "keep", "suppression_limit": 0.4, **self.more}
        policy = Policy(quasi_identifiers=self.attributes, models=list(self.models), **roles)
        return sqlanon.plan(connection, "people", policy, **self.settings)


def rows_of(path):
    return [tuple(row) for row in path]


SEX = Hierarchy.from_rows([("f", "known", "*"), ("m", "known", "*")])
NUMBERS = Hierarchy.from_rows(
    [(str(number), f"{number // 10}x", "*") for number in range(17, 79)]
    + [("?", "unknown", "*"), ("1e2", "100", "*"), ("017.5", "none", "*"), ("", "none", "*")]
)
NAMES = Hierarchy.from_rows([(name, f"{name}-{place % 3}", f"{place % 3}", "*")
                             for place, name in enumerate(HOSTILE)])  # fmt: skip
WORDS = Hierarchy.prefix(1)
AGE, ZIP = Hierarchy.intervals(5, 10, 20), Hierarchy.prefix(4, 3, 2)
PLAIN = {"age": AGE, "zip": ZIP, "sex": SEX}
SENSITIVE = {"sensitive": ["diagnosis"]}
DAYS = Hierarchy.dates("week", )
CASES = [
    Case("a node", "plain", PLAIN, (KAnonymity(3),), {"suppression_limit": 0.0}),
    Case("a node with suppression", "plain", PLAIN, (KAnonymity(3),)),
    Case("suppressed records kept", "plain", PLAIN, (KAnonymity(3),), {"suppressed": "keep"}),
    Case("listed numbers", "plain", {"age": NUMBERS, "sex": SEX}, (KAnonymity(3),)),
    Case("l-diversity", "plain", {"age": AGE, "sex": SEX}, (KAnonymity(2), LDiversity(2)),
         SENSITIVE),
    Case("entropy", "plain", {"age": AGE, "sex": SEX}, (LDiversity(2, kind="entropy"),), SENSITIVE),
    Case("rounds", "plain", {"age": AGE, "sex": SEX}, (KAnonymity(2), TCloseness(0.25)),
         SENSITIVE | {"suppression_limit": 0.8}),
    Case("ordered", "plain", {"age": AGE, "sex": SEX}, (TCloseness(0.15, distance="ordered"),),
         {"sensitive": ["income"], "suppression_limit": 0.8}),
    Case("kl", "plain", {"age": AGE, "sex": SEX}, (TCloseness(0.3, distance="kl"),),
         SENSITIVE | {"suppression_limit": 0.8}),
    Case("scaled", "plain", {"age": AGE, "sex": SEX}, (TCloseness(0.1, distance="scaled"),),
         {"sensitive": ["income"], "suppression_limit": 0.8}),
    Case("beta-likeness", "plain", {"age": AGE, "sex": SEX}, (BetaLikeness(1.0),),
         SENSITIVE | {"suppression_limit": 0.8, "suppressed": "keep"}),
    Case("entity", "plain", {"age": AGE, "sex": SEX}, (KAnonymity(3), LDiversity(2)),
         SENSITIVE | {"entity": "person"}),
    Case("clusters", "plain", PLAIN, (KAnonymity(3),), {}, {"method": "direct-cover"}),
    Case("clusters, l-diverse", "plain", PLAIN, (KAnonymity(3), LDiversity(2)), SENSITIVE,
         {"method": "set-cover"}),
    Case("patterns", "plain", PLAIN, (KAnonymity(3),), {},
         {"method": "pattern-greedy", "patterns": "all"}),
    Case("hostile texts", "texts", {"name": NAMES, "word": WORDS}, (KAnonymity(2),)),
    Case("hostile texts kept", "texts", {"name": NAMES, "word": WORDS}, (KAnonymity(3),),
         {"suppressed": "keep", "suppressed_label": "${x}'\\", "suppression_limit": 0.9}),
    Case("hostile clusters", "texts", {"name": NAMES, "word": WORDS}, (KAnonymity(2),), {},
         {"method": "direct-cover"}),
    Case("hostile values", "texts", {"name": Hierarchy.suppression(), "word": WORDS},
         (KAnonymity(2), TCloseness(0.6)), SENSITIVE),
    Case("real numbers", "numbers", {"real": Hierarchy.intervals("0.1", 1), "single":
         Hierarchy.intervals("0.5")}, (KAnonymity(2),), {"suppression_limit": 0.2}),
    Case("exact numbers", "numbers", {"price": Hierarchy.intervals("0.5", 50), "tiny":
         Hierarchy.prefix(5, 3), "big": Hierarchy.intervals(10, 100), "small":
         Hierarchy.intervals(10)}, (KAnonymity(2),)),
    Case("exact clusters", "numbers", {"price": Hierarchy.prefix(2), "small":
         Hierarchy.intervals(10), "big": Hierarchy.suppression()}, (KAnonymity(4),), {},
         {"method": "direct-cover"}),
    Case("days", "days", {"day": Hierarchy.dates("day", "month", "year", "decade"), "moment":
         Hierarchy.dates("week"), "ok": Hierarchy.suppression()}, (KAnonymity(6),)),
    Case("day clusters", "days", {"day": Hierarchy.prefix(7, 4), "moment":
         Hierarchy.prefix(10), "ok": Hierarchy.suppression()}, (KAnonymity(6),), {},
         {"method": "direct-cover"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def postgres():
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="module")
def spark():
    with spark_session() as session:
        yield session


def expected(connection, plan):
    """The rows that DuckDB publishes, in order, each value in one spelling."""
    sqlanon.apply(connection, plan, into="out", overwrite=True)
    return [tuple(map(spelling, row)) for row in connection.execute("FROM out").fetchall()]


def source_of(connection):
    columns = {
        name: exp.DataType.build(kind, dialect="duckdb")
        for name, kind, *_ in connection.execute("DESCRIBE people").fetchall()
    }
    names = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name in columns)
    return columns, connection.execute(f"SELECT {names} FROM people").fetchall()


def double(text):
    return repr(float(text))


def single(text):
    return repr(struct.unpack("f", struct.pack("f", float(text)))[0])


def moment(text):
    """A time without the zeros and the letter of one spelling or another."""
    parted = text.replace("T", " ")
    return parted.rstrip("0") if "." in parted else parted


ALIKE = {"DOUBLE": double, "FLOAT": single, "TIMESTAMP": moment}


def alike(rows, types):
    """The rows with each value in the one spelling of its type."""
    kinds = [ALIKE.get(kind, str) for kind in types]
    return [
        tuple(None if cell is None else of(cell) for of, cell in zip(kinds, row, strict=True))
        for row in rows
    ]


def compare(engine, connection, plan):
    columns, rows = source_of(connection)
    found = engine.rows(columns, rows, plan.statements(engine.name))
    wanted = expected(connection, plan)
    types = [kind for _, kind, *_ in connection.execute("DESCRIBE out").fetchall()]
    assert alike(found, types) == alike(wanted, types)


@pytest.mark.slow
@pytest.mark.every_row
@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("name", ["postgres", "spark"])
def test_printed_statements_publish_the_same_rows(case, name, request):
    connection = people(**TABLES[case.of])
    compare(request.getfixturevalue(name), connection, case.plan(connection))
