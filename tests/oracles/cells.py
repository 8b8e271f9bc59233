"""Every scalar type of DuckDB's: values of it, and what a reader that is not DuckDB makes of them.

A value is told by DuckDB's own text for it in UTC. `meaning` makes a Python object of such a text,
`of_arrow` the same of a cell of pyarrow's, so that a number, an instant or bytes are compared as
such, however a file spells them.
"""

import re
import struct
from datetime import date
from decimal import Decimal
from functools import partial

import pyarrow
import pyarrow.parquet
from databases import has_type, reads_longest_intervals, sorts_signed_zeros
from pyarrow import ipc

ENDLESS = {"infinity", "-infinity"}
DAY = 86_400 * 10**9  # nanoseconds
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
EPOCH = date(1970, 1, 1).toordinal()
CYCLE_YEARS, CYCLE_DAYS = 400, 146_097  # after which the calendar repeats


def days_of(text):
    """Days since 1970-01-01 of a date, whose year may have any number of digits or be BC."""
    before_christ = text.endswith("(BC)")
    year, month, day = map(int, text.removesuffix(" (BC)").split("-"))
    year = 1 - year if before_christ else year
    cycles, rest = divmod(year - 1, CYCLE_YEARS)
    return date(rest + 1, month, day).toordinal() - EPOCH + cycles * CYCLE_DAYS


def time_of(text):
    """Nanoseconds since midnight."""
    hours, minutes, seconds = text.split(":")
    whole = (int(hours) * 60 + int(minutes)) * 60 * 10**9
    return whole + int(Decimal(seconds) * 10**9)


def instant_of(text):
    """Nanoseconds since 1970-01-01 of a date and a time, in UTC where there is an offset."""
    if text in ENDLESS:
        return text
    found = re.fullmatch(r"(\d+-\d+-\d+(?: \(BC\))?) ([\d:.]+)(\+00)?", text)
    return days_of(found[1]) * DAY + time_of(found[2])


def interval_of(text):
    """Months, days and nanoseconds."""
    months = days = nanoseconds = 0
    for number, unit in re.findall(r"(-?\d+) (year|month|day)s?", text):
        months += int(number) * {"year": 12, "month": 1, "day": 0}[unit]
        days += int(number) * (unit == "day")
    for sign, clock in re.findall(r"(-?)(\d+:\d+:[\d.]+)", text):
        nanoseconds += time_of(clock) * (-1 if sign else 1)
    return months, days, nanoseconds


def bytes_of(text):
    """What DuckDB's text for a BLOB means: \\xHH is a byte."""
    return b"".join(
        bytes([int(found[1], 16)]) if found[1] else found[0].encode()
        for found in re.finditer(r"\\x([0-9A-F]{2})|.", text, re.DOTALL)
    )


def float_of(form, number):
    """The bits of a number, so that NaN is itself and -0.0 is not 0.0."""
    number = float(number)
    return "nan" if number != number else struct.pack(form, number)


def _day(text):
    return text if text in ENDLESS else days_of(text)


WHOLE = {
    "TINYINT": ["-128", "0", "127"],
    "SMALLINT": ["-32768", "0", "32767"],
    "INTEGER": ["-2147483648", "0", "2147483647"],
    "BIGINT": ["-9223372036854775808", "9007199254740993", "9223372036854775807"],
    "UTINYINT": ["0", "1", "255"],
    "USMALLINT": ["0", "1", "65535"],
    "UINTEGER": ["0", "1", "4294967295"],
    "UBIGINT": ["0", "9007199254740993", "18446744073709551615"],
    # Sums of integers: more digits than a DOUBLE has, and these differ in the last of them.
    "HUGEINT": ["9007199254740992", "9007199254740993", f"-{'9' * 38}"],
    "HUGEINT at its ends": [str(-(2**127)), "0", str(2**127 - 1)],
    "UHUGEINT": ["9007199254740992", "9007199254740993", "9" * 38],
    "UHUGEINT at its ends": ["0", "1", str(2**128 - 1)],
    "BIGNUM": ["-1", "1" + "0" * 60, "1" + "0" * 59 + "1"],
}
EXACT = {
    "DECIMAL(4,1)": ["-999.9", "0.1", "999.9"],
    "DECIMAL(9,9)": ["-.999999999", ".000000001", ".999999999"],
    "DECIMAL(18,3)": ["-123456789012345.678", "0.001", "123456789012345.678"],
    "DECIMAL(38,0)": ["-" + "9" * 38, "0", "9" * 38],
    "DECIMAL(38,10)": ["-1234567890123456789012345678.0123456789", "0.0000000001", "1.0000000000"],
    "DECIMAL(38,38)": ["-." + "9" * 38, "." + "0" * 37 + "1", "." + "9" * 38],
}
ZERO = "-0.0" if sorts_signed_zeros() else "0.0"
FLOATS = {
    "FLOAT": ["nan", "inf", "-inf", ZERO, "0.1", "3.4028235e+38"],
    "DOUBLE": ["nan", "inf", "-inf", ZERO, "0.1", "1.7976931348623157e+308", "5e-324"],
}
DAYS = {
    "DATE": ["1969-12-31", "2020-02-29", "9999-12-31"],
    "DATE without end": ["-infinity", "0044-03-15 (BC)", "290000-01-01", "infinity"],
}
INSTANTS = {
    "TIMESTAMP": ["1969-12-31 23:59:59.999999", "2020-02-29 01:02:03.456789"],
    "TIMESTAMP without end": ["-infinity", "0044-03-15 (BC) 00:00:00", "infinity"],
    "TIMESTAMP_S": ["1969-12-31 23:59:59", "2020-02-29 01:02:03"],
    "TIMESTAMP_MS": ["1969-12-31 23:59:59.999", "2020-02-29 01:02:03.456"],
    "TIMESTAMP_NS": ["1969-12-31 23:59:59.999999999", "2020-02-29 01:02:03.456789123"],
    "TIMESTAMP_NS without end": ["-infinity", "2020-02-29 01:02:03.456789123"],
}
ZONED = {
    "TIMESTAMPTZ": ["1969-12-31 23:59:59.999999+00", "2020-02-29 23:02:03.456789+00"],
    "TIMESTAMPTZ without end": ["-infinity", "2020-02-29 23:02:03+00", "infinity"],
}
if has_type("TIMESTAMPTZ_NS"):
    ZONED["TIMESTAMPTZ_NS"] = [
        "1969-12-31 23:59:59.999999999+00", "2020-02-29 23:02:03.456789123+00"
    ]  # fmt: skip
