"""Attacks on a release in figures: singling out, linkability and inference.

They are the three of WP29 Opinion 05/2014 on anonymisation techniques. Each is carried out on every
record of the original and, where there is a control (people of the same population whose records
were not released), on every record of it: what succeeds there is knowledge of the population, which
no anonymization hides. What succeeds beyond that is the risk that the release adds.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi 2023, "A unified framework for quantifying privacy
    risk in synthetic data" (Anonymeter), from which rates, baseline and risk are; the attacks are
    told anew for released classes, by labels in place of distances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlanon.wording import in_columns, percent

DEVIATIONS_OF_95 = 1.959963984540054
"""Standard deviations to each side that hold 95 % of a normal distribution."""
HEADS = ("attack", "original", "control", "guess", "risk")
"""What the parts of `Attacks.rows` are."""
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Rate:
    """How often an attack succeeds.

    Args:
        successes: Records of which it does; chances where it guesses among several [records].
        records: Records that were attacked.
    """

    successes: float
    records: int

    @property
    def share(self) -> float:
        """Successes over records."""
        return self.successes / self.records

    @property
    def interval(self) -> Interval:
        """The share in the population that the records were drawn from, at 95 %.

        (p + z^2/2n +- z sqrt(p (1-p) / n + z^2/4n^2)) / (1 + z^2/n).

        Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
        """
        n, p, z2 = self.records, self.share, DEVIATIONS_OF_95 * DEVIATIONS_OF_95
        middle = p + z2 / (2 * n)
        half = DEVIATIONS_OF_95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        low, high = ((middle + sign * half) / (1 + z2 / n) for sign in (-1, 1))
        return (0.0 if p == 0 else max(low, 0.0), 1.0 if p == 1 else min(high, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """The keys `original` and `control` of an attack."""
        return {
            "records": self.records,
            "successes": self.successes,
            "share": self.share,
            "interval": list(self.interval),
        }


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack.

    Args:
        original: How often it succeeds for records of the original.
        control: How often it does for those of the control; None without one.
        baseline: How often a guess does that does not look at what matches, for the original.
    """

    original: Rate
    control: Rate | None
    baseline: float

    @property
    def risk(self) -> float | None:
        """(r - c) / (1 - c) of the shares r of the original and c of the control, 0 at least.

        None without a control, or where the attack always succeeds there.
        """
        if self.control is None or self.control.share == 1:
            return None
        return _excess(self.original.share, self.control.share)

    @property
    def risk_interval(self) -> Interval | None:
        """The risk by the far ends of both intervals, which hold together at 90 % or more."""
        if self.control is None or self.risk is None:
            return None
        (low, high), (least, most) = self.original.interval, self.control.interval
        return 0.0 if most == 1 else _excess(low, most), _excess(high, least)

    def to_dict(self) -> dict[str, Any]:
        """An entry of `attacks` in the JSON documents."""
        interval = self.risk_interval
        return {
            "original": self.original.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "baseline": self.baseline,
            "risk": self.risk,
            "risk_interval": None if interval is None else list(interval),
        }


def _excess(share: float, control: float) -> float:
    return max((share - control) / (1 - control), 0.0)


@dataclass(frozen=True, slots=True)
class Attacks:
    """Three attacks on a release by somebody who knows quasi-identifiers of a record.

    M(v) are the released records that match values v: those of classes whose every label stands for
    the value of its column; fully suppressed records match nobody.

    - Singling out: M(v) is one record. The baseline is 0: a guess singles nobody out.
    - Linkability: one attacker knows the first half of the quasi-identifiers, in the order of the
      policy, another one the rest, and each takes a record that matches at random: the chance that
      both take the same is M(v) / (M(v of one half) M(v of the other)). The baseline is that of two
      records out of all, 1 over the released records.
    - Inference of a sensitive column: the value that most of M(v) have is that of the record; of
      several values one is taken at random, so that each counts as a chance. Where nothing matches,
      and for the baseline, it is the value that most released records have.

    Args:
        singling_out: The first attack.
        halves: The columns that the two attackers of the second know.
        linkability: The second; None for a single quasi-identifier.
        inference: The third, by sensitive column; columns that the release does not hold are left
            out, and so are those of which `not_run` tells.
        not_run: Sensitive columns whose values would take too long to put together.
    """

    singling_out: Attack
    halves: tuple[tuple[str, ...], tuple[str, ...]]
    linkability: Attack | None
    inference: Mapping[str, Attack] = field(default_factory=dict)
    not_run: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The key `attacks` of the JSON documents."""
        return {
            "singling_out": self.singling_out.to_dict(),
            "linkability": None if self.linkability is None else self.linkability.to_dict(),
            "halves": [list(half) for half in self.halves],
            "inference": {name: attack.to_dict() for name, attack in self.inference.items()},
        }

    def to_lines(self) -> list[str]:
        """Lines for a reader."""
        rows = [HEADS, *map(tuple, self.rows())]
        return ["attacks (share of the records that succeed)", *in_columns(rows, "<<<>>")]

    def rows(self) -> Iterator[list[str]]:
        """Per attack its name, shares with their intervals, and risk, for a reader."""
        named = {"singling out": self.singling_out}
        if self.linkability is not None:
            named["linkability"] = self.linkability
        named |= {f"inference of {name}": attack for name, attack in self.inference.items()}
        for name, attack in named.items():
            rates = [attack.original, attack.control]
            yield [
                name,
                *("–" if rate is None else _ranged(rate.share, rate.interval) for rate in rates),
                percent(attack.baseline),
                _risk_text(attack),
            ]


def _risk_text(attack: Attack) -> str:
    interval = attack.risk_interval
    if attack.risk is None or interval is None:
        return "–"
    return _ranged(attack.risk, interval)


def _ranged(share: float, interval: Interval) -> str:
    low, high = map(percent, interval)
    return f"{percent(share)} ({low} to {high})"
