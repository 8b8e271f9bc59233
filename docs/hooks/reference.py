"""Pages of the reference, made from the code whenever the site is built, so that none goes stale.

Commands come from the program's own tree, Python from docstrings, findings from the rules of the
linter, papers from the docstrings that cite them. Keys of JSON documents are a list, which a test
holds against documents of every command, both ways. Only this module needs what builds the site, so
that tests of the others do without.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import commands
import documents
import findings
import glossary
import papers
import python_names

HERE = Path(__file__).parent.parent
COMMANDS = "reference/commands"


def pages() -> dict[str, str]:
    """Every page that is made, by its path below `docs/`."""
    return {
        **{f"{COMMANDS}/{name}.md": text for name, text in commands.pages().items()},
        "reference/json.md": documents.page(HERE / "reference" / "json_keys.toml"),
        "reference/findings.md": findings.page(),
        "reference/python.md": python_names.page(),
        "explanation/papers.md": papers.page(HERE / "papers.toml"),
    }


def on_config(config: Any) -> Any:
    """Lists the pages of commands in the navigation."""
    made = [f"{COMMANDS}/{name}.md" for name in commands.pages()]
    _fill(config["nav"], f"{COMMANDS}/index.md", made)
    return config


def _fill(entries: list[Any], place: str, made: list[str]) -> None:
    """Puts pages where the first of them stands in the navigation."""
    if place in entries:
        entries[:] = made
    for entry in entries:
        for inside in entry.values() if isinstance(entry, dict) else ():
            if isinstance(inside, list):
                _fill(inside, place, made)


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Explains the terms of the field where they stand in a page that somebody has written."""
    if page.file.src_uri in pages() or page.file.src_uri == "glossary.md":
        return markdown
    return markdown + glossary.abbreviations((HERE / "glossary.md").read_text("utf-8"))


_DIALOG = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: Any) -> str:
    """Names the dialog that the theme leaves without a name, for those who hear the page."""
    return output.replace(_DIALOG, f'{_DIALOG} aria-label="Search"')
