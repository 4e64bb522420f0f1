"""The replies' sound as the caller heard it: how much of what was sent was played, and when. Pure. Used by `timeline`.

A client that reports its position is believed: each report says that the samples since the last one have just been played.
Without reports, sound plays from when it was sent, one reply after another, until it is paused or cut. Positions are samples
at 24 kHz: of a reply from its first sample, of the recording from its beginning (`now`).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from duologue.gateway.recordings.sparse_track import SparseTrack
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.events import ReplyWord

JITTER = SPOKEN_RATE * 150 // 1000
"""A report may be this late and still continue the sound before it: a network's delay is no pause in what was heard."""
PATIENCE = 2 * SPOKEN_RATE
"""After so long without a report, a client that promised them is treated like one that does not send any."""
FADE = SPOKEN_RATE // 50
"""Samples over which a client may fade out from where it says it stopped."""
REPORT = SPOKEN_RATE // 5
"""Samples that clients play between two reports."""
REPLIES = 32
"""Replies that are remembered."""


class HeardPart(Struct, frozen=True):
    """Samples `first` to `first + count` of a reply, heard from the recording's sample `start` on."""

    reply: int
    first: int
    count: int
    start: int


class HeardWord(Struct, frozen=True):
    """A word of a reply and when it sounded, in the recording's samples."""

    reply: int
    word: ReplyWord
    start: int
    end: int


class _Sent(Struct):
    """One reply: what was sent and is not yet known to be heard."""

    number: int
    unheard: bytearray = field(default_factory=bytearray)
    heard: int = 0
    """Samples."""
    words: list[ReplyWord] = field(default_factory=list)
    """Words whose end was not heard."""
    held: bool = False
    realign: bool = True
    """What comes next does not continue the sound before it: it is the first, or follows a pause."""
    cut: bool = False
    """The client drops what is unplayed; its last report may still be on the way."""
    most: int | None = None
    """Samples that can have been heard at most: the client has said where it stopped."""
    closed: bool = False
    """Nothing of it is heard any more, whatever is reported."""
    waits_since: int = 0
    """When it was last heard, or sent with nothing unheard before it."""

    @property
    def waiting(self) -> int:
        return len(self.unheard) // SAMPLE_BYTES


