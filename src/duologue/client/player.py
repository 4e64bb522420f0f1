"""Playback of a call's audio, as a pure machine: buffering, pausing, resuming, dropping and position reports.

Messages and audio of the voice socket go in (`take`, `receive_audio`), samples come out (`play`), and position reports for the
server wait in `reports`. It counts exactly how many samples of each reply were played, and recognises stale messages. Time
is the number of samples played, at 24 kHz. `client/call.py` connects it to a socket.
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
"""Samples over which a paused reply fades out. They count as played; playback resumes with the sample after them."""
DROP_FADE = _milliseconds(10)
RISE = _milliseconds(5)
BUFFER, MAX_BUFFER = _milliseconds(40), _milliseconds(400)
"""Samples buffered before a reply starts playing, doubled up to the maximum each time it runs dry."""
PATIENCE = _milliseconds(80)
"""A reply that has started to arrive plays after this long even if the buffer is not full."""
REPORT_EVERY = _milliseconds(200)
"""The position is reported each time this many more samples were played."""
MAX_KNOWN = 64
"""Replies whose frame numbers are remembered."""
NEVER_STALE = (
    "transcript",
    "reply_done",
    "error",
    "interrupt",
    "queued",
    "queue_update",
    "queue_done",
    "tool_call",
)
"""Messages that stay valid in a later epoch: transcripts, results, and messages about the call itself."""

Json = dict[str, Any]


class Gap(Struct, frozen=True):
    """An underrun: `samples` of silence in the middle of `reply`, at its sample `at`."""

    reply: int
    at: int
    samples: int


class _Track:
    """A reply whose audio has started to arrive."""

    def __init__(self, reply: int) -> None:
        self.reply = reply
        self.pcm = bytearray()
        """Audio that has arrived and was not played yet."""
        self.received = 0
        self.played = 0
        self.reported = 0
        self.complete = False
        self.age = 0
        self.dry = 0
        self.chunks: list[tuple[int, int]] = []
        """Of each frame: its number, and how many samples of the reply come before it."""

    @property
    def waiting(self) -> int:
        return self.received - self.played

    def take(self, count: int) -> array[int]:
        """The next samples, at most `count`."""
        count = min(count, self.waiting)
        piece = array("h", bytes(self.pcm[: count * SAMPLE_BYTES]))
        del self.pcm[: count * SAMPLE_BYTES]
        self.played += count
        if sys.byteorder == "big":
            piece.byteswap()
        return piece


class Player:
    """Playback for one caller. With `holds` False it behaves as a minimal client, which neither pauses nor reports positions."""

    def __init__(self, *, holds: bool = True) -> None:
        self.reports: deque[Json] = deque(maxlen=1024)
        """Messages to send to the server, oldest first. The sender removes them."""
        self.epoch = 0
        self.stale: list[str] = []
        """The types of messages that arrived after the server had ended their reply; `sound` for audio frames."""
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

    # ---- input

    @property
    def current(self) -> int | None:
        """The reply that is playing or about to play."""
        return self._tracks[0].reply if self._tracks else None

    @property
    def played(self) -> dict[int, int]:
        """Samples played of each of the last replies."""
        return {reply: track.played for reply, track in self._known.items()}

    @property
    def position(self) -> int:
        """Samples played of the current reply."""
        return self._tracks[0].played if self._tracks else 0

    @property
    def arriving(self) -> int:
        """The reply that the next frame belongs to; -1 before the first."""
        return self._arriving

    @property
    def silent(self) -> bool:
        """Whether nothing is playing or waiting to be played."""
        return not self._tracks and self._coming is None

    def take(self, message: Mapping[str, Any]) -> bool:
        """Handle one message of the server. False when it is stale and was ignored."""
        kind, reply = str(message.get("type")), message.get("reply_id")
        epoch = int(message.get("epoch") or 0)
        if kind not in NEVER_STALE and (epoch < self.epoch or (reply is not None and reply <= self._dropped)):
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

    def receive_audio(self, pcm: bytes) -> bool:
        """Take an audio frame of the reply that was announced last. False when it is stale."""
        chunk = self._chunk
        self._chunk += 1
        track = self._coming
        if track is None or track.reply <= self._dropped:
            if self._arriving <= self._cut:
                self.stale.append("sound")
            return False
        track.chunks.append((chunk, track.received))
        track.received += samples(pcm)
        track.pcm += pcm[: samples(pcm) * SAMPLE_BYTES]
        return True

    def interrupt(self, *, by_chunk: bool = False) -> Json:
        """Stop playback now; returns the message for the server. `by_chunk`: report only the number of the last frame that
        started playing, as older clients do."""
        track = self._tracks[0] if self._tracks else None
        if track is None:
            return {"type": "interrupt"}
        started = [chunk for chunk, before in track.chunks if before < track.played]
        last = started[-1] if started else (track.chunks[0][0] - 1 if track.chunks else -1)
        self._drop(track.reply)
        if by_chunk:
            return {"type": "interrupt", "last_chunk_id": last}
        return {
            "type": "interrupt",
            "reply_id": track.reply,
            "samples": track.played,
            "last_chunk_id": last,
        }

    # ---- output

    def play(self, count: int) -> bytes:
        """The next `count` samples to play: 16-bit mono, 24 kHz."""
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
        self._report_if_due()
        if sys.byteorder == "big":
            out.byteswap()
        return out.tobytes()

    def _next(self) -> _Track | None:
        """The reply to play: the oldest one, unless it has run dry and another has audio. So a filler can be spoken while a
        reply waits for a tool, and the reply continues after it."""
        if not self._tracks:
            return None
        first = self._tracks[0]
        if first.waiting or first.complete or self._fading or self._state == "held":
            return first
        other = next((track for track in self._tracks if track.waiting), None)
        if other is not None:
            first.dry = 0
            self._reset()
            self._tracks.remove(other)
            self._tracks.appendleft(other)
        return other or first

    def _is_ready(self, track: _Track, count: int) -> bool:
        """Whether this reply may play now: enough is buffered, and it is not paused."""
        if self._state == "playing":
            return True
        if track.complete and not track.waiting and self._state != "held":
            self._finish(track)
            return bool(self._tracks) and self._is_ready(self._tracks[0], count)
        if self._state == "held":
            return False
        if track.received:
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
        """Append up to `count` samples of this reply to `out`, and act on what they complete: a fade, an underrun, the end."""
        piece = track.take(min(count, self._left) if self._left else count)
        out.extend(self._apply_fade(piece))
        if self._fading and not self._left:
            fading, self._fading = self._fading, ""
            if fading == "drop":
                self._forget(track)
            else:
                self._state = "held"
                self._report(track)
        elif track.complete and not track.waiting:
            self._finish(track)
        elif not track.waiting:
            self._state, self._left = "starved", 0
            self._buffer = min(MAX_BUFFER, 2 * self._buffer)
            if self._fading == "drop":
                self._forget(track)
                return
            if self._fading:
                self._state, self._fading = "held", ""
            # Report now: a reply that is paused while it has run dry is not played again, so there may be no later moment.
            self._report(track)

    def _apply_fade(self, piece: array[int]) -> array[int]:
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
            for old in list(self._known)[:-MAX_KNOWN]:
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
            self._reset()
        if self._held == track.reply:
            self._held = None
        self._tracks.remove(track)
        self._report(track)

    def _finish(self, track: _Track) -> None:
        self._tracks.popleft()
        self._reset()
        self._report(track, always=True)

    def _reset(self) -> None:
        self._state, self._gain, self._left, self._fading = "buffering", 0.0, 0, ""

    def _end_gap(self, track: _Track) -> None:
        if track.dry:
            self.gaps.append(Gap(track.reply, track.played, track.dry))
            track.dry = 0

    # ---- position reports

    def _report_if_due(self) -> None:
        if self._tracks and self._tracks[0].played - self._tracks[0].reported >= REPORT_EVERY:
            self._report(self._tracks[0])

    def _report(self, track: _Track, *, always: bool = False) -> None:
        if self.holds and (always or track.played > track.reported):
            track.reported = track.played
            self.reports.append({"type": "played", "reply_id": track.reply, "samples": track.played})
