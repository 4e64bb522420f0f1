"""Writes one recording while it runs: about once a second what is settled is compressed and appended to its files.

Nothing here holds up the call: both are done in threads, and what the disk does not take in time ends the recording with a
reason. Run by `service` in its own task group.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Awaitable, Callable

import anyio
import msgspec

from duologue.errors import Busy
from duologue.gateway.recordings.peaks import PeakMeter
from duologue.gateway.recordings.recorder import Recorder
from duologue.gateway.recordings.recording_files import ENTRIES, FRAMES, PEAKS, SOUND, RecordingFiles
from duologue.gateway.recordings.timeline import SettledPiece
from duologue.media.call_sound import CallSoundEncoder
from duologue.threads import disk_io, encoding
from duologue.values.recordings import RecordingEnd

log = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between two pieces."""
FINISH_TIMEOUT = 10.0
"""Seconds the last piece may take when the server is shut down."""

_line = msgspec.json.Encoder().encode


class RecordingWriter:
    """`progress` is told the bytes written so far, and answers with a reason to end, or "" to go on."""

    def __init__(
        self, recorder: Recorder, files: RecordingFiles, progress: Callable[[int], Awaitable[RecordingEnd]]
    ) -> None:
        self._recorder, self._files, self._progress = recorder, files, progress
        self._encoder: CallSoundEncoder | None = None
        self._peaks = PeakMeter()
        self.size = 0
        """Bytes written."""

    async def run(self) -> RecordingEnd:
        """Write until the recording has ended. Gives how."""
        recorder = self._recorder
        try:
            while not recorder.ended:
                wake = recorder.wake.pending()
                if not recorder.ended:
                    with anyio.move_on_after(INTERVAL):
                        await wake.wait()
                if not recorder.ended:
                    await self._write(recorder.take(), last=False)
                    if reason := await self._progress(self.size):
                        recorder.stop(reason)
        except anyio.get_cancelled_exc_class():
            recorder.close()
            with anyio.CancelScope(shield=True), anyio.move_on_after(FINISH_TIMEOUT):
                await self._finish()
            raise
        await self._finish()
        return recorder.ended

    async def _finish(self) -> None:
        if self._recorder.ended not in ("disk_full", "failed"):
            await self._write(self._recorder.take(), last=True)

    async def _write(self, piece: SettledPiece, *, last: bool) -> None:
        """Append a piece. What fails ends the recording, and is not raised."""
        try:
            made = await encoding(self._encode, piece, last)
            self.size += await disk_io(self._files.append, made)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            log.warning("recording %s ends: %s", self._recorder.id, error.strerror or error)
            self._fail("disk_full" if full else "failed")
        except Busy:
            self._fail("slow_disk")
        except Exception:
            log.exception("recording %s failed", self._recorder.id)
            self._fail("failed")

    def _fail(self, reason: RecordingEnd) -> None:
        self._recorder.stop(reason)
        # It may have ended with its call already: what was not written is missing all the same.
        self._recorder.ended = reason

    def _encode(self, piece: SettledPiece, last: bool) -> dict[str, bytes]:
        """The bytes for each file: the pictures before the entries that tell of them."""
        if self._encoder is None:
            self._encoder = CallSoundEncoder()
        sound, peaks = (
            self._encoder.feed(piece.caller, piece.reply),
            self._peaks.feed(piece.caller, piece.reply),
        )
        if last:
            sound += self._encoder.finish()
            peaks += self._peaks.finish()
        entries = b"".join(_line(entry) + b"\n" for entry in piece.entries)
        return {FRAMES: b"".join(piece.frames), SOUND: sound, PEAKS: peaks, ENTRIES: entries}
