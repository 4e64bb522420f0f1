"""The mouth's curve of one reply: takes its phones as they become known, and gives the keys that a face follows.

Called by `sessions/speech/reply_buffer.py`. Owns the influence that neighbouring sounds have on each other (coarticulation): lips are round
before the "u" that needs them, consonants of the tongue leave lips and jaw to the vowels beside them, and lips that must close do. The
order of strength is that of Cohen and Massaro ("Modeling coarticulation in synthetic visual speech", 1993), with straight lines for their
exponentials, because a face draws straight lines.

Every key depends only on the phones around it, never on when they came: a phone is drawn once all that can reach it is known. Positions
are samples at 24 kHz.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec
from msgspec import Struct

from duologue.turns.mouth.visemes import Viseme, visemes_of
from duologue.values.audio import SPOKEN_RATE
from duologue.values.mouth import MouthKey, Phone

MS = SPOKEN_RATE // 1000
PAUSE = 120 * MS
"""Silence from which on the mouth closes. It is also how far ahead of a sound the lips prepare for it."""
MOVE = 80 * MS
"""The longest way from one shape to the next,"""
ROUND = 120 * MS
"""to rounded lips,"""
CLOSE = 60 * MS
"""to lips that close,"""
BURST = 48 * MS
"""and away from them."""
CLOSING = 60 * MS
"""From the end of a sound to the mouth at rest."""
ARRIVING = 0.7
"""Share of a movement that comes before the border between two sounds: at the border the shape is nearly there. It is then that it is
heard."""
HELD = 0.25
"""The same where lips open that were closed: they are kept closed to the end."""
BESIDE = 0.6
"""How much of a neighbour's shape a sound takes where it has none of its own. Below ARRIVING, so that a vowel is not reached before it
sounds."""
DECIDES = 0.8
"""How much of its own shape a sound must insist on to be one that its neighbours follow."""
SHORT = 110 * MS
"""A vowel between consonants that is shorter does not open in full,"""
LEAST = 0.75
"""but at least to this share."""


class _Segment(Struct, frozen=True):
    """One shape of a phone, from `start` up to `end`; a diphthong has two, and a short silence after it lasts up to `until`. `glides`: it
    goes on into the next shape at once (1), or is the end of such a movement (2)."""

    viseme: Viseme
    start: int
    end: int
    until: int
    glides: int = 0

    @property
    def length(self) -> int:
        return self.end - self.start


class _Beside(Struct, frozen=True):
    """A sound that decides about lips or jaw: its weight, and its end."""

    weight: int
    until: int


class MouthCurve:
    """The machine. The keys it gives are in the order of their positions, each later than all before."""

    def __init__(self) -> None:
        self._known = 0
        """No phone begins before it that was not given."""
        self._ahead: deque[_Segment] = deque()
        """Segments that were not drawn."""
        self._before: _Segment | None = None
        """The last one that was drawn, if there is no pause after it."""
        self._lips: _Beside | None = None
        self._jaw: _Beside | None = None
        self._rests_at = -1
        """Where the mouth is at rest since the last pause began."""
        self._last = -1

    def feed(self, phones: Iterable[Phone], known_until: int) -> list[MouthKey]:
        """More phones, in their order, and the sample before which all are known. Of a phone that comes too late, what lies before
        that sample is left out."""
        for phone in phones:
            start = max(phone.start, self._known)
            if phone.end > start and (shapes := visemes_of(phone.symbol)):
                self._ahead.extend(_segments(shapes, start, phone.end))
                self._known = phone.end
        self._known = max(self._known, known_until)
        return self._drawn(ended=False)

    def finish(self) -> list[MouthKey]:
        """Nothing follows: the keys that are left. The last one is at rest."""
        return self._drawn(ended=True)

    def _drawn(self, *, ended: bool) -> list[MouthKey]:
        keys: list[MouthKey] = []
        while self._ahead and (ended or self._is_decided(self._ahead[0])):
            for key in self._next():
                # Also for the shortest phones, whose movements would meet.
                if key.at > self._last:
                    keys.append(key)
                    self._last = key.at
        return keys

    def _is_decided(self, segment: _Segment) -> bool:
        """Whether nothing that is not known yet can change its keys: all that follows closely is known, or as much as it depends on."""
        if self._known >= segment.end + PAUSE:
            return True
        following = self._following(segment, skip=1)
        viseme = segment.viseme
        return bool(following) and all(
            own == 1.0 or any(of(each.viseme) >= DECIDES for each in following)
            for own, of in ((viseme.lips, _lips), (viseme.jaw, _jaw))
        )

    def _next(self) -> list[MouthKey]:
        """The keys of the next segment, and of the pauses around it."""
        segment = self._ahead.popleft()
        after = self._ahead[0] if self._ahead else None
        if after is not None and after.start - segment.end >= PAUSE:
            after = None
        if after is not None:
            # A short silence belongs to the sound before it.
            segment = msgspec.structs.replace(segment, until=after.start)
        weights = self._weights(segment, after)
        first, last = _arrival(self._before, segment), _departure(segment, after)
        if last - first < 15 * MS:
            middle = (segment.start + segment.end) // 2
            first = last = middle if segment.viseme.kind == "closure" else (first + last) // 2
        if segment.glides == 1:
            last = first
        elif segment.glides == 2:
            first = last
        keys = []
        if self._before is None:
            rests = max(0, self._rests_at + 1, segment.start - round(_way(None, segment) * ARRIVING))
            keys = [MouthKey(rests)] if rests < first else []
        keys.append(MouthKey(first, *weights))
        if last > first:
            keys.append(MouthKey(last, *weights))
        self._remember(segment, after)
        if after is None:
            self._rests_at = segment.end + CLOSING
            keys.append(MouthKey(self._rests_at))
        return keys

    def _remember(self, segment: _Segment, after: _Segment | None) -> None:
        viseme = segment.viseme
        if after is None:
            self._before = self._lips = self._jaw = None
            return
        self._before = segment
        if viseme.lips >= DECIDES:
            self._lips = _Beside(viseme.wide, segment.until)
        if viseme.jaw >= DECIDES:
            self._jaw = _Beside(viseme.open, segment.until)

    def _weights(self, segment: _Segment, after: _Segment | None) -> tuple[int, int, int, int, int]:
        """The shape of a segment among its neighbours, in the order of `MouthKey`."""
        viseme = segment.viseme
        following = self._following(segment) if after is not None else []
        lips = next(
            (_Beside(each.viseme.wide, 0) for each in following if _lips(each.viseme) >= DECIDES), None
        )
        jaw = next((_Beside(each.viseme.open, 0) for each in following if _jaw(each.viseme) >= DECIDES), None)
        wide = viseme.wide * viseme.lips + _beside(self._lips, lips, segment.start) * (1 - viseme.lips)
        open = viseme.open * viseme.jaw + _beside(self._jaw, jaw, segment.start) * (1 - viseme.jaw)
        if viseme.kind == "closure" and viseme.press:
            open = 0.0
        if viseme.kind == "vowel" and _is_consonant(self._before) and _is_consonant(after):
            share = LEAST + (1 - LEAST) * min(1.0, segment.length / SHORT)
            wide, open = wide * share, open * share
        return round(open), round(wide), viseme.press, viseme.tuck, viseme.tongue

    def _following(self, segment: _Segment, *, skip: int = 0) -> Sequence[_Segment]:
        """What is said after it without a pause and begins soon enough to be prepared for."""
        following: list[_Segment] = []
        end = segment.end
        for each in islice(self._ahead, skip, None):
            # Later ones may not be known.
            if each.start - end >= PAUSE or each.start >= segment.end + PAUSE:
                break
            following.append(each)
            end = each.end
        return following


def _segments(shapes: Sequence[Viseme], start: int, end: int) -> list[_Segment]:
    """A phone as segments: the first of two shapes has three fifths of it."""
    middle = start + (end - start) * 3 // 5
    if len(shapes) == 1 or middle == start:
        return [_Segment(shapes[-1], start, end, end)]
    both_vowels = all(shape.kind == "vowel" for shape in shapes)
    return [
        _Segment(shapes[0], start, middle, middle, 1 if both_vowels else 0),
        _Segment(shapes[1], middle, end, end, 2 if both_vowels else 0),
    ]


def _beside(before: _Beside | None, after: _Beside | None, start: int) -> float:
    """What the neighbours make of a sound that begins at `start`: rather what follows, as speakers look ahead."""
    if before is not None and start - before.until >= PAUSE:
        before = None
    if before is not None and after is not None:
        return BESIDE * (0.35 * before.weight + 0.65 * after.weight)
    one = before or after
    return BESIDE * one.weight if one is not None else 0.0


def _lips(viseme: Viseme) -> float:
    return viseme.lips


def _jaw(viseme: Viseme) -> float:
    return viseme.jaw


def _is_consonant(segment: _Segment | None) -> bool:
    return segment is not None and segment.viseme.kind != "vowel"


def _is_closure(segment: _Segment | None) -> bool:
    return segment is not None and segment.viseme.kind == "closure"


def _way(before: _Segment | None, after: _Segment) -> int:
    """Samples of the movement from one segment to the next; `before` None: from rest."""
    if _is_closure(after):
        most = CLOSE
    elif _is_closure(before):
        most = BURST
    else:
        most = ROUND if after.viseme.wide <= -70 else MOVE
    return min(most, after.length) if before is None else min(most, after.length, before.length)


def _share(before: _Segment | None, after: _Segment) -> float:
    """The share of the movement that comes before the border."""
    if not _is_closure(before):
        return ARRIVING
    return 0.5 if _is_closure(after) else HELD


def _arrival(before: _Segment | None, segment: _Segment) -> int:
    """Where the shape of a segment is reached, within it."""
    rest = 1 - _share(before, segment)
    return min(segment.end - 1, segment.start + int(_way(before, segment) * rest))


def _departure(segment: _Segment, after: _Segment | None) -> int:
    """Where it is left, within it."""
    if after is None:
        way = min(CLOSING // 2, segment.length // 2)
    else:
        way = int(_way(segment, after) * _share(segment, after))
    leaves = min(segment.until - max(1, way), segment.start + int(segment.length * segment.viseme.held))
    return max(segment.start, leaves)
