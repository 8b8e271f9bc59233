"""Systematic searches of recodings that leave some of the library's prunings out.

`sqlanon.search.lattice.schemes.enumeration` prunes in every way that it knows. To tell what each is
worth, and that none changes what is found, the searches here leave them out one by one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from sqlanon.deadline import NEVER
from sqlanon.search.lattice.schemes.enumeration import (
    MAX_OPEN_BYTES,
    Downward,
    Frontier,
    Least,
    Ruler,
    Upward,
    Walk,
)
from sqlanon.search.lattice.schemes.trees import Merging


@dataclass(frozen=True)
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
        start: A recoding to evaluate first, such as what another search has found.
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
    start: tuple | None = None
    simpler: bool = True
    again: bool = True
    nodes: bool = True
    applicators: bool = True


ONE_BY_ONE = ("node", "useless", "useful", "again", "nodes", "applicators", "simpler")
NONE = Prunings(**dict.fromkeys(ONE_BY_ONE, False))
"""Every recoding is looked at."""


_LESS_FLEXIBLE = {"sps": "ops", "gsps": "gops", "gops": "ghs", "ghs": "bhs"}
"""Per scheme one whose recodings of the same units it has all of, and others."""
_FLEXIBILITY = {"ghs": 1, "gops": 2, "gsps": 3, "sps": 3}
"""Steps that there are below a scheme, as if each column had all."""


def less_flexible(problem):
    """The same table under the next less flexible schemes; None where all are the least.

    The most flexible go first, so that columns come to the same scheme.
    """
    most = max((_FLEXIBILITY.get(domain.scheme, 0) for domain in problem.domains), default=0)
    if not most:
        return None
    domains = tuple(
        replace(domain, scheme=_LESS_FLEXIBLE[domain.scheme])
        if _FLEXIBILITY.get(domain.scheme, 0) == most
        else domain
        for domain in problem.domains
    )
    return replace(problem, domains=domains)


class FoundFirst(Frontier):
    """A queue that gives the recoding that was found first."""

    def rank(self, opened):
        """The same of all."""
        return Least(0, 0)


class PrunedWalk(Walk):
    """A systematic search with some prunings."""

    def __init__(self, direction, prunings, *, deadline, room):
        super().__init__(direction, deadline=deadline, room=room)
        self.prunings = prunings
        if not prunings.nodes:
            self.frontier = FoundFirst(self.frontier.most)

    def _seed(self, start):
        if start is not None:
            self.best.evaluate(start)
        for recoding in random_recodings(self.problem, self.prunings):
            self.deadline.check()
            self.best.evaluate(recoding)
        simpler = less_flexible(self.problem) if self.prunings.simpler else None
        if simpler is not None:
            way, share = type(self.direction)(Ruler(simpler)), self.deadline.share(0.2)
            found = PrunedWalk(way, self.prunings, deadline=share, room=self.room).run()
            self.best.checked += found.checked
            if found.partitions is not None:
                self.best.evaluate(found.partitions)

    def _is_over(self, turn):
        return self.prunings.again and super()._is_over(turn)

    def _is_closed(self, least, own, farthest):
        return self.prunings.node and super()._is_closed(least, own, farthest)

    def _banned(self, opened, found):
        return super()._banned(opened, found) if self.prunings.useless else opened.bans

    def _ordered(self, turn):
        return super()._ordered(turn) if self.prunings.applicators else turn.opened.active

    def _needed(self, turn, columns):
        return super()._needed(turn, columns) if self.prunings.useful else None


def random_recodings(problem, prunings):
    """Some recodings: of each column a way of random length up its tree."""
    drawn = random.Random(prunings.seed)
    trees = [Merging(domain) for domain in problem.domains]
    for _ in range(prunings.random):
        recoding = []
        for tree in trees:
            position = tree.root
            for _ in range(drawn.randrange(tree.domain.units)):
                children = [*tree.children(position)]
                position = drawn.choice(children) if children else position
            recoding.append(position.partition)
        yield tuple(recoding)


def bottom_up(problem, prunings=None, *, deadline=NEVER, room=MAX_OPEN_BYTES):
    """The best recoding, searched from the finest."""
    return _searched(Upward, problem, prunings or Prunings(), deadline, room)


def top_down(problem, prunings=None, *, deadline=NEVER, room=MAX_OPEN_BYTES):
    """The best recoding, searched from the coarsest."""
    return _searched(Downward, problem, prunings or Prunings(), deadline, room)


def _searched(direction, problem, prunings, deadline, room):
    walk = PrunedWalk(direction(Ruler(problem)), prunings, deadline=deadline, room=room)
    return walk.run(prunings.start)
