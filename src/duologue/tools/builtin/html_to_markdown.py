"""A web page as text a model can read: headings, lists, links, tables and code as Markdown, everything else gone.

Pure: HTML in, text out, by the standard library's tolerant parser. Never fails on what pages are really like.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

# What a page brings and nobody reads: code, styling, and the furniture around the text.
SKIPPED = frozenset(
    (
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "iframe",
        "object",
        "head",
        "nav",
        "button",
        "select",
        "form",
    )
)
BLOCKS = frozenset(
    ("p", "div", "section", "article", "main", "header", "footer", "aside", "figure", "figcaption", "address")
) | {"dl", "dt", "dd", "fieldset", "details", "summary", "table", "body", "html"}
VOID = frozenset(
    ("br", "hr", "img", "input", "meta", "link", "source", "wbr", "area", "base", "col", "embed", "track")
)
DEEPEST = 20


class _Reader(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._base = base
        self._out: list[str] = []
        self._skipping: list[str] = []
        self._in_title = False
        self._preformatted = 0
        self._lists: list[int | None] = []
        self._links: list[tuple[str, int]] = []
        self._cells: list[str] | None = None
        self._rows = 0

    def text(self) -> str:
        whole = "".join(self._out)
        lines = [line.rstrip() for line in whole.split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
            return
        if self._skipping:
            if tag in SKIPPED:
                self._skipping.append(tag)
            return
        values = {name: value or "" for name, value in attrs}
        hidden = "hidden" in values or values.get("aria-hidden") == "true"
        if tag in SKIPPED or (hidden and tag not in VOID and tag in BLOCKS):
            self._skipping.append(tag)
            return
        self._begin(tag, values)

    def _begin(self, tag: str, values: dict[str, str]) -> None:
        if tag in BLOCKS:
            self._block()
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._block()
                self._out.append("#" * int(tag[1]) + " ")
            case "br":
                self._out.append("\n")
            case "hr":
                self._block()
                self._out.append("---\n\n")
            case "ul" | "ol":
                self._line() if self._lists else self._block()
                self._lists.append(1 if tag == "ol" else None)
            case "li":
                self._item()
            case "pre":
                self._block()
                self._out.append("```\n")
                self._preformatted += 1
            case "code" if not self._preformatted:
                self._out.append("`")
            case "blockquote":
                self._block()
                self._out.append("> ")
            case "a":
                self._links.append((values.get("href", ""), len(self._out)))
            case "img":
                if values.get("alt", "").strip():
                    self._out.append(f"[Image: {values['alt'].strip()}]")
            case "tr":
                self._cells = []
            case "td" | "th":
                self._out.append("\0")

    def _item(self) -> None:
        number = self._lists[-1] if self._lists else None
        indent = "  " * min(max(len(self._lists) - 1, 0), DEEPEST)
        self._line()
        self._out.append(f"{indent}{'-' if number is None else f'{number}.'} ")
        if number is not None:
            self._lists[-1] = number + 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
            return
        if self._skipping:
            if tag in self._skipping:
                while self._skipping and self._skipping.pop() != tag:
                    pass
            return
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote":
                self._block()
            case "ul" | "ol":
                if self._lists:
                    self._lists.pop()
                self._block() if not self._lists else self._line()
            case "pre":
                self._preformatted = max(self._preformatted - 1, 0)
                self._out.append("\n```\n\n")
            case "code" if not self._preformatted:
                self._out.append("`")
            case "a":
                self._link()
            case "tr":
                self._row()
            case "table":
                self._rows = 0
                self._block()
            case _ if tag in BLOCKS:
                self._block()

    def _link(self) -> None:
        if not self._links:
            return
        target, start = self._links.pop()
        words = " ".join("".join(self._out[start:]).split())
        try:
            address = urljoin(self._base, target.strip())
        except ValueError:
            address = ""
        if words and address.startswith(("http://", "https://")) and not target.startswith("#"):
            self._out[start:] = [f"[{words}]({address})"]

    def _row(self) -> None:
        if self._cells is None:
            return
        joined = "".join(self._out)
        # The row began at its first cell's mark; what stands before it is text already.
        before, _, cells = joined.partition("\0")
        row = [" ".join(cell.split()).replace("|", "\\|") for cell in cells.split("\0")]
        self._out = [before]
        self._cells = None
        self._line()
        if any(row):
            self._out.append("| " + " | ".join(row) + " |\n")
            if not self._rows:
                self._out.append("|" + " --- |" * len(row) + "\n")
            self._rows += 1

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = " ".join((self.title + data).split())[:300]
        elif self._skipping:
            return
        elif self._preformatted:
            self._out.append(data)
        else:
            words = re.sub(r"\s+", " ", data)
            if self._ends_line():
                words = words.lstrip()
            if words:
                self._out.append(words)

    def _ends_line(self) -> bool:
        return not self._out or self._out[-1].endswith(("\n", " "))

    def _line(self) -> None:
        if self._out and not self._out[-1].endswith("\n"):
            self._out.append("\n")

    def _block(self) -> None:
        if self._out and not self._out[-1].endswith("\n\n"):
            self._out.append("\n" if self._out[-1].endswith("\n") else "\n\n")


def page_text(html: str, address: str = "") -> tuple[str, str]:
    """The title and the readable text of a page that came from `address`, which its links are relative to."""
    reader = _Reader(address)
    reader.feed(html)
    reader.close()
    return reader.title, reader.text().replace("\0", "")
