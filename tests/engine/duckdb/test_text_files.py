"""Text files: types that change no value, formats that are said, errors that quote no line."""

import codecs
import os
from datetime import date, datetime
from pathlib import Path

import duckdb
import pytest
from reading import all_rows, file, types
from sqlglot import exp

from sqlanon.engine.base import Use
from sqlanon.engine.duckdb.source import open_source
from sqlanon.errors import SourceError

pytestmark = pytest.mark.slow

SHARED = Path(os.environ.get("SQLANON_DATA", "../shared/data"))


def test_a_csv_is_typed_and_named_like_the_file(tmp_path):
    text = "age,name,born,score\n40,Ann,1980-02-29,1.5\n,,,\n"
    with open_source(file(tmp_path, text)) as source:
        assert (source.kind, source.table.name) == ("file", "people")
        assert types(source) == ["BIGINT", "TEXT", "DATE", "DOUBLE"]
        assert all_rows(source) == [(40, "Ann", date(1980, 2, 29), 1.5), (None,) * 4]


@pytest.mark.parametrize("name", ["p.csv.gz", "p.tsv", "a[1]*?.csv", "ünï çode.csv", "it's.csv"])
def test_text_files_of_every_name(tmp_path, name):
    (tmp_path / "a1x.csv").write_text("i,j\n9,9\n")
    mark = "\t" if "tsv" in name else ","
    with open_source(file(tmp_path, f"i{mark}j\n1{mark}x\n", name)) as source:
        assert all_rows(source) == [(1, "x")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_headers(tmp_path, delimiter):
    text = f'"a,;|x"{delimiter}b\n1{delimiter}"2,5;3"\n'
    with open_source(file(tmp_path, text)) as source:
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
        (["2000-02-08"], "DATE"),
        (["2000-02-08T10:30:00"], "TIMESTAMP"),
        (["2000-02-08 10:30"], "TIMESTAMP"),
        (["2000-02-08T10:30:00Z"] * 2 + ["2000-02-09T10:30:00Z"], "TEXT"),
        (["2000-02-08 10:30:00+05", "2000-02-08 10:30"], "TEXT"),
        (["2000/02/08", "2000/2/9"], "TEXT"),
        (["2000-2-8"], "TEXT"),
        (["08.02.2000"], "TEXT"),
        (["02-08-2000"], "TEXT"),
        (["13/02/2020", "01/03/2020"], "TEXT"),
        (["1.000,50"], "TEXT"),
        (["1,5", "2,5"], "TEXT"),
        ([""], "TEXT"),
        (["#1", "#2"], "TEXT"),
        (["-5", "0", "-0.25"], "DOUBLE"),
        (["NULL", "1"], "TEXT"),
    ],
)
def test_no_text_is_changed_by_its_type(tmp_path, values, expected):
    path = file(tmp_path, "v;w\n" + "".join(f"{value};x\n" for value in values))
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
def test_no_two_texts_become_one_value(tmp_path, values):
    path = file(tmp_path, "v,w\n" + "".join(f"{value},x\n" for value in values))
    with open_source(path) as source:
        assert types(source) == ["TEXT", "TEXT"]
        assert len({row[0] for row in all_rows(source)}) == len(set(values))


@pytest.mark.parametrize(
    "values", [["1.0", "2.0"], ["1", "2.5"], ["1.10", "2.50"], ["1e300", "5.0"], ["1.0", ""]]
)
def test_numbers_of_every_spelling_are_numbers(tmp_path, values):
    path = file(tmp_path, "v,w\n" + "".join(f"{value},x\n" for value in values))
    with open_source(path) as source:
        assert types(source) == ["DOUBLE", "TEXT"]
        assert [row[0] for row in all_rows(source)] == [float(v) if v else None for v in values]


@pytest.mark.parametrize(
    "text", ["nan\n1.5\n2\n", '"nan"\n1.5\n', "inf,b\n1.5,x\n", "nan,b\n,\n", "nan,b\n"]
)
def test_names_that_read_like_numbers(tmp_path, text):
    with open_source(file(tmp_path, text)) as source:
        names = text.splitlines()[0].replace('"', "").split(",")
        assert list(source.engine.columns(source.table)) == names


