"""The codes of errors that are documented: every one that the server gives, which a test of the documentation sees to.

A closed list for labels of metrics: an engine, or a server behind it, may give codes of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from duologue.gateway.help.search import page_text

_ROW = re.compile(r"^\| *(`[^|]*`)", re.MULTILINE)


def documented_codes() -> frozenset[str]:
    """The codes in the tables of docs/errors.md. Blocks for a millisecond."""
    return frozenset(_codes(page_text("errors.md")))


def _codes(page: str) -> Iterator[str]:
    for cell in _ROW.findall(page):
        yield from re.findall(r"`([a-z][a-z0-9_]*)`", cell)
