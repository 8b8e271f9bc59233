"""Frames: one of the same kind comes back, satisfies the policy and keeps its types."""

import datetime
import decimal
import pickle
import random

import duckdb
import numpy
import pyarrow
import pytest
from databases import empty_database, tables_of

import sqlanon
from sqlanon import KAnonymity, Policy
from sqlanon.engine.duckdb.capabilities import QUERIES_LEAVE_NOTHING
from sqlanon.errors import PolicyError, SourceError, SqlanonError, UnsatisfiableError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

MARKER = "marker-of-nobody-else"
AGES = [20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62, 63]
POLICY = {
    "k": 4,
    "quasi_identifiers": {"age": "intervals:4,20"},
    "identifiers": ["name"],
    "others": "keep",
}
UNNAMED = {**POLICY, "identifiers": []}
LEVELS = {**POLICY, "quasi_identifiers": {"age": {"intervals": [20], "level": 1}}}
ILLS = ["flu", "cold", None, "flu"] * 3
TABLE = pyarrow.table({"name": [f"n{n}" for n in range(12)], "age": AGES, "ill": ILLS})
INTERVALS = ["20-23"] * 4 + ["40-43"] * 4 + ["60-63"] * 4


def rows(frame):
    """The rows of a frame of any kind, as a bag of texts."""
    with duckdb.connect() as connection:
        if isinstance(frame, duckdb.DuckDBPyRelation):
            frame = frame.to_arrow_table()
        if isinstance(frame, pyarrow.RecordBatchReader):
            frame = frame.read_all()
        if isinstance(frame, polars.LazyFrame):
            frame = frame.collect()
        connection.register("frame", frame)
        return sorted(map(repr, connection.execute("FROM frame").fetchall()))


KINDS = {
    "pandas": TABLE.to_pandas,
    "polars": lambda: polars.from_arrow(TABLE),
    "lazy": lambda: polars.from_arrow(TABLE).lazy(),
    "arrow": lambda: TABLE,
    "batch": lambda: TABLE.to_batches()[0],
    "reader": TABLE.to_reader,
    "default relation": lambda: duckdb.from_arrow(TABLE),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_of_the_same_kind_comes_back(kind):
    frame = KINDS[kind]()
    published = sqlanon.anonymize(frame, POLICY)
    assert type(published) is type(frame)
    assert rows(published) == sorted(map(repr, zip(INTERVALS, ILLS, strict=True)))


def test_a_relation_comes_back_on_its_connection_inside_its_transaction():
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INT, amount HUGEINT, bits BIT)")
        connection.execute("BEGIN")
        for age in AGES:
            connection.execute("INSERT INTO people VALUES ('n', ?, 5, '101')", [age])
        published = sqlanon.anonymize(connection, POLICY, table=connection.table("people"))
        assert list(map(str, published.types)) == ["VARCHAR", "HUGEINT", "BIT"]
        connection.execute("CREATE TABLE made AS SELECT * FROM published")
        assert connection.sql("SELECT count(DISTINCT age) FROM made").fetchall() == [(3,)]
        connection.execute("ROLLBACK")
        assert tables_of(connection) == ["people"]


@pytest.mark.slow
def test_a_relation_without_its_connection_comes_back_on_it_or_is_refused():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT range AS age, 5::HUGEINT AS n FROM range(8)"
        )
        relation = connection.table("people")
        if not QUERIES_LEAVE_NOTHING:
            with pytest.raises(SourceError, match="give the connection, then the relation"):
                sqlanon.anonymize(relation, UNNAMED)
            return
        published = sqlanon.anonymize(relation, UNNAMED)
        published.create("made")
        assert list(map(str, connection.table("made").types)) == ["VARCHAR", "HUGEINT"]
        assert connection.execute(
            "SELECT count(*) FROM duckdb_views() WHERE NOT internal"
        ).fetchall() == [(0,)]
        bits = connection.sql("SELECT age, '101'::BIT AS bits FROM people")
        with pytest.raises(SourceError, match=r"'bits' \(BIT\) .* give the connection"):
            sqlanon.anonymize(bits, UNNAMED)


