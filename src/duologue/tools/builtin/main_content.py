"""The main content of a page, without what surrounds it. The Markdown writer calls it before it writes.

Pure. Three steps, each made so that a menu stays rather than a paragraph goes: what pages mark as navigation, footers,
dialogs or hidden is dropped; then what stands outside of the narrowest element that holds most of the running text; then
lists of links. A page without running text, such as an index, keeps its links. The numbers are those at which 311 pages
of two public collections lost the fewest words of their articles (bench/LOG.md).
"""

from __future__ import annotations

import re

from duologue.tools.builtin.html_tree import Element

MOST_OF_IT = 0.8
"""Of the page's running text: what an element holds that is taken for the content."""
MOST_WHERE_NAMED = 0.5
"""The same for an element that says it is the main part, or an article."""
LARGE = 0.3
"""Of the page's text outside of links: what holds more is content, whatever it is called."""
SENTENCE = 60
"""Characters outside of links from which a block is running text. What is shorter may be a label."""
LEAD = 100
"""Characters of running text above the main part from which they belong to it."""
LITTLE = 300
"""Characters of running text: a page with fewer of them beside its comments is a page of comments."""
MENU = 0.7
"""Of the characters of a list: with more of them in links it is a menu."""
INDEX = 0.5
"""Of the characters of a page: with more of them in links it is an index, and its lists are its content."""

