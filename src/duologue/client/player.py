"""What one caller's loudspeaker does with a call: plays what comes, holds, goes on, drops, and says how far it is.

Owns the buffer that bridges a late piece, the exact count of samples that were heard of each reply, and what is stale. The
voice socket's messages go in (`take`, `sound`), samples come out (`play`), and what the server is to be told waits in
`told`. Time is the samples that are asked for, at 24 kHz. Knows no socket, no clock and no sound card.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE, samples


def _milliseconds(count: int) -> int:
    return count * SPOKEN_RATE // 1000


HOLD_FADE = _milliseconds(20)
"""Samples in which a held reply falls silent; they count as heard, and what follows them is the held sample."""
DROP_FADE = _milliseconds(10)
RISE = _milliseconds(5)
BUFFER, MOST_BUFFER = _milliseconds(40), _milliseconds(400)
"""What is gathered before a reply begins; again, and twice as much each time, when it ran dry."""
PATIENCE = _milliseconds(80)
"""A beginning waits no longer for more."""
MARK = _milliseconds(200)
"""The server is told how far it is whenever so much more was heard."""
KEPT = 64
"""Replies whose frames are remembered."""
STANDING = (
    "transcript",
    "reply_done",
    "error",
    "interrupt",
    "queued",
    "queue_update",
    "queue_done",
    "tool_call",
)
"""Messages that stay true in a later epoch: what was said and heard, and what the call itself is told."""

Json = dict[str, Any]


class Gap(Struct, frozen=True):
    """A reply that ran dry in the middle: for so many samples there was nothing to play. `at` is its sample then."""

    reply: int
    at: int
    samples: int


class _Track:
    """A reply whose sound has begun to come."""

    def __init__(self, reply: int) -> None:
        self.reply = reply
        self.pcm = bytearray()
        """What has come and was not played yet."""
        self.came = 0
        self.played = 0
        self.marked = 0
        self.complete = False
        self.age = 0
        self.dry = 0
        self.chunks: list[tuple[int, int]] = []
        """Of each frame: its number, and the reply's samples before it."""

    @property
    def waiting(self) -> int:
        return self.came - self.played

    def take(self, count: int) -> array[int]:
        """The next samples, no more than are there."""
        count = min(count, self.waiting)
        piece = array("h", bytes(self.pcm[: count * SAMPLE_BYTES]))
        del self.pcm[: count * SAMPLE_BYTES]
        self.played += count
        if sys.byteorder == "big":
            piece.byteswap()
        return piece