@pytest.mark.slow
@pytest.mark.skipif(not QUERIES_LEAVE_NOTHING, reason="it takes its connection")
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_no_table_of_the_connection_is_taken_for_what_is_published(kind):
    with duckdb.connect() as connection:
        for name in ("published", "made", "frame", "table"):
            connection.execute(f'CREATE {kind} "{name}" AS SELECT range AS age FROM range(8)')
        relation = connection.sql("FROM published")
        published, report = sqlanon.anonymize(relation, UNNAMED, with_report=True)
        assert report.holds
        assert str(published.types[0]) == "VARCHAR"
        assert sqlanon.check(published, UNNAMED).holds


@pytest.mark.slow
@pytest.mark.skipif(not QUERIES_LEAVE_NOTHING, reason="it takes its connection")
def test_a_frame_takes_no_format_of_a_text_file():
    with pytest.raises(SourceError, match="delimiter"):
        sqlanon.check(TABLE, UNNAMED, delimiter=";")


@pytest.mark.slow
def test_a_connection_that_reads_no_variables_must_be_given():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS age FROM range(8)")
        connection.execute("SET python_enable_replacements = false")
        relation = connection.table("people")
        with pytest.raises(SourceError, match="give the connection, then the relation"):
            sqlanon.anonymize(relation, UNNAMED)
        published = sqlanon.anonymize(connection, UNNAMED, table=relation)
        assert published.aggregate("count(*)").fetchall() == [(8,)]


@pytest.mark.slow
def test_a_relation_of_another_connection_is_refused():
    with duckdb.connect() as one, duckdb.connect() as other:
        one.execute("CREATE TABLE people AS SELECT range AS age FROM range(8)")
        with pytest.raises(SourceError, match="is of another connection"):
            sqlanon.anonymize(other, UNNAMED, table=one.table("people"))


@pytest.mark.slow
def test_any_frame_may_be_published_within_a_connection():
    with empty_database() as connection:
        published = sqlanon.anonymize(connection, POLICY, table=polars.from_arrow(TABLE))
        assert isinstance(published, polars.DataFrame)
        assert rows(published) == rows(sqlanon.anonymize(TABLE, POLICY))
        assert tables_of(connection) == []


@pytest.mark.slow
def test_a_session_that_hands_its_calls_on_is_its_connection():
    class Session:
        """As the adapter of dbt wraps its cursor."""

        def __init__(self, cursor):
            self._cursor = cursor

        def __getattr__(self, name):
            return getattr(self._cursor, name)

    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS age FROM range(8)")
        session = Session(connection)
        published = sqlanon.anonymize(session, UNNAMED, table=session.table("people"))
        assert published.aggregate("count(*)").fetchall() == [(8,)]


@pytest.mark.slow
def test_the_report_of_the_proof_comes_where_it_is_asked_for():
    found = sqlanon.anonymize(TABLE, POLICY, with_report=True)
    assert found.frame.num_rows == 12
    assert (found.report.statistics.smallest, found.report.holds) == (4, True)
    assert found.report.output == "pyarrow Table"


@pytest.mark.slow
def test_a_plan_of_a_frame_is_applied_to_it():
    plan = sqlanon.plan(TABLE, POLICY)
    published, report = sqlanon.apply(TABLE, plan, with_report=True)
    assert rows(published) == rows(sqlanon.anonymize(TABLE, POLICY))
    assert report.holds
    [record] = sqlanon.preview(TABLE, plan, rows=1)
    assert (record.before["age"], record.after["age"]) == ("20", "20-23")
    with pytest.raises(SqlanonError, match="12 records: it has 11 now"):
        sqlanon.apply(TABLE.slice(1), plan)


@pytest.mark.slow
def test_all_that_reads_takes_a_frame():
    published = sqlanon.anonymize(TABLE, POLICY)
    assert sqlanon.check(published, UNNAMED).holds
    assert not sqlanon.check(TABLE, POLICY).holds
    assert sqlanon.measure(TABLE, published, POLICY).records == 12
    assert sqlanon.risk(TABLE.to_pandas(), POLICY).statistics.unique == 12
    assert sqlanon.bound(TABLE.to_reader(), POLICY).k == 4
    assert sqlanon.mine(polars.from_arrow(TABLE).lazy(), POLICY).itemsets > 0
    assert sqlanon.compare(TABLE, POLICY, methods=["incognito"]).done


