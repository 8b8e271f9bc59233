"""Settings: what a caller may say of a search and of the database, by keyword."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.engine.base import Opening

if TYPE_CHECKING:
    from sqlanon.policy.patterns import Patterns

Progress = Callable[[str], None]


class Settings(Opening, total=False):
    """Options of a search, as `methods.registry` describes them, and limits of the database."""

    method: str
    loss: str
    seed: int
    progress: Progress | None
    minimal_nodes: bool
    time_limit: float | None
    candidates: str
    beta: float | None
    refine: bool
    block_records: int
    suppress_uncovered: bool
    patterns: Patterns | None
