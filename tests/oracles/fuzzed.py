"""Random tables and policies, and what must hold of whatever comes of them.

A case is drawn from a `random.Random`, be it that of a seed or one of hypothesis. `outcome_of`
publishes it and holds the release against its table, in plain Python; `bound_of` holds a lower
bound against the least loss of all partitions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import pyarrow
from databases import empty_database, quoted

import sqlanon
from oracles.cells import (
    DAYS,
    EXACT,
    FLOATS,
    INSTANTS,
    KEPT,
    SCALARS,
    WHOLE,
    ZONED,
    literal,
    meaning,
    of_arrow,
    type_of,
)  # fmt: skip
from oracles.covers import cheapest_partition
from oracles.measures import cell_loss, lost_cell, values_under
from oracles.models import fails, fails_together
from oracles.releases import cells_in, held, holds, plain, published
from sqlanon import (
    Hierarchy,
    KAnonymity,
    Policy,
    QuasiIdentifier,
    Sensitive,
    SqlanonError,
    UnsatisfiableError,
    VerificationError,
)
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.methods.registry import AUTO, METHODS
from sqlanon.policy.privacy import (
    DISTANCES,
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    TCloseness,
)
from sqlanon.policy.sizes import AverageRisk, ClassModel, ShareAtRisk, SubsetAnonymity

ZONES = ("UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu", "Pacific/Chatham")
NAMES = (
    "age",
    'sel"ect',
    "a b, c",
    "x'; DROP TABLE people; --",
    "é\n",
    "*",
    "value",
    "MAX(x)",
    "$1",
)
THERE = (
    *("SMALLINT", "INTEGER", "BIGINT", "DECIMAL(18,3)", "DOUBLE", "BOOLEAN"),
    *("DATE", "TIMESTAMPTZ", "VARCHAR"),
)
"""Types that Spark and PostgreSQL have, too, with the same values."""
OUTPUTS_THERE = ("into", "into", "csv", "parquet", "arrow")
OUTPUTS = ("into", "in_place", "csv", "parquet", "arrow", "duckdb", "file")
BOUNDED = tuple(CELL_LOSSES)
LONG = "long " + "x" * 20_000
MARK = "MARKED cell "
GONE = "left out"
MODELS = (
    lambda draw: LDiversity(draw.randint(1, 3)),
    lambda draw: LDiversity(draw.choice([1, 1.5, 2]), "entropy"),
    lambda draw: LDiversity(draw.randint(1, 3), "recursive", draw.choice([0.5, 1, 2.5])),
    lambda draw: TCloseness(draw.choice([0.2, 0.4, 0.6, 0.8]), draw.choice(DISTANCES)),
    lambda draw: AlphaAnonymity(draw.choice([0.5, 2 / 3, 0.75, 1])),
    lambda draw: BetaLikeness(draw.choice([0.5, 1, 2]), draw.choice(["basic", "enhanced"])),
    lambda draw: DeltaDisclosure(draw.choice([1, 2, 3])),
)


WHOLE_TABLE = (
    lambda draw, _: AverageRisk(draw.choice([0.2, 1 / 3, 0.5, 0.8])),
    lambda draw, _: ShareAtRisk(draw.choice([0.25, 0.3, 0.5]), draw.choice([0, 0.1, 0.3])),
    lambda draw, width: SubsetAnonymity(draw.randint(1, width), draw.randint(2, 4)),
)
"""Models of all classes together, of so many quasi-identifiers."""


@dataclass(frozen=True)
class Case:
    """A table, its policy, and where it goes.

    Args:
        kinds: The type of each column, by names of `KEPT`.
        rows: Texts of the cells; None is NULL.
        policy: The policy.
        options: Of the search.
        output: One of `OUTPUTS`.
        zone: The time zone of the connection.
    """

    kinds: dict
    rows: list
    policy: Policy
    options: dict = field(default_factory=dict)
    output: str = "into"
    zone: str = "UTC"

    def connection(self):
        """A connection with the table `people`, whose column `id` numbers the rows."""
        opened, cells = empty_database(), []
        opened.execute(f"SET TimeZone = '{self.zone}'")
        for number, row in enumerate(self.rows):
            texts = zip(self.kinds.values(), row, strict=True)
            own = [f"NULL::{type_of(k)}" if t is None else literal(k, t) for k, t in texts]
            cells.append(f"({', '.join([str(number), *own])})")
        titles = ", ".join(map(quoted, ["id", *self.kinds]))
        opened.execute(f"CREATE TABLE people AS FROM (VALUES {', '.join(cells)}) AS t({titles})")
        return opened

    def column(self, name):
        """The texts of a column."""
        return [row[list(self.kinds).index(name)] for row in self.rows]


def texts_of(draw, kind):
    """Some values of a type, as DuckDB writes them, and perhaps NULL."""
    pool = list(KEPT[kind])
    if kind in WHOLE and kind != "BIGNUM":
        pool += [str(draw.randint(0, 100)) for _ in range(4)]
    elif kind == "DATE":
        pool += [f"20{draw.randint(10, 20)}-{draw.randint(1, 12):02}-28" for _ in range(4)]
    elif kind == "TIMESTAMPTZ":
        pool += [f"2024-0{draw.randint(1, 9)}-01 0{draw.randint(0, 9)}:30:00+00" for _ in range(4)]
    elif kind == "DOUBLE":
        pool += [str(draw.randint(-40, 40) / 4) for _ in range(4)]
    elif kind == "VARCHAR":
        pool += [MARK + letter for letter in "abc"] + [LONG, "A", "a ", "ǆ"]
    some = draw.sample(pool, min(len(pool), draw.randint(1, 5)))
    return list(dict.fromkeys(some)) + ([None] if draw.random() < 0.3 else [])


def tree_over(draw, texts, *, height=3):
    """Rows of a laminar tree over values, in whose order its nodes join neighbours."""
    rows, groups = [[text] for text in texts], [[place] for place in range(len(texts))]
    for level in range(1, draw.randint(1, height)):
        joined = []
        for group in groups:
            if joined and draw.random() < 0.5:
                joined[-1] += group
            else:
                joined.append([*group])
        groups = joined
        for group in groups:
            for place in group:
                rows[place].append(f"node {level} {group[0]}")
    return [(*row, "*") for row in rows]


def hierarchy_of(draw, kind, texts):
    """A hierarchy for the values of a column."""
    rules = [Hierarchy.suppression(), Hierarchy.from_rows(tree_over(draw, texts))]
    if kind in (WHOLE | EXACT | FLOATS):
        width = draw.choice([1, 5, 10, "0.5"])
        bounds = draw.choice([{}, {"low": 0}, {"low": -20, "high": 60}])
        rules.append(Hierarchy.intervals(*([width, 100] if draw.random() < 0.5 else [width]),
                                         **bounds))  # fmt: skip
    elif kind in (DAYS | INSTANTS) or (kind in ZONED and draw.random() < 0.2):
        rules.append(Hierarchy.dates(*draw.choice([("month", "year"), ("month",)])))
    if kind not in ZONED or draw.random() < 0.2:
        rules.append(Hierarchy.prefix(*draw.choice([(2, 1), (1,), (4, 2)])))
    return draw.choice(rules)


def bounded(draw, hierarchy):
    """A quasi-identifier with a weight and levels that may be bounded."""
    height = hierarchy.height
    low = draw.choice([0, 0, 0, min(1, height)])
    high = draw.choice([None, None, max(low, height - 1)])
    return QuasiIdentifier(hierarchy, draw.choice([1.0, 1.0, 0.5, 3.7]), low, high)


def releasing(draw, *, there=False):
    """A case of any types, roles, models, limits and methods; `there`, of types of any engine."""
    names = draw.sample(NAMES, draw.randint(1, 5))
    keys = names[: draw.randint(1, min(3, len(names)))]
    # Intervals are refused as quasi-identifiers: now and then they are tried.
    kinds = {name: draw.choice(list(SCALARS if name in keys and draw.random() < 0.9 else KEPT))
             for name in names}  # fmt: skip
    if there:
        kinds = {name: draw.choice(THERE) for name in names}
    values = {name: texts_of(draw, kind) for name, kind in kinds.items()}
    if there:  # PostgreSQL has no text with a character 0
        values = {name: [text and text.replace("\x00", "0") for text in own]
                  for name, own in values.items()}  # fmt: skip
    ill = names[len(keys) : len(keys) + draw.randint(0, 2)]
    kept = names[len(keys) + len(ill) :]
    records = draw.randint(1, 24)
    persons = draw.random() < 0.25
    models = [KAnonymity(draw.randint(1, min(4, records)))]
    models += [draw.choice(MODELS)(draw) for _ in range(draw.choice([0, 1, 1, 2])) if ill]
    if not persons and draw.random() < 0.4:
        whole = [draw.choice(WHOLE_TABLE)(draw, len(keys)) for _ in range(draw.choice([1, 1, 2]))]
        models = [*whole, *(models if draw.random() < 0.5 else models[1:])]
    rows = [
        [draw.choice(values[name][: draw.choice([2, 9])]) for name in names] for _ in range(records)
    ]
    if persons:
        kinds["who"], crowd = "INTEGER", draw.randint(1, 12)
        rows = [[*row, str(draw.randint(1, crowd))] for row in rows]
    suppressed = draw.choice(["drop", "drop", "keep"])
    policy = Policy(
        {name: bounded(draw, hierarchy_of(draw, kinds[name], values[name])) for name in keys},
        sensitive={name: sensitive_of(draw, values[name]) for name in ill},
        keep=["id", *kept],
        models=models,
        suppression_limit=draw.choice([0.0, 0.1, 0.3, 0.6, 0.9]),
        suppressed=suppressed,
        suppressed_label=GONE if suppressed == "keep" else "*",
        entity="who" if persons else None,
    )
    options = options_of(draw, policy)
    if there:
        # With 0 nothing comes here, which methods that cluster refuse.
        options["local_rows"] = draw.choice([None, None, None, 0])
    output = draw.choice(OUTPUTS_THERE if there else OUTPUTS)
    return Case(kinds, rows, policy, options, output, draw.choice(ZONES))


def sensitive_of(draw, texts):
    """A sensitive column whose values have an order and a hierarchy."""
    rows = tree_over(draw, texts)
    nulls = draw.choice(["value", "value", "none"])
    return Sensitive((), Hierarchy.from_rows(rows), [row[0] for row in rows], nulls)


def options_of(draw, policy):
    """A method, and options that it takes."""
    name = draw.choice([*METHODS, AUTO])
    row = METHODS.get(name)
    if row is None:
        return {"method": name}
    refined = {
        "passes": [None, 1, 2],
        "improve": [None, None, *(["anneal"] * bool(policy.demands))],
    }
    choices = {
        "candidates": ["closed", "frequent", *(["all"] * (name == "set-cover"))],
        "partitioning": ["strict", "relaxed"],
        "scheme": ["bhs", "ghs", "ops", "gsps", "gops", "sps"],
        **(refined if draw.random() < 0.7 else {"refine": [False]}),
    }
    losses = [loss for loss in row.losses if loss != "utility" or policy.sensitive]
    found = {key: draw.choice(some) for key, some in choices.items() if row.takes(key)}
    found |= {"loss": draw.choice([None, *losses]), "seed": draw.randint(0, 1)}
    if "pattern" in name:
        found["patterns"] = "all"
    return {"method": name, **{key: value for key, value in found.items() if value is not None}}


def released_there(case, database, folder):
    """A plan of the case's table in a database elsewhere, and the cells that it publishes."""
    with case.connection() as connection:
        database.load(connection.sql("FROM people").to_arrow_table())
    how = {"table": "people", "local_rows": case.options["local_rows"]}
    plan = sqlanon.plan(database.source, case.policy, **{**how, **case.options})
    if case.output == "into":
        sqlanon.apply(database.source, plan, into="out", **how)
        return plan, database.cells("out")
    path = folder / f"out.{case.output}"
    sqlanon.apply(database.source, plan, output=path, **how)
    return plan, cells_in(path)


