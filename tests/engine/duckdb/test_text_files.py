"""Reading text files: types that change no value, and errors that quote no line."""

import gzip
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from sqlanon.engine.duckdb.source import OpenedSource, open_source
from sqlanon.errors import SourceError

SHARED = Path(os.environ.get("SQLANON_DATA", "../shared/data"))


def all_rows(source: OpenedSource) -> list[tuple[Any, ...]]:
    return source.engine.rows(exp.select("*").from_(source.table))


def types(source: OpenedSource) -> list[str]:
    return [kind.sql("duckdb") for kind in source.engine.columns(source.table).values()]


def csv(folder: Path, text: str, name: str = "people.csv") -> Path:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def test_a_csv_is_typed_and_named_like_the_file(tmp_path: Path) -> None:
    text = "age,name,born,score\n40,Ann,1980-02-29,1.5\n,,,\n"
    with open_source(csv(tmp_path, text)) as source:
        assert (source.kind, source.table.name) == ("file", "people")
        assert types(source) == ["BIGINT", "TEXT", "DATE", "DOUBLE"]
        assert all_rows(source) == [(40, "Ann", date(1980, 2, 29), 1.5), (None,) * 4]


@pytest.mark.parametrize("name", ["p.csv.gz", "p.tsv", "a[1]*?.csv", "ünï çode.csv", "it's.csv"])
def test_text_files_of_every_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "a1x.csv").write_text("i,j\n9,9\n")
    mark = "\t" if "tsv" in name else ","
    with open_source(csv(tmp_path, f"i{mark}j\n1{mark}x\n", name)) as source:
        assert all_rows(source) == [(1, "x")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_headers(tmp_path: Path, delimiter: str) -> None:
    text = f'"a,;|x"{delimiter}b\n1{delimiter}"2,5;3"\n'
    with open_source(csv(tmp_path, text)) as source:
        assert list(source.engine.columns(source.table)) == ["a,;|x", "b"]
        assert all_rows(source) == [(1, "2,5;3")]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["01234", "99999"], "TEXT"),
        (["99999"] * 30_000 + ["01234"], "TEXT"),
        (["1"] * 30_000 + ["1.5"], "DOUBLE"),
        (["1"] * 30_000 + ["1e2"], "DOUBLE"),
        (["1"] * 30_000 + ["x"], "TEXT"),
        ([""] * 30_000 + ["7"], "BIGINT"),
        (["1.5"] * 30_000 + ["007"], "TEXT"),
        (["1.5"] * 30_000 + ["12345678901234567"], "TEXT"),
        (["12345678901234567890123"], "TEXT"),
        (["+49123", "+5"], "TEXT"),
        (["yes", "no"], "TEXT"),
        (["True", "False"], "TEXT"),
        (["t", "f"], "TEXT"),
        (["10:30"], "TEXT"),
        (["2020-01-02"] * 30_000 + ["unknown"], "TEXT"),
        (["2020-01-02 10:00:00"], "TIMESTAMP"),
        (["2020-01-02T10:00:00Z"], "TEXT"),
        (["#1", "#2"], "TEXT"),
        (["-5", "0", "-0.25"], "DOUBLE"),
        (["NULL", "1"], "TEXT"),
    ],
)
def test_no_text_is_changed_by_its_type(tmp_path: Path, values: list[str], expected: str) -> None:
    path = csv(tmp_path, "v,w\n" + "".join(f"{value},x\n" for value in values))
    with open_source(path) as source:
        assert types(source) == [expected, "TEXT"]
        found = [row[0] for row in all_rows(source)]
        if expected == "TEXT":
            assert found == [value or None for value in values]
        if expected == "DOUBLE":
            assert found == [float(value) for value in values]


@pytest.mark.parametrize(
    "values",
    [
        ["1.0", "1.00"],
        ["1", "1.0"],
        ["0.1", "0.1000000000000000055"],
        ["nan", "NaN"],
        ["1", " 1"],
        ["1", '""', ""],
        ["2020-01-02 10:00:00", "2020-01-02 10:00"],
        ["13/02/2020", "13/2/2020"],
        ["1.5"] * 30_000 + ["1.50"],
    ],
)
def test_no_two_texts_become_one_value(tmp_path: Path, values: list[str]) -> None:
    path = csv(tmp_path, "v,w\n" + "".join(f"{value},x\n" for value in values))
    with open_source(path) as source:
        assert types(source) == ["TEXT", "TEXT"]
        assert len({row[0] for row in all_rows(source)}) == len(set(values))


@pytest.mark.parametrize(
    "values", [["1.0", "2.0"], ["1", "2.5"], ["1.10", "2.50"], ["1e300", "5.0"], ["1.0", ""]]
)
def test_numbers_of_every_spelling_are_numbers(tmp_path: Path, values: list[str]) -> None:
    path = csv(tmp_path, "v,w\n" + "".join(f"{value},x\n" for value in values))
    with open_source(path) as source:
        assert types(source) == ["DOUBLE", "TEXT"]
        assert [row[0] for row in all_rows(source)] == [float(v) if v else None for v in values]


