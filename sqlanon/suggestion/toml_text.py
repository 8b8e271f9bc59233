"""Values and comments as a policy file writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from textwrap import wrap

from sqlanon.errors import PolicyError

WIDTH = 96
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """A key, in quotes where it needs them.

    >>> toml_key("age"), toml_key("date of birth")
    ('age', '"date of birth"')
    """
    return name if _BARE.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    r"""A text in quotes.

    >>> print(toml_text('a "b"\n'))
    "a \"b\"\n"
    """
    # JSON writes texts as TOML does, but for DEL, which TOML takes only as an escape.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: object) -> str:
    """A value on one line.

    >>> toml_value({"intervals": [5, 10], "low": 0.5, "x y": True})
    '{ intervals = [5, 10], low = 0.5, "x y" = true }'

    Raises:
        PolicyError: TOML has no such value.
    """
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return toml_text(value)
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case Mapping():
            pairs = (f"{toml_key(str(key))} = {toml_value(each)}" for key, each in value.items())
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
    raise PolicyError(f"a policy file cannot hold a value of type {type(value).__name__}")


def comment(text: str, indent: int = 0) -> str:
    """A text as lines of a comment, whatever names of columns it holds.

    Args:
        text: The text.
        indent: Blanks before each line.
    """
    plain = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
    margin = f"{' ' * indent}# "
    lines = wrap(
        plain, WIDTH, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )
    return "\n".join(lines)
