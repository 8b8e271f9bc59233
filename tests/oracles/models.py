"""Ten lines of Python for every figure of a sensitive attribute, and how the builders answer.

A model has its definition in `fails`, its figure in `SHARES` where it bounds shares, and a part of
`DRAWN`; one of all classes together has its definition in `fails_together`, and a part of `OF_ALL`.
"""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

from databases import empty_database
from hypothesis import strategies as st

from sqlanon.engine.base import render
from sqlanon.policy.privacy import (
    DISTANCES,
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    TCloseness,
)
from sqlanon.policy.sizes import AverageRisk, ShareAtRisk, SubsetAnonymity
from sqlanon.query.privacy import figures
from sqlanon.query.privacy.figures import Needed, Reference
from sqlanon.query.syntax import table

BY_ORDER = ("ordered", "scaled", "scaled-literal")
ROUNDING = 1e-12
SHARES = {
    "alpha": lambda found: found["largest"] / max(found["counted"], 1),
    "beta_likeness": lambda found: found["gain"],
    "delta_disclosure": lambda found: found["logarithm"],
}
"""Per key of a model of shares its figure of a class, from those of `figures_of`."""
DRAWN = st.one_of(
    st.builds(LDiversity, st.integers(1, 3)),
    st.builds(LDiversity, st.sampled_from([1, 1.5, 2, 2.5]), st.just("entropy")),
    st.builds(
        LDiversity, st.integers(1, 3), st.just("recursive"), st.sampled_from([0.5, 1, 1.5, 2.5])
    ),
    st.builds(TCloseness, st.sampled_from([0.05, 0.2, 0.3, 0.5, 0.8]), st.sampled_from(DISTANCES)),
    st.builds(AlphaAnonymity, st.sampled_from([0.3, 1 / 3, 0.5, 0.6, 0.75, 1])),
    st.builds(
        BetaLikeness, st.sampled_from([0.2, 0.5, 1, 2]), st.sampled_from(["basic", "enhanced"])
    ),
    st.builds(DeltaDisclosure, st.sampled_from([0.3, math.log(2), 1, 3])),
)
"""Models of every form."""
OF_ALL = st.one_of(
    st.builds(AverageRisk, st.sampled_from([0.2, 0.3, 1 / 3, 0.4, 0.5, 0.7])),
    st.builds(ShareAtRisk, st.sampled_from([0.2, 0.3, 0.5, 0.9]), st.sampled_from([0, 0.1, 0.3])),
    st.builds(SubsetAnonymity, st.integers(1, 3), st.integers(2, 4)),
)
"""Models of all classes together."""


def fails(model, values, whole, *, order, paths=None, members=(None, None)):
    """Whether a class violates a model, by its definition.

    Args:
        model: Any of values.
        values: Of the records of the class that count.
        whole: Those of the table that is referred to.
        order: All values, lowest first.
        paths: Per value its nodes from level 1 to the top.
        members: How many persons have these values, in the class and the table, if persons count.
    """
    tails = (int(model.l),) if isinstance(model, LDiversity) else ()
    found = figures_of(values, whole, order=order, paths=paths, tails=tails, members=members)
    if isinstance(model, TCloseness):
        return found[f"distance_{model.distance.replace('-', '_')}"] > model.t + ROUNDING
    if isinstance(model, AlphaAnonymity):
        return found["largest"] > Fraction(str(model.alpha)) * found["counted"]
    if isinstance(model, BetaLikeness):
        return any(gains(model, Counter(values), Counter(whole), members=members))
    if isinstance(model, DeltaDisclosure):
        return found["logarithm"] > model.delta - ROUNDING
    if isinstance(model, LDiversity):
        return is_uniform(model, values, found)
    raise NotImplementedError(f"no definition of {model!r}")


