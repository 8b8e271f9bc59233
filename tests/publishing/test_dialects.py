"""SQL for other engines: what is printed gives the same rows there, or is refused with a reason."""

import struct
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache

import pytest
import sqlglot
from databases import empty_database, insert, quoted, tables_of
from foreign import SERVERS, postgres_server, spark_session, spelling
from sqlglot import exp

import sqlanon
from sqlanon import (
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    QuasiIdentifier,
    Sensitive,
    ShareAtRisk,
    SubsetAnonymity,
    TCloseness,
)
from sqlanon.dialects import translated
from sqlanon.errors import EngineError, PolicyError
from sqlanon.query.syntax import table
from sqlanon.reports.search import SearchFigures
from sqlanon.sqltext import Sql

pytestmark = pytest.mark.slow

SOURCE = table("people")

HOSTILE = [
    "a'b", 'a"b', "a\\b", "a\\nb", "${x}", "a${x}b${y}", "$", "a\nb", "ä", "z", "Z", "a", "A",
    "b", "B", "é", "e", "ﬀ", "🤦🏼\u200d♂️", "日本", "", " ", "a ", "NULL", "--", ";", "`", "%s",
    "{{x}}", "\t", "a\\'b", "\\", "ß", "ss", "_", "-a", "ab", "$${x}", "${x", "\\${x}",
]  # fmt: skip


def people(**columns):
    """A connection with a table of those columns, each of the type and texts given."""
    connection = empty_database()
    types = ", ".join(f"{quoted(name)} {kind}" for name, (kind, _) in columns.items())
    connection.execute(f"CREATE TABLE people ({types})")
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    insert(connection, "people", rows)
    return connection


def repeated(values, count):
    return [values[number % len(values)] for number in range(count)]