def test_null_and_empty_text_differ_in_text_and_not_in_numbers(tmp_path):
    with open_source(file(tmp_path, 'n,t\n"","a"\n"1",""\n"2",\n')) as source:
        assert types(source) == ["BIGINT", "TEXT"]
        assert all_rows(source) == [(None, "a"), (1, ""), (2, None)]


def test_blanks_around_numbers_are_no_part_of_them(tmp_path):
    with open_source(file(tmp_path, "a, b\n1, 2\n3, 4\n")) as source:
        assert list(source.engine.columns(source.table)) == ["a", "b"]
        assert types(source) == ["BIGINT", "BIGINT"]


def test_hostile_column_names(tmp_path):
    names = ['a"b', "x; DROP TABLE t", "select", "n\nl", "Ünï çode", "it's"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    with open_source(file(tmp_path, f"{header}\n1,2,3,4,5,6\n")) as source:
        assert list(source.engine.columns(source.table)) == names


def test_byte_order_mark_and_crlf(tmp_path):
    path = tmp_path / "w.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n')
    with open_source(path) as source:
        assert list(source.engine.columns(source.table)) == ["a", "b"]
        assert types(source) == ["BIGINT", "TEXT"]
        assert all_rows(source) == [(1, "x\r\ny")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("inner", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_name_with_line_breaks_ends_no_line(tmp_path, mark, inner, end):
    path = tmp_path / "breaks.csv"
    path.write_bytes(mark + f'"a{inner}b",c{end}1,"x{inner}y"{end}2,z{end}'.encode())
    with open_source(path) as source:
        assert list(source.engine.columns(source.table)) == [f"a{inner}b", "c"]
        assert all_rows(source) == [(1, f"x{inner}y"), (2, "z")]


def test_a_header_without_rows_is_an_empty_table(tmp_path):
    with open_source(file(tmp_path, "a,b\n")) as source:
        assert all_rows(source) == []


def test_a_text_file_replaced_after_opening_does_not_matter(tmp_path):
    path = file(tmp_path, "a\n1\n")
    with open_source(path) as source:
        path.write_text("a\n2\n")
        assert all_rows(source) == [(1,)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\n\na,b\n1,2\n", "first line"),
        (b"1,2\n3,4\n", "has no header"),
        (b"a,b\nM\xfcller Alice,1\n", "UTF-8"),
        ("a,b\nAlice,1\n".encode("utf-16"), "UTF-16"),
        (b"   \n", "is empty"),
        (b"", "is empty"),
    ],
)
def test_a_bad_csv_is_one_clear_error_without_its_lines(tmp_path, data, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=message) as raised, open_source(path):
        pass
    assert "Alice" not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("end", ["7\n" * 1_000, "7\n" + "12,3456\n" * 1_000])
def test_no_piece_of_a_file_is_left_out_for_a_broken_line(tmp_path, end):
    good = "a,b\n" + "12,3456\n" * 1_000_000  # a little longer than DuckDB's pieces of 8 million
    with pytest.raises(SourceError) as caught, open_source(file(tmp_path, good + end)):
        pass
    assert "at line 1000002: it has 1 field where the header has 2" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("08/02/2000", "%d/%m/%Y", date(2000, 2, 8)),
        ("08/02/2000", "%m/%d/%Y", date(2000, 8, 2)),
        ("20000208", "%Y%m%d", date(2000, 2, 8)),
        ("8.2.00 10:30", "%-d.%-m.%y %H:%M", datetime(2000, 2, 8, 10, 30)),
        ("8. February 2000", "%d. %B %Y", date(2000, 2, 8)),
    ],
)
def test_dates_are_read_by_the_format_given(tmp_path, text, form, expected):
    with open_source(file(tmp_path, f"d,x\n{text},a\n"), date_format=form) as source:
        assert all_rows(source) == [(expected, "a")]


ONE_WRONG = "d,x,y\n" + '01/02/2000,"two\nlines",1\n\n' * 3 + "31/02/2000,a,2\n"


def dated(columns):
    return Use(frozenset(columns[1:]), dated=frozenset(columns[:1]))


