"""Prunings: the ways in which a systematic search leaves recodings out, each for itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prunings:
    """What a systematic search does to look at fewer recodings; none changes its result.

    Args:
        node: Leave out what is below a recoding if all of it costs too much, or suppresses too
            many records.
        useless: Do not merge (or split) any more what cost too much to merge above; a column
            without anything left is useless as an applicator.
        useful: Go on with one column alone if all that keep it as it is cost too much, or suppress
            too many records. The source asks for the second where nothing may be suppressed.
        random: So many random recodings are evaluated first.
        seed: That of the random recodings.
        simpler: The best recoding of the next less flexible schemes is evaluated first.
        again: Look at a bound again when the turn of a recoding comes; the source's modified
            breadth-first search.
        nodes: Take the recoding with the least bound next, not the one found first.
        applicators: Order columns by how many classes they merge, fewest first.
    """

    node: bool = True
    useless: bool = True
    useful: bool = True
    random: int = 0
    seed: int = 0
    simpler: bool = True
    again: bool = True
    nodes: bool = True
    applicators: bool = True


NONE = Prunings(
    node=False,
    useless=False,
    useful=False,
    simpler=False,
    again=False,
    nodes=False,
    applicators=False,
)
"""Every recoding is looked at."""
