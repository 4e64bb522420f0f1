"""Which chunks of a duplex session its model has answered, where the model holds the session by itself. Pure. Used by `DuplexBuffer`.

A model takes the caller's sound in units, which need not be the client's chunks: a chunk is answered once units cover it.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct
from msgspec.structs import replace

from duologue.values.call_events import UnitAnswered
from duologue.values.duplex import ChunkFigures

MAX_UNITS = 256
"""Units whose figures wait for a result."""


class _Unit(Struct, frozen=True):
    end: int
    figures: ChunkFigures


class UnitAnswers:
    """Positions are samples of the caller's sound (16 kHz) that reached the model."""

    def __init__(self) -> None:
        self._sent = 0
        self._answered = 0
        self._units: deque[_Unit] = deque(maxlen=MAX_UNITS)
        self._cached = 0

    def add_chunk(self, samples: int) -> int:
        """A chunk goes to the model. The position of its end."""
        self._sent += samples
        return self._sent

    def take(self, event: UnitAnswered) -> None:
        """The model has answered a unit."""
        self._answered = min(self._sent, self._answered + event.samples)
        self._cached = event.cached
        self._units.append(_Unit(self._answered, _figures(event)))

    def lost(self) -> None:
        """The session is another one: what the last one did not answer, nobody will."""
        self._answered = self._sent

    def is_answered(self, end: int) -> bool:
        """Whether the model has answered everything up to this position."""
        return self._answered >= end

    def figures(self, end: int) -> ChunkFigures:
        """The figures of the units up to this position that no result had yet. A chunk without any has those of the cache alone. Nobody
        waits any more for what was not answered up to there."""
        self._answered = max(self._answered, end)
        figures = ChunkFigures(cached=self._cached)
        while self._units and self._units[0].end <= end:
            figures = _sum(figures, self._units.popleft().figures)
        return figures


def _figures(event: UnitAnswered) -> ChunkFigures:
    return ChunkFigures(
        prefill_ms=event.prefill_ms,
        language_ms=event.language_ms,
        speech_ms=event.speech_ms,
        vocoder_ms=event.vocoder_ms,
        written=event.written,
        codes=event.codes,
        cached=event.cached,
        slices=event.slices,
        vision_tokens=event.vision_tokens,
    )


def _sum(one: ChunkFigures, two: ChunkFigures) -> ChunkFigures:
    """Of both; the cache is that of the later."""
    added = {
        name: getattr(one, name) + getattr(two, name) for name in one.__struct_fields__ if name != "cached"
    }
    return replace(two, **added)