def outcome_of(case, folder, database=None):
    """What becomes of a case: "published", or the kind of error; raises where a promise is broken.

    Args:
        case: The case.
        folder: An empty folder for what is written.
        database: Where its table is, of `tests/engine/elsewhere.py`; None for DuckDB.
    """
    connection, fault = case.connection(), None
    try:
        if database is None:
            plan = sqlanon.plan(connection, case.policy, table="people", **case.options)
            cells = published(connection, plan, case.output, folder)
        else:
            plan, cells = released_there(case, database, folder)
    except SqlanonError as error:
        fault = error
    if database is not None:
        left = {"out"} if fault is None and case.output == "into" else set()
        assert database.tables() == left, "a table that is left"
        assert len(database.rows("people")) == len(case.rows)
        database.clear()
    if fault is not None:
        assert not [*folder.glob("out*")], "a file in spite of an error"
        assert connection.execute("SELECT count(*) FROM people").fetchone() == (len(case.rows),)
        assert_tells_no_value(fault)
        return type(fault).__name__
    report = plan.report
    rows = {
        int(plain(number)): {name: cells[name][place] for name in cells if name != "id"}
        for place, number in enumerate(cells["id"])
    }
    assert list(cells) == ["id", *(name for name in case.kinds if name != case.policy.entity)]
    assert len(rows) == len(cells["id"]), "a record twice"
    gone = len(case.rows) - len(rows)
    assert gone <= min(report.suppressed_records, case.policy.allowance(len(case.rows)))
    assert gone == (
        0 if case.policy.suppressed == "keep" else len(case.rows) - plan.promised_records
    )
    assert not [*violations(case, rows)], "the release violates its policy"
    if database is not None and database.name == "sail":
        case = with_one_zero(case)
    assert not [*misfits(case, rows)], "a cell that its record does not have"
    if report.lower_bound is not None:
        assert report.lower_bound <= report.loss[report.loss_name.replace("-", "_")] + 1e-9, (
            "below its own bound"
        )
    return "published"


