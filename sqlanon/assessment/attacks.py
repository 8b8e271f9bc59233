"""Attacks: singling out, linkability and inference, carried out on a release.

What matches whom is told column by column: an original combination reaches a beginning of a class
if that class's labels so far stand for its values. Where labels of a column overlap, as with local
recoding, it may reach several. Work grows with the distinct combinations and with what each of them
reaches; every stage is counted, and beyond `MAX_PAIRS` nothing is told rather than a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.assessment.release import Published
from sqlanon.engine.base import by_column
from sqlanon.errors import SourceError
from sqlanon.hierarchy.layout import Words
from sqlanon.microdata.encoding import JOINED, coded
from sqlanon.query.assess import attacks as queries
from sqlanon.query.assess import release
from sqlanon.query.encoding.encode import ATTRIBUTE, VALUE, Carried, word
from sqlanon.query.text import TEXT
from sqlanon.reports.attacks import Attack, Attacks, Rate
from sqlanon.sqltext import Fragment

MAX_PAIRS = 20_000_000
"""Most combinations times classes that are put together: some seconds' work."""


class TooManyPairsError(SourceError):
    """Combinations reach too many classes to be put together."""


def run_attacks(
    published: Published, *, sensitive: Mapping[str, bool], has_control: bool
) -> Attacks:
    """Attacks on a release whose labels were read, with the records of its original.

    Args:
        published: The release. Its original is a table of the records of both, with WHICH they are
            of, where there is a control.
        sensitive: The sensitive columns of the release, and whether NULL is a value of each.
        has_control: Whether there is a control.

    Raises:
        TooManyPairsError: Combinations reach too many classes.
    """
    found = _Matches(published)
    targets = found.targets(has_control)
    names = published.subject.names
    middle = (len(names) + 1) // 2
    masks = found.masks(range(middle, len(names)))
    query = queries.figures(
        targets,
        words=found.words,
        whole=found.whole,
        halves=found.halves,
        masks=masks,
    )
    rows = sorted(found.engine.rows(query))
    released = published.released.statistics.records
    linked = None
    if found.halves is not None:
        chance = 1 / released if released else 0.0
        linked = _attack([(n, links) for _, n, _, links in rows], chance)
    inference = dict(found.inferred(sensitive, has_control=has_control))
    return Attacks(
        singling_out=_attack([(n, alone) for _, n, alone, _ in rows], 0.0),
        halves=(tuple(names[:middle]), tuple(names[middle:])),
        linkability=linked,
        inference={name: attack for name, attack in inference.items() if attack is not None},
        not_run=tuple(name for name, attack in inference.items() if attack is None),
    )


def _attack(rows: Sequence[tuple[int, float]], baseline: float) -> Attack:
    """An attack by records and successes of the original and, if any, of the control."""
    rates = [Rate(successes, records) for records, successes in rows]
    return Attack(rates[0], rates[1] if len(rates) > 1 else None, baseline)


