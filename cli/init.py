"""The command init: a draft of a policy from the table itself."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

import typer

from sqlanon.arguments import path_of
from sqlanon.errors import PolicyError, SourceError, SqlanonError
from sqlanon.policy.policy import SUGGESTED_K, SUGGESTED_LIMIT
from sqlanon.wording import counted, in_columns, percent

from . import output
from .options import OUTPUT, OVERWRITE, Input, RunOptions, option, switch
from .progress import progress
from .terminal import columns_of

if TYPE_CHECKING:
    from sqlanon.hierarchy.declaration import Hierarchy
    from sqlanon.suggestion.suggestion import ColumnSuggestion, Suggestion

POLICY = "policy.toml"
LINE_LETTERS = 98
EXPLAINED = 12
"""Undecided columns whose reasons are printed; those of others are in the file."""
_ROLES = {
    "i": ("identifier", "names a person; not published"),
    "q": ("quasi-identifier", "known to others, who may find a person by it; generalized"),
    "s": ("sensitive", "what nobody should learn; published as it is, protected by models"),
    "k": ("keep", "published as it is"),
    "d": ("drop", "not published"),
    "w": ("weight", "how many people a record stands for; not published"),
    "u": ("undecided", "nothing is published before it is decided"),
}
"""Letters of roles, and what they mean."""


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """What is suggested, and where it is written."""

    panel: ClassVar[str] = "Policy"
    k: int = option("K", "The k to suggest, the smallest class allowed.", default=SUGGESTED_K)
    suppression_limit: float = option(
        "SHARE",
        "The suppression limit to suggest: the share of records that may be suppressed, 0 to 1.",
        default=SUGGESTED_LIMIT,
    )
    profile: str | None = option(
        "hipaa-safe-harbor", "The rule whose identifiers the draft leaves out or makes coarser."
    )
    ask: bool = switch("Go through the columns on the terminal; Enter accepts a suggestion.")
    output: Path = option("FILE", "The policy file to write.", default=Path(POLICY), panel=OUTPUT)
    overwrite: bool = switch(OVERWRITE)


def init(*, given: Input, wanted: DraftOptions, run: RunOptions) -> None:
    """Draft a policy.toml with roles, their reasons and hierarchies.

    Roles are suggested from the columns' names, types and values. Identifiers name a person;
    quasi-identifiers are what others may know of one, such as age and postcode; sensitive columns
    hold what nobody should learn about one. The draft is advice: a column whose role is not clear
    is left undecided, and nothing is published until you decide.
    """
    import sqlanon
    from sqlanon.suggestion.suggestion import refuse_policy_file

    if wanted.ask and not sys.stdin.isatty():
        raise PolicyError(
            "--ask asks its questions on a terminal, and standard input is none; leave --ask out "
            "and edit the file that is written"
        )
    file = refuse_policy_file(wanted.output, overwrite=wanted.overwrite)
    _refuse_source(given.source, file)
    with progress(run) as tell:
        draft = sqlanon.suggest(
            given.source,
            table=given.table,
            k=wanted.k,
            suppression_limit=wanted.suppression_limit,
            profile=wanted.profile,
            progress=tell,
            **run.opening(given.text),
        )
    seconds = draft.seconds
    if wanted.ask:
        draft = _asked(draft)
    written = draft.write(file, overwrite=wanted.overwrite)
    commands = _next(given, written, file)
    output.timings(run, {"init": seconds}, search={})
    output.show(
        run,
        {**written.to_dict(), "output": str(file), "commands": commands},
        text=lambda: _page(written, file, commands),
    )


def _refuse_source(source: str, file: Path) -> None:
    original = path_of(source, "the source")
    if file.exists() and original.exists() and file.samefile(original):
        raise SourceError(f"{str(file)!r} holds the original; choose another output")


def _next(given: Input, written: Suggestion, file: Path) -> list[str]:
    """The commands that show and publish what the policy file says; none where nothing can be."""
    if written.is_too_small or not written.policy.quasi_identifiers:
        return []
    table = [] if given.table is None else [given.table]
    words = ["sqlanon", "plan", given.source, *table, "--policy", str(file)]
    if written.undecided:
        words += ["--others", "drop"]
    for name, value in given.text.asked.items():
        for text in [value] if isinstance(value, str) else value:
            words += [f"--{name.replace('_', '-')}", text]
    publishing = ["sqlanon", "anonymize", *words[2:], *_target(given)]
    return [shlex.join(words), shlex.join(publishing)]


def _target(given: Input) -> list[str]:
    """Where the published table may go: of a database beside it, of a file into one like it."""
    from sqlanon.engine.endings import WRITTEN
    from sqlanon.engine.open import is_database

    source = Path(given.source)
    if is_database(source):
        return ["--into", f"{given.table or source.stem}_anonymous"]
    ending = next((one for one in WRITTEN if source.name.lower().endswith(one)), None)
    stem = source.name[: -len(ending)] if ending else source.stem
    return ["--output", f"{stem}_anonymous{ending or '.csv'}"]


def _page(written: Suggestion, file: Path, commands: list[str]) -> str:
    """What was suggested, what is left to do, and the next commands, for a reader."""
    from sqlanon.suggestion.suggestion import ADVISORY

    width = columns_of(sys.stdout) or LINE_LETTERS
    rows = [("column", "role", "generalized by")]
    rows += [
        (column.name, column.role.value, column.described())
        for column in written.columns
        if column.role.value != "undecided" or len(written.undecided) <= EXPLAINED
    ]
    lines = [
        f"{counted(written.records, 'record')}, {counted(len(written.columns), 'column')}",
        *in_columns(rows, "<<<"),
        "",
        *wrap(f"{file} is written, with the reason of each role. {ADVISORY}", width),
        *_left_to_do(written, file, width=width),
        *(line for note in written.notes for line in wrap(f"note: {note}", width)),
        *_shown_next(written, file, commands, width=width),
    ]
    return "\n".join(lines)


def _shown_next(written: Suggestion, file: Path, commands: list[str], *, width: int) -> list[str]:
    """The next commands, and what they do with what is left to do; or why there are none."""
    if written.is_too_small:
        return []
    lines = [""]
    if not commands:
        text = (
            "No column is a quasi-identifier, so nothing can be planned or published yet. Name "
            f"those by which others may find a person in [quasi_identifiers] of {file}, or run "
            "this again with --ask --overwrite."
        )
        return lines + wrap(text, width, break_on_hyphens=False)
    if written.files:
        text = (
            "As long as a file is not filled in, each value of its column can only be kept or "
            "suppressed, which costs more records."
        )
        lines += wrap(text, width)
    lines += [
        "Next, to see what it costs and to publish:",
        *(f"  {command}" for command in commands),
    ]
    return lines


def _left_to_do(written: Suggestion, file: Path, *, width: int) -> list[str]:
    """What the user has to settle or to confirm."""
    from sqlanon.suggestion.roles import Role

    lines = []
    if written.entity is not None:
        entity = next(column for column in written.columns if column.is_entity)
        text = f"Persons are counted by {entity.name} (entity): {entity.reason}."
        lines += ["", *wrap(text, width, break_on_hyphens=False)]
    elif written.question:
        lines += ["", *wrap(written.question, width, break_on_hyphens=False)]
    undecided = written.of(Role.UNDECIDED)
    if undecided:
        lines += ["", "To decide, before anything is published (--others drop leaves them out):"]
        for column in undecided[:EXPLAINED]:
            text = f"  {column.name}: {column.reason}"
            lines += wrap(text, width, subsequent_indent="    ", break_on_hyphens=False)
    if undecided[EXPLAINED:]:
        names = ", ".join(column.name for column in undecided[EXPLAINED:])
        text = f"  and {len(undecided) - EXPLAINED} more, with their reasons in {file}: {names}"
        lines += wrap(text, width, subsequent_indent="    ", break_on_hyphens=False)
    sensitive = written.of(Role.SENSITIVE)
    if sensitive:
        names = ", ".join(column.name for column in sensitive)
        lines += ["", *wrap(f"To confirm: is it right that these are sensitive? {names}", width)]
    listed = [column for column in written.columns if column.file is not None]
    if listed:
        lines += ["", "To fill in, with the groups of values that belong together:"]
        lines += [
            f"  {column.file}: {counted(column.figures['values'], 'value')} of {column.name}"
            for column in listed
        ]
    return lines


def _asked(draft: Suggestion) -> Suggestion:
    """The suggestion as the user of a terminal wants it, column by column."""
    _tell("Enter accepts what stands in brackets; Ctrl-C ends without writing anything.")
    _tell_roles()
    for number, column in enumerate(draft.columns, start=1):
        values = counted(column.figures["values"], "value")
        share = percent(column.figures["uniqueness"])
        _tell(
            f"\n{number} of {len(draft.columns)}: {column.name} ({column.type}, {values}, "
            f"{share} distinct)"
        )
        _tell(f"  {column.role.value}: {column.reason}")
        role = _asked_role(column)
        hierarchy = None
        if role == "quasi-identifier":
            draft = draft.with_column(column.name, role)
            settled = next(one for one in draft.columns if one.name == column.name)
            hierarchy = _asked_hierarchy(settled)
        if role != column.role.value or hierarchy is not None:
            draft = draft.with_column(column.name, role, hierarchy=hierarchy)
    _tell("\n")
    return draft


def _asked_role(column: ColumnSuggestion) -> str:
    """The role that is chosen for a column: by its first letter, or by its beginning."""
    while True:
        said = _prompt("  role (i, q, s, k, d, w, u)", column.role.value).strip().lower()
        for letter, (role, _) in _ROLES.items():
            if said and (said == letter or role.startswith(said)):
                return role
        _tell("  there is no such role; these are:")
        _tell_roles()


def _tell_roles() -> None:
    """Prints the roles, their letters and what they mean."""
    rows = [(letter, role, meaning) for letter, (role, meaning) in _ROLES.items()]
    for line in in_columns(rows, "<<<"):
        _tell(line)


def _asked_hierarchy(column: ColumnSuggestion) -> Hierarchy | None:
    """The hierarchy that is chosen for a column; None for what is suggested."""
    from sqlanon.hierarchy.declaration import Hierarchy

    _tell(f"  {column.remark or column.described()}")
    while True:
        said = _prompt("  hierarchy", column.spec).strip()
        if said == column.spec:
            return None
        try:
            hierarchy = Hierarchy.from_spec(said)
            column.refuse_unfit(hierarchy)
        except SqlanonError as error:
            _tell(f"  {error}")
        else:
            return hierarchy


def _prompt(question: str, suggested: str) -> str:
    answer = typer.prompt(question, default=suggested, err=True)
    return str(answer)


def _tell(text: str) -> None:
    """Prints a part of the conversation beside standard output, which is for the result."""
    margin = text[: len(text) - len(text.lstrip(" "))]
    width = (columns_of(sys.stderr) or LINE_LETTERS) - 1
    plain = output.printable(text.lstrip("\n"))
    lines = wrap(plain, width, subsequent_indent=f"{margin}  ", break_on_hyphens=False)
    output.tell("\n".join(["", *lines] if text.startswith("\n") else lines))
