"""Written text as words that can be read aloud: no markup, no symbols, numbers in words.

Owns the order of the steps, and the promise that every spoken word can be found again in the written text: history is cut
at the words that were heard. English and German are read in full; other languages lose their markup and leave numbers and
signs to the voice. Knows no voice. Linear in the text.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.text.speech import english, german
from duologue.text.speech.mapped_text import Mapped, Span
from duologue.text.speech.signs import addresses, tidied, without_emoji
from duologue.text.speech.strip_markup import unmarked

__all__ = ["Span", "Speakable", "speakable"]


class Speakable(Struct, frozen=True):
    """What is said for a written text. `text` is empty where nothing of it can be said. `spans` are in order, in both texts."""

    text: str
    spans: tuple[Span, ...] = ()


def speakable(written: str, language: str = "en") -> Speakable:
    """How `written` (a clause, or any text) is read aloud. `language` is a BCP 47 tag; empty is English."""
    main = language.lower().replace("_", "-").partition("-")[0] or "en"
    text = Mapped(written)
    unmarked(text, main)
    without_emoji(text)
    addresses(text, main)
    if main in ("en", "de"):
        rules = english if main == "en" else german
        for pattern, made in (*rules.RULES, *rules.SIGNS):
            text.rewrite(pattern, made)
    tidied(text)
    if not any(map(str.isalnum, text.text)):
        return Speakable("")
    return Speakable(text.text, text.spans())
