"""JSON files: what their numbers and keys become, and what is wrong with one."""

import json

import pytest
from sqlglot import exp

from sqlanon.engine.duckdb.source import open_source
from sqlanon.errors import SourceError


def rows(path):
    with open_source(path) as source:
        return source.engine.rows(exp.select("*").from_(source.table))


def lines(tmp_path, *records):
    path = tmp_path / "people.json"
    texts = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "numbers",
    [
        [2**64 + number for number in range(12)],
        [9007199254740993, 9007199254740992, 1.5],
        [-(10**17) - number for number in range(5)] + [0.5],
    ],
)
def test_integers_of_json_stay_distinct(tmp_path, numbers):
    path = lines(tmp_path, *({"id": number, "z": 1} for number in numbers))
    assert [id for id, _ in rows(path)] == [str(number) for number in numbers]


@pytest.mark.parametrize(
    "wrapped", [lambda id: {"in": id}, lambda id: [id], lambda id: [{"x": id}]]
)
def test_integers_inside_values_of_json_stay_distinct(tmp_path, wrapped):
    path = lines(tmp_path, *({"o": wrapped(2**64 + number)} for number in range(3)))
    assert [o for (o,) in rows(path)] == [wrapped(str(2**64 + number)) for number in range(3)]


def test_fractions_of_json_stay_numbers(tmp_path):
    path = lines(tmp_path, {"n": 1.5}, {"n": 3}, {"n": 1e22}, {"n": None}, {"n": 123456789012345})
    assert rows(path) == [(1.5,), (3.0,), (1e22,), (None,), (123456789012345.0,)]


@pytest.mark.parametrize(("one", "other"), [("id", "ID"), ("id_1", "ID_1")])
def test_keys_that_differ_only_in_case_are_refused(tmp_path, one, other):
    path = lines(tmp_path, {"z": 1, one: 7}, {"z": 1, other: 8})
    with pytest.raises(SourceError, match=f"several columns called '{other}', '{one}'"):
        rows(path)


def test_keys_that_only_look_renamed_are_read(tmp_path):
    assert rows(lines(tmp_path, {"id": 1, "ID_1": 2, "id_1_1": 3})) == [(1, 2, 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("[]", "is empty"),
        ("{}\n{}", "is empty"),
        ('{"a": 1, "": "Alice"}', "a key that is empty"),
        ('{"a": 1}\n{"a": "Alice", "a": 2}', "a key more than once in record 2"),
        ('{\n"o": {"Alice": 1, "Alice": 2}\n}', "a key more than once in record 1"),
        ('{"o": {"Alice": 1}}\n{"o": {"ALICE": 1}}', "with keys that differ only in"),
        ('\ufeff[{"a": "Alice"}]', "byte order mark"),
        ('{"a": 1}\n{"a": "\udce9 Alice"}', "not encoded in UTF-8 at line 2"),
    ],
)
def test_faults_of_json_are_called_by_their_name(tmp_path, text, message):
    path = tmp_path / "people.json"
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    with pytest.raises(SourceError, match=message) as raised:
        rows(path)
    assert "is not JSON" not in str(raised.value)
    assert "Alice" not in str(raised.value)


@pytest.mark.parametrize("names", [["a", "a"], ["a", "b", "A"]])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columns_of_one_name_are_refused(tmp_path, names, ending):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import ipc, parquet

    inner = pa.array([{"a": 1, "b": {"c": 2}}])
    table = pa.Table.from_arrays([inner, *(pa.array([1]) for _ in names)], names=["o", *names])
    path = tmp_path / f"people.{ending}"
    if ending == "parquet":
        parquet.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    with pytest.raises(SourceError, match=r"has several columns called '[aA]'"):
        rows(path)


def test_fields_called_like_a_column_are_no_columns(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"o": [{"a": 1, "b": {"a": 2}}], "a": [3]})
    parquet.write_table(table, tmp_path / "people.parquet")
    assert rows(tmp_path / "people.parquet") == [({"a": 1, "b": {"a": 2}}, 3)]
