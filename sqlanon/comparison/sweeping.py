"""Sweeping: plans by one method over a grid of figures of the policy.

The table is read and encoded once. A full-domain search keeps the codes, the frequency sets and
what it has checked: what a node suppresses at one k is the same at every suppression limit. A point
is a plan as any other, searched to its end; rows of `compare`, which have few passes for a first
look, would mix the loss against k with how hard was searched.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.arguments import checked
from sqlanon.comparison.comparing import name_of
from sqlanon.comparison.report import Failure
from sqlanon.comparison.sweep_report import Sweep, SweptPoint
from sqlanon.engine.base import Engine, searching
from sqlanon.errors import PolicyError, SourceError, SqlanonError
from sqlanon.methods.registry import Options, method_named
from sqlanon.methods.shared import SharedWork
from sqlanon.microdata.calls import AnyPolicy, Frame, Source, asked
from sqlanon.microdata.opening import opened_for, told
from sqlanon.policy.policy import Policy
from sqlanon.policy.varied import LIMIT, Variation, variation
from sqlanon.progress import ProgressLine
from sqlanon.publishing.planner import make_plan
from sqlanon.publishing.settings import (
    Settings,
    completed,
    most_shared,
    opening_of,
    options_of,
)

MOST_POINTS = 1000
"""Points of a grid at most."""


@checked
def sweep(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    over: Mapping[str, Iterable[Any]],
    **settings: Unpack[Settings],
) -> Sweep:
    """What a method makes of one table at each point of a grid of the policy; writes nothing.

    Each point is what `plan` would report with that policy. One that no recoding satisfies, or that
    the time limit ends before it has a result, is a point with the reason.

    Args:
        source: As for `check`.
        policy: What the published table must satisfy besides, as for `plan`.
        table: As for `check`.
        over: Values by figure of the policy: `k`, the key of another model (`l`, `t`, ...), or
            `suppression_limit`, each a number or a text as the command line takes it, such as
            `entropy:3`. The last figure varies fastest.
        settings: As for `plan`, but for `minimal_nodes` and `alternatives`, which are about one
            plan; `time_limit` is that of each point.

    Raises:
        SqlanonError: The source or the policy is at fault, a figure is not known or cannot have a
            value; where every point is refused, what refused the first.
    """
    started = time.monotonic()
    _refuse_single(settings)
    axes = _axes(over)
    call = asked(source, policy, table=table)
    settings = completed(settings, call.said)
    options = options_of(settings)
    with opened_for(*call.opened, read_only=True, **opening_of(settings)) as (opened, resolved):
        points = [_varied(resolved, each) for each in product(*axes)]
        runner = _Sweeper(opened.engine, opened.table, settings)
        with searching(opened.engine, options.deadline), opened.engine.workspace():
            found = tuple(runner.points(points))
        runner.refuse_none_done(found)
        swept = Sweep(
            name_of(opened),
            {own[0].key: own for own in axes},
            found,
            options.method.name,
            options.loss,
            seconds=time.monotonic() - started,
        )
        return told(opened, swept, resolved)


def _refuse_single(settings: Settings) -> None:
    """Refuses, by a `PolicyError`, what a sweep does not show."""
    for name in ("minimal_nodes", "alternatives"):
        if settings.get(name):
            raise PolicyError(
                f"{name} is about one plan, and a sweep makes several; choose a point, and plan it"
            )


def _axes(over: Mapping[str, Iterable[Any]]) -> list[tuple[Variation, ...]]:
    """The values of each figure.

    Raises:
        PolicyError: A figure is not known, has no values, one twice or one that it cannot have, or
            there are too many points.
    """
    if not over:
        raise PolicyError("nothing is swept; name figures with their values, such as k: [2, 5, 10]")
    axes, points = list[tuple[Variation, ...]](), 1
    for key, values in over.items():
        own = tuple(variation(str(key), value) for value in _listed(values))
        if not own:
            raise PolicyError(f"{key} has no list of values to sweep; give some, such as 2, 5, 10")
        labels = [each.label for each in own]
        twice = [each for each in dict.fromkeys(labels) if labels.count(each) > 1]
        if twice:
            raise PolicyError(f"{key} is swept over {twice[0]} twice; name each value once")
        if any(own[0].key == other[0].key for other in axes):
            raise PolicyError(f"{own[0].key} is swept twice; put all of its values in one list")
        axes.append(own)
        points *= len(own)
    if points > MOST_POINTS:
        raise PolicyError(
            f"the grid has {points:,} points, and at most {MOST_POINTS:,} are swept; name fewer "
            "values"
        )
    return axes


def _listed(values: object) -> list[Any]:
    """The values of a list, an array or anything else that has some; none of a single value."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        return []
    try:
        return list(values)
    except TypeError:  # an array of numpy without a dimension
        return []