def spread(count, *values):
    """Values of different frequency, in an order that no column of another count shares."""
    return [values[(number * number + number // 7) % len(values)] for number in range(count)]


MANY = 120
WARDS = {"a": (4, 2, 0), "b": (1, 0, 1), "c": (1, 1, 1), "d": (4, 0, 4), "e": (2, 3, 0)}
STAFF = [
    (ward, job, str(number + 3 * (job == "clerk")))
    for ward, counts in WARDS.items()
    for job, count in zip(("nurse", "clerk", "boss"), counts, strict=True)
    for number in range(count)
]
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
    "wards": {
        name: (kind, [row[place] for row in STAFF])
        for place, (name, kind) in enumerate(
            {"ward": "VARCHAR", "job": "VARCHAR", "person": "INTEGER"}.items()
        )
    },
    "far": {
        "day": (
            "DATE",
            spread(
                MANY,
                "infinity",
                "-infinity",
                "0044-03-15 (BC)",
                "0001-01-01 (BC)",
                "12024-12-30",
                "0001-01-01",
                None,
            ),
        ),
    },
}


@dataclass(frozen=True)
class Case:
    """A plan whose statements are executed."""

    name: str
    of: str
    policy: Policy
    settings: dict = field(default_factory=dict)
    far: bool = False

    def __repr__(self):
        return self.name

    def plan(self):
        return planned(self.name)


def policy(attributes, *models, **roles):
    roles = {"others": "keep", "suppression_limit": 0.4, **roles}
    return Policy(attributes, models=models or [KAnonymity(3)], **roles)


def at(level, hierarchy):
    return QuasiIdentifier(hierarchy, min_level=level, max_level=level)


def of_wards(*models, **roles):
    jobs = Hierarchy.from_rows([("nurse", "care", "*"), ("clerk", "x", "*"), ("boss", "x", "*")])
    ward = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
    roles = {"drop": ["person"], "suppression_limit": 0.6, **roles}
    sensitive = {"job": Sensitive(models, jobs)}
    return Policy({"ward": ward}, sensitive, models=[KAnonymity(2)], **roles)


LOCAL = {"method": "direct-cover"}
PARTS = {"method": "mondrian"}
PATTERNS = {"method": "pattern-greedy", "patterns": "all"}
SETS = {"method": "scheme", "scheme": "sps"}
ALONG = {"method": "scheme", "scheme": "ops"}
SEX = Hierarchy.from_rows([("f", "known", "*"), ("m", "known", "*")])
LISTED = Hierarchy.from_rows(
    [(str(number), f"{number // 10}x", "*") for number in range(17, 79)]
    + [("?", "unknown", "*"), ("1e2", "100", "*"), ("017.5", "none", "*"), ("", "none", "*")]
)
NAMES = Hierarchy.from_rows(
    [(name, f"{name}-{place % 3}", f"{place % 3}", "*") for place, name in enumerate(HOSTILE)]
)
WORDS, ALL_OR_NONE = Hierarchy.prefix(1), Hierarchy.suppression()
AGE, ZIP = Hierarchy.intervals(5, 10, 20), Hierarchy.prefix(4, 3, 2)
AGE_ALONE = {"age": ALL_OR_NONE, "sex": SEX}
PLAIN, AGE_SEX = {"age": AGE, "zip": ZIP, "sex": SEX}, {"age": at(1, AGE), "sex": SEX}
HOSTILE_COLUMNS = {"name": at(1, NAMES), "word": WORDS}
DATES = Hierarchy.dates
NUMBERS = {
    "real": at(1, Hierarchy.intervals("0.1", 1)),
    "price": at(1, Hierarchy.intervals("0.5", 50)),
    "tiny": at(1, Hierarchy.prefix(5, 3)),
    "big": at(1, Hierarchy.intervals(10, 100)),
    "small": at(1, Hierarchy.intervals(10)),
    "single": at(1, Hierarchy.intervals("0.05")),
}
CASES = [
    Case("a node", "plain", policy(PLAIN, suppression_limit=0.0)),
    Case("a node and suppression", "plain", policy(PLAIN)),
    Case("suppressed records kept", "plain", policy(PLAIN, suppressed="keep")),
    Case("listed numbers", "plain", policy({"age": at(1, LISTED), "sex": SEX})),
    Case("entity", "plain", policy(AGE_SEX, KAnonymity(3), LDiversity(2), entity="person",
                                   sensitive=["diagnosis"])),
    Case("rounds", "wards", of_wards(TCloseness(0.3))),
    Case("of all classes", "plain", policy(PLAIN, ShareAtRisk(0.3, 0.1))),
    Case("k of subsets", "plain", policy(PLAIN, SubsetAnonymity(2, 2))),
    Case("ordered", "wards", of_wards(LDiversity(1.8, "entropy"), TCloseness(0.2, "ordered"))),
    Case("hierarchical", "wards", of_wards(LDiversity(2, "recursive", 1.5),
                                           TCloseness(0.4, "hierarchical"))),
    Case("kl", "wards", of_wards(LDiversity(2), TCloseness(0.35, "kl"))),
    Case("scaled", "wards", of_wards(LDiversity(2), TCloseness(0.2, "scaled"))),
    Case("l-diverse, kept", "wards", of_wards(LDiversity(3), suppressed="keep",
                                              suppression_limit=0.9)),
    Case("alpha", "wards", of_wards(AlphaAnonymity(0.8), drop=(), entity="person")),
    Case("beta", "wards", of_wards(BetaLikeness(0.6), suppressed="keep", suppression_limit=0.9)),
    Case("delta", "wards", of_wards(DeltaDisclosure(1.0), suppression_limit=0.9)),
    Case("clusters", "plain", policy(PLAIN), LOCAL),
    Case("l-diverse clusters", "plain", policy(PLAIN, KAnonymity(3), LDiversity(2),
                                               sensitive=["diagnosis"]), {"method": "set-cover"}),
    Case("regions", "plain", policy(PLAIN), PARTS),
    Case("regions, kept", "plain", policy(
        {"age": QuasiIdentifier(AGE, max_level=2), "zip": ZIP, "sex": SEX}, KAnonymity(3),
        suppressed="keep", suppression_limit=0.5), PARTS),
    Case("hostile regions", "texts", policy({"name": NAMES, "word": WORDS}), PARTS),
    Case("number regions", "numbers", policy(
        {"price": Hierarchy.prefix(2), "small": Hierarchy.intervals(10), "big": ALL_OR_NONE},
        KAnonymity(4)), PARTS),
    Case("patterns", "plain", policy(PLAIN, suppression_limit=0.1), PATTERNS),
    Case("groups", "plain", policy(AGE_ALONE, suppression_limit=0.1), SETS),
    Case("groups, l-diverse", "plain", policy(AGE_ALONE, KAnonymity(2), LDiversity(2),
                                              sensitive=["diagnosis"]), SETS),
    Case("groups of hostile texts", "texts", policy(
        {"name": QuasiIdentifier(ALL_OR_NONE, order=HOSTILE)}, KAnonymity(6)), ALONG),
    Case("groups of numbers", "numbers", policy(
        {"real": ALL_OR_NONE, "big": ALL_OR_NONE}, KAnonymity(12)), SETS),
    Case("groups of days", "days", policy({"day": ALL_OR_NONE, "ok": ALL_OR_NONE},
                                          KAnonymity(9)), SETS),
    Case("hostile texts", "texts", policy(HOSTILE_COLUMNS)),
    Case("hostile texts, kept", "texts", policy(
        {"name": at(1, NAMES), "word": at(0, WORDS)}, suppressed="keep",
        suppressed_label="${x}'\\", suppression_limit=0.99)),
    Case("hostile clusters", "texts", policy({"name": NAMES, "word": WORDS}), LOCAL),
    Case("hostile sensitive values", "texts", policy(
        {"name": at(2, NAMES), "word": at(0, WORDS)}, KAnonymity(2), TCloseness(0.7),
        sensitive=["diagnosis"], suppression_limit=0.9)),
    Case("numbers", "numbers", policy(NUMBERS, KAnonymity(2), suppression_limit=0.99)),
    Case("numbers as they are", "numbers", policy(
        {name: at(0, ALL_OR_NONE) for name in NUMBERS}, KAnonymity(2), suppression_limit=0.99)),
    Case("listed decimals", "numbers", policy({"price": at(1, Hierarchy.from_rows(
        [("1.5", "low", "*"), ("-.05", "low", "*"), ("1e2", "high", "*"), ("99999.99", "high", "*"),
         ("?", "high", "*"), ("1.505", "none", "*"), (None, "none", "*")]))})),
    Case("listed real numbers", "numbers", policy({"real": at(1, Hierarchy.from_rows(
        [("3e-1", "low", "*"), ("1e16", "high", "*"), ("0", "low", "*"), ("NaN", "none", "*"),
         ("inf", "high", "*"), ("-2.5", "low", "*"), (None, "none", "*")]))})),
    Case("number clusters", "numbers", policy(
        {"price": Hierarchy.prefix(2), "small": Hierarchy.intervals(10), "big": ALL_OR_NONE},
        KAnonymity(4)), LOCAL),
    Case("days", "days", policy({"day": at(1, DATES("day", "month")), "ok": at(0, ALL_OR_NONE),
                                 "moment": at(1, DATES("week"))})),
    Case("days of years", "days", policy({"day": at(1, DATES("quarter", "decade")),
                                          "moment": at(1, DATES("year")), "ok": ALL_OR_NONE})),
    Case("day clusters", "days", policy(
        {"day": Hierarchy.prefix(7, 4), "moment": Hierarchy.prefix(10), "ok": ALL_OR_NONE},
        KAnonymity(6)), LOCAL),
    Case("far days", "far", policy({"day": at(1, DATES("year", "decade"))}), far=True),
    Case("far weeks", "far", policy({"day": at(1, DATES("week"))}), far=True),
]  # fmt: skip


@cache
def planned(name):
    """The table and the plan of a case, made once for all engines."""
    case = next(case for case in CASES if case.name == name)
    connection = people(**TABLES[case.of])
    return connection, sqlanon.plan(connection, case.policy, table="people", **case.settings)


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
    if "out" not in tables_of(connection):
        sqlanon.apply(connection, plan, into="out")
    return [tuple(map(spelling, row)) for row in connection.execute("FROM out").fetchall()]


def source_of(connection):
    columns = tuple(
        (name, exp.DataType.build(kind, dialect="duckdb"))
        for name, kind, *_ in connection.execute("DESCRIBE people").fetchall()
    )
    names = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name, _ in columns)
    return columns, tuple(connection.execute(f"SELECT {names} FROM people").fetchall())


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


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_statements_for_postgres_publish_the_same_rows(case, postgres):
    compare(postgres, *case.plan())


@pytest.mark.parametrize("case", [case for case in CASES if not case.far], ids=repr)
def test_statements_for_spark_publish_the_same_rows(case, spark):
    compare(spark, *case.plan())


@pytest.fixture(scope="module", params=["sail", "postgres"])
def elsewhere(request):
    with SERVERS[request.param]() as session:
        yield session


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_what_is_published_is_worked_out_alike_elsewhere(case, elsewhere):
    if case.far and elsewhere.name == "sail":
        pytest.skip("it has no such days")
    if elsewhere.name == "sail" and "numbers" in repr(case):
        pytest.skip("Sail joins -0.0 to no 0.0, so that such a release is refused")
    connection, plan = case.plan()
    wanted = expected(connection, plan)
    types = [kind for _, kind, *_ in connection.execute("DESCRIBE out").fetchall()]
    elsewhere.take(connection, ["people"])
    rows = elsewhere.answer(translated(plan.rows(SOURCE), elsewhere.name))
    found = [tuple(map(spelling, row)) for row in rows]
    assert Counter(alike(found, types)) == Counter(alike(wanted, types))


def executed_elsewhere(dialect):
    """The trees of all queries that publish, as executed above."""
    for case in CASES:
        if not (case.far and dialect != "postgres"):
            rows = case.plan()[1].rows(SOURCE)
            yield rows.tree() if isinstance(rows, Sql) else rows


WARD_CASES = [case for case in CASES if case.of == "wards"]


@pytest.mark.parametrize("case", WARD_CASES, ids=repr)
def test_the_statement_shown_publishes_what_is_published(case):
    connection, plan = case.plan()
    assert plan.report.suppressed_records
    connection.execute(plan.sql(into="shown"))
    shown = connection.execute("FROM shown").fetchall()
    assert [tuple(map(spelling, row)) for row in shown] == expected(connection, plan)


def test_rounds_of_suppression_are_part_of_the_plan_and_not_of_what_its_report_tells(tmp_path):
    """By the whole table some wards are too far from it; without them others are, twice."""
    connection = people(**TABLES["wards"])
    plan = sqlanon.plan(connection, of_wards(TCloseness(0.25)), table="people")
    assert Counter(ward for ward, _ in expected(connection, plan)) == {"b": 2, "d": 8}
    assert plan.rounds == plan.report.search.rounds == 3
    told = replace(plan, report=replace(plan.report, search=SearchFigures()))
    assert told.sql() == plan.sql() != replace(plan, rounds=2).sql()
    told.save(tmp_path / "plan.json")
    assert sqlanon.Plan.load(tmp_path / "plan.json").sql() == plan.sql()


def test_hostile_names_of_columns_are_read_by_postgres(postgres):
    compare(postgres, *hostile_columns('a"b', "a`b", "Ünï cödé", "a'b\\", "${x}", "select", "a\nb"))


def test_hostile_names_of_columns_are_read_by_spark(spark):
    compare(spark, *hostile_columns('a"b', "a`b", "Ünï cödé", "a'b\\", "$x", "select", "a\nb"))


def hostile_columns(*names):
    connection = people(**dict(zip(names, TABLES["plain"].values(), strict=False)))
    attributes = {names[0]: at(1, AGE), names[1]: ZIP, names[2]: at(0, SEX)}
    found = policy(attributes, KAnonymity(2), LDiversity(2), sensitive=[names[3]])
    return connection, sqlanon.plan(connection, found, table="people")


@pytest.mark.parametrize("case", WARD_CASES, ids=repr)
def test_statements_for_spark_use_no_query_twice(case):
    _, plan = case.plan()
    assert plan.report.suppressed_records
    for text in plan.statements("spark"):
        tree = sqlglot.parse_one(text, read="spark")
        held = [each.name for each in tree.find_all(exp.Table)]
        names = [each.alias for each in tree.expression.ctes] if tree.expression else []
        assert all(held.count(name) == 1 for name in names)


def test_statements_for_spark_drop_every_table_of_their_own():
    _, plan = next(case for case in CASES if case.name == "rounds").plan()
    trees = [sqlglot.parse_one(text, read="spark") for text in plan.statements("spark", "out")]
    made = [each.this.name for each in trees if isinstance(each, exp.Create)]
    dropped = [each.args["tables"][0].name for each in trees if isinstance(each, exp.Drop)]
    assert made[-1] == "out"
    assert sorted(dropped) == sorted(made[:-1]) != []


@pytest.mark.parametrize("dialect", ["postgres", "spark", "databricks", "snowflake", "trino"])
def test_statements_for_another_engine_try_no_cast(dialect):
    _, plan = next(case for case in CASES if case.name == "listed numbers").plan()
    text = plan.sql(dialect)
    assert "TRY_CAST" not in text.upper()
    assert "?" not in text.replace("-- ", "")


@pytest.mark.parametrize("dialect", ["databricks", "snowflake", "bigquery", "trino", "redshift"])
def test_statements_for_an_engine_that_is_not_tested_say_so(dialect):
    _, plan = CASES[0].plan()
    assert plan.sql(dialect).startswith(f"-- Warning: no test executes statements for {dialect}.")


@pytest.mark.parametrize("dialect", ["mysql", "TSQL", "oracle", "sqlite", "clickhouse"])
def test_statements_are_refused_where_rows_would_differ_in_silence(dialect):
    _, plan = CASES[0].plan()
    with pytest.raises(PolicyError, match=f"no statement is written for {dialect.lower()}: "):
        plan.sql(dialect)


def test_a_syntax_that_an_engine_lacks_is_refused_in_one_line():
    _, plan = next(case for case in CASES if case.name == "rounds").plan()
    with pytest.raises(EngineError, match="cannot be written for bigquery: 'NULLS LAST'") as error:
        plan.sql("bigquery")
    assert "\n" not in str(error.value)
    assert not str(error.value).endswith(" ")


def test_an_empty_dialect_is_an_error():
    _, plan = CASES[0].plan()
    with pytest.raises(PolicyError, match="dialect '' is not known"):
        plan.sql("")


REALS = {"real": ("DOUBLE", ["1.5"] * 9 + ["2", "3", "4"])}
NOT_WRITTEN = "column 'real' is DOUBLE, which is not written alike as text"
LATE = Hierarchy.from_rows([("12024-01-01", "late", "*")])
EVERYWHERE = ("postgres", "spark", "databricks")


@pytest.mark.parametrize(("dialects", "columns", "policy", "settings", "words"), [
    (EVERYWHERE, {"real": TABLES["numbers"]["real"]},
     policy({"real": at(1, Hierarchy.prefix(1))}, KAnonymity(2)), {}, NOT_WRITTEN),
    (EVERYWHERE, REALS, policy({"real": at(0, ALL_OR_NONE)}, suppressed="keep",
                               suppression_limit=0.9), {}, NOT_WRITTEN),
    (EVERYWHERE, REALS, policy({"real": ALL_OR_NONE}), LOCAL, NOT_WRITTEN),
    (EVERYWHERE, {"sex": ("VARCHAR", ["f"] * 9), "face": ("BLOB", ["x"] * 9)},
     policy({"sex": ALL_OR_NONE}), {}, "column 'face' is BLOB"),
    (EVERYWHERE, {"day": ("DATE", ["12024-01-01"] * 9)}, policy({"day": at(1, LATE)}), {},
     "before the year 1 or after 9999"),
    (["spark"], {"${x}": ("VARCHAR", ["f"] * 9)}, policy({"${x}": ALL_OR_NONE}), {},
     "which Spark takes for a variable"),
    (["postgres"], {"ä" * 32: ("VARCHAR", ["f"] * 9)}, policy({"ä" * 32: ALL_OR_NONE}), {},
     "longer than the 63 bytes"),
    (["spark"], {"price": ("DECIMAL(37, 2)", ["1.50"] * 9)},
     policy({"price": at(1, Hierarchy.intervals("0.1"))}), {}, "DECIMAL(37, 2)"),
])  # fmt: skip
def test_what_another_engine_would_publish_otherwise_is_refused(
    dialects, columns, policy, settings, words
):
    plan = sqlanon.plan(people(**columns), policy, table="people", **settings)
    assert plan.sql()
    for dialect in dialects:
        with pytest.raises(PolicyError) as error:
            plan.sql(dialect)
        assert words in str(error.value)


def test_a_column_that_is_dropped_may_be_of_any_type():
    columns = {"sex": ("VARCHAR", ["f"] * 9), "face": ("BLOB", ["x"] * 9)}
    found = policy({"sex": ALL_OR_NONE}, others="drop")
    assert "face" not in sqlanon.plan(people(**columns), found, table="people").sql("spark")


def test_statements_warn_of_expressions_of_the_user():
    connection = people(**{"a\nb": ("VARCHAR", ["f"] * 9)})
    found = policy({"a\nb": at(1, Hierarchy.expressions("upper(value)"))})
    text = sqlanon.plan(connection, found, table="people").sql("spark")
    assert "-- Warning: your own SQL expressions are translated, but not tested: 'a\\nb'.\n" in text


def test_statements_read_the_table_without_the_schema_of_duckdb():
    _, plan = CASES[0].plan()
    assert 'FROM "people"' in plan.sql("postgres")
    assert 'FROM "main"."people"' in plan.sql()
