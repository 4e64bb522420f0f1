"""HTML as a small tree of elements, whatever the page is like. The Markdown writer reads pages through it.

Owns the parser (libxml2 through lxml) and the limits that keep a hostile page from costing more than about a second.
The parser runs as a stream of events: its own tree takes quadratic time for an element with many attributes. A parser
that builds trees by the letter of the standard is no choice here: it copies every open formatting element into every
paragraph, and 55 kB of `<p><b id=1><p><b id=2>...` take Lexbor 9 seconds and 2.9 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

DEEPEST = 100
"""Elements below this depth are not kept; their text goes to the last one above it."""
MOST = 100_000
"""Elements kept of a page; the rest of the page is cut off."""
PIECE = 1 << 14
"""Bytes given to the parser at once: it cannot be stopped inside a piece."""
WORK = 300_000_000
"""Bytes times open elements beyond DEEPEST: an end tag is compared with every open element, however many there are."""

# Nothing in these is text, whatever the page looks like.
SKIPPED = frozenset(
    ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "audio", "video")
) | {"select", "textarea", "datalist"}
# Elements that stand on lines of their own; any other is part of a line unless it holds one of these.
BLOCKS = frozenset(
    (
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
    )
) | frozenset(
    ("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header")
)
BLOCKS |= frozenset(
    ("hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "search", "section")
)
BLOCKS |= frozenset(("summary", "table", "caption", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"))
KEPT_ATTRIBUTES = frozenset(("href", "alt", "hidden", "aria-hidden", "role", "class", "id", "style"))


class Element(Struct, eq=False):
    """An element, its text and elements in order."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str]
    block: bool
    """Whether it stands on lines of its own."""
    text: int = 0
    """Characters in it, with white space as one blank."""
    linked: int = 0
    """Those of them that are in links."""

    @property
    def prose(self) -> int:
        """Characters outside of links."""
        return self.text - self.linked

    def elements(self) -> Iterator[Element]:
        """Every element below this one, in the page's order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if element is not self:
                yield element
            waiting.extend(child for child in reversed(element.children) if isinstance(child, Element))


class _Builder:
    """lxml's parser target: makes the tree of its events."""

    def __init__(self) -> None:
        self.root = Element("html", {}, [], True)
        self.title = ""
        self.deepest = 0
        self.count = 0
        self._path = [self.root]
        self.open = 0
        self._skipped_from = 0
        self._title_at = 0
        self._pending: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.open += 1
        self.deepest = max(self.deepest, self.open)
        if self._skipped_from:
            return
        if tag in SKIPPED:
            self._skipped_from = self.open
            return
        self._flush()
        if tag == "title":
            self._title_at = self.open
        if self.open > DEEPEST or self.count >= MOST:
            return
        self.count += 1
        kept = {name: attributes[name] for name in KEPT_ATTRIBUTES & attributes.keys()} if attributes else {}
        element = Element(tag, kept, [], tag in BLOCKS)
        if tag != "title":
            self._path[-1].children.append(element)
        self._path.append(element)

    def end(self, tag: str) -> None:
        depth = self.open
        self.open -= 1
        if self._skipped_from:
            if depth == self._skipped_from:
                self._skipped_from = 0
            return
        self._flush()
        self._title_at = 0
        # The path holds the root and every kept element; what was too deep is not in it.
        if depth == len(self._path) - 1:
            element = self._path.pop()
            if element.tag != "title":
                parent = self._path[-1]
                parent.block = parent.block or element.block
                parent.text += element.text
                parent.linked += element.text if element.tag == "a" else element.linked

    def data(self, text: str) -> None:
        if not self._skipped_from:
            self._pending.append(text)

    def close(self) -> None:
        self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending.clear()
        if self._title_at:
            self.title = self.title or " ".join(text.split())[:300]
            return
        element = self._path[-1]
        element.children.append(text)
        element.text += len(" ".join(text.split()))


def html_tree(html: str) -> tuple[str, Element]:
    """The title of a page and its root element. Never fails; a page beyond the limits is cut off."""
    from lxml import etree

    builder = _Builder()
    # The text is decoded already: what the page says of its encoding counts no more.
    parser = etree.HTMLParser(target=builder, encoding="utf-8")
    data = html.encode("utf-8", "replace")
    work = 0
    try:
        for at in range(0, len(data), PIECE):
            builder.deepest = builder.open
            parser.feed(data[at : at + PIECE])
            work += PIECE * max(0, builder.deepest - DEEPEST)
            if work > WORK or builder.count >= MOST:
                break
        parser.close()
    except etree.LxmlError:
        # "no element found": a page of comments, or of nothing.
        pass
    return builder.title, builder.root
