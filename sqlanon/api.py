"""Public functions that plan and publish.

What `inspection.check` says of `source`, `policy`, `table`, `progress` and `opening` holds for
every function, and what `apply` and `plan` say of theirs for `anonymize`. Only these two have
overloads, since a frame gives a frame. What is published is that frame, and a report comes beside
it on request alone, so that a pipeline has nothing to unpack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from sqlanon.arguments import checked, is_file
from sqlanon.deadline import NEVER, Deadline
from sqlanon.engine.base import Opening
from sqlanon.engine.open import OpenedSource, second_table
from sqlanon.errors import MissingTableError, PolicyError
from sqlanon.microdata.calls import AnyPolicy, Call, F, Frame, Source, asked
from sqlanon.microdata.opening import beside, opened_for, with_provenance
from sqlanon.policy.policy import Policy
from sqlanon.progress import Progress, following
from sqlanon.publishing.settings import Settings, completed, opening_of, options_of
from sqlanon.reports.plan import Report

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlanon.engine.open import OpenedSource
    from sqlanon.publishing.plan import Plan
    from sqlanon.publishing.target import Anonymized, Companion, Target

# What not every call needs is imported there: a command must start fast.
Confirm = Callable[["Plan"], object]


@checked
def plan(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    **settings: Unpack[Settings],
) -> Plan:
    """Finds the recoding of least loss; writes only temporary tables.

    Args:
        policy: What the published table must satisfy. What a policy file says of method, loss and
            options of methods counts where no setting says otherwise.
        settings: How to search, and the `opening` of `check`; everything has a default.
            `method`, `loss` and what each method takes are described by `OPTIONS` of
            `sqlanon.methods.registry` and `sqlanon plan --help`; `seed` is what chance is drawn
            from, and `progress` is called as for `check`.

    Raises:
        UnsatisfiableError: No recoding within the policy's bounds satisfies its models.
        SqlanonError: The source or the policy is at fault; the message says how.
    """
    call = asked(source, policy, table=table)
    settings = completed(settings, call.said)
    options = options_of(settings)
    # The search is loaded while the database reads the source: it reads in C, without the GIL.
    homes = options.method.home, "sqlanon.publishing.planner"
    loading = Thread(target=lambda: [import_module(home) for home in homes])
    loading.start()
    reading = opened_for(*call.opened, read_only=True, finds_persons=True, **opening_of(settings))
    with reading as (opened, resolved):
        loading.join()
        from sqlanon.publishing.planner import make_plan

        with opened.engine.transaction(options.deadline):
            plan = make_plan(opened.engine, opened.table, resolved, options, finds_persons=True)
        return replace(plan, report=with_provenance(opened, plan.report, plan.policy))


class _Published(Opening, total=False):
    """What is said of a release, wherever it goes, and of how its source is opened."""

    confirm: Confirm | None
    progress: Progress | None
    report: str | Path | None
    manifest: str | Path | None
    labels: str | Path | None
    against: Sequence[Any]


class _OfPlan(_Published, total=False):
    """The same of one by a saved plan, which may be of other records."""

    to: Any
    released: Sequence[Any]
    suppression_limit: float | None


class _Written(_OfPlan, total=False):
    """The same of one that is written to a database."""

    table: Any
    into: str | None
    in_place: bool
    output: str | Path | None
    overwrite: bool


@overload
def apply(
    source: F, plan: Plan, *, with_report: Literal[False] = ..., **said: Unpack[_OfPlan]
) -> F: ...
@overload
def apply(
    source: F, plan: Plan, *, with_report: Literal[True], **said: Unpack[_OfPlan]
) -> Anonymized[F]: ...
@overload
def apply(source: Source, plan: Plan, **said: Unpack[_Written]) -> Report: ...
@overload
def apply(
    source: Frame,
    plan: Plan,
    *,
    output: str | Path,
    overwrite: bool = ...,
    **said: Unpack[_OfPlan],
) -> Report: ...
@checked
def apply(
    source: Source | Frame,
    plan: Plan,
    *,
    table: Any = None,
    to: Any = None,
    released: Sequence[Any] = (),
    suppression_limit: float | None = None,
    into: str | None = None,
    in_place: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    confirm: Confirm | None = None,
    report: str | Path | None = None,
    manifest: str | Path | None = None,
    labels: str | Path | None = None,
    against: Sequence[Any] = (),
    progress: Progress | None = None,
    with_report: bool = False,
    **opening: Unpack[Opening],
) -> Frame | Anonymized[Any] | Report:
    """Publishes what a plan says, in one transaction, and proves it on the published table.

    A frame, `apply(frame, plan)`, gives a frame as `anonymize` does.

    Args:
        plan: The plan.
        table: The table, where it is not called what the plan calls it. A file of data holds only
            one, whatever its name.
        to: Other records, to be published by the recoding of the plan in place of its own: a table
            of the source, a frame, or a path to a file of data or a database. A plan that recodes
            record by record is refused.
        released: What was released by the plan before: as for `to`. The models then hold for all of
            it together with the records of `to`, else for these by themselves.
        suppression_limit: Share of the records of `to` that may be suppressed; none where left out.
        into: Name of a new table.
        in_place: Whether the published table takes the original's place. Where sqlanon opens
            the database itself, a fresh file takes the place of the old one in one step: either
            nothing has happened, or no byte of the original remains.
        output: A file to write; its ending says the format.
        overwrite: Whether an existing table or file may be replaced.
        with_report: As for `anonymize`.
        confirm: Called with the plan before anything is written; what it raises stops that.
        report: A file .html for a report of the release, as `sqlanon.report` makes one.
        manifest: A file .json for the manifest of the release, for `sqlanon.verify`.
        labels: A file .csv or .json that says which label stands for which values.
        against: Earlier releases of the same table, beside which each record must keep as many
            candidates as the policy asks for: tables of the connection, frames or paths.

    Raises:
        StalePlanError: The table has changed since the plan was made.
        UnsatisfiableError: Too many records of `to` are in classes that do not satisfy the models.
        VerificationError: The published table is not what the plan promised; nothing is published.
        SqlanonError: The source or the target is at fault; the message says how.
    """
    from sqlanon.publishing.apply import policy_of, publish, table_named
    from sqlanon.publishing.target import Target, likeness_of, refuse_early, replaced_file

    call = asked(source, policy_of(plan), table=table)
    if to is not None:
        from sqlanon.publishing.frozen import refuse_unfrozen

        refuse_unfrozen(
            plan, in_place=in_place, is_together=bool(released), limit=suppression_limit
        )
    elif released or suppression_limit is not None:
        raise PolicyError(
            "released (--released) and suppression_limit (--suppression-limit) are of other "
            "records; name these with to (--to BATCH)"
        )
    file = None if output is None else Path(output)
    is_written = into is not None or in_place or output is not None
    call, like = likeness_of(call, is_written=is_written, with_report=with_report)
    companions = _companions(
        call, report=report, manifest=manifest, labels=labels, output=file, overwrite=overwrite
    )
    _refuse_unverifiable(plan.policy, manifest)
    target = Target(into, in_place, file, overwrite, confirm, like, companions)
    refuse_early(call.source, target)
    named = call.table
    if named is None:
        named = table_named(call.source, plan, engine=opening.get("engine"))
    reading = opened_for(
        call.source, named, plan.policy, read_only=file is not None, complete=None, **opening
    )
    with following(progress), ExitStack() as stack:
        try:
            opened, _ = stack.enter_context(reading)
        except MissingTableError as error:
            raise MissingTableError(f"{error}; name the plan's table with --table NAME") from None
        if to is not None:
            return _apply_to(
                opened,
                plan,
                [call.alike(one) for one in (to, *released)],
                stack=stack,
                limit=suppression_limit,
                target=target,
                with_report=with_report,
                earlier=_earlier(stack, opened, call, policy=plan.policy, against=against),
            )
        replaced = replaced_file(opened, target)
        earlier = _earlier(stack, opened, call, policy=plan.policy, against=against)
        done = publish(
            opened.engine,
            plan,
            source=opened.table,
            target=target,
            file=replaced,
            earlier=earlier,
        )
        return target.result(with_provenance(opened, done, plan.policy), with_report=with_report)


def _apply_to(
    opened: OpenedSource,
    plan: Plan,
    tables: Sequence[object],
    *,
    stack: ExitStack,
    limit: float | None,
    target: Target,
    with_report: bool,
    earlier: Mapping[str, exp.Table],
) -> Frame | Anonymized[Any] | Report:
    """What `apply` publishes of other records: the first table, with others released before."""
    from sqlanon.engine import files
    from sqlanon.engine.open import FrameTable, second_table
    from sqlanon.microdata.opening import beside
    from sqlanon.publishing.frozen import publish_batch
    from sqlanon.publishing.target import Likeness

    first = tables[0]
    if target.output is not None:
        # What is read beside the source must not be written over.
        named = [Path(one) for one in tables if isinstance(one, str | Path)]
        inputs = [file for file in named if is_file(file)]
        files.refuse_output(target.output, inputs, overwrite=target.overwrite)
    if target.likeness is not None and isinstance(first, FrameTable):
        target = replace(target, likeness=Likeness(first))
    batch, *before = (
        stack.enter_context(
            second_table(opened.engine, one, how=beside(opened, plan.policy, is_alike=not number))
        )
        for number, one in enumerate(tables)
    )
    done = publish_batch(
        opened.engine,
        plan,
        batch=batch,
        released=before,
        limit=limit,
        target=target,
        earlier=earlier,
    )
    policy = replace(plan.policy, suppression_limit=limit or 0.0)
    return target.result(with_provenance(opened, done, policy), with_report=with_report)


class _Anonymized(Settings, total=False):
    """Settings, and what is said of a release, wherever it goes."""

    confirm: Callable[..., object] | None
    preview: int | None
    report: str | Path | None
    manifest: str | Path | None
    labels: str | Path | None
    against: Sequence[Any]


class _AnonymizedTable(_Anonymized, total=False):
    """The same of one that is written to a database."""

    table: Any
    into: str | None
    in_place: bool
    output: str | Path | None
    overwrite: bool


@overload
def anonymize(
    source: F, policy: AnyPolicy, *, with_report: Literal[False] = ..., **said: Unpack[_Anonymized]
) -> F: ...
@overload
def anonymize(
    source: F, policy: AnyPolicy, *, with_report: Literal[True], **said: Unpack[_Anonymized]
) -> Anonymized[F]: ...
@overload
def anonymize(source: Source, policy: AnyPolicy, *, table: F, **said: Unpack[_Anonymized]) -> F: ...
@overload
def anonymize(source: Source, policy: AnyPolicy, **said: Unpack[_AnonymizedTable]) -> Report: ...
@overload
def anonymize(
    source: Frame,
    policy: AnyPolicy,
    *,
    output: str | Path,
    overwrite: bool = ...,
    **said: Unpack[_Anonymized],
) -> Report: ...
@checked
def anonymize(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    into: str | None = None,
    in_place: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    confirm: Callable[..., object] | None = None,
    preview: int | None = None,
    report: str | Path | None = None,
    manifest: str | Path | None = None,
    labels: str | Path | None = None,
    against: Sequence[Any] = (),
    with_report: bool = False,
    **settings: Unpack[Settings],
) -> Frame | Anonymized[Any] | Report:
    """Anonymizes a frame or a table: `plan` and `apply` in one.

    Of a frame, where neither `into`, `in_place` nor `output` says otherwise, a frame of the same
    kind is returned, which satisfies the policy: its models are proved on these very rows, and
    whatever goes wrong is an error, never a frame that is not anonymous. `anonymize(connection,
    policy, table=frame)` does the same within the connection and its open transaction; a relation
    is then one of a temporary table, which stays until the connection is closed.

    Generalized columns are texts; the others have the types that they had. Categories that are no
    more in the table are no more in its categorical columns, and quasi-identifiers of such types
    are texts. Index, attributes and metadata of the frame are left behind, since they may single
    persons out; the order of rows says nothing of that of the original.

    Args:
        confirm: As for `apply`; with `preview` it is called with the plan and with records.
        preview: How many records `confirm` sees before and after, as `sqlanon.preview` has them.
        with_report: Whether a frame comes with what was proved on it: `frame, report = ...`.
        report: As for `apply`.
        manifest: As for `apply`.
        labels: As for `apply`.
        against: As for `apply`.

    Returns:
        A frame, or `Anonymized(frame, report)`; the `Report` where a table or a file is written.

    Raises:
        UnsatisfiableError: No recoding within the policy's bounds satisfies its models.
        VerificationError: The published table is not what the plan promised; nothing is published.
        SqlanonError: The source, the policy or the target is at fault; the message says how.
    """
    from sqlanon.publishing.apply import publish
    from sqlanon.publishing.formats import refuse_types
    from sqlanon.publishing.planner import make_plan
    from sqlanon.publishing.preview import asking, refuse_rows
    from sqlanon.publishing.target import (
        Target,
        likeness_of,
        may_change,
        refuse_early,
        refuse_target,
        replaced_file,
    )

    if preview is not None:
        refuse_rows(preview)
        if confirm is None:
            raise PolicyError("preview shows records to confirm; give confirm, too")
    file = None if output is None else Path(output)
    call = asked(source, policy, table=table)
    settings = completed(settings, call.said)
    options, opening = options_of(settings), opening_of(settings)
    is_written = into is not None or in_place or output is not None
    call, like = likeness_of(call, is_written=is_written, with_report=with_report)
    companions = _companions(
        call,
        report=report,
        manifest=manifest,
        labels=labels,
        output=file,
        overwrite=overwrite,
        limit=options.deadline,
    )
    target = Target(into, in_place, file, overwrite, confirm, like, companions)
    refuse_early(call.source, target)
    reading = opened_for(
        *call.opened, read_only=file is not None, complete=True, finds_persons=True, **opening
    )
    with (
        following(settings.get("progress")),
        reading as (opened, resolved),
        ExitStack() as stack,
    ):
        _refuse_unverifiable(resolved, manifest)
        earlier = _earlier(stack, opened, call, policy=resolved, against=against)
        replaced = replaced_file(opened, target)
        # Where a fresh file replaces the old one, nobody else can have the old one open.
        with opened.engine.transaction(options.deadline) if replaced is None else nullcontext():
            refuse_target(
                opened.engine, opened.table, policy=resolved, target=target, file=replaced
            )
            refuse_types(opened.engine, opened.table, policy=resolved, output=target.output)
            if confirm is not None:
                target = replace(target, confirm=asking(confirm, opened, rows=preview))
            known = confirm is not None or may_change(opened, settings.get("progress"))
            plan = make_plan(
                opened.engine,
                opened.table,
                resolved,
                options,
                fingerprinted=known,
                finds_persons=True,
            )
            done = publish(
                opened.engine,
                plan,
                source=opened.table,
                target=target,
                file=replaced,
                earlier=earlier,
            )
        return target.result(with_provenance(opened, done, plan.policy), with_report=with_report)


def _earlier(
    stack: ExitStack,
    opened: OpenedSource,
    call: Call,
    *,
    policy: Policy,
    against: Sequence[Any],
) -> dict[str, exp.Table]:
    """Earlier releases by what they are called, readable until the stack ends.

    Raises:
        PolicyError: Class means are published, of which no hierarchy says what they cover.
    """
    if against and policy.population_models:
        raise PolicyError(
            "candidates beside earlier releases (--against) are counted among records, and models "
            "of a population are of its people; leave against out"
        )
    if against and policy.class_means:
        raise PolicyError(
            "candidates beside earlier releases (--against) are counted by what labels cover, and "
            f"{', '.join(map(repr, policy.class_means))} has class means in their place, which "
            "tell more; leave class_mean (--class-mean) or against out"
        )
    how = beside(opened, policy)
    return {
        str(one) if isinstance(one, str | Path) else f"release {number}": stack.enter_context(
            second_table(opened.engine, call.alike(one), how=how)
        )
        for number, one in enumerate(against, start=1)
    }


def _refuse_unverifiable(policy: Policy, manifest: str | Path | None) -> None:
    """Refuses a manifest, if one is wanted, that its release would not be verified by."""
    if manifest is not None:
        from sqlanon.publishing.manifest import refuse_unverifiable  # most releases have none

        refuse_unverifiable(policy)


def _companions(
    call: Call,
    *,
    report: str | Path | None,
    manifest: str | Path | None,
    labels: str | Path | None,
    output: Path | None,
    overwrite: bool,
    limit: Deadline = NEVER,
) -> tuple[Companion, ...]:
    """The report, manifest and labels of a release that are asked for, for its target."""
    from sqlanon.publishing.target import writable_file

    companions: list[Companion] = []
    if report is not None:
        from sqlanon.release_report.making import page_of  # most releases have none

        source = str(call.source) if isinstance(call.source, str | Path) else None
        page = page_of(Path(report), overwrite=overwrite, source=source, limit=limit)
        companions.append(page)
    if manifest is not None:
        from sqlanon.publishing.manifest import manifest_of  # most releases have none

        path = writable_file(manifest, "manifest", endings=(".json",), overwrite=overwrite)
        companions.append(manifest_of(path, output=output, overwrite=overwrite))
    if labels is not None:
        from sqlanon.publishing.labels import ENDINGS, labels_of

        path = writable_file(labels, "file of labels", endings=ENDINGS, overwrite=overwrite)
        companions.append(labels_of(path, overwrite=overwrite))
    return tuple(companions)
