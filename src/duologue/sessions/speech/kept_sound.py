"""All of a reply's sound from its first sample, for what draws the face that speaks it.

`ReplyBuffer` gives its sound away as it is sent, and fills this beside it where somebody draws (`sessions/video`).
"""

from __future__ import annotations

from collections.abc import Iterable

from duologue.values.events import ReplyWord
from duologue.values.mouth import MouthKey


class KeptSound:
    """What exists so far: `pcm` (16-bit mono, 24 kHz), the words and the mouth's keys in the order of their positions."""

    def __init__(self) -> None:
        self.pcm = bytearray()
        self.words: list[ReplyWord] = []
        self.keys: list[MouthKey] = []

    def add(self, pcm: bytes, words: Iterable[ReplyWord] = (), keys: Iterable[MouthKey] = ()) -> None:
        """Append sound, and the words and keys that became known with it."""
        self.pcm += pcm
        self.words.extend(words)
        self.keys.extend(keys)

    def clear(self) -> None:
        """Nobody draws it any more."""
        self.pcm.clear()
        self.words.clear()
        self.keys.clear()