class Player:
    """One caller's side of a call's sound. `holds` False: a client of few words, which neither pauses nor tells marks."""

    def __init__(self, *, holds: bool = True) -> None:
        self.told: deque[Json] = deque(maxlen=1024)
        """What the server is to be told, oldest first; whoever sends it takes it away."""
        self.epoch = 0
        self.stale: list[str] = []
        """What came although the server had said that it was over: the kinds of these messages, `sound` for a frame."""
        self.gaps: list[Gap] = []
        self.holds = holds
        self._tracks: deque[_Track] = deque()
        self._known: dict[int, _Track] = {}
        self._coming: _Track | None = None
        self._chunk = 0
        self._arriving = -1
        self._dropped = -1
        self._cut = -1
        self._held: int | None = None
        self._buffer = BUFFER
        self._state = "buffering"
        self._gain, self._target, self._left, self._fading = 0.0, 0.0, 0, ""

    # ---- what comes

    @property
    def current(self) -> int | None:
        """The reply that is, or is about to be, heard."""
        return self._tracks[0].reply if self._tracks else None

    @property
    def heard(self) -> dict[int, int]:
        """Samples heard of each of the last replies."""
        return {reply: track.played for reply, track in self._known.items()}

    @property
    def position(self) -> int:
        """Samples heard of the current reply."""
        return self._tracks[0].played if self._tracks else 0

    @property
    def arriving(self) -> int:
        """The reply the next frame belongs to; -1 before there was any."""
        return self._arriving

    @property
    def silent(self) -> bool:
        """Whether nothing sounds, and nothing that has come waits to sound."""
        return not self._tracks and self._coming is None

    def take(self, message: Mapping[str, Any]) -> bool:
        """One message of the server. False: it is stale, and nothing was made of it."""
        kind, reply = str(message.get("type")), message.get("reply_id")
        epoch = int(message.get("epoch") or 0)
        if kind not in STANDING and (epoch < self.epoch or (reply is not None and reply <= self._dropped)):
            if epoch < self.epoch or reply is None or reply <= self._cut:
                self.stale.append(kind)
            return False
        self.epoch = max(self.epoch, epoch)
        match kind, reply:
            case "audio_start", int():
                self._begin(reply, int(message.get("chunk_id") or 0))
            case "audio_end", int():
                self._end(reply)
            case "pause", int() if self.holds:
                self._hold(reply)
            case "resume", int() if self.holds:
                self._resume(reply)
            case "interrupt", int():
                self._cut = max(self._cut, reply)
                self._drop(reply)
            case "reply_done", int() if message.get("ending") != "spoken":
                self._cut = max(self._cut, reply)
                self._drop(reply)
        return True

    def sound(self, pcm: bytes) -> bool:
        """A frame: of the reply that was begun last. False: it is stale."""
        chunk = self._chunk
        self._chunk += 1
        track = self._coming
        if track is None or track.reply <= self._dropped:
            if self._arriving <= self._cut:
                self.stale.append("sound")
            return False
        track.chunks.append((chunk, track.came))
        track.came += samples(pcm)
        track.pcm += pcm[: samples(pcm) * SAMPLE_BYTES]
        return True

    def interrupt(self, *, by_chunk: bool = False) -> Json:
        """Silence, now: drops whatever sounds, and gives what the server is to be told. `by_chunk`: in the number of the frame
        that was begun last alone, as older clients say it."""
        track = self._tracks[0] if self._tracks else None
        if track is None:
            return {"type": "interrupt"}
        begun = [chunk for chunk, before in track.chunks if before < track.played]
        last = begun[-1] if begun else (track.chunks[0][0] - 1 if track.chunks else -1)
        self._drop(track.reply)
        if by_chunk:
            return {"type": "interrupt", "last_chunk_id": last}
        return {
            "type": "interrupt",
            "reply_id": track.reply,
            "samples": track.played,
            "last_chunk_id": last,
        }

    # ---- what sounds

    def play(self, count: int) -> bytes:
        """The next `count` samples that sound: 16-bit mono, 24 kHz."""
        if not self._tracks:
            return bytes(count * SAMPLE_BYTES)
        out = array("h")
        while len(out) < count:
            track = self._next()
            if track is None:
                break
            if not self._is_ready(track, count - len(out)):
                break
            self._play_on(track, count - len(out), out)
        out.frombytes(bytes((count - len(out)) * SAMPLE_BYTES))
        self._mark()
        if sys.byteorder == "big":
            out.byteswap()
        return out.tobytes()

    def _next(self) -> _Track | None:
        """The reply whose turn it is: the one begun first, unless it has nothing more for now and another one has. A reply
        that waits for a tool is spoken between, and goes on behind what is said meanwhile."""
        if not self._tracks:
            return None
        first = self._tracks[0]
        if first.waiting or first.complete or self._fading or self._state == "held":
            return first
        other = next((track for track in self._tracks if track.waiting), None)
        if other is not None:
            first.dry = 0
            self._settle()
            self._tracks.remove(other)
            self._tracks.appendleft(other)
        return other or first

    def _is_ready(self, track: _Track, count: int) -> bool:
        """Whether this reply sounds now."""
        if self._state == "playing":
            return True
        if track.complete and not track.waiting and self._state != "held":
            self._over(track)
            return bool(self._tracks) and self._is_ready(self._tracks[0], count)
        if self._state == "held":
            return False
        if track.came:
            track.age += count
        if self._state == "starved":
            track.dry += count
        enough = track.waiting >= self._buffer or track.complete
        waited = self._state == "buffering" and track.waiting > 0 and track.age >= PATIENCE
        if not enough and not waited:
            return False
        self._end_gap(track)
        if self._held == track.reply:
            self._state = "held"
            return False
        self._state, self._gain = "playing", 0.0
        self._fade(1.0, RISE)
        return True

    def _play_on(self, track: _Track, count: int, out: array[int]) -> None:
        """Up to `count` samples of this reply, and what follows from them."""
        piece = track.take(min(count, self._left) if self._left else count)
        out.extend(self._faded(piece))
        if self._fading and not self._left:
            fading, self._fading = self._fading, ""
            if fading == "drop":
                self._forget(track)
            else:
                self._state = "held"
                self._tell(track)
        elif track.complete and not track.waiting:
            self._over(track)
        elif not track.waiting:
            self._state, self._left = "starved", 0
            self._buffer = min(MOST_BUFFER, 2 * self._buffer)
            if self._fading == "drop":
                self._forget(track)
                return
            if self._fading:
                self._state, self._fading = "held", ""
            # There may be no other moment to tell it: a reply that is held while it is dry is not played on.
            self._tell(track)

    def _faded(self, piece: array[int]) -> array[int]:
        if not self._left:
            return piece
        faded = array("h", bytes(len(piece) * SAMPLE_BYTES))
        for at, value in enumerate(piece):
            self._gain += (self._target - self._gain) / self._left
            self._left -= 1
            faded[at] = round(value * self._gain)
        return faded

    def _fade(self, target: float, length: int) -> None:
        self._target = target
        self._left = max(1, round(abs(target - self._gain) * length))

    # ---- replies

    def _begin(self, reply: int, chunk: int) -> None:
        self._chunk, self._arriving = chunk, reply
        self._coming = self._known.get(reply)
        if self._coming is None:
            self._coming = self._known[reply] = _Track(reply)
            self._tracks.append(self._coming)
            for old in list(self._known)[:-KEPT]:
                del self._known[old]

    def _end(self, reply: int) -> None:
        if (track := self._known.get(reply)) is not None:
            track.complete = True
            if self._coming is track:
                self._coming = None

    def _hold(self, reply: int) -> None:
        self._held = reply
        if not self._tracks or self._tracks[0].reply != reply or self._fading == "drop":
            return
        if self._state == "playing":
            self._fading = "hold"
            self._fade(0.0, HOLD_FADE)
        else:
            self._end_gap(self._tracks[0])
            self._state = "held"

    def _resume(self, reply: int) -> None:
        if self._held != reply:
            return
        self._held = None
        if self._fading == "hold":
            self._fading = ""
            self._fade(1.0, RISE)
        elif self._state == "held":
            self._state = "buffering"

    def _drop(self, reply: int) -> None:
        self._dropped = max(self._dropped, reply)
        if self._coming is not None and self._coming.reply <= reply:
            self._coming = None
        for track in [track for track in self._tracks if track.reply <= reply]:
            if track is self._tracks[0] and self._state == "playing" and self._gain > 0:
                self._fading = "drop"
                self._fade(0.0, DROP_FADE)
            else:
                self._forget(track)

    def _forget(self, track: _Track) -> None:
        if track is self._tracks[0]:
            self._settle()
        if self._held == track.reply:
            self._held = None
        self._tracks.remove(track)
        self._tell(track)

    def _over(self, track: _Track) -> None:
        self._tracks.popleft()
        self._settle()
        self._tell(track, always=True)

    def _settle(self) -> None:
        self._state, self._gain, self._left, self._fading = "buffering", 0.0, 0, ""

    def _end_gap(self, track: _Track) -> None:
        if track.dry:
            self.gaps.append(Gap(track.reply, track.played, track.dry))
            track.dry = 0

    # ---- marks

    def _mark(self) -> None:
        if self._tracks and self._tracks[0].played - self._tracks[0].marked >= MARK:
            self._tell(self._tracks[0])

    def _tell(self, track: _Track, *, always: bool = False) -> None:
        if self.holds and (always or track.played > track.marked):
            track.marked = track.played
            self.told.append({"type": "played", "reply_id": track.reply, "samples": track.played})
