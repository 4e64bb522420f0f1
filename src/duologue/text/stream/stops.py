"""Stop strings: cuts a text where one of them occurs, without ever emitting part of it.

Searches with one Aho-Corasick automaton over all stops, so the cost is linear in the text whatever the stops are.
Exactly the longest end that may still become a stop is held back. The stop that completes first wins; of several that
end at the same character, the longest. The caller decides which text the stops apply to.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable

from duologue.text.stream.markers import NEVER


class StopMatcher:
    """`feed` every piece, then `finish` once. Empty stops are ignored."""

    def __init__(self, stops: Iterable[str]) -> None:
        words = [stop for stop in dict.fromkeys(stops) if stop]
        self._next, self._fail, self._longest_at = _automaton(words)
        self._depths = _depths(self._next)
        heads = re.escape("".join(sorted({word[0] for word in words})))
        self._may_begin: Callable[[str], object] = re.compile(f"[{heads}]" if heads else NEVER).search
        self._node = 0
        self._held = ""
        self._stop_found: str | None = None

    @property
    def holds(self) -> bool:
        """Whether text is held back."""
        return bool(self._held)

    def feed(self, text: str) -> tuple[str, str | None]:
        """The text that may be shown now, and the stop string once one was found. After that nothing is shown."""
        if self._stop_found is not None:
            return "", self._stop_found
        # The usual case: no stop is half matched, and none can begin in this text.
        if self._node == 0 and self._may_begin(text) is None:
            return text, None
        node, follow, fail, longest = self._node, self._next, self._fail, self._longest_at
        for index, char in enumerate(text):
            while node and char not in follow[node]:
                node = fail[node]
            node = follow[node].get(char, 0)
            if longest[node] is not None:
                return self._stop(longest[node] or "", text, index + 1)
        self._node = node
        return self._release(text)

    def finish(self) -> str:
        """The text is over: returns what was held back and is not a stop after all. "" after a stop."""
        held, self._held = self._held, ""
        return "" if self._stop_found is not None else held

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
        self._stop_found = stop
        shown = (self._held + text[:end])[: -len(stop)]
        self._held = ""
        return shown, stop


def _automaton(words: Iterable[str]) -> tuple[list[dict[str, int]], list[int], list[str | None]]:
    """The trie of the words, the fallback node of each node, and the longest word that ends there."""
    follow: list[dict[str, int]] = [{}]
    longest: list[str | None] = [None]
    for word in words:
        node = 0
        for char in word:
            if char not in follow[node]:
                follow[node][char] = len(follow)
                follow.append({})
                longest.append(None)
            node = follow[node][char]
        longest[node] = word
    fail = [0] * len(follow)
    queue = deque(follow[0].values())
    while queue:
        node = queue.popleft()
        for char, child in follow[node].items():
            back = fail[node]
            while back and char not in follow[back]:
                back = fail[back]
            fail[child] = follow[back].get(char, 0)
            if longest[child] is None:
                longest[child] = longest[fail[child]]
            queue.append(child)
    return follow, fail, longest


def _depths(follow: list[dict[str, int]]) -> list[int]:
    """The number of characters that lead to each node. A child always has a higher number than its parent."""
    depths = [0] * len(follow)
    for node, children in enumerate(follow):
        for child in children.values():
            depths[child] = depths[node] + 1
    return depths
