"""Stop strings: cuts a text where one of them occurs, without ever showing part of it.

Owns the search, by one automaton over all stops, so the cost is linear in the text whatever the stops are. Held back
is exactly the longest end of the text that may still become a stop. The stop that is complete first wins; of several
that end at the same character, the longest. Knows no channel: the caller feeds it what stops apply to.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable

from duologue.text.stream.markers import NEVER


class StopMachine:
    """`feed` every piece, then `finish` once. Empty stops are ignored."""

    def __init__(self, stops: Iterable[str]) -> None:
        words = [stop for stop in dict.fromkeys(stops) if stop]
        self._next, self._fail, self._found = _automaton(words)
        self._depths = _depths(self._next)
        heads = re.escape("".join(sorted({word[0] for word in words})))
        self._alert: Callable[[str], object] = re.compile(f"[{heads}]" if heads else NEVER).search
        self._node = 0
        self._held = ""
        self._hit: str | None = None

    def feed(self, text: str) -> tuple[str, str | None]:
        """The text that is safe to show now, and the stop that was hit, once one was. After that nothing is shown."""
        if self._hit is not None:
            return "", self._hit
        if self._node == 0 and self._alert(text) is None:
            return text, None
        node, follow, fail, found = self._node, self._next, self._fail, self._found
        for index, char in enumerate(text):
            while node and char not in follow[node]:
                node = fail[node]
            node = follow[node].get(char, 0)
            if found[node] is not None:
                return self._stop(found[node] or "", text, index + 1)
        self._node = node
        return self._release(text)

    def finish(self) -> str:
        """The text is over; what was held and is no stop after all. "" when one was hit."""
        held, self._held = self._held, ""
        return "" if self._hit is not None else held

    def _release(self, text: str) -> tuple[str, None]:
        depth = self._depths[self._node]
        if depth >= len(self._held) + len(text):
            self._held += text
            return "", None
        whole = self._held + text
        cut = len(whole) - depth
        self._held = whole[cut:]
        return whole[:cut], None

    def _stop(self, stop: str, text: str, end: int) -> tuple[str, str]:
        self._hit = stop
        shown = (self._held + text[:end])[: -len(stop)]
        self._held = ""
        return shown, stop


def _automaton(words: Iterable[str]) -> tuple[list[dict[str, int]], list[int], list[str | None]]:
    """The trie of the words, with the node to fall back to from each, and the longest word that ends there."""
    follow: list[dict[str, int]] = [{}]
    found: list[str | None] = [None]
    for word in words:
        node = 0
        for char in word:
            if char not in follow[node]:
                follow[node][char] = len(follow)
                follow.append({})
                found.append(None)
            node = follow[node][char]
        found[node] = word
    fail = [0] * len(follow)
    queue = deque(follow[0].values())
    while queue:
        node = queue.popleft()
        for char, child in follow[node].items():
            back = fail[node]
            while back and char not in follow[back]:
                back = fail[back]
            fail[child] = follow[back].get(char, 0)
            if found[child] is None:
                found[child] = found[fail[child]]
            queue.append(child)
    return follow, fail, found


def _depths(follow: list[dict[str, int]]) -> list[int]:
    """How many characters lead to each node: a child is always numbered after its parent."""
    depths = [0] * len(follow)
    for node, children in enumerate(follow):
        for child in children.values():
            depths[child] = depths[node] + 1
    return depths