def shuffled(frame):
    order = list(range(frame.num_rows))
    random.Random(1).shuffle(order)
    return frame.take(order)


@pytest.mark.slow
def test_an_ordered_model_counts_categories_by_what_they_are():
    frame = pandas.DataFrame({"age": AGES, "grade": pandas.Categorical([3, 2, 10] * 4)})
    policy = {**UNNAMED, "sensitive": {"grade": {"t": "ordered:0.9"}}}
    made = sqlanon.anonymize(frame, policy)
    assert made.grade.dtype == frame.grade.dtype
    assert sorted(made.grade) == sorted(frame.grade)


@pytest.mark.slow
def test_a_type_that_would_not_come_back_is_refused_before_the_search():
    frame = pandas.DataFrame({"age": AGES, "took": SERIES["duration"]})
    with pytest.raises(SourceError, match=r"'took' .* convert or drop it"):
        sqlanon.anonymize(frame, {**UNNAMED, "sensitive": {"took": {"t": "ordered:0.9"}}})


@pytest.mark.slow
def test_a_frame_of_a_derived_class_is_one_of_the_class_that_it_is_derived_from():
    derived = type("Derived", (pandas.DataFrame,), {"__module__": "elsewhere"})
    assert type(sqlanon.anonymize(derived(TABLE.to_pandas()), POLICY)) is pandas.DataFrame


@pytest.mark.slow
def test_rows_say_nothing_of_the_order_that_they_had():
    assert sqlanon.anonymize(shuffled(TABLE), POLICY).equals(sqlanon.anonymize(TABLE, POLICY))


MOMENT = pandas.Timestamp("2020-01-01 12:00:00.123456789", tz="Europe/Berlin")
SERIES = {
    "nullable": pandas.array([1, None, 2**62 + 1] * 4, dtype="Int64"),
    "boolean": pandas.array([True, None, False] * 4, dtype="boolean"),
    "small": pandas.array([1, 2, 3] * 4, dtype="int8"),
    "half": pandas.array([1.5, 2.5, 3.5] * 4, dtype="float16"),
    "float": pandas.array([0.1, float("nan"), 0.25] * 4, dtype="float64"),
    "text": pandas.array(["a", None, "b"] * 4, dtype="string"),
    "arrow": pandas.array([1, None, 3] * 4, dtype="int32[pyarrow]"),
    "zoned": pandas.DatetimeIndex([MOMENT, None, MOMENT] * 4),
    "moment": pandas.DatetimeIndex(["2020-01-01 12:00:00.123456789"] * 12),
    "duration": pandas.to_timedelta([1, None, 3] * 4, unit="ns"),
    "category": pandas.Categorical(["b", None, "a"] * 4, ["b", "a"], ordered=True),
    "numbers": pandas.Categorical([3, None, 2] * 4, [3, 2]),
    "cut": pandas.cut([1, 2, 3] * 4, 3),
    "period": pandas.array(["2020-01", None, "2020-02"] * 4, dtype="period[M]"),
    "decimal": pandas.array(
        [decimal.Decimal("1.50"), None, decimal.Decimal("2.00")] * 4, dtype=object
    ),
    "whole": pandas.array([2**60 + 1, None, 3] * 4, dtype=object),
    "date": pandas.array([datetime.date(2020, 1, 2), None, None] * 4, dtype=object),
    "lists": pandas.Series([[1, 2], None, []] * 4, dtype=object),
}


@pytest.mark.slow
def test_columns_of_pandas_that_are_kept_have_the_types_that_they_had():
    frame = pandas.DataFrame({"age": AGES, **SERIES})
    made = sqlanon.anonymize(frame, UNNAMED)
    assert made.dtypes[1:].equals(frame.dtypes[1:])
    assert pandas.api.types.is_string_dtype(made.age)
    for name, column in frame.items():
        kept = (
            column.astype(object).where(column.notna(), None) if column.dtype == object else column
        )
        assert name == "age" or sorted(map(repr, made[name])) == sorted(map(repr, kept)), name


