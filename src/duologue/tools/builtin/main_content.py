"""Selects the main content of a page. The Markdown writer calls it before it writes.

Pure. It works in three steps: drop what the page marks as navigation, footer, dialog or hidden; narrow to the smallest
element that holds most of the running text; drop lists of links. Every step prefers keeping a menu to losing a paragraph.
A page without running text, such as an index, keeps its links. The thresholds lost the fewest words on 311 pages of two
public collections (bench/LOG.md).
"""

from __future__ import annotations

import re

from duologue.tools.builtin.html_tree import Element

MOST_OF_IT = 0.8
"""Share of the page's running text that an element must hold to be taken for the content."""
MOST_WHERE_NAMED = 0.5
"""The same for `<main>`, `<article>` and `role=main`."""
LARGE = 0.3
"""Share of the page's text outside links. An element with more is content, whatever its name: its end tag is missing."""
SENTENCE = 60
"""Characters outside links that make a block running text. Shorter blocks may be labels."""
LEAD = 100
"""Characters of running text that make an element above the main part a lead."""
LITTLE = 300
"""Characters of running text. With fewer outside its comments, a page consists of its comments."""
MENU = 0.7
"""Share of a list's characters in links above which the list is a menu."""
INDEX = 0.5
"""Share of a page's characters in links above which it is an index whose lists are the content."""

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
"""Words of a class or id. Longer ones are anchors of headings, such as "sharing-with-a-single-developer"."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def main_content(root: Element) -> Element:
    """The content of the page below `root`, or the whole page when no part stands out."""
    page = _drop_furniture(root, root.text - root.linked, inside=False)
    running = _running_text(page, comments=False)
    if running.get(id(page), 0) < LITTLE:
        running = _running_text(page, comments=True)
    if id(page) not in running:
        return page
    part = _narrow(page, running, running[id(page)])
    if part.linked < part.text * INDEX:
        part = _drop_menus(part)
    if part is page or _title(part) is not None:
        return part
    title = _title(page)
    return part if title is None else _with_children(Element("div", {}, [], True), [title, part])


def _with_children(element: Element, children: list[Element | str]) -> Element:
    """A copy of the element with other children."""
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


def _drop_furniture(element: Element, prose: int, *, inside: bool) -> Element:
    """`prose`: characters of the page outside links. `inside`: whether `element` is in `<main>` or `<article>`."""
    inside = inside or element.tag in MAIN
    children: list[Element | str] = []
    for child in element.children:
        if isinstance(child, str):
            children.append(child)
        elif not _is_furniture(child, element, prose, inside=inside):
            children.append(_drop_furniture(child, prose, inside=inside))
    return _with_children(element, children)


def _is_furniture(element: Element, parent: Element, prose: int, *, inside: bool) -> bool:
    if element.tag == "button":
        # Questions of an FAQ are often buttons inside headings.
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
    # A menu or footer whose end tag is missing contains the rest of the page.
    holds_blocks = any(isinstance(child, Element) and child.block for child in element.children)
    return not holds_blocks or element.text - element.linked <= prose * LARGE


def _names(element: Element) -> set[str]:
    """First and last words of the classes and the id; long names are skipped."""
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


def _narrow(part: Element, running: dict[int, int], whole: int) -> Element:
    """Descend to the smallest element that holds most of the running text, keeping siblings that belong to it."""
    inner = next((child for child in part.children if _holds_most(child, running, whole)), None)
    if not isinstance(inner, Element):
        return part
    children: list[Element | str] = []
    above = True
    for child in part.children:
        if child is inner:
            children.append(_narrow(inner, running, whole))
            above = False
        elif isinstance(child, Element) and _belongs(child, inner, running.get(id(child), 0), above=above):
            children.append(child)
    if len(children) == 1 and isinstance(children[0], Element):
        return children[0]
    return _with_children(part, children)


def _holds_most(element: Element | str, running: dict[int, int], whole: int) -> bool:
    if isinstance(element, str) or element.tag in ("p", "pre", "ul", "ol", "dl"):
        return False
    if element.tag in ("table", "thead", "tbody", "tfoot", "tr"):
        return any(_holds_most(child, running, whole) for child in element.children)
    if element.tag == "td" and not any(
        isinstance(child, Element) and child.block for child in element.children
    ):
        # A long cell of a data table. Only cells with blocks in them lay out a page.
        return False
    named = element.tag in MAIN or element.attributes.get("role") == "main"
    return running.get(id(element), 0) >= whole * (MOST_WHERE_NAMED if named else MOST_OF_IT)


def _belongs(element: Element, main: Element, running: int, *, above: bool) -> bool:
    """Whether a sibling of the main part is part of the text: a lead above it, or a section of the same kind."""
    if not running or element.linked > element.text * 0.2 or _names(element) & COMMENT_NAMES:
        return False
    alike = (element.tag, element.attributes.get("class")) == (main.tag, main.attributes.get("class"))
    return alike or (above and running >= LEAD)


def _drop_menus(element: Element) -> Element:
    if element.tag in MAIN:
        # Authors who mark the main part put their menus outside it.
        return element
    children: list[Element | str] = []
    for child in element.children:
        if isinstance(child, str):
            children.append(child)
        elif not _is_menu(child):
            children.append(_drop_menus(child) if child.block else child)
    return _with_children(element, children)


def _is_menu(element: Element) -> bool:
    prose = element.text - element.linked
    return element.tag in ("ul", "ol") and element.linked > element.text * MENU and prose < SENTENCE
