"""The search over the documentation: SQLite's full-text index in memory, with stems and BM25.

`help_routes` makes one. Reads the pages and builds the index at the first search; everything here blocks.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from duologue.gateway.help.sections import HelpSection, sections

PAGES = (
    "README.md",
    "models.md",
    "running.md",
    "deploying.md",
    "security.md",
    "protocols.md",
    "clients.md",
    "errors.md",
)
"""The pages that are searched."""
PROGRAMMERS_PAGES = frozenset({"Protocols", "Errors", "Clients"})
"""Their titles."""
CHECKOUT = Path(__file__).resolve().parents[4]
FOUND = 8
WORDS = 16
"""Words of a question that are searched for."""
LONGEST_TEXT = 6_000
"""Characters of a section in a result."""
COMMON = frozenset(
    re.findall(
        r"\w+",
        "a about an and are as at be by can could do does duologue for from get give have how i in is it make me my of on or our "
        "please should so tell that the there this to use want what when where which why will with would you your",
    )
)
"""Words that say nothing about the subject, unless there are no others."""
IN_TITLE = 2.5
FOR_PROGRAMMERS = 0.6
"""By what a match counts more in a title, and less on a page for programmers."""
FIND = """
    SELECT page, title, text FROM help WHERE help MATCH :any
    ORDER BY bm25(help, 1, 4, 1, 0) * weight
        * CASE WHEN rowid IN (SELECT rowid FROM help WHERE help MATCH :title) THEN :in_title ELSE 1 END
    LIMIT :found
"""


class HelpSearch:
    """The index over these sections, or over the documentation."""

    def __init__(self, pages: Iterable[HelpSection] | None = None) -> None:
        self._pages = pages
        self._index: sqlite3.Connection | None = None

    def find(self, question: str) -> list[HelpSection]:
        """The sections that answer a question best, the best first."""
        if not (query := match_expression(question)):
            return []
        index = self._index = self._index or _built(self._pages if self._pages is not None else shipped())
        rows = index.execute(
            FIND, {"any": query, "title": f"title : ({query})", "in_title": IN_TITLE, "found": FOUND}
        )
        return [HelpSection(page, title, text[:LONGEST_TEXT]) for page, title, text in rows]


def match_expression(question: str) -> str:
    """The question in SQLite's query language: any of its words, the last one also as the beginning of a word."""
    words = re.findall(r"\w+", question.lower())[:WORDS]
    telling = [word for word in words if word not in COMMON] or words
    return " OR ".join([f'"{word}"' for word in telling] + [f'"{word}"*' for word in telling[-1:]])


def shipped() -> list[HelpSection]:
    """The sections of the documentation: in a wheel beside this file, else in the checkout."""
    return [section for name in PAGES for section in sections(page_text(name))]


def page_text(name: str) -> str:
    """One page of the documentation; "" where it is missing."""
    page = resources.files("duologue.gateway.help").joinpath("pages", name)
    if not page.is_file():
        page = CHECKOUT / name if name == "README.md" else CHECKOUT / "docs" / name
    return page.read_text("utf-8") if page.is_file() else ""


def _built(pages: Iterable[HelpSection]) -> sqlite3.Connection:
    # One thread at a time uses it: the lane of the routes has one.
    index = sqlite3.connect(":memory:", check_same_thread=False)
    index.execute(
        "CREATE VIRTUAL TABLE help USING fts5(page, title, text, weight UNINDEXED, tokenize = 'porter unicode61')"
    )
    rows = [
        (one.page, one.title, one.text, FOR_PROGRAMMERS if one.page in PROGRAMMERS_PAGES else 1)
        for one in pages
    ]
    index.executemany("INSERT INTO help VALUES (?, ?, ?, ?)", rows)
    return index
