"""How much of a reply was heard, in whole words: what stays in the cache when the caller interrupts. Pure.

Used by `held_call`. A model that speaks does not time its words; the speech estimates how many tokens its first samples say.
"""

from __future__ import annotations

from collections.abc import Sequence

IDEOGRAPHS = "\u2e80", "\uffdc"
"""Between these each letter is a word, or nearly."""


def heard_tokens(texts: Sequence[str], count: int, *, whole: bool) -> int:
    """The most tokens, up to `count`, that end with a whole word. `texts`: what each token added to the reply; "" is half a character,
    or a mark. `whole`: these are all; otherwise the last word may go on."""
    count = min(count, len(texts))
    if whole and count == len(texts):
        return count
    while count and not _ends_word(texts, count, " " if whole else "x"):
        count -= 1
    return count


def _ends_word(texts: Sequence[str], count: int, unknown: str) -> bool:
    """Whether the reply may be cut behind its first `count` tokens; `unknown` stands for what follows the last one."""
    if not texts[count - 1]:
        return False
    following = next((text for text in texts[count:] if text), unknown)
    last, first = texts[count - 1][-1], following[0]
    return not (last.isalnum() and first.isalnum()) or _is_ideograph(last) or _is_ideograph(first)


def _is_ideograph(letter: str) -> bool:
    return IDEOGRAPHS[0] <= letter <= IDEOGRAPHS[1]