class _Matches:
    """What original combinations match, in temporary tables.

    Raises:
        TooManyPairsError: They reach too many classes.
    """

    def __init__(self, published: Published) -> None:
        self.engine, self.published = published.engine, published
        self.words = published.encoded.layout.words
        # Where no labels overlap, a combination reaches one class at most.
        self.most = max(MAX_PAIRS, published.encoded.rows)
        columns = len(published.subject.names)
        middle = (columns + 1) // 2
        one, other = self._batches(range(middle)), self._batches(range(middle, columns))
        prefixes = dict(_prefixes([*one, *other], "whole"))
        own = dict(_prefixes(other, "half"))
        read, self._covers = self._places()
        query = queries.placed_classes(
            published.released.classes, read, columns=columns, prefixes=prefixes | own
        )
        self.classes = self.engine.materialize("placed", query)
        named = list(prefixes)
        self._class = named[-1]
        every = self.masks(range(columns))
        pairs, first = self._reach(every, one, [queries.START, *named])
        self.halves = None
        if other:
            self.pairs, self.whole = self._reach(every, other, named[len(one) - 1 :], begun=pairs)
            rest = self.masks(range(middle, columns))
            _, second = self._reach(rest, other, [queries.START, *own])
            self.halves = first, second
        else:
            self.pairs, self.whole = pairs, first

    def masks(self, columns: Sequence[int]) -> Words:
        """The bits of some columns, per word."""
        layout = self.published.encoded.layout
        own = [layout.column_masks(number, 0) for number in columns]
        return tuple(sum(masks[w] for masks in own) for w in range(self.words))

    def _batches(self, columns: Sequence[int]) -> list[list[int]]:
        """Columns by what is joined at once: those whose labels never overlap go together."""
        batches: list[list[int]] = []
        is_open = False
        for number in columns:
            labels = self.published.labels[number]
            is_plain = labels.nodes.disjoint(labels.records)
            if is_plain and is_open and len(batches[-1]) < JOINED:
                batches[-1].append(number)
            else:
                batches.append([number])
            is_open = is_plain
        return batches

    def _places(self) -> tuple[exp.Table, exp.Table]:
        """The place of each label, and the places that stand for each leaf, as tables."""
        read: list[tuple[object, ...]] = []
        covers: list[tuple[object, ...]] = []
        parts = zip(self.published.labels, self.published.codes, strict=True)
        for number, (labels, codes) in enumerate(parts):
            runs = {label: labels.nodes.run(place) for label, place in labels.places.items()}
            places = {run: place for place, run in enumerate(sorted(set(runs.values())))}
            read += [(number, label, places[run]) for label, run in runs.items()]
            covers += [
                (number, *codes[leaf], place)
                for (first, size), place in places.items()
                for leaf in range(first, first + size)
            ]
        words = map(word, range(self.words))
        return (
            self.engine.load_rows(
                "labels",
                by_column((ATTRIBUTE, release.LABEL, queries.PLACE), read),
                {release.LABEL: TEXT},
            ),
            self.engine.load_rows("covers", by_column((ATTRIBUTE, *words, queries.PLACE), covers)),
        )

    def _reach(
        self,
        masks: Words,
        batches: Sequence[Sequence[int]],
        prefixes: Sequence[str],
        *,
        begun: exp.Table | None = None,
    ) -> tuple[exp.Table, exp.Table]:
        """What combinations by some bits reach by batches of columns, and the records there.

        `prefixes` are that before the first batch, and those that the batches end.
        """
        engine = self.engine
        pairs = begun
        if pairs is None:
            query = queries.beginnings(self.published.encoded.table, masks)
            pairs = engine.materialize("pairs", query)
        layout = self.published.encoded.layout
        for number, batch in enumerate(batches):
            query = queries.reached(
                pairs,
                self._covers,
                classes=self.classes,
                columns={each: layout.column_masks(each, 0) for each in batch},
                parent=prefixes[number],
                own=prefixes[number + 1],
            )
            pairs, rows = engine.materialize_counted("pairs", query)
            if rows > self.most:
                raise TooManyPairsError(
                    "labels overlap, and combinations of values match too many classes to attack "
                    f"each ({rows:,} of at most {self.most:,}); attack a release of one level for "
                    "each column, or name fewer quasi-identifiers"
                )
        own = prefixes[len(batches)]
        is_led = own == self._class
        query = queries.matching(pairs, self.classes, words=self.words, own=own, is_led=is_led)
        return pairs, engine.materialize("matching", query)

    def targets(self, has_control: bool, value: str | None = None) -> exp.Table:
        """The records that are attacked, with a value that is guessed, as a table."""
        encoded, subject = self.published.encoded, self.published.subject
        rows = encoded.table
        carried = {} if value is None else {VALUE: Carried(value)}
        if has_control:
            carried[queries.WHICH] = Carried(queries.WHICH)
        if carried:
            query = coded(
                self.engine,
                subject,
                source=subject.table,
                coding=(encoded.layout, encoded.maps),
                carried=carried,
            )
            rows = self.engine.materialize("targets", query)
        if has_control:
            return rows
        return self.engine.materialize("targets", queries.of_original(rows))

    def inferred(
        self, sensitive: Mapping[str, bool], *, has_control: bool
    ) -> Iterator[tuple[str, Attack | None]]:
        """The attack on each sensitive column; None where it would take too long."""
        if not sensitive:
            return
        engine, released = self.engine, self.published.released
        names = self.published.subject.names
        led = engine.materialize("led", queries.led(self.pairs, self.whole, words=self.words))
        for name, nulls in sensitive.items():
            targets: Fragment = self.targets(has_control, name)
            values = release.class_values(
                released.table, names, sensitive=name, suppressed=released.label
            )
            if not nulls:
                values = release.without_null(values)
                targets = release.without_null(targets)
            query = queries.class_values(values, self.classes, columns=len(names), own=self._class)
            held = engine.materialize("held", query)
            [(work,)] = engine.rows(queries.led_values(led, held))
            if work > self.most:
                yield name, None
                continue
            guesses = engine.materialize("guesses", queries.guesses(held, led))
            plain = engine.materialize("plain", queries.guesses(held))
            query = queries.inferred(
                targets, words=self.words, matching=self.whole, guesses=guesses, plain=plain
            )
            rows = sorted(engine.rows(query))
            if rows and rows[0][0] == 0:  # else no record of the original has a value
                (_, records, _, plainly), *_ = rows
                yield name, _attack([(n, right) for _, n, right, _ in rows], plainly / records)


def _prefixes(batches: Sequence[Sequence[int]], name: str) -> Iterator[tuple[str, list[int]]]:
    """What the beginnings of batches are called, and their columns."""
    columns: list[int] = []
    for number, batch in enumerate(batches):
        columns = [*columns, *batch]
        yield f"{name}_{number}", columns
