"""What a reply that is read aloud should be like: how a model is asked for it, and what it is kept from writing.

Owns the words of the request, which are near those duologue-mini was trained with, and the list of signs. What a model
writes all the same is taken off by `speakable.py`.
"""

from __future__ import annotations

UNSPOKEN: tuple[str, ...] = (
    *(
        "*",
        "**",
        "***",
        "#",
        "##",
        "###",
        "####",
        "`",
        "``",
        "```",
        "|",
        "||",
        "~",
        "~~",
        "~~~",
        "__",
        "[",
        "]",
        "](",
    ),
    *("{", "}", "\\", "^", "=", "==", "•", "→", "✓", "✅", "❌", "---", "|---"),
)
"""What a spoken reply should not contain, for an engine that can keep a model from writing it. None of it can be part of a
word, a number or the marks of a thought."""

_STYLES = {
    "en": (
        "Your reply is read aloud by a voice. Answer as spoken words, briefly and in short sentences: no Markdown, no "
        "symbols, no lists, numbers in words."
    ),
    "de": (
        "Deine Antwort wird vorgelesen. Antworte, wie man spricht, kurz und in einfachen Sätzen: kein Markdown, keine "
        "Symbole, keine Listen, Zahlen in Worten."
    ),
}


def spoken_style(language: str = "en") -> str:
    """The sentences for the system prompt that ask for a reply fit for the ear, in English unless there are such in
    `language` (a BCP 47 tag)."""
    return _STYLES.get(language.lower().partition("-")[0], _STYLES["en"])