def assert_tells_no_value(fault):
    """An error of ours, of one line, that neither quotes a cell nor carries the database's own."""
    assert fault.exit_code in (1, 2)
    assert not isinstance(fault, VerificationError), "a plan that its release does not keep"
    told = str(fault)
    assert "\n" not in told, "more than a line"
    assert MARK not in told
    assert LONG[:99] not in told
    assert fault.__cause__ is fault.__context__ is None, "an error of the database behind ours"


def violations(case, rows):
    """The models that some class of the published rows violates: the whole check, on its own."""
    classes, policy = defaultdict(list), case.policy
    for number, row in rows.items():
        classes[tuple(shown(case.kinds[name], row[name]) for name in policy.attributes)].append(
            number
        )
    yield from whole_violations(policy.models, {key: len(own) for key, own in classes.items()})
    persons = case.column(policy.entity) if policy.entity else range(len(case.rows))
    for members in classes.values():
        if len({persons[number] for number in members}) < policy.k:
            yield policy.k, members
        for demand in policy.demands:
            column, model = demand.column, demand.model
            own = policy.sensitive_attributes[column]
            texts = [
                None if own.nulls == "none" and t is None else (t,) for t in case.column(column)
            ]
            order = [(text,) for text in own.order]
            paths = {(path[0],): path[1:] for path in own.hierarchy.rows}
            held_by = [[texts[n] for n in some if texts[n]] for some in (members, rows)]
            if fails(model, *held_by, order=order, paths=paths):
                yield model, members


