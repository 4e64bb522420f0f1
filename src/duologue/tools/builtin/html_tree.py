"""Parses HTML of any quality into a small tree of elements. The Markdown writer calls it.

Owns the parser (libxml2 through lxml) and the limits that keep a hostile page from taking more than about a second.
The parser is used as a stream of events, because its own tree takes quadratic time for an element with many attributes.
A fully conforming parser is not an option for untrusted pages: the standard copies every open formatting element into
every paragraph, so 55 kB of `<p><b id=1><p><b id=2>...` take Lexbor 9 seconds and 2.9 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

DEEPEST = 100
"""Deeper elements are flattened: their text goes to the last element above this depth."""
MOST = 100_000
"""Elements of a page; the rest of the page is cut off."""
PIECE = 1 << 14
"""Bytes per call of the parser, which cannot be stopped within a call."""
WORK = 300_000_000
"""Bytes times open elements beyond DEEPEST. libxml2 compares an end tag with every open element and has no limit of its own."""

# Their content is never text.
SKIPPED = frozenset(
    ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "audio", "video")
) | {"select", "textarea", "datalist"}
# Elements that start a new line; any other is inline unless it contains one of these.
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
    """An element with its text and child elements in document order."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str]
    block: bool
    """Whether it starts a new line."""
    text: int = 0
    """Characters in it, runs of white space counted as one."""
    linked: int = 0
    """Those of them that are in links."""

    @property
    def prose(self) -> int:
        """Characters outside links."""
        return self.text - self.linked

    def elements(self) -> Iterator[Element]:
        """Every element below this one, in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if element is not self:
                yield element
            waiting.extend(child for child in reversed(element.children) if isinstance(child, Element))


class _Builder:
    """lxml's parser target: builds the tree from events."""

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
        # Elements beyond the limits were counted as open but are not in the path.
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
    """The title of a page and its root element. Accepts any text; a page beyond the limits is cut off."""
    from lxml import etree

    builder = _Builder()
    # The text is already decoded, so the page's own `<meta charset>` must not count.
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