def test_a_column_with_a_value_that_is_no_date_is_told_with_its_line(tmp_path):
    told = (
        r"column 'd': 1 of 4 values is no date of the format that is given \(--date-format\), "
        "the first in line 11"
    )
    form = {"date_format": "%d/%m/%Y"}
    path = file(tmp_path, ONE_WRONG)
    for use, fault in ((lambda _: Use(), rf"no column of .* text; {told}$"), (dated, told)):
        with pytest.raises(SourceError, match=f"^{fault}") as caught:
            open_source(path, use=use, **form).__enter__()
        assert "31/02" not in str(caught.value)
    both = file(
        tmp_path, ONE_WRONG.replace(",1\n", ",01/02/2000\n").replace(",2\n", ",01/02/2000\n")
    )
    with open_source(both, **form) as source:
        assert types(source) == ["TEXT", "TEXT", "DATE"]
        [note] = source.engine.opened.notes
        assert note.startswith(told.replace("\\", "") + ", so the column is text; correct")
    with pytest.raises(SourceError, match=rf"^{told}; correct what is none, or say .*--nullstr"):
        open_source(both, use=dated, **form).__enter__()


def test_a_column_that_must_be_dates_is_told_however_few_it_has(tmp_path):
    def both_dated(columns):
        return Use(dated=frozenset(columns[:2]))

    text = "d,e,f\n01/02/2000,7,01/02/2000\n" + "a,8,01/02/2000\n" * 3
    told = r"^column 'd': 3 of 4 values are no .* in line 3; column 'e': 4 of 4 .* in line 2; corr"
    form = {"date_format": "%d/%m/%Y"}
    with pytest.raises(SourceError, match=told):
        open_source(file(tmp_path, text), use=both_dated, **form).__enter__()
    few = text.replace(",01/02/2000\n", ",x\n")
    with pytest.raises(SourceError, match=r"text; column 'd': 3 of 4 values .* in line 3$"):
        open_source(file(tmp_path, few), **form).__enter__()


@pytest.mark.parametrize(
    ("values", "form", "kind"),
    [
        (["31/02/2000"], "%d/%m/%Y", "TEXT"),
        (["01/02/2000"] * 30_000 + ["31/02/2000"], "%d/%m/%Y", "TEXT"),
        (["01/02/63"], "%d/%m/%Y", "TEXT"),
        (["01/02/2000"] * 30_000 + ["01/02/63"], "%d/%m/%Y", "TEXT"),
        (["08/02/2000", "8/2/2000"], "%d/%m/%Y", "TEXT"),
        (range(300), "%Y", "BIGINT"),
    ],
)
def test_a_value_that_is_no_date_of_the_format_makes_its_column_none(tmp_path, values, form, kind):
    beside = date(2000, 2, 1).strftime(form)
    path = file(tmp_path, "d,e\n" + "".join(f"{value},{beside}\n" for value in values))
    with open_source(path, date_format=form) as source:
        assert types(source) == [kind, "DATE"]
        assert all_rows(source)[-1][0] == values[-1]


@pytest.mark.parametrize("late", [0, 30_000])
def test_years_of_two_digits_are_told(tmp_path, late):
    text = "d,e\n" + "01/02/2000,01/02/2000\n" * late + "01/02/63,01/02/2000\n"
    told = "'d': 1 of .*; years before 1000 are none, and those of two digits are %y"
    with pytest.raises(SourceError, match=told):
        open_source(file(tmp_path, text), use=dated, date_format="%d/%m/%Y").__enter__()


def test_a_text_with_few_dates_is_not_meant_to_be_dates(tmp_path):
    text = "d,e\n01/02/2000,01/02/2000\n" + "a,01/02/2000\n" * 2
    with open_source(file(tmp_path, text), date_format="%d/%m/%Y") as source:
        assert source.engine.opened.notes == []


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_a_format_is_looked_for_in_columns_that_are_dropped(tmp_path, name):
    def use(_columns):
        return Use(frozenset({"x"}))

    rows = [("2000-02-08", "{}")] * 2
    csv = "d,x\n" + "".join(f"{d},{x}\n" for d, x in rows)
    json = "".join(f'{{"d": "{d}", "x": "{x}"}}\n' for d, x in rows)
    text = csv if name == "a.csv" else json
    form = {"date_format": "%d/%m/%Y"}
    with open_source(file(tmp_path, text.replace("{}", "08/02/2000"), name), use=use, **form):
        pass
    with pytest.raises(SourceError, match=f"no column of '{name}' has nothing but dates"):
        open_source(file(tmp_path, text, name), use=use, **form).__enter__()