def _varied(policy: Policy, point: Sequence[Variation]) -> tuple[Sequence[Variation], Policy]:
    for each in point:
        policy = each.policy(policy)
    return point, policy


def _models(values: Sequence[Variation]) -> tuple[str, ...]:
    """What tells points apart that differ in more than the suppression limit."""
    return tuple(each.label for each in values if each.key != LIMIT)


@dataclass(slots=True)
class _Sweeper:
    """Plans for one policy after the other.

    Args:
        engine: Where the table lives.
        table: The table.
        settings: Options of the search.
        stored: What full-domain searches leave in the database for the next.
        shared: What the searches by the last models leave outside the database, by these.
        errors: What refused or ended searches, in their order.
    """

    engine: Engine
    table: exp.Table
    settings: Settings
    stored: dict[Any, Any] | None = None
    shared: dict[Sequence[str], SharedWork] = field(default_factory=dict)
    errors: list[SqlanonError] = field(default_factory=list)

    def __post_init__(self) -> None:
        if method_named(options_of(self.settings).method.name).takes("minimal_nodes"):
            self.stored = {}

    def points(self, points: Sequence[tuple[Sequence[Variation], Policy]]) -> Iterator[SweptPoint]:
        """The result of each point, those that differ in the limit alone one after the other."""
        groups = list(dict.fromkeys(_models(values) for values, _ in points))
        order = sorted(range(len(points)), key=lambda at: groups.index(_models(points[at][0])))
        found = dict[int, SweptPoint]()
        for number, at in enumerate(order):
            values, policy = points[at]
            shown = ", ".join(f"{each.key} {each.label}" for each in values)
            line = f"sweep: {number + 1} of {len(points)}, {shown}"
            told_as = ProgressLine(line, number / len(points))
            found[at] = self._point(values, policy, line=told_as)
        return (found[at] for at in range(len(points)))

    def _point(
        self, values: Sequence[Variation], policy: Policy, *, line: ProgressLine
    ) -> SweptPoint:
        started, point = time.monotonic(), SweptPoint({each.key: each for each in values})
        try:
            options = self._options(values, line)
            report = make_plan(self.engine, self.table, policy, options).report
        except SourceError:  # no other point would fare better
            raise
        except SqlanonError as error:
            self.errors.append(error)
            failure = Failure(type(error).__name__, str(error), error.exit_code)
            return replace(point, failure=failure, seconds=time.monotonic() - started)
        return replace(point, report=report, seconds=time.monotonic() - started)

    def _options(self, values: Sequence[Variation], line: ProgressLine) -> Options[Any]:
        """The options of one search, whose time runs from now on."""
        tell = self.settings.get("progress")
        if tell is not None:
            tell(line)
        options, models = options_of(self.settings), _models(values)
        if models not in self.shared:
            self.shared = {models: SharedWork(most_shared(self.settings), self.stored)}
        return replace(
            options,
            shared=self.shared[models],
            progress=None
            if tell is None
            else lambda inner: tell(ProgressLine(f"{line}: {inner}", line.share)),
        )

    def refuse_none_done(self, found: Sequence[SweptPoint]) -> None:
        """Raises what refused the first point where every one is refused."""
        if len(self.errors) == len(found) and all(each.exit_code == 2 for each in self.errors):
            raise self.errors[0]