@pytest.mark.parametrize(
    "text", ["nan\n1.5\n2\n", '"nan"\n1.5\n', "inf,b\n1.5,x\n", "nan,b\n,\n", "nan,b\n"]
)
def test_names_that_read_like_numbers(tmp_path: Path, text: str) -> None:
    with open_source(csv(tmp_path, text)) as source:
        names = text.splitlines()[0].replace('"', "").split(",")
        assert list(source.engine.columns(source.table)) == names


@pytest.mark.every_row
@pytest.mark.parametrize(
    "days", [["13/02/2020", "01/03/2020"], ["08/02/2000", "01/03/2000"], ["02-08-2000"]]
)
def test_dates_are_not_guessed(tmp_path: Path, days: list[str]) -> None:
    with open_source(csv(tmp_path, "d,x\n" + "".join(f"{day},1\n" for day in days))) as source:
        assert [row[0] for row in all_rows(source)] == days


def test_dates_of_the_format_given_are_dates(tmp_path: Path) -> None:
    path = csv(tmp_path, "d,x\n13/02/2020,1\n08/02/2000,2\n,3\n")
    with open_source(path, date_format="%d/%m/%Y") as source:
        assert types(source) == ["DATE", "BIGINT"]
        assert [row[0] for row in all_rows(source)] == [date(2020, 2, 13), date(2000, 2, 8), None]


def test_null_and_empty_text_differ_in_text_and_not_in_numbers(tmp_path: Path) -> None:
    with open_source(csv(tmp_path, 'n,t\n"","a"\n"1",""\n"2",\n')) as source:
        assert types(source) == ["BIGINT", "TEXT"]
        assert all_rows(source) == [(None, "a"), (1, ""), (2, None)]


def test_blanks_around_numbers_are_no_part_of_them(tmp_path: Path) -> None:
    with open_source(csv(tmp_path, "a, b\n1, 2\n3, 4\n")) as source:
        assert list(source.engine.columns(source.table)) == ["a", "b"]
        assert types(source) == ["BIGINT", "BIGINT"]


def test_hostile_column_names(tmp_path: Path) -> None:
    names = ['a"b', "x; DROP TABLE t", "select", "n\nl", "Ünï çode", "it's"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    with open_source(csv(tmp_path, f"{header}\n1,2,3,4,5,6\n")) as source:
        assert list(source.engine.columns(source.table)) == names


def test_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n')
    with open_source(path) as source:
        assert list(source.engine.columns(source.table)) == ["a", "b"]
        assert types(source) == ["BIGINT", "TEXT"]
        assert all_rows(source) == [(1, "x\r\ny")]


def test_a_header_without_rows_is_an_empty_table(tmp_path: Path) -> None:
    with open_source(csv(tmp_path, "a,b\n")) as source:
        assert all_rows(source) == []


def test_a_text_file_replaced_after_opening_does_not_matter(tmp_path: Path) -> None:
    path = csv(tmp_path, "a\n1\n")
    with open_source(path) as source:
        path.write_text("a\n2\n")
        assert all_rows(source) == [(1,)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1,2\nAlice,2,3\n", "regular CSV"),
        (b"a,b\n" + b"1,2\n" * 30_000 + b"Alice,2,3\n", "regular CSV file at line 30002"),
        (b'a,b\n1,"Alice\n', "regular CSV"),
        (b"\n\na,b\n1,2\n", "first line"),
        (b"1,2\n3,4\n", "has no header"),
        (b"a,b\nM\xfcller Alice,1\n", "UTF-8"),
        ("a,b\nAlice,1\n".encode("utf-16"), "UTF-16"),
        (b"   \n", "is empty"),
        (b"", "is empty"),
    ],
)
def test_a_bad_csv_is_one_clear_error_without_its_lines(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=message) as raised, open_source(path):
        pass
    assert "Alice" not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("end", ["7\n" * 1_000, "7\n" + "12,3456\n" * 1_000])
def test_no_piece_of_a_file_is_left_out_for_a_broken_line(tmp_path: Path, end: str) -> None:
    good = "a,b\n" + "12,3456\n" * 1_000_000  # a little longer than DuckDB's pieces of 8 million
    with pytest.raises(SourceError) as caught, open_source(csv(tmp_path, good + end)):
        pass
    assert "at line 1000002: it has 1 field where the header has 2" in str(caught.value)


def test_json_lines_and_arrays(tmp_path: Path) -> None:
    lines, array = tmp_path / "l.jsonl", tmp_path / "a.json"
    lines.write_text('{"zip": "01234", "n": 1}\n{"zip": "9", "n": null}\n')
    array.write_text('[{"zip": "01234", "n": 1}, {"zip": "9", "n": null}]')
    for path in (lines, array):
        with open_source(path) as source:
            assert all_rows(source) == [("01234", 1), ("9", None)]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the census files are not on this machine")
@pytest.mark.parametrize(
    ("name", "rows"),
    [("adult", 32_561), pytest.param("ihis_like", 1_185_424, marks=pytest.mark.slow)],
)
def test_real_files_are_read_whole(name: str, rows: int) -> None:
    with open_source(SHARED / f"{name}.csv.gz") as source:
        count = exp.select(exp.Count(this=exp.Star())).from_(source.table)
        assert source.engine.rows(count) == [(rows,)]