def fails_together(model, classes):
    """Whether classes violate a model of all of them together, by its definition.

    Args:
        model: Any of all classes together.
        classes: The records of each class, by its labels.
    """
    sizes = classes.values()
    if isinstance(model, AverageRisk):
        return len(sizes) > Fraction(str(model.risk)) * sum(sizes)
    if isinstance(model, ShareAtRisk):
        at_risk = [size for size in sizes if Fraction(1, size) > Fraction(str(model.risk))]
        return sum(at_risk) > Fraction(str(model.share)) * sum(sizes)
    if isinstance(model, SubsetAnonymity):
        return bool(rare(model, classes))
    raise NotImplementedError(f"no definition of {model!r}")


def rare(model, classes):
    """The labels with a combination of some columns that fewer records share than k of subsets."""

    def parts(labels):
        return combinations(enumerate(labels), model.subsets)

    sharing = Counter()
    for labels, records in classes.items():
        sharing.update(dict.fromkeys(parts(labels), records))
    return {labels for labels in classes if any(sharing[part] < model.k for part in parts(labels))}


def is_uniform(model, values, found):
    """Whether the values of a class are too alike: l-diversity by its definitions."""
    if model.kind == "distinct":
        return found["distinct_values"] < model.l
    if model.kind == "entropy":
        return not values or found["entropy"] < math.log(model.l) - ROUNDING
    if model.kind == "recursive":
        return found["largest"] >= Fraction(str(model.c)) * found[f"tail_{model.l}"]
    raise NotImplementedError(f"no definition of {model!r}")


def gains(model, counts, whole, *, members):
    """Whether each value gains too much: beta-likeness by its definition."""
    inside, everywhere = members[0] or counts.total() or 1, members[1] or whole.total()
    for value, records in whole.items():
        p, q = Fraction(counts[value], inside), Fraction(records, everywhere)
        cap = min(model.beta, -math.log(q)) if model.kind == "enhanced" else model.beta
        yield p > q and float((p - q) / q) > cap + ROUNDING


def grouped(records):
    """{class: values} of pairs of class and value."""
    classes = defaultdict(list)
    for key, value in records:
        classes[key].append(value)
    return dict(classes)


def figures_of(values, table_values, *, order, paths=None, tails=(2, 3), members=(None, None)):
    """Every figure of one class.

    Args:
        values: Of the class's records; all of them count.
        table_values: Those of the whole table.
        order: All values, lowest first.
        paths: Per value its nodes from level 1 to the top.
        tails: The l of the tails.
        members: As of `fails`.
    """
    counts, whole = Counter(values), Counter(table_values)
    n, total = sum(counts.values()), sum(whole.values())
    descending = sorted(counts.values(), reverse=True)
    found = {
        "counted": members[0] or n,
        "distinct_values": len(counts),
        "largest": max(descending, default=0),
        "entropy": -math.fsum(c / n * math.log(c / n) for c in descending) if n else 0.0,
        **{f"tail_{l}": sum(descending[l - 1 :]) for l in tails},  # noqa: E741
    }
    present = [value for value in order if value in whole]
    p = {value: Fraction(counts[value], n or 1) for value in present}
    q = {value: Fraction(whole[value], total) for value in present}
    inside, everywhere = members[0] or n or 1, members[1] or total
    shares = [(Fraction(counts[v], inside), Fraction(whole[v], everywhere)) for v in present]
    found["gain"] = max([float((own - of) / of) for own, of in shares if own > of], default=0.0)
    found["logarithm"] = max(
        (abs(math.log(own / of)) if own else math.inf for own, of in shares), default=0.0
    )
    distances = dict.fromkeys(("equal", "kl", *BY_ORDER), 0.0)
    if n:
        distances |= _distances(p, q, present)
    if paths is not None:
        distances["hierarchical"] = _hierarchical(p, q, paths) if n else 0.0
    return found | {f"distance_{k.replace('-', '_')}": float(d) for k, d in distances.items()}


def _distances(p, q, present):
    m, held = len(present), [value for value in present if p[value]]
    logs = {value: math.log(p[value] / q[value]) for value in held}
    signed = [float(p[v] - q[v]) * abs(logs[v]) if v in logs else 0.0 for v in present]
    literal = [float(p[v] - q[v]) * logs[v] if v in logs else 0.0 for v in present]
    exact = [p[value] - q[value] for value in present]
    return {
        "equal": sum(map(abs, exact)) / 2,
        "kl": math.fsum(float(p[value]) * logs[value] for value in held),
        "ordered": cumulated(exact) / max(m - 1, 1),
        "scaled": cumulated(signed) / max(m - 1, 1) if m > 1 else 0.0,
        "scaled-literal": cumulated(literal) / max(m - 1, 1) if m > 1 else 0.0,
    }


