"""The transcripts of a recording's parts, put together: whoever cuts a sound, for whatever reason, gets one transcript of it.

Knows no engine, and not why it was cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from duologue.values.speech import TimedWord, Transcript

_CLOSE = (
    ("\u0e00", "\u0eff"),  # Thai and Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u2e80", "\u312f"),  # Chinese and Japanese, with their signs; Korean has spaces
    ("\u3190", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\uff00", "\uff9f"),
    ("\U00020000", "\U0003ffff"),
)
"""From and to, scripts that put no space between two words."""


def later(part: Transcript, seconds: float) -> Transcript:
    """A part's transcript with its words where they are in the whole, in which it begins after `seconds`."""
    if not seconds or not part.words:
        return part
    words = tuple(TimedWord(word.text, word.start + seconds, word.end + seconds) for word in part.words)
    return msgspec.structs.replace(part, words=words)


def joined(parts: Sequence[Transcript]) -> Transcript:
    """The transcripts of one sound's parts as one. It is as sure as they are, each by its length; where none has a word, as
    the surest. Of no parts at all, it is silence."""
    if len(parts) == 1:
        return parts[0]
    told = [part for part in parts if part.text]
    sure = [(part.confidence, len(part.text)) for part in told or parts if part.confidence is not None]
    if told:
        weight = sum(length for _, length in sure)
        confidence = sum(each * length for each, length in sure) / weight if weight else None
    else:
        confidence = max((each for each, _ in sure), default=None)
    return Transcript(
        joined_text(part.text for part in told),
        tuple(word for part in parts for word in part.words),
        next((part.language for part in (*told, *parts) if part.language), ""),
        confidence,
        any(part.understood for part in told) if told else all(part.understood for part in parts),
    )


def joined_text(parts: Iterable[str]) -> str:
    """Parts of a text as one, with the spaces between them that their script has."""
    text = ""
    for part in parts:
        text += following(text, part.strip())
    return text


def following(before: str, after: str) -> str:
    """`after` as it is written behind `before`: with a space in front, unless there is one, or the script has none."""
    if not before or not after or before[-1].isspace() or after[0].isspace():
        return after
    return after if _is_close(before[-1]) and _is_close(after[0]) else f" {after}"


def _is_close(sign: str) -> bool:
    return any(first <= sign <= last for first, last in _CLOSE)
