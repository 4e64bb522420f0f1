"""Rules for typed powers (x^2, 10^-3, x^{n+1}, x²), in English and German words.

`english` and `german` include them. They replace the operator only; later rules handle the base and the exponent.
"""

from __future__ import annotations

import re

from duologue.text.speech.mapped_text import Replacement
from duologue.text.speech.strip_markup import Rule

_WORDS = {
    "en": {"2": " squared", "3": " cubed", "other": " to the power of ", "minus": "minus "},
    "de": {"2": " Quadrat", "3": " hoch drei", "other": " hoch ", "minus": "minus "},
}
_TYPED = re.compile(
    r"(?<=[\w)\]])\^(?:\{(?P<braces>[^{}]{1,40})\}|\((?P<brackets>[^()]{1,40})\)"
    r"|(?P<negative>[-−])?(?P<plain>\d+|[^\W\d_]+))(?:(?P<minus> ?[-−] ?)(?=\d)|(?P<next>)(?=[\w(]))?"
)
_GLYPH = re.compile(r"(?<=[\w)\]])([²³])(?P<next>(?=\w))?")
_GLYPHS = {"²": "2", "³": "3"}


def powers(language: str) -> list[Rule]:
    """The rules for English ("en") or German ("de")."""
    words = _WORDS[language]

    def typed(match: re.Match[str]) -> Replacement:
        # Without this, the 64-1 of 2^64-1 would be read as a range.
        after = (" minus ",) if match["minus"] else (" ",) if match["next"] is not None else ()
        group = next(name for name in ("braces", "brackets", "plain") if match[name])
        if match[group] in ("2", "3") and not match["negative"]:
            return (words[match[group]], *after)
        return (
            words["other"] + (words["minus"] if match["negative"] else ""),
            match.re.groupindex[group],
            *after,
        )

    def glyph(match: re.Match[str]) -> Replacement:
        return words[_GLYPHS[match[1]]] + (" " if match["next"] is not None else "")

    return [(_TYPED, typed), (_GLYPH, glyph)]
