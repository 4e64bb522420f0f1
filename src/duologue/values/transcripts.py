"""Joins the transcripts of a recording's parts into one.

Used by the speech service and by recognisers that transcribe long audio in parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from duologue.values.speech import TimedWord, Transcript

_UNSPACED = (
    ("\u0e00", "\u0eff"),  # Thai and Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u2e80", "\u312f"),  # Chinese and Japanese, with their signs; Korean has spaces
    ("\u3190", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\uff00", "\uff9f"),
    ("\U00020000", "\U0003ffff"),
)
"""Ranges of scripts without spaces between words."""


def later(part: Transcript, seconds: float) -> Transcript:
    """A part's transcript with its word times moved to where the part begins, after `seconds`."""
    if not seconds or not part.words:
        return part
    words = tuple(TimedWord(word.text, word.start + seconds, word.end + seconds) for word in part.words)
    return msgspec.structs.replace(part, words=words)


def joined(parts: Sequence[Transcript]) -> Transcript:
    """The transcripts of all parts as one. Its confidence is their average, weighted by length; where no part has text, the
    highest. No parts at all give an empty transcript."""
    if len(parts) == 1:
        return parts[0]
    with_text = [part for part in parts if part.text]
    rated = [(part.confidence, len(part.text)) for part in with_text or parts if part.confidence is not None]
    if with_text:
        weight = sum(length for _, length in rated)
        confidence = sum(each * length for each, length in rated) / weight if weight else None
    else:
        confidence = max((each for each, _ in rated), default=None)
    return Transcript(
        joined_text(part.text for part in with_text),
        tuple(word for part in parts for word in part.words),
        next((part.language for part in (*with_text, *parts) if part.language), ""),
        confidence,
        any(part.understood for part in with_text) if with_text else all(part.understood for part in parts),
    )


def joined_text(parts: Iterable[str]) -> str:
    """Parts of a text as one, with spaces between them unless the script has none."""
    text = ""
    for part in parts:
        text += following(text, part.strip())
    return text


def following(before: str, after: str) -> str:
    """`after` with a leading space where one is needed after `before`."""
    if not before or not after or before[-1].isspace() or after[0].isspace():
        return after
    return after if _is_unspaced(before[-1]) and _is_unspaced(after[0]) else f" {after}"


def _is_unspaced(character: str) -> bool:
    return any(first <= character <= last for first, last in _UNSPACED)