def whole_violations(models, classes):
    """The models of all classes together that sizes of classes, by their cells, violate."""
    for model in models:
        if isinstance(model, ClassModel) and fails_together(model, classes):
            yield model


def with_one_zero(case):
    """A case as Sail reads it: what is published of a real number as it is has no sign at 0."""
    own = {*case.policy.sensitive, *case.policy.keep}
    is_real = [kind in ("FLOAT", "DOUBLE") and name in own for name, kind in case.kinds.items()]
    rows = [
        [
            cell.removeprefix("-") if real and cell is not None and float(cell) == 0 else cell
            for real, cell in zip(is_real, row, strict=True)
        ]
        for row in case.rows
    ]
    return replace(case, rows=rows)


def misfits(case, rows):
    """The cells of published rows that do not stand for what their record holds."""
    for name in [*case.policy.sensitive, *case.policy.keep]:
        if name != "id":
            kind, texts = case.kinds[name], case.column(name)
            yield from (
                (name, n) for n, row in rows.items()
                if held(kind, row[name]) != meaning(kind, texts[n])
            )  # fmt: skip
    for name in case.policy.attributes:
        texts, labels = case.column(name), defaultdict(set)
        for number, row in rows.items():
            labels[texts[number]].add(shown(case.kinds[name], row[name]))
            if not stands_for(case, name, row[name], texts[number]):
                yield name, number
        if case.options["method"] == "scheme" and case.policy.suppressed == "drop":
            yield from ((name, text) for text, own in labels.items() if len(own) > 1)


