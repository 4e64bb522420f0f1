"""What a stream parser holds back of the text so far, and why.

Made by the text machine and the scanners of tool calls when they are asked; `output/parse_trace.py` asks after each piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

SHOWN = 80
"""Characters of a text that are shown: its end."""


class HeldText(Struct, frozen=True):
    """A stretch of text that was read and not passed on. Of a long one only the end, after "…"; "" where it cannot be told."""

    text: str
    reason: str


def held_text(pieces: Sequence[str], reason: str) -> HeldText | None:
    """The text of these pieces; None if there is none. Reads no more of them than is shown."""
    shown: list[str] = []
    size = 0
    for piece in reversed(pieces):
        if size > SHOWN:
            break
        shown.insert(0, piece[-SHOWN - 1 :])
        size += len(shown[0])
    text = "".join(shown)
    if not text:
        return None
    return HeldText(text if len(text) <= SHOWN else f"…{text[-SHOWN:]}", reason)


def last_of(held: HeldText | None, size: int) -> HeldText | None:
    """No more than the last `size` characters of it; None if that is nothing."""
    if held is None or not size:
        return None
    return held if len(held.text) <= size else HeldText(held.text[-size:], held.reason)


def may_become(text: str, words: Iterable[str]) -> HeldText | None:
    """The beginning of one of these words; None if it is empty."""
    longer = [word for word in words if len(word) > len(text) and word.startswith(text)]
    named = " or ".join(f"`{word}`" for word in sorted(longer))
    return held_text([text], f"may become {named}" if named else "more of the text decides")
