"""The sentences the machine says by itself, when nobody else has one.

Owns their wording, in the languages it knows; English for all others.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal["filler", "slow", "gave_up", "not_understood"]

_PHRASES: dict[str, dict[Kind, tuple[str, ...]]] = {
    "en": {
        "filler": ("One moment.", "Let me see.", "Just a second."),
        "slow": ("This is taking a little longer.",),
        "gave_up": ("I am sorry, I could not get an answer. Please ask me again.",),
        "not_understood": ("Sorry, I did not catch that.", "Could you say that again?"),
    },
    "de": {
        "filler": ("Einen Moment.", "Ich sehe nach.", "Einen Augenblick."),
        "slow": ("Das dauert etwas länger.",),
        "gave_up": ("Es tut mir leid, ich habe keine Antwort bekommen. Frag mich bitte noch einmal.",),
        "not_understood": ("Das habe ich nicht verstanden.", "Sag das bitte noch einmal."),
    },
}


def phrase(kind: Kind, language: str, count: int = 0) -> str:
    """What is said; `count` is how often it was said before, so that it is not the same each time."""
    phrases = _PHRASES.get(language.lower().partition("-")[0], _PHRASES["en"])[kind]
    return phrases[count % len(phrases)]