def stands_for(case, name, cell, text):
    """Whether a published quasi-identifier is a label of a value, at a level that is allowed."""
    kind, own, label = case.kinds[name], case.policy.attributes[name], shown(case.kinds[name], cell)
    height = own.hierarchy.height
    low, high = own.min_level, height if own.max_level is None else own.max_level
    if label == case.policy.suppressed_label and case.policy.suppressed == "keep":
        return True
    if low == 0 and (label is text is None or is_same(kind, cell, text)):
        return True
    if case.options["method"] == "scheme" and label != "*":
        return True  # a set of values: that it is one for each value is looked at beside
    rows = own.hierarchy.rows
    if rows is not None:
        path = next(path for path in rows if path[0] == text)
        return label in path[low : high + 1]
    if label == "*":
        return high == height or own.hierarchy.kind in ("prefix",)
    return isinstance(label, str | None) and holds(own.hierarchy.kind, label, text)


def is_same(kind, cell, text):
    """Whether a published cell is a value itself; as quasi-identifier minus zero is zero."""
    try:
        return held(kind, cell) == meaning(kind, "0.0" if text == "-0.0" else text)
    except (AttributeError, ArithmeticError, TypeError, ValueError):
        return False  # a label that is no value of the type


def shown(kind, cell):
    """What a reader tells classes by: a text, or what a typed cell means."""
    if cell is None or isinstance(cell, str):
        return cell
    if not cell.is_valid or pyarrow.types.is_string(cell.type):
        return cell.as_py()
    return (of_arrow(kind, cell),)


def bounding(draw):
    """A case of up to eight records of texts, for the least loss of all partitions."""
    names = list(NAMES[: draw.randint(1, 3)])
    values = {name: [*"abcde"[: draw.randint(1, 5)]] for name in names}
    records = draw.randint(1, 8)
    rows = [[draw.choice(values[name]) for name in names] for _ in range(records)]
    policy = Policy(
        {n: bounded(draw, Hierarchy.from_rows(tree_over(draw, values[n]))) for n in names},
        keep=["id"],
        models=[KAnonymity(draw.randint(1, min(4, records)))],
        suppression_limit=draw.choice([0.0, 0.0, 0.2, 0.5, 1.0]),
    )
    options = {"loss": draw.choice(BOUNDED), "effort": draw.choice([None, "quick", "full"])}
    return Case(dict.fromkeys(names, "VARCHAR"), rows, policy, options)


def bound_of(case):
    """The bound of a case and the least loss there is, None where nothing is possible.

    Raises where the bound is above the least loss.
    """
    least = least_loss(case)
    try:
        report = sqlanon.bound(case.connection(), case.policy, table="people", **case.options)
    except UnsatisfiableError:
        report = None
    if report is None:
        assert least is None, "refused, though there is a release"
        return None, None
    if least is not None:
        assert report.lower_bound <= least + 1e-9, "a bound above the least loss"
    return report.lower_bound, least


def least_loss(case):
    """The least loss of all partitions into classes, with few enough records left out."""
    policy, loss, records = case.policy, case.options["loss"], len(case.rows)
    columns = [
        (own.hierarchy.rows, own.weight, own.min_level,
         own.hierarchy.height if own.max_level is None else own.max_level, case.column(name))
        for name, own in policy.attributes.items()
    ]  # fmt: skip

    def cost(members):
        """Of a class, at the cheapest nodes that hold all of it; None where no level may."""
        total = Fraction(0)
        for tree, weight, low, high, texts in columns:
            own = []
            for level in range(low, high + 1):
                under = values_under(tree, texts[members[0]], level)
                if all(values_under(tree, texts[n], level) == under for n in members):
                    own.append(math.fsum(
                        cell_loss(loss, tree, under, level, value=texts[n], held=texts)
                        for n in members
                    ))  # fmt: skip
            if not own:
                return None
            total += Fraction(min(own)) * Fraction(weight)
        return total

    out = sum(Fraction(weight) * Fraction(lost_cell({"records": [(t,) for t in texts]}, loss, 0))
              for _, weight, _, _, texts in columns)  # fmt: skip
    sizes = range(policy.k, records + 1)
    subsets = [some for size in sizes for some in combinations(range(records), size)]
    costs = {
        sum(1 << n for n in some): lost for some in subsets if (lost := cost(some)) is not None
    }

    # Nobody is left where all are left out: no release has that loss.
    room = min(policy.allowance(records), records - 1)
    total = cheapest_partition(costs, records, room=room, out=out)
    if total is None:
        return None
    cells = len(columns) if loss == "suppressed-cells" else Fraction(1, records)
    return float(total * cells) / sum(weight for _, weight, *_ in columns)
