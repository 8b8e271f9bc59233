"""Attacks: singling out, linkability and inference, carried out on a release.

What matches whom is counted column by column: an original combination reaches the beginning of a
class, its first labels, if these stand for its values. Where labels of a column overlap, as with
local recoding, it may reach several. Work grows with the distinct combinations and with what each
of them reaches; every stage is counted, and beyond `MAX_PAIRS` no figure is given for a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assessment.labels import load_places
from sqlanon.assessment.release import Published
from sqlanon.errors import SourceError
from sqlanon.hierarchy.layout import Words
from sqlanon.microdata.encoding import coded
from sqlanon.query.assess import attacks as queries
from sqlanon.query.assess import release
from sqlanon.query.encode import VALUE, Carried
from sqlanon.reports.attacks import Attack, Attacks, Rate
from sqlanon.sqltext import Fragment

MAX_PAIRS = 20_000_000
"""Most combinations times classes that are put together: some seconds' work."""


class TooManyPairsError(SourceError):
    """Combinations reach too many classes to be put together."""


@dataclass(frozen=True, slots=True)
class _Matches:
    """What original combinations of some columns match, as tables.

    Args:
        classes: The released classes by these columns.
        pairs: Which of them each combination matches.
        records: How many released records that are.
        masks: The bits of the columns, per word.
    """

    classes: exp.Table
    pairs: exp.Table
    records: exp.Table
    masks: Words


def run_attacks(
    published: Published, *, sensitive: Mapping[str, bool], has_control: bool
) -> Attacks:
    """Attacks on a release whose labels were read, with the records of its original.

    Args:
        published: The release, of which some record has labels. Its original is a table of the
            records of both, with WHICH they are of, where there is a control.
        sensitive: The sensitive columns of the release, and whether NULL is a value of each.
        has_control: Whether there is a control.

    Raises:
        TooManyPairsError: Combinations reach too many classes.
    """
    engine, names = published.engine, published.subject.names
    middle = (len(names) + 1) // 2
    labels = dict(enumerate(published.labels))
    places = load_places(engine, labels, dict(enumerate(published.codes)))
    whole, *halves = (
        _matches(published, columns, *places)
        for columns in (range(len(names)), range(middle), range(middle, len(names)))
    )
    query = queries.figures(
        _targets(published, has_control=has_control),
        whole=whole.records,
        halves=[(half.records, half.masks) for half in halves],
    )
    rows = sorted(engine.rows(query))
    chance = 1 / published.released.statistics.records
    linked = _attack([(n, links) for _, n, _, links in rows], chance)
    inference = dict(_inferred(published, whole, sensitive=sensitive, has_control=has_control))
    return Attacks(
        singling_out=_attack([(n, single) for _, n, single, _ in rows], 0.0),
        halves=(tuple(names[:middle]), tuple(names[middle:])),
        linkability=linked if len(names) > 1 else None,
        inference={name: attack for name, attack in inference.items() if attack is not None},
        not_run=tuple(name for name, attack in inference.items() if attack is None),
    )


def _attack(rows: Sequence[tuple[int, float]], baseline: float) -> Attack:
    """An attack by records and successes of the original and, if any, of the control."""
    rates = [Rate(successes, records) for records, successes in rows]
    return Attack(rates[0], rates[1] if len(rates) > 1 else None, baseline)


def _matches(
    published: Published, columns: Sequence[int], read: exp.Table, covers: exp.Table
) -> _Matches:
    """What the original's combinations of some columns match, column by column.

    Raises:
        TooManyPairsError: They reach too many classes.
    """
    engine, layout = published.engine, published.encoded.layout
    bits = {number: layout.column_masks(number, 0) for number in columns}
    masks = tuple(sum(mask[w] for mask in bits.values()) for w in range(layout.words))
    query = queries.placed_classes(published.released.classes, read, columns=columns)
    classes = engine.materialize("placed", query)
    pairs = engine.materialize("pairs", queries.combinations(published.encoded.table, masks))
    # Where no labels overlap, a combination reaches one class at most.
    most = max(MAX_PAIRS, published.encoded.rows)
    for step, number in enumerate(columns):
        query = queries.reached(
            pairs, covers, classes=classes, column=number, masks=bits[number], step=step
        )
        pairs, rows = engine.materialize_counted("pairs", query)
        if rows > most:
            raise TooManyPairsError(
                "labels overlap, and combinations of values match too many classes to attack "
                f"each ({rows:,} of at most {most:,}); attack a release of one level for "
                "each column, or name fewer quasi-identifiers"
            )
    query = queries.matching(pairs, classes, columns=len(columns), words=layout.words)
    return _Matches(classes, pairs, engine.materialize("matching", query), masks)


def _targets(published: Published, *, has_control: bool, value: str | None = None) -> exp.Table:
    """The records that are attacked, with a value that is guessed, as a table."""
    engine, encoded, subject = published.engine, published.encoded, published.subject
    carried = {} if value is None else {VALUE: Carried(value)}
    if has_control:
        carried[queries.WHICH] = Carried(queries.WHICH)
    rows = encoded.table
    if carried:
        coding = encoded.layout, encoded.maps
        query = coded(engine, subject, source=subject.table, coding=coding, carried=carried)
        rows = engine.materialize("targets", query)
    return rows if has_control else engine.materialize("targets", queries.of_original(rows))


def _inferred(
    published: Published, whole: _Matches, *, sensitive: Mapping[str, bool], has_control: bool
) -> Iterator[tuple[str, Attack | None]]:
    """The attack on each sensitive column; None where it would take too long."""
    engine, released, names = published.engine, published.released, published.subject.names
    query = queries.evidence(
        whole.pairs, whole.records, whole.classes, columns=len(names), words=len(whole.masks)
    )
    evidence = engine.materialize("evidence", query)
    for name, nulls in sensitive.items():
        targets: Fragment = _targets(published, has_control=has_control, value=name)
        values = release.class_values(
            released.table, names, sensitive=name, suppressed=released.label
        )
        if not nulls:
            values, targets = map(release.without_null, (values, targets))
        query = queries.class_values(values, whole.classes, columns=len(names))
        counts = engine.materialize("counts", query)
        [(work,)] = engine.rows(queries.guessed_values(evidence, counts))
        if work > max(MAX_PAIRS, published.encoded.rows):
            yield name, None
            continue
        guesses = engine.materialize("guesses", queries.guesses(counts, evidence))
        query = queries.inferred(
            targets, words=len(whole.masks), matching=whole.records, guesses=guesses
        )
        rows = sorted(engine.rows(query))
        if rows and rows[0][0] == 0:  # else no record of the original has a value
            (_, records, _, plainly), *_ = rows
            yield name, _attack([(n, right) for _, n, right, _ in rows], plainly / records)
