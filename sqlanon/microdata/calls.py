"""Calls of public functions: what is the table, and what is the policy, among what is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeVar, Union, runtime_checkable

from sqlanon.arguments import is_file, kind_of, path_of
from sqlanon.engine.base import Engine
from sqlanon.engine.open import (
    ArrowStreamed,
    Connection,
    FrameTable,
    LazilyCollected,
    is_elsewhere,
    is_frame,
    owned,
    unwrapped,
)
from sqlanon.errors import PolicyError, SourceError
from sqlanon.microdata.opening import Policies
from sqlanon.policy.policy import OF_METHODS, SETTINGS, Policy
from sqlanon.policy.toml import blaming, read_document

Frame = Union[ArrowStreamed, LazilyCollected]  # noqa: UP007 - an alias of protocols at run time
"""A pandas or Polars frame (eager or lazy), an Arrow table, batch or reader, or a relation."""
F = TypeVar("F", bound=Frame)
Source = Connection | Engine | str | Path
"""An open DuckDB connection, or a path to a database or to a file of data."""
AnyPolicy = Policies | Mapping[str, Any] | str | PathLike[str]
"""A policy; the keys of `policy.toml` as a dict; the path of such a file; or a function from the
columns of the table to a policy."""

_SHAPE = "(source, policy, table=...)"


@runtime_checkable
class PolicyDraft(Protocol):
    """What is handed over in place of a policy, with columns that have no role yet."""

    @property
    def policy(self) -> Policy:
        """What is settled so far; it publishes nothing as long as columns are undecided."""

    @property
    def undecided(self) -> Sequence[str]:
        """The columns that have no role yet."""

    @property
    def method(self) -> str | None:
        """The method that is suggested; None for the default one."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call by its meaning.

    Args:
        source: What to open.
        table: A table of it; None where it holds only one.
        policy: The policy, or what makes one of the table's columns.
        said: What a policy file says besides: method, loss and options of methods.
        frame: The frame that the table is; None for a table of a connection or a file.
    """

    source: object
    table: object
    policy: Policies
    said: Mapping[str, Any] = field(default_factory=dict)
    frame: FrameTable | None = None

    @property
    def opened(self) -> tuple[object, object, Policies]:
        """Source, table and policy, as they are opened."""
        return self.source, self.table, self.policy

    def alike(self, other: object) -> object:
        """Another table of the same call; a frame beside a frame is read in the same way."""
        return FrameTable(other) if self.frame is not None and is_frame(other) else other


def asked(source: object, policy: object, *, table: object = None) -> Call:
    """A call by its meaning.

    Args:
        source: A connection, a path or a frame.
        policy: The policy.
        table: A table of the source; None where it holds only one.

    Raises:
        PolicyError: There is no policy, or the arguments stand in another order.
        SourceError: The source is none.
    """
    if policy is None:
        raise PolicyError(
            f"the policy is missing; give {_SHAPE}, where the policy is a Policy, a dict with the "
            "keys of policy.toml, or the path of such a file"
        )
    if is_frame(policy) or isinstance(source, Policy):
        raise PolicyError(f"the policy comes second; give {_SHAPE}")
    if isinstance(source, Mapping):
        raise SourceError(
            f"{kind_of(source)} is no table; make it a frame with pandas.DataFrame(...) or "
            "pyarrow.table(...)"
        )
    made, said = _policy_of(policy)
    is_source = isinstance(source, str | Path | Connection | FrameTable)
    if not (is_source or is_frame(source) or is_elsewhere(source)):
        _refuse_unless_wrapped(source)
    if not is_frame(source):
        return Call(source, table, made, said)
    if table is not None:
        raise PolicyError("a frame is the table itself; leave table out")
    owner, inner = owned(source)
    frame = owner if isinstance(owner, FrameTable) else inner
    return Call(owner, inner, made, said, frame if isinstance(frame, FrameTable) else None)


def _refuse_unless_wrapped(source: object) -> None:
    """Refuses what is no source, and does not hand its calls on to one."""
    if unwrapped(source) is source:
        raise SourceError(
            f"{kind_of(source)} is not a source; give a frame, a connection or a path"
        )


def _policy_of(given: object) -> tuple[Policies, dict[str, Any]]:
    """A policy, and what its file says besides."""
    if isinstance(given, PolicyDraft):
        return given.policy, {} if given.method is None else {"method": given.method}
    if isinstance(given, Policy) or callable(given):
        # What makes a policy for the command line knows what its file says besides.
        return given, dict(getattr(given, "said", {}))
    if isinstance(given, Mapping):
        document, folder, culprit = dict(given), None, "policy"
    elif isinstance(given, str | PathLike):
        path = path_of(given, "the policy file")
        if not is_file(path):
            raise PolicyError(f"there is no policy file {str(path)!r}; give {_SHAPE}")
        document, folder = read_document(path), path.parent
        culprit = f"policy file {str(path)!r}"
    else:
        raise PolicyError(
            "policy must be a Policy, a dict with the keys of policy.toml, the path of such a "
            f"file, or a function from the columns to a Policy, not {kind_of(given)}"
        )
    with blaming(culprit):
        for name in SETTINGS:
            if not isinstance(document.get(name, ""), str):
                raise PolicyError(f"{name} must be a text")
        made = Policy.from_dict(document, folder)
    return made, {name: document[name] for name in (*SETTINGS, *OF_METHODS) if name in document}
