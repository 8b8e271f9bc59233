"""The page of papers: what each is about, and the modules that say they follow it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import sqlanon

PACKAGE = Path(sqlanon.__file__).parent
_NAME = r"(?!After\b)[A-Z][\w-]+(?: Emam)?"
_CITED = re.compile(
    rf"(?P<authors>{_NAME}(?:(?:, | and ){_NAME})*(?: et al\.)?)(?:'s)? (?P<year>(?:19|20)\d\d)\b"
)
_MAY_CITE = re.compile(r"\b(?:19|20)\d\d\b|\bKhaitan\b")
"""What a module that cites a paper has somewhere: to parse all of them takes a second."""


def citations() -> dict[tuple[str, str], set[str]]:
    """The modules that cite a paper in a docstring, by its authors and year."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, texts in _docstrings().items():
        for cited in _CITED.finditer(texts):
            found[cited["authors"], cited["year"]].add(module)
    return dict(found)


def mentions(name: str) -> set[str]:
    """The modules whose docstrings name somebody."""
    return {module for module, texts in _docstrings().items() if name in texts}


@cache
def _docstrings() -> dict[str, str]:
    """Docstrings of every module, and the texts below its constants, as one line each."""
    return {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): " ".join(
            " ".join(node.value.value.split())
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        for path in sorted(PACKAGE.rglob("*.py"))
        if _MAY_CITE.search(path.read_text("utf-8"))
    }


def papers(file: Path) -> list[dict[str, Any]]:
    """The papers: `authors`, `year`, `title`, `place`, `about`, and how else they are `cited`."""
    listed: list[dict[str, Any]] = tomllib.loads(file.read_text("utf-8"))["paper"]
    return listed


def _forms(paper: dict[str, Any]) -> list[tuple[str, str]]:
    """How docstrings cite a paper."""
    return [(form, str(paper["year"])) for form in (paper["authors"], *paper.get("cited", []))]


def page(file: Path) -> str:
    """The page in Markdown.

    Raises:
        LookupError: The code cites a paper that the list does not have.
    """
    cited, known = citations(), papers(file)
    unknown = cited.keys() - {form for paper in known for form in _forms(paper)}
    if unknown:
        raise LookupError(f"docs/papers.toml lacks {sorted(unknown)}")
    parts = [
        "# Papers, and where each stands\n",
        "What sqlanon does, others have thought of before. This page lists their papers with the "
        "modules that follow them, as the docstrings of the code say; sections and lemmas are "
        "named there. [Methods](methods.md) and [measures](measures.md) say what each does, and "
        "where it departs from its paper.\n",
    ]
    for paper in sorted(known, key=lambda each: (each["authors"], each["year"])):
        modules = {name for form in _forms(paper) for name in cited.get(form, ())}
        modules |= mentions(paper["mentioned"]) if "mentioned" in paper else set()
        stands = ", ".join(f"`{name}`" for name in sorted(modules))
        parts.append(
            f"**{paper['authors']} ({paper['year']}).** *{paper['title']}.* {paper['place']}\n"
            f":   {paper['about']}" + (f"  \n    In the code: {stands}." if stands else "") + "\n"
        )
    return "\n".join(parts)
