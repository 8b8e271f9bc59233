"""Demo: a made-up census, anonymized, and what that did in words for a newcomer."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.api import anonymize, plan
from sqlanon.arguments import path_of
from sqlanon.demo import census
from sqlanon.engine.base import Limits
from sqlanon.engine.open import Resources
from sqlanon.errors import PolicyError, SourceError
from sqlanon.inspection import check
from sqlanon.policy.policy import SETTINGS, Policy
from sqlanon.policy.toml import read_document
from sqlanon.publishing.preview import NOT_PUBLISHED, PreviewedRecord
from sqlanon.reports.check import CheckReport
from sqlanon.reports.document import stamp
from sqlanon.reports.plan import Report
from sqlanon.reports.search import LatticeSearch
from sqlanon.wording import key, percent, shown

TABLE = "people"
PUBLISHED = "people_anonymous"
DATABASE = "census.duckdb"
PAGE = "report.html"
RECORDS_SHOWN = 2
LINE_LETTERS = 80
LOCAL = "mondrian"
"""The recoding of part by part to compare with, which takes a second or two."""


@dataclass(frozen=True, slots=True)
class Demo:
    """A census to make up.

    Args:
        folder: Where to; a new or an empty folder.
        records: How many people [records].
        seed: Another seed gives other people.
        overwrite: Whether the demo's own files in a folder in use may be replaced.
    """

    folder: Path
    records: int = 20_000
    seed: int = 0
    overwrite: bool = False

    def __post_init__(self) -> None:
        if not (type(self.records) is int and self.records >= census.MIN_HIDDEN):
            raise PolicyError(
                f"--records is {self.records}; nobody can be hidden among fewer than "
                f"{census.MIN_HIDDEN} people"
            )

    @property
    def database(self) -> Path:
        """The database file."""
        return self.folder / DATABASE

    @property
    def policy(self) -> Path:
        """The policy file."""
        return self.folder / "policy.toml"

    @property
    def page(self) -> Path:
        """The report of the release."""
        return self.folder / PAGE


@dataclass(frozen=True, slots=True)
class DemoReport:
    """The census before and after its anonymization.

    Args:
        demo: What was made up.
        before: The check of the original.
        published: The report of the anonymization.
        local: What the same policy loses part by part.
        after: The check of the published table, from that table alone.
        people: A few people before and after.
        descriptions: What each quasi-identifier's hierarchy is.
    """

    demo: Demo
    before: CheckReport
    published: Report
    local: Report
    after: CheckReport
    people: tuple[PreviewedRecord, ...]
    descriptions: Mapping[str, str]

    @property
    def commands(self) -> list[str]:
        """Commands to try next."""
        paths = (self.demo.database, self.demo.policy)
        database, policy = (shlex.quote(str(path)) for path in paths)
        return [
            f"sqlanon check {database} {TABLE} --policy {policy}",
            f"sqlanon check {database} {PUBLISHED} --policy {policy}",
            f"sqlanon plan {database} {TABLE} --policy {policy} --sql",
            f"sqlanon anonymize {database} {TABLE} --policy {policy} --k 20 --into people_k20",
            f"sqlanon plan {database} {TABLE} --policy {policy} --method auto --time-limit 10",
        ]

    def to_dict(self) -> dict[str, Any]:
        """The document of `demo --json`."""
        return {
            **stamp(self.published.provenance.created),
            "folder": str(self.demo.folder),
            "database": str(self.demo.database),
            "policy": str(self.demo.policy),
            "table": TABLE,
            "source": str(self.demo.database),
            "hashes": self.published.provenance.head()["hashes"],
            "output": PUBLISHED,
            "report": str(self.demo.page),
            "records": self.demo.records,
            "seed": self.demo.seed,
            "original": self.before.to_dict(),
            "anonymize": self.published.to_dict(),
            "local": {"method": self.local.method, "loss": self._loss(self.local)},
            "published": self.after.to_dict(),
            "holds": self.after.holds,
            "commands": self.commands,
        }

    def to_text(self) -> str:
        """A page for somebody who has never heard of k-anonymity."""
        parts = (
            self._opening(),
            _side_by_side(self.people),
            self._effect(),
            self._levels(),
            self._meaning(),
            _wrapped(
                f"The report for a data protection officer is in {self.demo.page}: open it in a "
                "browser. It shows all of this with charts, and what to do about it."
            ),
            "\n".join(["Try next:", *(f"  {command}" for command in self.commands)]),
        )
        return "\n\n".join(parts)

    def _opening(self) -> str:
        sentences = (
            f"{self.demo.records:,} made-up people are in {self.demo.database}, table {TABLE}. "
            f"The policy in {self.demo.policy} asks for k = {self._k}: nobody may be told apart "
            f"from {self._k - 1} others by {_listed(self.before.quasi_identifiers)}. "
            f"Table {PUBLISHED} beside it satisfies that. Nobody here is real, so here are "
            "some of them, before → after (– is not published):"
        )
        return _wrapped(sentences)

    @property
    def _k(self) -> int:
        return int(self.after.models[0].threshold)

    def _effect(self) -> str:
        before, after = self.before.statistics, self.after.statistics
        left_out = self.published.suppressed_records
        return "\n".join(
            [
                f"{'':<34}{'before':>12}{'after':>12}",
                f"{'people':<34}{before.records:>12,}{after.records:>12,}",
                f"{'people who are unique':<34}{before.unique:>12,}{after.unique:>12,}",
                f"{'  share of all':<34}{percent(before.unique, before.records):>12}"
                f"{percent(after.unique, after.records):>12}",
                f"{'smallest group of lookalikes':<34}{before.smallest:>12,}{after.smallest:>12,}",
                f"{'people left out (suppressed)':<34}{'':>12}{left_out:>12,}",
                f"{'  share of all':<34}{'':>12}{percent(left_out, before.records):>12}",
            ]
        )

    def _levels(self) -> str:
        lines = ["How far each column was generalized (0: as it was, highest: only *):"]
        published = self.published
        width = max(map(len, published.levels))
        for name, level in published.levels.items():
            lines.append(
                f"  {name:<{width}}  {level} of {published.heights[name]}  "
                f"{self.descriptions[name]}"
            )
        search = published.search
        assert isinstance(search, LatticeSearch)
        proof = "provably loses the least" if search.proven else "loses little"
        sentence = (
            f"Of {search.nodes:,} possible combinations this one {proof}: {published.loss_name} "
            f"{self._loss(published):.3f}, where 0 is nothing and 1 all. {search.checked:,} of "
            "them were looked at. Where a column may mix levels, record by record, the same "
            f"policy loses {self._loss(self.local):.3f} after a second (--method {LOCAL}), and "
            "less with more time (--method auto)."
        )
        return "\n".join([*lines, _wrapped(sentence)])

    @staticmethod
    def _loss(report: Report) -> float:
        return report.loss[key(report.loss_name)]

    def _meaning(self) -> str:
        return _wrapped(
            f"Whoever knows a neighbour's {_listed(self.before.quasi_identifiers[:3])} and so on "
            f"finds at least {self._k} people who fit, and cannot tell which one it is. What all "
            "of them have in common stays visible: where everybody in a group has the same "
            "diagnosis, it is known."
        )


def run_demo(
    demo: Demo, progress: Callable[[str], None] | None = None, **limits: Unpack[Limits]
) -> DemoReport:
    """Makes up a census with hierarchies and a policy, and anonymizes it.

    Raises:
        SourceError: The folder is in use, or cannot be written.
        SqlanonError: A limit that is none, or a number of records out of range.
    """
    tell = progress or (lambda _: None)
    table = exp.table_(TABLE, quoted=True)
    statements = census.statements(table, demo.records, seed=demo.seed)
    resources = Resources(**limits)
    with _removed_on_failure(demo):
        document = read_document(demo.policy)
        how = {key: document.pop(key) for key in SETTINGS if key in document}
        policy = Policy.from_dict(document, demo.folder)
        with resources.connect(demo.database) as engine:
            tell("making people up")
            for statement in statements:
                engine.run(statement)
            before = check(engine, policy, table=TABLE)
            people = list[PreviewedRecord]()
            target: dict[str, Any] = {"into": PUBLISHED, "overwrite": True, "report": demo.page}
            published = anonymize(
                engine,
                policy,
                table=TABLE,
                progress=tell,
                confirm=lambda _, records: people.extend(records),
                preview=RECORDS_SHOWN,
                **target,
                **how,
            )
            local = plan(engine, policy, table=TABLE, method=LOCAL, progress=tell, **how).report
            tell("checking the published table")
            after = check(engine, policy, table=PUBLISHED)
            rules = {
                name: column.hierarchy.describe() for name, column in policy.attributes.items()
            }
        return DemoReport(demo, before, published, local, after, tuple(people), rules)


@contextmanager
def _removed_on_failure(demo: Demo) -> Iterator[None]:
    """The demo's files; whatever stops it, Ctrl-C included, takes them away again."""
    is_new = not path_of(demo.folder, "the folder").exists()
    _make_room(demo)
    try:
        yield
    except BaseException:
        for name in (DATABASE, f"{DATABASE}.wal", PAGE, *census.FILES):
            with suppress(OSError):
                (demo.folder / name).unlink(missing_ok=True)
        with suppress(OSError):
            if is_new:
                demo.folder.rmdir()
        raise