def exact(_columns):
    return Use(by_value=frozenset())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "20"], "BIGINT"),
        (["01", "20"], "TEXT"),
        (["1.5", "2.0"], "DOUBLE"),
        (["1.10", "2.50"], "DECIMAL(18, 2)"),
        (["1", "2.5"], "TEXT"),
        (["1"] * 30_000 + ["2.5"], "TEXT"),
        (["1.10"] * 30_000 + ["2.5"], "TEXT"),
        ([" 1", "2"], "TEXT"),
        (["1e5", "2.0"], "TEXT"),
        (["2000-02-08"], "DATE"),
        (["2000-02-08 10:30:00"], "TIMESTAMP"),
        (["2000-02-08T10:30:00"], "TEXT"),
        (["1", '""', ""], "TEXT"),
        (["1", ""], "BIGINT"),
    ],
)
def test_a_column_that_counts_as_it_is_written_is_written_so(tmp_path, values, kind):
    text = "v,w\n" + "".join(f"{value},x\n" for value in values)
    with open_source(file(tmp_path, text), use=exact) as source:
        assert types(source) == [kind, "TEXT"]
        shown = exp.cast(exp.column("v"), "VARCHAR")
        found = source.engine.rows(exp.select(shown).from_(source.table))
        assert [row[0] for row in found] == [
            {"": None, '""': ""}.get(value, value) for value in values
        ]


def test_columns_that_are_left_out_are_not_loaded(tmp_path):
    def use(columns):
        return Use(frozenset({columns[1]}))

    text = "age,name\n30,Alice\n31,Bob\n"
    lines = '{"age": 30, "name": "Alice"}\n{"age": 31, "name": "Bob"}\n'
    for path in (file(tmp_path, text), file(tmp_path, lines, "people.json")):
        with open_source(path, use=use) as source:
            assert all_rows(source) == [(30, None), (31, None)]
            stored = exp.select("column_name").from_("duckdb_columns()").where("NOT internal")
            tables = stored.where("table_name NOT IN ('people')")
            assert source.engine.rows(tables) == [("age",)]


@pytest.mark.parametrize(
    ("codec", "given"),
    [
        ("latin-1", "latin-1"),
        ("latin-1", "iso-8859-1"),
        ("cp1252", "windows-1252"),
        ("utf-16", "utf-16"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-8-sig", "utf-8"),
        ("utf-8-sig", None),
    ],
)
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_encodings(tmp_path, codec, given, name):
    data = 'näme,"a\nge"\nMüller,30\n'.encode(codec)
    with open_source(file(tmp_path, data, name), encoding=given) as source:
        assert list(source.engine.columns(source.table)) == ["näme", "a\nge"]
        assert all_rows(source) == [("Müller", 30)]


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        ("a,b\nx,1\nMüller,2\n".encode("latin-1"), None, "UTF-8 at line 3; name its encoding"),
        ("a,b\nx,1\nMüller €,2\n".encode("cp1252"), "latin-1", "latin-1 at line 3"),
        ('a,b\nx,"1\n2"\nMüller,2\n'.encode("latin-1"), None, "UTF-8 at line 4"),
        ("a,b\nx,1\nMüller,2\n".encode(), "ascii", "ascii at line 3"),
        ("a,b\nx,1\n".encode("utf-16") + b"x", "utf-16", "utf-16 at line 3"),
        ("größe,b\n1,2\n".encode("latin-1"), None, "UTF-8 at line 1; name its encoding"),
        ("preis €,b\n1,2\n".encode("cp1252"), "latin-1", "latin-1 at line 1"),
        ("a,b\nMüller,1\n".encode("utf-16"), None, "UTF-16; read it with --encoding utf-16"),
    ],
)
def test_an_encoding_that_is_wrong_is_told_with_the_line(tmp_path, data, given, message):
    with (
        pytest.raises(SourceError, match=message) as raised,
        open_source(file(tmp_path, data), encoding=given),
    ):
        pass
    assert "ller" not in str(raised.value)


def test_a_copy_in_another_encoding_is_gone_once_it_is_read(tmp_path):
    spill = tmp_path / "spill"
    spill.mkdir()
    path = file(tmp_path, "a,b\nMüller,1\n".encode("cp1252"))
    with open_source(path, encoding="cp1252", temp_directory=spill):
        assert not list(spill.rglob("*.csv"))


