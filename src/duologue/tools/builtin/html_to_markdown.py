"""Converts a web page to Markdown for a model: headings, lists, links, tables and code of the main content.

Owns the writer. `html_tree` parses and `main_content` selects what to write. The fetch tool calls it. Pure: HTML in, text
out; any input is accepted.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from duologue.tools.builtin.html_tree import Element, html_tree
from duologue.tools.builtin.main_content import HEADINGS, main_content

DEEPEST = 20
"""Maximum indentation of lists and quotations; deeper ones are written at this depth."""
LARGEST_CELL = 1000
"""Characters; a table with a larger cell is used for layout."""


def page_text(html: str, address: str = "") -> tuple[str, str]:
    """The title and the readable text of a page that came from `address`, which its links are relative to."""
    title, root = html_tree(html)
    writer = _Writer(address)
    writer.write(main_content(root))
    return title, writer.text()


class _Writer:
    """Writes elements in order. Line breaks between blocks are written only once text follows them."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._out: list[str] = []
        self._gap = 0
        """Line breaks due before the next text."""
        self._after_marker = False
        """Nothing has followed a list item's marker yet, so a block begins on the marker's line."""
        self._quotes = 0
        self._quotes_before = 0
        """Quotation depth of the last text: a blank line is quoted as deep as both its neighbours are."""
        self._lists: list[int | None] = []
        """The next number of each open list; None for bullets."""

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in "".join(self._out).split("\n")).strip()

    def write(self, element: Element) -> None:
        for child in element.children:
            if isinstance(child, str):
                self._words(child)
            else:
                self._element(child)

    def _element(self, element: Element) -> None:
        match element.tag:
            case "br":
                self._gap = min(self._gap + 1, 2)
            case "hr":
                self._block("---")
            case "img":
                self._put(_picture(element))
            case "code" if not element.block:
                self._put_spaced(element, _code(element))
            case "a":
                self._link(element)
            case "pre":
                self._preformatted(element)
            case "ul" | "ol" | "menu":
                self._list(element)
            case "li":
                self._item(element)
            case "table":
                self._table(element)
            case "blockquote":
                self._quotation(element)
            case tag if tag in HEADINGS:
                words = _line(element, self._address)
                self._block(f"{'#' * int(tag[1])} {words}" if words else "")
            case _:
                gap = (1 if element.tag in ("tr", "dt", "dd") else 2) if element.block else 0
                self._break(gap)
                self.write(element)
                self._break(gap)

    def _link(self, element: Element) -> None:
        link = _link(element, self._address)
        if not element.block:
            self._put_spaced(element, link)
            return
        # A card: one link around a heading and some lines.
        heading = next((each.tag for each in element.elements() if each.tag in HEADINGS), "")
        self._block(f"{'#' * int(heading[1])} {link}" if heading and link else link)

    def _list(self, element: Element) -> None:
        gap = 1 if self._lists else 2
        self._break(gap)
        self._lists.append(1 if element.tag == "ol" else None)
        self.write(element)
        self._lists.pop()
        self._break(gap)

    def _item(self, element: Element) -> None:
        number = self._lists[-1] if self._lists else None
        indent = "  " * min(max(len(self._lists) - 1, 0), DEEPEST)
        self._after_marker = False
        self._break(1)
        self._put(f"{indent}{'-' if number is None else f'{number}.'} ")
        self._after_marker = True
        if number is not None:
            self._lists[-1] = number + 1
        self.write(element)
        self._after_marker = False
        # Exactly one, also after a paragraph, so that no blank lines separate items.
        self._gap = 1

    def _quotation(self, element: Element) -> None:
        self._break(2)
        deeper = 1 if self._quotes < DEEPEST else 0
        self._quotes += deeper
        self.write(element)
        self._break(2)
        self._quotes -= deeper

    def _preformatted(self, element: Element) -> None:
        code = _raw(element).removeprefix("\n").rstrip()
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`{3,}", code)), default=0))
        self._block(f"{fence}\n{code}\n{fence}" if code else "")

    def _table(self, element: Element) -> None:
        rows, others = _rows(element)
        self._break(2)
        for other in others:
            self._element(other)
        if _is_layout(element, rows):
            for row in rows:
                self.write(row)
        else:
            self._break(2)
            self._data_rows(rows)
        self._break(2)

    def _data_rows(self, rows: list[Element]) -> None:
        first = True
        for row in rows:
            cells = [_line(cell, self._address).replace("|", "\\|") for cell in _cells(row)]
            if not any(cells):
                continue
            self._put("| " + " | ".join(cells) + " |")
            self._break(1)
            if first:
                self._put("|" + " --- |" * len(cells))
                self._break(1)
            first = False

    def _words(self, text: str) -> None:
        words = re.sub(r"\s+", " ", text)
        if self._gap or not self._out or self._out[-1].endswith((" ", "\n")):
            words = words.lstrip()
        self._put(words)

    def _put_spaced(self, element: Element, text: str) -> None:
        """Put `text` in place of an element and keep the white space at the element's edges."""
        raw = _raw(element)
        if text and raw[:1].isspace():
            self._words(" ")
        self._put(text)
        if text and raw[-1:].isspace():
            self._words(" ")

    def _block(self, text: str) -> None:
        self._break(2)
        self._put(text)
        self._break(2)

    def _break(self, lines: int) -> None:
        if not self._after_marker:
            self._gap = max(self._gap, lines)

    def _put(self, text: str) -> None:
        if not text:
            return
        prefix = "> " * self._quotes
        if not self._out:
            self._out.append(prefix)
        elif self._gap:
            blank = ">" * min(self._quotes, self._quotes_before)
            self._out.append(f"\n{blank}" * (self._gap - 1) + f"\n{prefix}")
        self._out.append(text.replace("\n", f"\n{prefix}"))
        self._gap = 0
        self._after_marker = False
        self._quotes_before = self._quotes


def _line(element: Element, address: str = "") -> str:
    """An element as one line. Links get their targets if `address` is given."""
    pieces: list[str] = []
    _collect(element, address, pieces)
    return " ".join("".join(pieces).split())


def _collect(element: Element, address: str, pieces: list[str]) -> None:
    for child in element.children:
        if isinstance(child, str):
            pieces.append(child)
        elif child.tag == "img":
            pieces.append(_picture(child))
        elif child.tag == "code" and not child.block:
            pieces.append(_code(child))
        elif child.tag == "a" and address:
            pieces.append(_link(child, address))
        else:
            blank = " " if child.block or child.tag == "br" else ""
            pieces.append(blank)
            _collect(child, address, pieces)
            pieces.append(blank)


def _link(element: Element, base: str) -> str:
    words = _line(element)
    target = element.attributes.get("href", "").strip()
    try:
        address = urljoin(base, target)
    except ValueError:
        address = ""
    if words and address.startswith(("http://", "https://")) and not target.startswith("#"):
        return f"[{words}]({address})"
    return words


def _picture(element: Element) -> str:
    words = " ".join(element.attributes.get("alt", "").split())
    return f"[Image: {words}]" if words else ""


def _code(element: Element) -> str:
    code = " ".join(_raw(element).split())
    if "`" in code:
        return f"`` {code} ``"
    return f"`{code}`" if code else ""