def _make_room(demo: Demo) -> None:
    """Makes the folder and its files; a folder with anything in it is left alone.

    Raises:
        SourceError: The folder is in use, or cannot be written.
    """
    folder = demo.folder
    try:
        if not demo.overwrite and folder.exists() and any(folder.iterdir()):
            raise SourceError(
                f"folder {str(folder)!r} is not empty; name another one, or replace the demo's "
                "files in it with --overwrite"
            )
        folder.mkdir(parents=True, exist_ok=True)
        for name in (DATABASE, f"{DATABASE}.wal", PAGE):
            (folder / name).unlink(missing_ok=True)
        census.write(folder)
    except OSError as error:
        raise SourceError(f"folder {str(folder)!r}: {error.strerror}") from None


def _side_by_side(people: Sequence[PreviewedRecord]) -> str:
    """One line per column, one pair of before and after per person."""
    pairs = []
    for person in people:
        after = {name: shown(value) for name, value in (person.after or {}).items()}
        pairs.append(
            {
                name: " → ".join(dict.fromkeys((shown(value), after.get(name, NOT_PUBLISHED))))
                for name, value in person.before.items()
            }
        )
    columns = list(people[0].before) if people else []
    name_width = max(map(len, columns), default=0)
    widths = [max(map(len, pair.values())) for pair in pairs]
    lines = []
    for name in columns:
        cells = [f"{pair[name]:<{width}}" for pair, width in zip(pairs, widths, strict=True)]
        lines.append("  " + "   ".join([f"{name:<{name_width}}", *cells]).rstrip())
    return "\n".join(lines)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(word.replace("_", " ") for word in words)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, LINE_LETTERS, break_on_hyphens=False, break_long_words=False)