@pytest.mark.parametrize("nulls", ["NA", ["NA", "-"], ["NA", "-", *map(str, range(100, 140))]])
def test_texts_that_stand_for_null(tmp_path, nulls):
    text = 'a,b\nNA,x\n"NA",-\n3,\n'
    with open_source(file(tmp_path, text), nullstr=nulls) as source:
        dash = None if isinstance(nulls, list) else "-"
        assert all_rows(source) == [(None, "x"), (None, dash), (3, None)]


@pytest.mark.parametrize(
    ("mark", "given"), [(":", ":"), ("\t", "tab"), ("\t", "\\t"), ("\t", "\t")]
)
def test_delimiters(tmp_path, mark, given):
    with open_source(file(tmp_path, f"a,{mark}b\n1{mark}2\n"), delimiter=given) as source:
        assert all_rows(source) == [(1, 2)]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"date_format": "%Q"}, "is none that strptime reads"),
        ({"date_format": "day"}, "names no part of a date"),
        ({"date_format": "%d/%m/%Y %z"}, "has a time zone"),
        ({"date_format": 3}, "must be given as text"),
        ({"nullstr": [1]}, "must be given as text"),
        ({"delimiter": ";;"}, "is not one character"),
        ({"delimiter": ""}, "is not one character"),
        ({"delimiter": '"'}, "is not one character"),
        ({"encoding": "klingon"}, "is not known"),
        ({"encoding": "base64"}, "is not known"),
    ],
)
def test_nonsense_is_refused(tmp_path, said, message):
    path = file(tmp_path, "a,b\n1,2\n")
    with pytest.raises(SourceError, match=message), open_source(path, **said):
        pass


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1,2\n3\n", "at line 3: it has 1 field where the header has 2"),
        (b"a,b,c\n1,2,3\n3,4\n5\n", "at line 3: it has 2 fields where the header has 3$"),
        (b"a,b\n1,2\n3,4,5,6\n", "at line 3: it has more fields than the header, which has 2$"),
        (b'a,b\n1,"x\ny"\n\n3\n', "at line 5: it has 1 field"),
        (b'a,b\n1,"x\ny"\n3,"Alice\n4,5\n', "at line 4: a quote is not closed"),
        (b'a,b\n1,"Alice"w\n', "at line 2: a quote is not closed, or something follows"),
        (b'a,b\n1,"' + b"x\n" * 50_000, "at line 2: a quote is not closed"),
        (b"a,b\n1," + b"x" * 5_000_000 + b"\nAlice,2\n", "at line 2: it is too long"),
        (b"a,b\r\n1,2\n3,4\r\n", "at line 2: it ends with another line break"),
        (b"a,b\n" + b"1,2\n" * 30_000 + b"Alice\n", "at line 30002: it has 1 field"),
        (b'a,b\n1,"' + b"x" * 200_000 + b'"\nAlice\n', "at line 3: it has 1 field"),
    ],
)
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_a_broken_line_is_told_by_its_number(tmp_path, data, message, name):
    with (
        pytest.raises(SourceError, match=message) as raised,
        open_source(file(tmp_path, data, name)),
    ):
        pass
    assert str(raised.value).startswith(f"'{name}' is not a regular CSV file at line ")
    assert "Alice" not in str(raised.value)
    assert raised.value.__context__ is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,a\n1,2,3\n", "several columns called 'a'"),
        ("Age,age\n1,2\n", "several columns called 'Age', 'age'"),
        (",a,\n1,2,3\n", "no name for columns 1 and 3"),
        (",,a\n1,2,3\n", "no name for columns 1 and 2"),
        ('""\n1\n', "no name for column 1"),
        (f"a{',' * 7}\n", "no name for columns 2, 3, 4, 5, 6 and 2 more;"),
        ("a,b,\n1,2,\n", "no name for column 3"),
        (",Column0\n1,2\n", "no name for column 1, which would be called 'column0', and another"),
        (",1,2\n1,2,3\n", "has no header"),
    ],
)
def test_a_header_names_every_column_once(tmp_path, text, message):
    with pytest.raises(SourceError, match=message), open_source(file(tmp_path, text)):
        pass


