"""Cuts a page of the documentation into its sections.

Pure: Markdown in, sections out. `search` indexes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

HEADING = re.compile(r"^(#{1,3}) +(.+?) *$")
FENCE = re.compile(r"^ {0,3}(```|~~~)")
STARTS_A_BLOCK = re.compile(r"^\s*([-*+] |\d+\. |\||>|```|~~~|<|#)")
NEVER_CONTINUED = re.compile(r"^\s*(\||```|~~~|<|#)")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?://)[^)]*\)")
"""A link to another page or section; there is nothing to open there in a search result."""


class HelpSection(Struct, frozen=True):
    """A section: the title of its page, its own, and its text as Markdown."""

    page: str
    title: str
    text: str


def sections(markdown: str) -> Iterator[HelpSection]:
    """The sections of a page, each with the text up to the next heading of the first three levels; empty ones are left out."""
    page, title, lines, fenced = "", "", list[str](), False
    for line in [*markdown.splitlines(), "# "]:
        fenced ^= FENCE.match(line) is not None
        heading = None if fenced else HEADING.match(line)
        if heading is None and line != "# ":
            lines.append(line)
            continue
        text = LINK.sub(r"\1", unwrapped(lines)).strip()
        if text and page:
            yield HelpSection(page, title, text)
        if heading is not None:
            lines = []
            title = heading[2].replace("`", "")
            page = title if heading[1] == "#" else page


def unwrapped(lines: list[str]) -> str:
    """The text with each paragraph in one line: where Markdown is drawn as in a chat, an end of line is a line break."""
    out, fenced = list[str](), False
    for line in lines:
        fenced ^= FENCE.match(line) is not None
        follows = out and out[-1] and not fenced and line and not STARTS_A_BLOCK.match(line)
        if follows and not NEVER_CONTINUED.match(out[-1]):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    return "\n".join(out)
