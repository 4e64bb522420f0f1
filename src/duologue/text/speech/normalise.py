"""Normalises written text for speech: no markup, no symbols, numbers in words.

Owns the order of the steps. Every spoken word maps back to the written text, because an interrupted reply is cut at the last
word heard. English and German are normalised fully; for other languages only markup is removed and numbers and signs are
left to the voice. Linear in the text.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.text.speech import english, german
from duologue.text.speech.mapped_text import MappedText, Span
from duologue.text.speech.signs import remove_emoji, remove_stray_signs, spell_addresses
from duologue.text.speech.strip_markup import strip_markup

__all__ = ["Span", "Speakable", "speakable"]


class Speakable(Struct, frozen=True):
    """The spoken form of a text. `text` is empty if nothing in it can be spoken. `spans` are in order in both texts."""

    text: str
    spans: tuple[Span, ...] = ()


def speakable(written: str, language: str = "en") -> Speakable:
    """The spoken form of `written` (a clause, or any text). `language` is a BCP 47 tag; empty is English."""
    main = language.lower().replace("_", "-").partition("-")[0] or "en"
    text = MappedText(written)
    strip_markup(text, main)
    remove_emoji(text)
    spell_addresses(text, main)
    if main in ("en", "de"):
        rules = english if main == "en" else german
        for pattern, replacement in (*rules.RULES, *rules.SIGNS):
            text.rewrite(pattern, replacement)
    remove_stray_signs(text)
    if not any(map(str.isalnum, text.text)):
        return Speakable("")
    return Speakable(text.text, text.spans())