def _raw(element: Element) -> str:
    """The text of an element with its original line breaks."""
    pieces: list[str] = []

    def collect(inner: Element) -> None:
        for child in inner.children:
            if isinstance(child, str):
                pieces.append(child)
            elif child.tag == "br":
                pieces.append("\n")
            else:
                collect(child)

    collect(element)
    return "".join(pieces)


def _rows(table: Element) -> tuple[list[Element], list[Element]]:
    """The rows of a table, and its other content: a caption, or misplaced text on broken pages."""
    rows: list[Element] = []
    others: list[Element] = []
    for child in table.children:
        if isinstance(child, str):
            if child.strip():
                others.append(Element("span", {}, [child], False))
        elif child.tag == "tr":
            rows.append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            inner_rows, inner_others = _rows(child)
            rows += inner_rows
            others += inner_others
        else:
            others.append(child)
    return rows, others


def _cells(row: Element) -> list[Element]:
    """The cells of a row. Misplaced content between cells counts as a cell."""
    cells: list[Element] = []
    for child in row.children:
        if isinstance(child, str):
            if child.strip():
                cells.append(Element("span", {}, [child], False))
        elif child.tag == "form":
            cells += _cells(child)
        else:
            cells.append(child)
    return cells


def _is_layout(table: Element, rows: list[Element]) -> bool:
    """Whether a table is used for layout: it has one column, or cells with blocks or long text in them."""
    if table.attributes.get("role") in ("presentation", "none") or all(len(_cells(row)) < 2 for row in rows):
        return True
    return any(
        cell.text > LARGEST_CELL or any(inner.tag in ("table", "pre", *HEADINGS) for inner in cell.elements())
        for row in rows
        for cell in _cells(row)
    )