COLUMNS = {
    "enum": (["b", None, "a"], polars.Enum(["b", "a"])),
    "categorical": (["b", None, "a"], polars.Categorical),
    "decimal": ([decimal.Decimal("1.50"), None, decimal.Decimal(2)], polars.Decimal(10, 2)),
    "duration": ([datetime.timedelta(microseconds=3), None, None], polars.Duration("us")),
    "time": ([datetime.time(1, 2, 3, 4), None, None], polars.Time),
    "zoned": ([datetime.datetime(2020, 1, 2)] * 3, polars.Datetime("ms", "Asia/Tokyo")),
    "date": ([datetime.date(2020, 1, 2), None, None], polars.Date),
    "list": ([[1.5, float("nan")], None, []], polars.List(polars.Float32)),
    "struct": ([{"x": 1}, None, {"x": None}], polars.Struct({"x": polars.Int16})),
    "binary": ([b"a\0", None, b""], polars.Binary),
    "unsigned": ([2**64 - 1, None, 0], polars.UInt64),
}


@pytest.mark.slow
def test_columns_of_polars_that_are_kept_have_the_types_that_they_had():
    columns = {n: polars.Series(own * 4).cast(dtype) for n, (own, dtype) in COLUMNS.items()}
    frame = polars.DataFrame({"age": AGES, **columns})
    made = sqlanon.anonymize(frame, UNNAMED)
    assert made.schema == {**frame.schema, "age": polars.String}
    for name in COLUMNS:
        assert sorted(map(repr, made[name])) == sorted(map(repr, frame[name])), name


TYPES = {
    "dictionary": pyarrow.dictionary(pyarrow.int8(), pyarrow.large_string()),
    "large": pyarrow.large_string(),
    "fixed": pyarrow.binary(2),
    "wide": pyarrow.decimal256(50, 2),
    "half": pyarrow.float16(),
    "date64": pyarrow.date64(),
    "time32": pyarrow.time32("ms"),
    "nested": pyarrow.struct({"x": pyarrow.list_(pyarrow.int32())}),
    "uuid": pyarrow.uuid(),
}
VALUES = {
    "fixed": [b"ab", None, b"cd"],
    "wide": [decimal.Decimal(1), None, decimal.Decimal("-2.5")],
    "half": [numpy.float16(1.5), None, numpy.float16(2.5)],
    "date64": [datetime.date(2020, 1, 2), None, None],
    "time32": [datetime.time(1, 2, 3), None, None],
    "nested": [{"x": [1, None]}, None, {"x": []}],
    "uuid": [b"0123456789abcdef", None, b"fedcba9876543210"],
}


def arrow_array(values, kind):
    """An array of a type; pyarrow 20 makes no dictionary of long texts by itself."""
    if not pyarrow.types.is_dictionary(kind):
        return pyarrow.array(values, kind)
    coded = pyarrow.array(values, kind.value_type).dictionary_encode()
    return pyarrow.DictionaryArray.from_arrays(
        coded.indices.cast(kind.index_type), coded.dictionary
    )


@pytest.mark.slow
def test_columns_of_arrow_that_are_kept_have_the_types_that_they_had():
    values = {name: VALUES.get(name, ["a", None, "b"]) * 4 for name in TYPES}
    kept = {name: arrow_array(own, TYPES[name]) for name, own in values.items()}
    made = sqlanon.anonymize(pyarrow.table({"age": AGES, **kept}), UNNAMED)
    assert made.schema.types == [pyarrow.string(), *TYPES.values()]
    for name, column in kept.items():
        own = sorted(map(repr, column.to_pylist()))
        assert sorted(map(repr, made[name].to_pylist())) == own, name


DICTIONARY = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())