TIMES = {
    "TIME": ["00:00:00", "12:34:56.789012", "23:59:59.999999"],
    "TIME to midnight": ["00:00:00", "24:00:00"],
    "TIME_NS": ["00:00:00", "12:34:56.789012345", "23:59:59.999999999"],
}
TEXTS = {
    "BOOLEAN": ["false", "true"],
    "TIMETZ": ["00:00:00+05:30", "12:00:00+00", "13:00:00+01", "23:59:59.999999-15:59:59"],
    "BIT": ["1", "101", "00000000111", "0" * 70],
    "JSON": ['{"a": [1, null]}', '"x"', "null"],
    "ENUM('a', 'b', '', 'N''L')": ["a", "", "N'L"],
    "VARCHAR": [
        "", " ", " p ", "NULL", "\\N", "a,b", 'q"q', '"', "'", "l\nm", "\r", "a\x00b", "é",
        "01234", "-1", "#c", ";",
    ],
}  # fmt: skip
OTHERS = {
    "UUID": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "BLOB": ["", "abc", "\\x00\\xFF", "\\x0A\\x22,", "\\x5Cx41"],
}
# Versions before 2.0 do not read the text of the longest one.
LONGEST = "2562047788:00:54.775807" if reads_longest_intervals() else "999999999:00:54.775807"
INTERVALS = {
    "INTERVAL": ["1 month", "30 days", "-1 year", "1 month 2 days 03:04:05.000006", "-720:00:00"],
    "INTERVAL too long": ["00:00:00", LONGEST],
}
SCALARS = {
    **WHOLE, **EXACT, **FLOATS, **DAYS, **INSTANTS, **ZONED, **TIMES, **TEXTS, **OTHERS,
}  # fmt: skip
KEPT = SCALARS | INTERVALS
MEANINGS = {
    **dict.fromkeys(WHOLE, int),
    **dict.fromkeys(EXACT, Decimal),
    "FLOAT": partial(float_of, "f"),
    "DOUBLE": partial(float_of, "d"),
    **dict.fromkeys(DAYS, _day),
    **dict.fromkeys([*INSTANTS, *ZONED], instant_of),
    **dict.fromkeys(TIMES, time_of),
    **dict.fromkeys(TEXTS, str),
    "UUID": lambda text: text.replace("-", ""),
    "BLOB": bytes_of,
    **dict.fromkeys(INTERVALS, interval_of),
}


def type_of(name):
    """The type itself, of a name that may say more."""
    return re.split(r" (?=at|without|to|too)", name)[0]


def literal(name, text):
    """A value as DuckDB reads it."""
    quoted = "'" + text.replace("'", "''").replace("\x00", "'||chr(0)||'") + "'"
    return f"({quoted})::{type_of(name)}"


def meaning(name, text):
    """What a text of a type means; None stays None."""
    return None if text is None else MEANINGS[name](text)


def of_arrow(name, cell):
    """What a cell of pyarrow's means: of a type that is text in the file, what the text means."""
    if not cell.is_valid:
        return None
    kind = cell.type
    if pyarrow.types.is_string(kind):
        return meaning(name, cell.as_py())
    if pyarrow.types.is_date32(kind):
        return cell.cast(pyarrow.int32()).as_py()
    if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_time64(kind):
        return cell.cast(pyarrow.int64()).as_py() * UNITS[kind.unit]
    value = cell.as_py()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return MEANINGS[name](value)
    if name in WHOLE:
        assert value == int(value)
        return int(value)
    if name == "UUID":
        return value.hex() if isinstance(value, bytes) else value.hex
    return tuple(value) if name in INTERVALS else value


def read_csv(text):
    """Rows of a CSV file: None for an empty field, a text for one in quotes."""
    rows, row, end = [], [], 0
    for found in re.finditer(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n|\Z)', text):
        assert found.start() == end, "something between two fields"
        end = found.end()
        quoted, plain, mark = found.groups()
        row.append(plain or None if quoted is None else quoted.replace('""', '"'))
        if mark != ",":
            rows.append(row)
            row = []
        if end == len(text):
            return rows
    raise AssertionError("the file ends within a field")


def read_arrow(path):
    """The columns of a Parquet or an Arrow file by their names, as lists of pyarrow's cells."""
    if path.suffix == ".parquet":
        table = pyarrow.parquet.ParquetFile(path).read()
    else:
        with ipc.open_file(str(path)) as file:
            table = file.read_all()
    return {name: list(table.column(name)) for name in table.column_names}
