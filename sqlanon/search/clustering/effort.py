"""Effort: how long clusters are refined, and how long and how hot they are annealed.

Its figures are also the defaults of options, whose help is shown without loading any algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass

PASSES = 52
"""How often refinement looks at each record, unless another number is asked for."""
REFINED_RECORDS = 2**15
"""Largest table whose clusters are refined together; parts of a larger one are so [records]."""
REFINED_CLUSTERS = 64
"""Clusters of k records that a part of it has room for at least. With fewer, what every part takes
by itself adds up: 3,000 records at k = 5 take 2 s in parts of 64, 4 s of 32, and 44 s of 2."""
ITERATIONS_PER_RECORD, MAX_ITERATIONS = 5, 250_000
"""Iterations of annealing for each record, and for all at most, where no number is given."""
TEMPERATURE = 0.2
"""Temperature of the first iteration [units of energy]."""
COOLING = 0.01
"""Temperature of the last iteration over that of the first."""
LOSS_WEIGHT = 1.0
"""What the loss counts in the energy."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how hot annealing is.

    Args:
        iterations: Most exchanges tried; None for `ITERATIONS_PER_RECORD` of each record, at most
            `MAX_ITERATIONS`.
        temperature: That of the first iteration [units of energy], at least 0, where only rises in
            energy are refused.
        cooling: That of the last one over that of the first, above 0 and at most 1.
        weight: What the loss counts in the energy, at least 0.
        seed: What the choices are drawn from.
    """

    iterations: int | None = None
    temperature: float = TEMPERATURE
    cooling: float = COOLING
    weight: float = LOSS_WEIGHT
    seed: int = 0

    def limit(self, records: int) -> int:
        """Most iterations for a table of so many records."""
        return (
            min(ITERATIONS_PER_RECORD * records, MAX_ITERATIONS)
            if self.iterations is None
            else self.iterations
        )