def marked(make):
    """A frame with a categorical column whose one outlier is suppressed, of a kind."""
    ages, ills = [*AGES, 99], [*["flu"] * 12, MARKER]
    return make({"age": ages, "ill": ills})


def of_pandas(columns):
    frame = pandas.DataFrame(columns, index=[f"{MARKER} {n}" for n in range(13)])
    frame.attrs["source"] = MARKER
    return frame.astype({"ill": "category"})


MADE = {
    "pandas": of_pandas,
    "polars": lambda columns: polars.DataFrame(
        columns, schema_overrides={"ill": polars.Categorical}
    ),
    "enum": lambda columns: polars.DataFrame(
        columns, schema_overrides={"ill": polars.Enum(["flu", MARKER])}
    ),
    "arrow": lambda columns: pyarrow.table(
        [columns["age"], pyarrow.array(columns["ill"]).dictionary_encode()],
        schema=pyarrow.schema(
            [("age", pyarrow.int64()), ("ill", DICTIONARY)],
            metadata={"note": MARKER},
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_nothing_of_a_suppressed_record_comes_along(kind):
    frame = marked(MADE[kind])
    assert MARKER.encode() in pickle.dumps(frame)
    published = sqlanon.anonymize(frame, {**LEVELS, "identifiers": [], "suppression_limit": 0.1})
    assert len(rows(published)) == 12
    assert MARKER.encode() not in pickle.dumps(published)


def test_the_index_of_pandas_is_left_behind():
    frame = TABLE.to_pandas().set_index("name")
    assert sqlanon.anonymize(frame, UNNAMED).index.equals(pandas.RangeIndex(12))


GRADES = ["low", "high"] * 6
DECLARED = ["unused", "low", "high"]
ORDERED = pyarrow.DictionaryArray.from_arrays(
    pyarrow.array([1, 2] * 6, pyarrow.int8()), pyarrow.array(DECLARED), ordered=True
)
GRADED = {
    "pandas": lambda: pandas.DataFrame({"grade": pandas.Categorical(GRADES, DECLARED, True)}),
    "polars": lambda: polars.DataFrame({"grade": polars.Series(GRADES, dtype=polars.Categorical)}),
    "enum": lambda: polars.DataFrame({"grade": GRADES}, {"grade": polars.Enum(DECLARED)}),
    "lazy": lambda: polars.LazyFrame({"grade": GRADES}, {"grade": polars.Enum(DECLARED)}),
    "arrow": lambda: pyarrow.table({"grade": ORDERED}),
}


def grade_type(frame):
    """The type of the column, and where it tells them its categories in their order."""
    if isinstance(frame, polars.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pyarrow.Table):
        return frame.schema.types[0], frame["grade"].chunk(0).dictionary.to_pylist()
    dtype = frame["grade"].dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return ("ordered" if dtype.ordered else "unordered"), list(dtype.categories)
    return type(dtype), list(dtype.categories) if isinstance(dtype, polars.Enum) else None


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRADED)
def test_categories_that_are_not_generalized_stay_and_list_what_is_published(kind):
    frame = GRADED[kind]()
    made = sqlanon.anonymize(frame, {"k": 2, "quasi_identifiers": {"grade": {}}})
    (before, listed), (now, published) = grade_type(frame), grade_type(made)
    assert now == before
    assert published == (None if listed is None else ["low", "high"])
    assert rows(made) == sorted(map(repr, zip(GRADES, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pandas", "enum", "arrow"])
def test_categories_that_are_generalized_become_text(kind):
    made = sqlanon.anonymize(GRADED[kind](), {"k": 7, "quasi_identifiers": {"grade": {}}})
    assert rows(made) == ["('*',)"] * 12
    kinds = pyarrow.table(made).schema.types if kind != "arrow" else made.schema.types
    assert not pyarrow.types.is_dictionary(kinds[0])


@pytest.mark.slow
def test_categories_beside_the_label_of_suppressed_records_become_text():
    grades = ["low"] * 6 + ["high"] * 6 + ["best", "worst"]
    frame = pandas.DataFrame({"grade": pandas.Categorical(grades)})
    policy = {"k": 2, "quasi_identifiers": {"grade": {}}, "suppression_limit": 0.2}
    made = sqlanon.anonymize(frame, {**policy, "suppressed": "keep"})
    assert pandas.api.types.is_string_dtype(made.grade.dtype)
    assert sorted(made.grade) == ["*"] * 2 + ["high"] * 6 + ["low"] * 6


@pytest.mark.slow
def test_an_ordered_dictionary_that_is_kept_stays_in_its_order():
    frame = pyarrow.table({"age": AGES, "grade": ORDERED})
    made = sqlanon.anonymize(frame, UNNAMED)
    assert grade_type(made.select(["grade"])) == (ORDERED.type, ["low", "high"])


@pytest.mark.slow
@pytest.mark.skipif(pandas.__version__ < "3", reason="pandas gives no Arrow of such categories")
def test_categories_without_a_value_of_their_own_in_the_database_are_published_as_it_has_them():
    months = pandas.Categorical(pandas.array(["2020-01", "2020-02"] * 6, dtype="period[M]"))
    frame = pandas.DataFrame({"month": months})
    made = sqlanon.anonymize(frame, {"k": 2, "quasi_identifiers": {"month": {}}})
    assert sorted(made.month) == [600] * 6 + [601] * 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        (pandas.DataFrame({0: AGES}), "1 column of the .* has a name that is no text"),
        (pandas.DataFrame({0: AGES, 1: AGES}), "2 columns of the .* have names that"),
        (pandas.DataFrame({"age": AGES, "Age": AGES}), "but for the case of letters"),
        (pandas.DataFrame({"age": AGES, "x": [1, MARKER] * 6}), "'x' .* several kinds"),
        (pandas.DataFrame({"age": AGES, "x": [object()] * 12}), "'x' .* convert or drop it"),
        (polars.DataFrame({"age": AGES, "x": [object()] * 12}), "'x' holds objects"),
        (pandas.DataFrame(), "has no columns"),
        (pandas.Series([1]), r"Series is not a (table; make a frame of it|source; give a frame)"),
        ([{"age": 1}], "a list is not a source; give a frame"),
    ],
)
def test_what_no_table_can_hold_is_told_without_a_value(frame, fault):
    with pytest.raises(SourceError, match=fault) as caught:
        sqlanon.anonymize(frame, UNNAMED)
    told = caught.value
    assert MARKER not in str(told)
    assert told.__cause__ is None
    assert told.__context__ is None


@pytest.mark.slow
def test_moments_that_would_become_one_are_refused_where_they_count():
    frame = pandas.DataFrame({"seen": SERIES["zoned"]})
    policy = {"k": 2, "quasi_identifiers": {"seen": {}}}
    with pytest.raises(SourceError, match="'seen' has 8 values between two microseconds"):
        sqlanon.anonymize(frame, policy)
    frame["seen"] = frame.seen.dt.round("us")
    assert sqlanon.anonymize(frame, policy).seen.dtype == frame.seen.dtype


@pytest.mark.slow
def test_nothing_comes_back_where_no_recoding_satisfies_the_policy():
    with pytest.raises(UnsatisfiableError):
        sqlanon.anonymize(TABLE, {**POLICY, "quasi_identifiers": {"age": {"level": 0}}})


def made_of(columns):
    return Policy(columns[1:2], identifiers=columns[:1], models=[KAnonymity(4)])


@pytest.mark.slow
def test_a_policy_is_a_path_a_dict_a_policy_or_a_function(tmp_path):
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 20}\n" for age in AGES))
    path = tmp_path / "policy.toml"
    path.write_text('k = 4\nidentifiers = ["name"]\n[quasi_identifiers]\nage = "age.csv"\n')
    expected = sqlanon.check(TABLE, made_of(["name", "age"]))
    for policy in (path, str(path), POLICY, made_of):
        found = sqlanon.check(TABLE, policy)
        assert (found.statistics, found.models) == (expected.statistics, expected.models)


@pytest.mark.slow
def test_method_and_loss_of_a_policy_file_count():
    said = POLICY | {"method": "mondrian", "loss": "tree", "scheme": "ghs"}
    report = sqlanon.plan(TABLE, said).report
    assert (report.method, report.loss_name) == ("mondrian", "tree")
    assert sqlanon.plan(TABLE, said, method="scheme", loss="lm").report.schemes == {"age": "ghs"}
    assert sqlanon.bound(TABLE, said).loss == "tree"
    assert sqlanon.compare(TABLE, said, methods=["mondrian"]).losses == ("tree",)


@pytest.mark.slow
def test_a_source_with_one_table_needs_no_name(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "".join(f"{age}\n" for age in AGES))
    policy = UNNAMED
    assert sqlanon.check(path, policy).statistics.records == 12
    report = sqlanon.anonymize(path, policy, output=tmp_path / "made.parquet")
    assert report.holds
    assert sqlanon.measure(path, tmp_path / "made.parquet", policy).records == 12


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: sqlanon.check(TABLE, None), "policy is missing"),
        (lambda: sqlanon.anonymize(POLICY, TABLE), "policy comes second"),
        (lambda: sqlanon.check(TABLE, TABLE), "policy comes second"),
        (lambda: sqlanon.check({"age": [1]}, POLICY), "a dict is no table"),
        (lambda: sqlanon.check(TABLE, POLICY, table="people"), "frame is the table itself"),
        (lambda: sqlanon.check("people.csv", "people"), "no policy file 'people'"),
        (lambda: sqlanon.check(TABLE, 5), "not an int"),
        (lambda: sqlanon.plan(TABLE, lambda _columns: {"k": 2}), "must be a Policy, not a dict"),
        (lambda: sqlanon.check(TABLE, {"kk": 5}), "policy: unknown key"),
        (lambda: sqlanon.anonymize(TABLE, POLICY, into="made"), "source is a frame"),
        (lambda: sqlanon.anonymize(TABLE, POLICY, in_place=True), "source is a frame"),
        (lambda: sqlanon.mine(TABLE, POLICY, into="made"), "source is a frame"),
        (
            lambda: sqlanon.anonymize(TABLE, POLICY, output="a.csv", with_report=True),
            "leave it out",
        ),
        (lambda: sqlanon.anonymize(TABLE, {**POLICY, "others": None}), "no role: 'ill'"),
    ],
)
def test_arguments_that_are_mixed_up_are_told(call, fault):
    with pytest.raises((PolicyError, SourceError), match=fault):
        call()


