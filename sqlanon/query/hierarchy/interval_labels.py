"""The labels of intervals: exact borders for integers, decimals and floats alike.

A value is first counted in whole units of the grid, 10^-scale, and everything after that is
integer arithmetic. A float is compared with the double nearest to a border, which is the number
that the border's own text denotes; so 0.3 lies in `[0.3, 0.4)` although the double is below 3/10.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.dialects import bounds
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.number_ranges import HALF_OPEN, NumberRange
from sqlanon.hierarchy.rules import GRID_DIGITS, Intervals
from sqlanon.query.encode import WHOLE
from sqlanon.query.syntax import (
    NOT_FINITE,
    between,
    bigint,
    case,
    joined,
    not_null,
    type_name,
    varchar,
)

_Type = exp.DataType.Type
_FLOATS = {_Type.FLOAT, _Type.DOUBLE}
_DECIMALS = {_Type.DECIMAL}
_EXACT_DIGITS = 18
_DECIMAL_DIGITS = 38
_LARGEST_DOUBLE = "1.7976931348623157e308"


@dataclass(frozen=True, slots=True)
class _Grid:
    """The borders in units, and what may lie outside of them.

    Args:
        scale: A unit is 10^-scale.
        origin: A border of every level, in [0, largest width) [units].
        low: Values below it are one node [units]; None where there is no such end.
        high: Values from it on are one node [units]; None where there is no such end.
        limit: Values beyond it, on either side, are too large to count in units [whole numbers].
        whole: Whether values are integers on an integer grid, so that labels are `20-24`.
    """

    scale: int
    origin: int
    low: int | None
    high: int | None
    limit: int
    whole: bool

    def text(self, units: int) -> str:
        """A border for people, with all decimals of the grid."""
        sign, digits = "-" if units < 0 else "", str(abs(units)).rjust(self.scale + 1, "0")
        if not self.scale:
            return sign + digits
        return f"{sign}{digits[: -self.scale]}.{digits[-self.scale :]}"

    @property
    def below(self) -> str:
        """The label of the lower open end."""
        low = f"-{self.limit}" if self.low is None else self.text(self.low)
        return NumberRange(None, low, has_high=False).label

    @property
    def above(self) -> str:
        """The label of the upper open end."""
        high = str(self.limit) if self.high is None else self.text(self.high)
        return NumberRange(high, None).label


def interval_labels(
    rule: Intervals, column: exp.Expr, *, column_type: exp.DataType, name: str
) -> list[exp.Expr]:
    """The interval that holds a value, at each level below the top; `name` is for messages.

    Raises:
        HierarchyError: If the column is not numeric, or has more decimals than can be counted.
    """
    subject = f"hierarchy 'intervals' of column {name!r}"
    if column_type.this not in {*WHOLE, *_FLOATS, *_DECIMALS}:
        is_text = column_type.this in exp.DataType.TEXT_TYPES
        advice = (
            "; in a text file, name what stands for no value (--nullstr NA), and write fractions "
            "behind a point"
        )
        raise HierarchyError(
            f"{subject} needs a numeric column, not {type_name(column_type)}; cast the column"
            f"{advice if is_text else ''}"
        )
    _check_decimals(rule, column_type, subject=subject)
    value = exp.cast(column, _Type.DOUBLE) if column_type.this is _Type.FLOAT else column
    grid = _grid(rule, column_type)
    units = _units(value, column_type, scale=grid.scale)
    ends = [*_outer_ends(value, column_type, grid=grid), *_inner_ends(units, grid)]
    return [
        not_null(column, _label(units, rule.units(width), grid=grid), *ends)
        for width in rule.widths
    ]


def _check_decimals(rule: Intervals, column_type: exp.DataType, *, subject: str) -> None:
    if column_type.this in _DECIMALS:
        precision, decimals = _precision(column_type)
        digits = decimals + min(_EXACT_DIGITS, precision - decimals + rule.scale)
        if digits > _DECIMAL_DIGITS:
            raise HierarchyError(
                f"{subject} cannot count exactly with {decimals} decimals; cast the column"
            )


def _precision(column_type: exp.DataType) -> tuple[int, int]:
    """Digits and decimals of a DECIMAL; 18 and 3 where the type does not say."""
    given = [int(parameter.name) for parameter in column_type.expressions]
    return (given[0], given[1] if len(given) > 1 else 0) if given else (18, 3)


def _grid(rule: Intervals, column_type: exp.DataType) -> _Grid:
    digits = GRID_DIGITS if column_type.this in _FLOATS else _EXACT_DIGITS
    return _Grid(
        scale=rule.scale,
        origin=rule.units(rule.origin) % rule.units(rule.widths[-1]),
        low=None if rule.low is None else rule.units(rule.low),
        high=None if rule.high is None else rule.units(rule.high),
        limit=10 ** (digits - rule.scale),
        whole=column_type.this in WHOLE and rule.scale == 0,
    )


def _units(value: exp.Expr, column_type: exp.DataType, *, scale: int) -> exp.Expr:
    """The largest whole number of units that is not above the value, as BIGINT."""
    factor = 10**scale
    if column_type.this in WHOLE:
        return bigint(value) * factor if scale else bigint(value)
    if column_type.this in _DECIMALS and scale:
        # A product has no more digits than its widest factor, so that it could overflow.
        wide = exp.DataType.build(f"DECIMAL({_DECIMAL_DIGITS}, {_precision(column_type)[1]})")
        return bigint(exp.Floor(this=exp.cast(value, wide) * factor))
    if not scale:
        return bigint(exp.Floor(this=value))
    # The product is rounded, so its nearest whole number is the count, or one too high.
    nearest = exp.Floor(this=value * factor + exp.Literal.number("0.5"))
    # Both sides are exact in a double, so the quotient is the double nearest to the border.
    border = nearest / exp.cast(exp.Literal.number(factor), _Type.DOUBLE)
    excess = exp.Case(
        ifs=[case(value < border, exp.Literal.number(1))], default=exp.Literal.number(0)
    )
    return bigint(nearest) - excess


def _outer_ends(value: exp.Expr, column_type: exp.DataType, *, grid: _Grid) -> list[exp.If]:
    """Labels of values that no unit counts: NaN, infinities, and values beyond the limit."""
    least, most = -grid.limit, grid.limit
    kind = column_type.this
    if kind in _FLOATS:
        # NaN is above every number, for a comparison.
        largest = exp.Literal.number(_LARGEST_DOUBLE)
        finite = exp.Between(this=value, low=exp.Neg(this=largest), high=largest)
        return [
            case(exp.Not(this=finite), NOT_FINITE),
            case(value < least, grid.below),
            case(value >= most, grid.above),
        ]
    if kind in _DECIMALS:
        precision, decimals = _precision(column_type)
        # The whole part: limits are powers of ten, so that decimals decide nothing.
        highest = 10 ** (precision - decimals) - 1
        lowest = -highest
    else:
        lowest, highest = bounds(column_type)
    ends = []
    if lowest < least:
        ends.append(case(value < least, grid.below))
    if highest >= most:
        ends.append(case(value >= _as_wide(most, kind), grid.above))
    return ends


def _as_wide(value: int, kind: object) -> exp.Expr:
    """The number as a literal; an unsigned type wider than HUGEINT compares inexactly with one."""
    literal = exp.Literal.number(value)
    return exp.cast(literal, _Type.UINT128) if kind is _Type.UINT128 else literal


def _inner_ends(units: exp.Expr, grid: _Grid) -> list[exp.If]:
    """The open ends that the rule asks for."""
    ends = []
    if grid.low is not None:
        ends.append(case(units < grid.low, grid.below))
    if grid.high is not None:
        ends.append(case(units >= grid.high, grid.above))
    return ends


def _label(units: exp.Expr, width: int, *, grid: _Grid) -> exp.Expr:
    """The interval around the units, cut off at the open ends."""
    clipped = grid.low is not None or grid.high is not None
    first: exp.Expr = _interval_start(units, width, origin=grid.origin % width)
    end: exp.Expr = first + width
    if grid.low is not None:
        first = exp.func("GREATEST", first, exp.convert(grid.low))
    if grid.high is not None:
        end = exp.func("LEAST", end, exp.convert(grid.high))
    if not grid.whole:
        before, middle, after = HALF_OPEN
        lower, upper = (_border_text(border, grid.scale) for border in (first, end))
        return joined(before, lower, middle, upper, after)
    if width == 1:
        return varchar(units)
    last = end - 1
    label = joined(varchar(first), between(first), varchar(last))
    if not clipped:
        return label
    return exp.Case(ifs=[case(first.eq(last), varchar(first))], default=label)


def _interval_start(units: exp.Expr, width: int, *, origin: int) -> exp.Expr:
    """The border at or below the units; SQL's remainder takes the sign of its dividend."""
    if width == 1:
        return units
    shifted = units - origin if origin else units
    return units - (shifted % width + width) % width


def _border_text(units: exp.Expr, scale: int) -> exp.Expr:
    """A border as text; a DECIMAL product keeps every decimal of the grid."""
    if not scale:
        return varchar(units)
    unit = exp.cast(exp.Literal.number(f"0.{'1'.rjust(scale, '0')}"), f"DECIMAL({scale}, {scale})")
    return varchar(exp.cast(units, "DECIMAL(19, 0)") * unit)