def cumulated(terms):
    """The sum of the absolute values of the sums of the first terms."""
    return sum(abs(sum(terms[: i + 1])) for i in range(len(terms)))


def _hierarchical(p, q, paths):
    height = len(next(iter(paths.values())))
    work = Fraction(0)
    for level in range(height):
        nodes = defaultdict(Fraction)
        for value in p:
            nodes[(value, *paths[value])[level]] += p[value] - q[value]
        work += sum(map(abs, nodes.values()))
    return work / (2 * height)


def transport(p, q, ground):
    """Earth Mover's Distance by its definition: the cheapest flow, along shortest paths.

    Args:
        p: What every value has, in whole numbers.
        q: What it must have, of the same sum.
        ground: The distance of two values.
    """
    have, want = dict(p), dict(q)
    flow, cost = Counter(), Fraction(0)
    while any(have.values()):
        best = _cheapest(have, want, flow, ground)
        amount = min(have[best[0][0]], want[best[-1][1]])
        amount = min([amount, *(flow[(b, a)] for a, b, back in best if back)])
        for a, b, back in best:
            flow[(b, a) if back else (a, b)] += -amount if back else amount
            cost += (-1 if back else 1) * amount * (ground(b, a) if back else ground(a, b))
        have[best[0][0]] -= amount
        want[best[-1][1]] -= amount
    return cost / sum(p.values())


def _cheapest(have, want, flow, ground):
    """The cheapest path from somebody who has to somebody who wants, by Bellman and Ford."""
    giving = {("from", v): (Fraction(0), ()) for v in have if have[v]}
    for _ in range(2 * len(have) + 2):
        for (side, v), (cost, path) in list(giving.items()):
            for w in want:
                if side == "from":
                    step = (("to", w), cost + ground(v, w), (*path, (v, w, False)))
                elif flow[(w, v)]:
                    step = (("from", w), cost - ground(w, v), (*path, (v, w, True)))
                else:
                    continue
                if step[0] not in giving or step[1] < giving[step[0]][0]:
                    giving[step[0]] = step[1:]
    ends = [giving[("to", w)] for w in want if want[w] and ("to", w) in giving]
    return min(ends, key=lambda end: end[0])[1]


def class_figures(records, *, kind="INTEGER", needed, order=None, height=0, keep="kept"):
    """{class: row} as the builders answer for pairs of class and value.

    Args:
        records: Pairs of class and value.
        kind: The type of the values.
        needed: Which figures.
        order: A relation of ranks and nodes.
        height: Height of its hierarchy.
        keep: Name of a table that the rows are left in.
    """
    DATABASE.execute(
        "CREATE OR REPLACE TEMP TABLE source AS SELECT unnest(?::VARCHAR[]) AS class, "
        f"unnest(?::{kind}[]) AS value, 1::BIGINT AS size",
        list(map(list, zip(*records, strict=True))),
    )
    query = figures.reference(table("source"), nulls=needed.nulls, order=order, height=height)
    DATABASE.execute("CREATE OR REPLACE TEMP TABLE reference AS " + render(query, "duckdb"))
    records, values = DATABASE.execute("SELECT sum(records), count(*) FROM reference").fetchone()
    reference = Reference(table("reference"), int(records or 0), values, height)
    query = figures.class_figures(table("source"), ["class"], needed=needed, reference=reference)
    DATABASE.execute(f"CREATE OR REPLACE TEMP TABLE {keep} AS " + render(query, "duckdb"))
    answer = DATABASE.execute(f"FROM {keep}")
    names = [column[0] for column in answer.description]
    return {row[0]: dict(zip(names, row, strict=True)) for row in answer.fetchall()}


DATABASE = empty_database()
ALL = Needed(True, (1, 2, 3), ("equal", "kl", *BY_ORDER))