@pytest.mark.slow
def test_the_policy_of_two_tables_may_be_a_keyword():
    named = sqlanon.measure(TABLE, TABLE, policy=POLICY)
    assert named.records == sqlanon.measure(TABLE, TABLE, POLICY).records == TABLE.num_rows


@pytest.mark.slow
def test_a_draft_is_taken_for_its_policy_once_every_column_has_a_role():
    draft = sqlanon.suggest(TABLE)
    assert sqlanon.check(TABLE, draft).statistics == sqlanon.check(TABLE, draft.policy).statistics
    with pytest.raises(PolicyError, match="no role: 'ill'"):
        sqlanon.anonymize(TABLE, draft)


@pytest.mark.slow
def test_integers_of_128_bits_of_polars_come_back():
    values = [2**70, 2**70, 5, 5]
    frame = polars.DataFrame({"a": [1, 1, 2, 2], "x": polars.Series(values, dtype=polars.Int128)})
    for policy in (
        Policy(["a"], keep=["x"], models=[KAnonymity(2)]),
        Policy(["a", "x"], models=[KAnonymity(2)]),
    ):
        public = sqlanon.anonymize(frame, policy)
        assert public.schema["x"] == polars.Int128
        assert sorted(public["x"]) == sorted(values)
    dropped = Policy(["a"], drop=["x"], models=[KAnonymity(2)])
    long = frame.with_columns(x=polars.Series([2**127 - 1] * 4, dtype=polars.Int128))
    assert sqlanon.anonymize(long, dropped).columns == ["a"]
    with pytest.raises(SourceError, match=r"column 'x' \(Int128\) .* more than 38 digits"):
        sqlanon.anonymize(long, policy)
