"""Terms of the field, explained where a pointer rests on them."""

from __future__ import annotations

import re

_ENTRY = re.compile(r"^(?P<names>[^\n:].*)\n:   (?P<text>(?:.+\n?)+)", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def terms(page: str) -> dict[str, str]:
    """The first sentence about each term, names of one term parted by commas."""
    found = {}
    for entry in _ENTRY.finditer(page):
        text = _LINK.sub(r"\1", " ".join(entry["text"].split()))
        sentence = re.split(r"(?<=[.])\s", text)[0].replace("`", "").replace("*", "")
        for name in entry["names"].split(", "):
            found[name.strip("* ")] = sentence
    return found


def abbreviations(page: str) -> str:
    """The terms, as Markdown explains abbreviations."""
    lines = []
    for name, sentence in terms(page).items():
        for form in dict.fromkeys((name, name[0].upper() + name[1:])):
            lines.append(f"*[{form}]: {sentence}")
    return "\n\n" + "\n".join(lines) + "\n"
