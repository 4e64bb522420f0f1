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

STYLES = {
    "en": (
        "Your reply is read aloud by a voice. Answer as spoken words, briefly and in short sentences: no Markdown, no "
        "symbols, no lists, numbers in words."
    ),
    "de": (
        "Deine Antwort wird vorgelesen. Antworte, wie man spricht, kurz und in einfachen Sätzen: kein Markdown, keine "
        "Symbole, keine Listen, Zahlen in Worten."
    ),
    "fr": (
        "Ta réponse est lue à voix haute. Réponds comme on parle, brièvement et en phrases simples : pas de Markdown, pas de "
        "symboles, pas de listes, les nombres en toutes lettres."
    ),
    "es": (
        "Tu respuesta se lee en voz alta. Responde como se habla, brevemente y con frases sencillas: sin Markdown, sin "
        "símbolos, sin listas, los números en palabras."
    ),
}
"""By language: a further one is a row here. Any other is asked for by its name."""


def spoken_style(language: str = "") -> str:
    """The part of the system prompt that asks for a reply suited to speech, in `language` (a BCP 47 tag). A language without a text
    here is named in English; without a language, the text is English and names none."""
    style = STYLES.get(language.lower().replace("_", "-").partition("-")[0])
    if style is not None:
        return style
    return f"{STYLES['en']} Answer in the language {language}." if language else STYLES["en"]
