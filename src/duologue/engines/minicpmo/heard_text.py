"""How much of a reply was heard. The model does not time its words, but each unit's text has its own sound. Pure."""

from __future__ import annotations

from duologue.values.audio import samples


class HeardText:
    """The units of one reply, as they are said."""

    def __init__(self) -> None:
        self._units: list[tuple[str, int]] = []

    def say(self, text: str, pcm: bytes) -> None:
        """The next unit's text and its sound (16-bit mono, 24 kHz)."""
        self._units.append((text, samples(pcm)))

    def until(self, heard: int) -> str:
        """The text that `heard` samples say: whole units, and of the last one the words in the share of its sound that was heard."""
        text, left = "", heard
        for said, length in self._units:
            if length and left <= 0:
                break
            text += said if left >= length else _share(said, left / length)
            left -= length
        return text.strip()


def _share(text: str, share: float) -> str:
    """The whole words that begin a text, as far as `share` of its characters; single characters where it has no spaces."""
    end = int(len(text) * share)
    if end >= len(text) or " " not in text:
        return text[:end]
    space = text.rfind(" ", 0, end + 1)
    return text[: max(0, space)]