@pytest.mark.parametrize("first", ["", '""', " ", '" "'])
@pytest.mark.parametrize("mark", [",", "\t"])
def test_row_names_without_a_name_are_column0(tmp_path, first, mark):
    path = file(tmp_path, f"{first}{mark}age\n7{mark}41\n9{mark}42\n")
    with open_source(path) as source:
        assert list(source.engine.columns(source.table)) == ["column0", "age"]
        assert all_rows(source) == [(7, 41), (9, 42)]
        [note] = source.engine.opened.notes
        assert note.startswith("the header of 'people.csv' has no name for its first column")
    [as_duckdb, _] = duckdb.read_csv(str(path)).columns
    assert as_duckdb == "column0"


@pytest.mark.parametrize("rows", ["1 2 3\n4 5 6\n", '"1" 1 2 3\n"2" 4 5 6\n'])
@pytest.mark.parametrize("header", ["t age sex\n", '"t" "age" "sex"\n'])
def test_fields_that_blanks_part_are_told_with_the_way_out(tmp_path, header, rows):
    advice = "if blanks part its fields, say so with --delimiter ' '"
    try:
        with open_source(file(tmp_path, header + rows)) as source:
            [told] = source.engine.opened.notes
    except SourceError as error:
        told = str(error)
    assert told.endswith(advice)


@pytest.mark.parametrize(
    ("text", "is_noted"),
    [
        ("full name\nAnn Lee\nBo van Dam\n", False),
        ('"a";"b"\n1;54,3\n2;60\n', True),
        ('a,b\n1,"54,3"\n2,\n', True),
        ("a;b\n1;54,3\n2;x\n", False),
        ("a;b\n1;54\n2;60\n", False),
    ],
)
def test_a_comma_for_the_decimal_point_is_noted(tmp_path, text, is_noted):
    with open_source(file(tmp_path, text)) as source:
        notes = source.engine.opened.notes
    expected = ["column 'b' of 'people.csv': numbers with a comma are read as text"]
    assert [note.partition(";")[0] for note in notes] == expected * is_noted


def test_names_that_differ_for_the_database_are_two(tmp_path):
    with open_source(file(tmp_path, "Ä,ä\n1,2\n")) as source:
        assert all_rows(source) == [(1, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": 2}\n{"a": Alice}\n', "not JSON at line 3"),
        ('[{"a": 1},\n {"a": Alice}]', "not JSON at line 2"),
        ('{"a": 1}\n["Alice"]\n', "objects, one a line or in one array"),
    ],
)
def test_broken_json_is_told_by_its_line(tmp_path, text, message):
    path = file(tmp_path, text, "people.jsonl")
    with pytest.raises(SourceError, match=message) as raised, open_source(path):
        pass
    assert "Alice" not in str(raised.value)


def test_texts_of_json_are_not_guessed_to_be_dates(tmp_path):
    line = (
        '{"d": "02-08-2000", "t": "10:30", "z": "2000-01-02T10:00:00Z", "in": {"d": "02-08-2000"}}'
    )
    with open_source(file(tmp_path, line, "people.json")) as source:
        zoned = "2000-01-02T10:00:00Z"
        assert all_rows(source) == [("02-08-2000", "10:30", zoned, {"d": "02-08-2000"})]


def test_dates_of_json_are_read_by_the_format_given(tmp_path):
    path = file(tmp_path, '{"d": "08/02/2000", "n": "NA"}', "people.json")
    with open_source(path, date_format="%d/%m/%Y", nullstr="NA") as source:
        assert all_rows(source) == [(date(2000, 2, 8), None)]


@pytest.mark.parametrize("said", [{"delimiter": ";"}, {"encoding": "latin-1"}])
def test_json_says_by_itself_how_it_is_written(tmp_path, said):
    path = file(tmp_path, '{"a": 1}', "people.json")
    with pytest.raises(SourceError, match="is a JSON file, which"), open_source(path, **said):
        pass


@pytest.mark.skipif(not SHARED.is_dir(), reason="the census files are not on this machine")
@pytest.mark.parametrize(
    ("name", "rows"),
    [("adult", 32_561), pytest.param("ihis_like", 1_185_424, marks=pytest.mark.slow)],
)
def test_real_files_are_read_whole(name, rows):
    with open_source(SHARED / f"{name}.csv.gz") as source:
        count = exp.select(exp.Count(this=exp.Star())).from_(source.table)
        assert source.engine.rows(count) == [(rows,)]
