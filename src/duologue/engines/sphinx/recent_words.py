"""The words of a text that its reader may say next.

Called by `engine` with what a conversation said lately; `decoder` makes them likelier. Pure.
"""

from __future__ import annotations

import re

MOST = 40
"""Words that are made likelier at the same time; each takes some milliseconds at the beginning of an utterance."""
SHORTEST = 5
"""Letters. Shorter words are common ones, which need no help."""
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


def recent_words(text: str) -> tuple[str, ...]:
    """The last MOST different words of the text that are not short, the newest first."""
    newest_first = reversed(_WORD.findall(text.lower()))
    return tuple(dict.fromkeys(word for word in newest_first if len(word) >= SHORTEST))[:MOST]