MAIN = frozenset(("main", "article"))
FURNITURE = frozenset(("nav", "dialog", "menu", "footer", "aside", "button"))
ROLES = frozenset(("navigation", "search", "banner", "contentinfo", "complementary", "toolbar", "tablist"))
ROLES |= frozenset(("alertdialog", "dialog", "menu", "menubar"))
# First or last words of classes and ids.
FURNITURE_NAMES = frozenset(
    ("ad", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "consent")
)
FURNITURE_NAMES |= frozenset(
    ("cookie", "cookies", "footer", "gdpr", "masthead", "menu", "modal", "nav", "navbar")
)
FURNITURE_NAMES |= frozenset(
    ("navigation", "newsletter", "pager", "pagination", "popup", "promo", "recommendations")
)
FURNITURE_NAMES |= frozenset(
    ("recommended", "related", "share", "sharing", "sidebar", "signup", "social", "sponsored")
)
FURNITURE_NAMES |= frozenset(("subscribe", "toc", "toolbar"))
CONTENT_NAMES = frozenset(("article", "body", "content", "entry", "main", "page", "post", "story", "text"))
COMMENT_NAMES = frozenset(("comment", "comments", "commentlist", "disqus", "replies", "respond", "responses"))
LONGEST_NAME = 3
"""Words of a class or id; a longer one is a heading's address, such as "sharing-with-a-single-developer"."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def main_content(root: Element) -> Element:
    """The part of the page below `root` that is its content; all of it where no part stands out."""
    page = _without_furniture(root, root.text - root.linked, inside=False)
    running = _running_text(page, comments=False)
    if running.get(id(page), 0) < LITTLE:
        running = _running_text(page, comments=True)
    if id(page) not in running:
        return page
    part = _narrowed(page, running, running[id(page)])
    if part.linked < part.text * INDEX:
        part = _without_menus(part)
    if part is page or _title(part) is not None:
        return part
    title = _title(page)
    return part if title is None else _holding(Element("div", {}, [], True), [title, part])


def _holding(element: Element, children: list[Element | str]) -> Element:
    """The same element with other children."""
    text = linked = 0
    for child in children:
        if isinstance(child, Element):
            text += child.text
            linked += child.text if child.tag == "a" else child.linked
        else:
            text += len(" ".join(child.split()))
    return Element(element.tag, element.attributes, children, element.block, text, linked)


def _title(element: Element) -> Element | None:
    return next((each for each in element.elements() if each.tag == "h1" and each.text), None)


def _without_furniture(element: Element, prose: int, *, inside: bool) -> Element:
    """`prose`: characters of the page outside of links. `inside`: of the main part or an article."""
    inside = inside or element.tag in MAIN
    kept: list[Element | str] = []
    for child in element.children:
        if isinstance(child, str):
            kept.append(child)
        elif not _is_furniture(child, element, prose, inside=inside):
            kept.append(_without_furniture(child, prose, inside=inside))
    return _holding(element, kept)


def _is_furniture(element: Element, parent: Element, prose: int, *, inside: bool) -> bool:
    if element.tag == "button":
        # A question that unfolds its answer is a button in a heading.
        return parent.tag not in HEADINGS and not element.block
    if not element.block:
        return False
    attributes = element.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if HIDDEN.search(attributes.get("style", "")):
        return True
    names = _names(element)
    named = (
        element.tag in FURNITURE and not (inside and element.tag in ("aside", "footer"))
    ) or attributes.get("role", "").lower() in ROLES
    if not named and (not names & FURNITURE_NAMES or names & CONTENT_NAMES):
        return False
    # A menu or a footer that was never closed holds the rest of the page.
    holds_blocks = any(isinstance(child, Element) and child.block for child in element.children)
    return not holds_blocks or element.text - element.linked <= prose * LARGE


def _names(element: Element) -> set[str]:
    """The first and last words of its classes and its id, but for long names."""
    words: set[str] = set()
    for name in f"{element.attributes.get('class', '')} {element.attributes.get('id', '')}".split():
        parts = WORD.findall(name)
        if parts and len(parts) <= LONGEST_NAME:
            words.update((parts[0].lower(), parts[-1].lower()))
    return words


def _running_text(root: Element, *, comments: bool) -> dict[int, int]:
    """Characters of running text, by the id of each element that holds any."""
    sums: dict[int, int] = {}

    def count(element: Element) -> int:
        own = inner = 0
        for child in element.children:
            if isinstance(child, str):
                own += len(" ".join(child.split()))
            elif not child.block:
                own += 0 if child.tag == "a" else child.text - child.linked
            elif child.tag != "a" and (comments or not _names(child) & COMMENT_NAMES):
                inner += count(child)
        if own >= SENTENCE or (
            own and element.tag in ("pre", "td", "dd", "p", "li") and element.linked < own
        ):
            inner += own
        if inner:
            sums[id(element)] = inner
        return inner

    count(root)
    return sums


def _narrowed(part: Element, running: dict[int, int], whole: int) -> Element:
    """The narrowest element that holds most of the running text, with what belongs to it on the way there."""
    inner = next((child for child in part.children if _holds_most(child, running, whole)), None)
    if not isinstance(inner, Element):
        return part
    kept: list[Element | str] = []
    above = True
    for child in part.children:
        if child is inner:
            kept.append(_narrowed(inner, running, whole))
            above = False
        elif isinstance(child, Element) and _belongs(child, inner, running.get(id(child), 0), above=above):
            kept.append(child)
    return kept[0] if len(kept) == 1 and isinstance(kept[0], Element) else _holding(part, kept)


def _holds_most(element: Element | str, running: dict[int, int], whole: int) -> bool:
    if isinstance(element, str) or element.tag in ("p", "pre", "ul", "ol", "dl"):
        return False
    if element.tag in ("table", "thead", "tbody", "tfoot", "tr"):
        return any(_holds_most(child, running, whole) for child in element.children)
    if element.tag == "td" and not any(
        isinstance(child, Element) and child.block for child in element.children
    ):
        # A long cell of a table with data; one that holds paragraphs arranges the page.
        return False
    named = element.tag in MAIN or element.attributes.get("role") == "main"
    return running.get(id(element), 0) >= whole * (MOST_WHERE_NAMED if named else MOST_OF_IT)


def _belongs(element: Element, main: Element, running: int, *, above: bool) -> bool:
    """Whether what stands beside the main part is part of the text: a lead above it, or a section of the same kind."""
    if not running or element.linked > element.text * 0.2 or _names(element) & COMMENT_NAMES:
        return False
    alike = (element.tag, element.attributes.get("class")) == (main.tag, main.attributes.get("class"))
    return alike or (above and running >= LEAD)


def _without_menus(element: Element) -> Element:
    if element.tag in MAIN:
        # Its author has put the menus elsewhere.
        return element
    kept: list[Element | str] = []
    for child in element.children:
        if isinstance(child, str):
            kept.append(child)
        elif not _is_menu(child):
            kept.append(_without_menus(child) if child.block else child)
    return _holding(element, kept)


def _is_menu(element: Element) -> bool:
    prose = element.text - element.linked
    return element.tag in ("ul", "ol") and element.linked > element.text * MENU and prose < SENTENCE
