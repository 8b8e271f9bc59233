"""The page of JSON documents, and whether a document is as the page says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.policy.privacy import FAMILIES

_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "share": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
    "any": (object,),
}


@dataclass(frozen=True, slots=True)
class Key:
    """What is said of a key: its kind or the shape of its value, and its meaning."""

    kind: str
    is_optional: bool
    meaning: str

    @classmethod
    def of(cls, text: str) -> Key:
        """From `kind? meaning`."""
        kind, _, meaning = text.partition(" ")
        return cls(kind.removesuffix("?"), kind.endswith("?"), meaning)

    @property
    def shape(self) -> str | None:
        """The section that describes its value, where one does."""
        return self.kind[1:] if self.kind.startswith("@") else None


@dataclass(frozen=True, slots=True)
class Shape:
    """A section: the keys of a document, or of an object in one."""

    name: str
    title: str
    like: tuple[str, ...]
    keys: Mapping[str, Key]


def shapes(file: Path) -> dict[str, Shape]:
    """The sections by name; that of sensitive columns with a key for each family of models."""
    sections = tomllib.loads(file.read_text("utf-8"))
    sections["sensitive"] |= {key: each.key for key, each in FAMILIES.items() if each.key}
    return {
        name: Shape(
            name,
            section.pop("title"),
            tuple(section.pop("like", ())),
            {key: Key.of(text) for key, text in section.items()},
        )
        for name, section in sections.items()
    }


def keys_of(known: Mapping[str, Shape], name: str) -> dict[str, Key]:
    """All keys of a shape, those of the sections that it is like included."""
    shape = known[name]
    inherited = [keys_of(known, part) for part in shape.like]
    return {key: entry for part in inherited for key, entry in part.items()} | dict(shape.keys)


class Comparison:
    """Documents held against the sections: what they have and nobody has described."""

    def __init__(self, known: Mapping[str, Shape]) -> None:
        self.known = known
        self.seen: set[tuple[str, str]] = set()
        """Shape and key of everything that a document had."""
        self.faults: list[str] = []

    def look(self, value: Any, name: str, where: str = "") -> None:
        """Looks at a document, or at an object in one."""
        if isinstance(value, list):
            for item in value:
                self.look(item, name, where)
            return
        self._walk(value, (), name=name, where=where or name)

    def _walk(self, value: Any, path: tuple[str, ...], *, name: str, where: str) -> None:
        keys = keys_of(self.known, name)
        found = _match(keys, path) if path else None
        if found is not None:
            self.seen.add((name, found))
            self._settle(value, keys[found], where=f"{where}: {_joined(path)}")
        elif isinstance(value, dict):
            for key, inner in value.items():
                self._walk(inner, (*path, key), name=name, where=where)
        elif isinstance(value, list):
            for inner in value:
                self._walk(inner, (*path[:-1], f"{path[-1]}[]"), name=name, where=where)
        elif value is not None or not _begins(keys, path):
            self.faults.append(f"{where}: {_joined(path)} is not described")

    def _settle(self, value: Any, key: Key, *, where: str) -> None:
        if value is None:
            if not key.is_optional:
                self.faults.append(f"{where} is null")
        elif key.shape is not None:
            self.look(value, key.shape, where)
        elif not isinstance(value, _KINDS[key.kind]):
            self.faults.append(f"{where} is no {key.kind}")


def _joined(path: tuple[str, ...]) -> str:
    return ".".join(path)


def _match(keys: Mapping[str, Key], path: tuple[str, ...]) -> str | None:
    """The key of a path, by its very name or with a name of the user's in it."""
    if _joined(path) in keys:
        return _joined(path)
    for key in keys:
        steps = key.split(".")
        if len(steps) == len(path) and all(
            step == own or re.fullmatch(r"<.*>", step)
            for step, own in zip(steps, path, strict=True)
        ):
            return key
    return None


def _begins(keys: Mapping[str, Key], path: tuple[str, ...]) -> bool:
    """Whether what is null or empty would hold keys that are described."""
    begin = _joined(path)
    return any(key.startswith((f"{begin}.", f"{begin}[]")) for key in keys)


def page(file: Path) -> str:
    """The page in Markdown."""
    known = shapes(file)
    parts = [
        "# JSON documents\n",
        "With `--json` every command prints one document on standard output, and nothing else "
        "there. Reports of the [Python interface](python.md) give the same by `to_dict()`. Keys in "
        "`<brackets>` are names of yours, or numbers; `[]` stands for each entry of a list. "
        "A `?` marks what can be null. Shares lie between 0 and 1. But for `created` and "
        "`seconds`, the same input gives the same document.\n",
    ]
    for shape in known.values():
        parts += [f"## {shape.title} {{#{shape.name}}}\n", *_section(known, shape), ""]
    return "\n".join(parts)


def _section(known: Mapping[str, Shape], shape: Shape) -> Iterator[str]:
    if shape.like:
        links = ", ".join(f"[{known[part].title.split(':')[0]}](#{part})" for part in shape.like)
        yield f"All keys of {links}" + (", and:\n" if shape.keys else ".\n")
    if shape.keys:
        yield "| key | kind | meaning |\n|---|---|---|"
    for name, key in shape.keys.items():
        kind = key.kind if key.shape is None else f"[{key.shape.replace('_', ' ')}](#{key.shape})"
        optional = "?" if key.is_optional else ""
        yield f"| `{name}` | {kind}{optional} | {key.meaning} |"
