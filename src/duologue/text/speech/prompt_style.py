"""The instructions and the banned tokens for replies that are read aloud.

The wording stays close to the prompts duologue-mini was trained with. Markup that a model writes anyway is removed by
`normalise`.
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
"""Strings to ban from spoken replies, for engines that support banning. None can be part of a word, a number or the
delimiters of thinking."""

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


def spoken_style(language: str = "") -> str:
    """The part of the system prompt that asks for a reply suited to speech, in `language` (a BCP 47 tag). A language without a text
    here is named in English; without a language, the text is English and names none."""
    style = _STYLES.get(language.lower().partition("-")[0])
    if style is not None:
        return style
    return f"{_STYLES['en']} Answer in the language {language}." if language else _STYLES["en"]