class ReplyTrack:
    """The replies of one recording. `marks`: the client reports its position."""

    def __init__(self, *, marks: bool) -> None:
        self.sound = SparseTrack()
        self.parts: list[HeardPart] = []
        """What was heard and was not taken by `settle` yet."""
        self.words: list[HeardWord] = []
        self._marks = marks
        self._replies: dict[int, _Sent] = {}
        self._cursor = 0
        """Without reports: where the next sample is heard."""

    @property
    def pending(self) -> int:
        """Bytes of sound in memory."""
        return self.sound.pending + sum(len(reply.unheard) for reply in self._replies.values())

    def heard(self, number: int) -> int:
        """Samples of this reply that were heard so far."""
        return self._replies[number].heard if number in self._replies else 0

    def send(self, number: int, pcm: bytes, words: Iterable[ReplyWord], now: int) -> None:
        """Sound of a reply went to the client, and these words begin in it."""
        self.advance(now)
        reply = self._replies.get(number)
        if reply is None:
            reply = self._replies[number] = _Sent(number)
            while len(self._replies) > REPLIES:
                del self._replies[next(iter(self._replies))]
        if reply.cut or reply.closed:
            return
        if not any(other.waiting for other in self._replies.values()):
            self._cursor = max(self._cursor, now)
        if not reply.waiting:
            reply.waits_since = now
        reply.unheard += pcm[: samples(pcm) * SAMPLE_BYTES]
        reply.words.extend(words)

    def report(self, number: int, position: int, now: int) -> None:
        """The client has played the reply up to this sample. Positions that go back, or past what was sent, are not believed."""
        reply = self._replies.get(number)
        if reply is None or reply.closed:
            return
        position = position if reply.most is None else min(position, reply.most)
        count = min(position - reply.heard, reply.waiting)
        reply.waits_since = now
        if count <= 0:
            return
        start = now - count
        if not reply.realign and start - self.sound.end <= JITTER:
            start = self.sound.end
        self._hear(reply, count, start)

    def advance(self, now: int) -> None:
        """Time has passed: without reports, what was sent is heard."""
        for reply in list(self._replies.values()):
            if reply.cut or reply.closed or not reply.waiting:
                continue
            if reply.held:
                return
            if self._marks:
                if now - reply.waits_since <= PATIENCE:
                    return
                self._cursor = max(self._cursor, reply.waits_since)
            start = max(self._cursor, self.sound.end)
            count = min(reply.waiting, now - start)
            if count > 0:
                self._hear(reply, count, start)
            if reply.waiting:
                return

    def hold(self, number: int, now: int) -> None:
        """The client pauses the reply and keeps what is unplayed."""
        self.advance(now)
        if (reply := self._replies.get(number)) is not None:
            reply.held = True

    def resume(self, number: int, now: int) -> None:
        """It continues where it was paused."""
        if (reply := self._replies.get(number)) is not None and reply.held:
            reply.held, reply.realign, reply.waits_since = False, True, now
            self._cursor = max(self._cursor, now)

    def cut(self, number: int, now: int, heard: int | None = None) -> None:
        """The client drops what is unplayed. `heard`: the samples it says it had played, which may be fewer than assumed."""
        if not self._marks:
            self.advance(now)
        reply = self._replies.get(number)
        if reply is None:
            return
        if heard is not None:
            self.report(number, heard, now)
            self._take_back(reply, heard)
            reply.most = heard + FADE
        # With reports the last one is still on its way, and says where the client stopped.
        reply.cut, reply.closed = True, reply.closed or not self._marks
        if reply.closed:
            _drop(reply)

    def hang_up(self, now: int) -> None:
        """The recording ends in the middle of a reply: what was played since the last report is not reported any more. What was
        sent in time counts as heard up to here, at most as much as between two reports."""
        self.advance(now)
        left = REPORT
        for reply in self._replies.values():
            if reply.cut or reply.closed or not reply.waiting:
                continue
            start = max(self.sound.end, reply.waits_since if reply.realign else 0)
            count = min(reply.waiting, now - start, left)
            if reply.held or count <= 0:
                return
            self._hear(reply, count, start)
            left -= count
            if reply.waiting:
                return

    def play_out(self) -> None:
        """Everything that was sent counts as heard, one after another."""
        for reply in self._replies.values():
            if reply.waiting and not reply.cut and not reply.closed:
                self._hear(reply, reply.waiting, max(self._cursor, self.sound.end))

    def settle(self, until: int) -> tuple[list[HeardPart], list[HeardWord]]:
        """What was heard up to this sample of the recording; it is forgotten here."""
        parts = [part for part in self.parts if part.start + part.count <= until]
        words = [word for word in self.words if word.end <= until]
        self.parts = [part for part in self.parts if part.start + part.count > until]
        self.words = [word for word in self.words if word.end > until]
        return parts, words

    def _hear(self, reply: _Sent, count: int, start: int) -> None:
        pcm = bytes(reply.unheard[: count * SAMPLE_BYTES])
        del reply.unheard[: count * SAMPLE_BYTES]
        start = self.sound.place(start, pcm)
        self.parts.append(HeardPart(reply.number, reply.heard, count, start))
        reply.heard += count
        reply.realign = False
        for earlier in self._replies.values():
            if earlier.cut and earlier is not reply and not earlier.closed:
                earlier.closed = True
                _drop(earlier)
        self._cursor = self.sound.end
        while reply.words and reply.words[0].end <= reply.heard:
            word = reply.words.pop(0)
            ends = self.sound.end - (reply.heard - word.end)
            self.words.append(HeardWord(reply.number, word, max(0, ends - (word.end - word.start)), ends))

    def _take_back(self, reply: _Sent, heard: int) -> None:
        """What was assumed to be heard was not: remove it where it is the last sound and was not taken yet."""
        surplus = reply.heard - heard
        if surplus <= 0 or not self.parts or self.parts[-1].reply != reply.number:
            return
        before = self.sound.end
        self.sound.trim(before - surplus)
        removed = before - self.sound.end
        reply.heard -= removed
        self._cursor = self.sound.end
        while removed and self.parts and self.parts[-1].reply == reply.number:
            part = self.parts.pop()
            left = max(0, part.count - removed)
            removed -= part.count - left
            if left:
                self.parts.append(HeardPart(part.reply, part.first, left, part.start))
        self.words = [word for word in self.words if word.reply != reply.number or word.end <= self.sound.end]


def _drop(reply: _Sent) -> None:
    reply.unheard.clear()
    reply.words.clear()
