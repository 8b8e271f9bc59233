"""Settings: what a caller may say of a search and of the database, by keyword."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from sqlanon.engine.base import Limits, Opening
from sqlanon.engine.open import Resources
from sqlanon.errors import PolicyError
from sqlanon.policy.policy import OF_METHODS, SETTINGS
from sqlanon.progress import Progress
from sqlanon.wording import did_you_mean

if TYPE_CHECKING:
    from sqlanon.methods.registry import Options
    from sqlanon.policy.patterns import Patterns
    from sqlanon.policy.schemes import Schemes

_LIMITS = frozenset(Limits.__annotations__)
_OPENING = frozenset(Opening.__annotations__)


class Settings(Opening, total=False):
    """Options of a search, as `methods.registry` describes them, and limits of the database."""

    method: str
    loss: str
    seed: int
    progress: Progress | None
    consistent: bool
    minimal_nodes: bool
    alternatives: bool
    time_limit: float | None
    candidates: str
    beta: float | None
    refine: bool
    passes: int
    improve: str | None
    iterations: int | None
    temperature: float | None
    cooling: float | None
    loss_weight: float | None
    pools: int | None
    block_records: int
    bound: str | None
    cuts: str
    partitioning: str
    suppress_uncovered: bool
    distance: str
    patterns: Patterns | None
    scheme: Schemes | None
    direction: str | None


def options_of(settings: Settings) -> Options[Any]:
    """The options of the search among all settings.

    Raises:
        PolicyError: One that is not known, or no method takes.
    """
    from sqlanon.methods.registry import Options  # no other call needs it

    search: dict[str, Any] = {n: value for n, value in settings.items() if n not in _OPENING}
    known = list(Settings.__annotations__)
    for name in [name for name in search if name not in known]:
        meant = did_you_mean(name, known)
        raise PolicyError(f"setting {name!r} is not known; they are {', '.join(known)}{meant}")
    limits = cast("Limits", {n: value for n, value in settings.items() if n in _LIMITS})
    return Options.of(**search, memory=Resources(**limits).memory)


def completed(settings: Settings, said: Mapping[str, Any]) -> Settings:
    """Settings with what a policy file says of method, loss and options of methods.

    A file may serve other methods, too: only what the method takes is read of it.

    Args:
        settings: What is given, which goes before.
        said: Keys of a policy file that are no part of the policy.
    """
    if not said:
        return settings
    from sqlanon.methods.registry import DEFAULT

    merged: dict[str, Any] = {name: said[name] for name in SETTINGS if name in said}
    merged |= settings
    method = merged.get("method", DEFAULT.name)
    return completed_for([method], cast("Settings", merged), said)


def completed_for(methods: Iterable[str], settings: Settings, said: Mapping[str, Any]) -> Settings:
    """Settings with what a policy file says of options that one of the methods takes."""
    from sqlanon.methods.registry import method_named

    rows = [method_named(name) for name in methods] if said else []
    taken = [name for name in OF_METHODS if any(row.takes(name) for row in rows)]
    of_file = {name: said[name] for name in taken if name in said}
    return cast("Settings", {**of_file, **settings})


def opening_of(settings: Settings) -> Opening:
    """What is said of how the source is opened, among all settings."""
    return cast("Opening", {n: value for n, value in settings.items() if n in _OPENING})
