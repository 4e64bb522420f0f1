"""This machine's microphone and loudspeaker, for `duologue call` and `duologue say --voice`.

The only file that uses the sound card library (PortAudio through `sounddevice`). Audio is 16-bit mono, 16 kHz from the
microphone and 24 kHz to the loudspeaker. PortAudio calls back in a thread of its own, so each direction crosses threads
through a deque.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio

from duologue.errors import Problem
from duologue.notifier import Notifier
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples

FRAME = HEARD_RATE // 50
"""Samples in a microphone frame: 20 ms."""
MAX_FRAMES = 50
"""Frames that may wait to be read, one second; the oldest is dropped first."""
LATENCY = 0.2
"""Seconds of audio that the card may still hold in its own buffer."""
Device = int | str | None


class Microphone:
    """Microphone audio, frame by frame."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque(maxlen=MAX_FRAMES)
        self._arrived = Notifier()
        self._loop = asyncio.get_running_loop()

    async def frames(self) -> AsyncIterator[bytes]:
        """Frames as they arrive, while the microphone is open."""
        while True:
            while self._frames:
                yield self._frames.popleft()
            await self._arrived.wait()

    def receive(self, data: Any, count: int, time: Any, status: Any) -> None:
        """Called by PortAudio, in its thread."""
        self._frames.append(bytes(data))
        self._loop.call_soon_threadsafe(self._arrived.notify)


class Loudspeaker:
    """Audio to play, in order."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._rest = b""

    @property
    def waiting(self) -> int:
        """Samples not played yet."""
        return samples(self._rest) + sum(samples(piece) for piece in list(self._waiting))

    def play(self, pcm: bytes) -> None:
        self._waiting.append(pcm)

    async def drained(self) -> None:
        """Returns when everything has been played."""
        await anyio.sleep(self.waiting / SPOKEN_RATE + LATENCY)

    def fill(self, out: Any, count: int, time: Any, status: Any) -> None:
        """Called by PortAudio, in its thread."""
        size = count * SAMPLE_BYTES
        pcm = self._rest
        while len(pcm) < size and self._waiting:
            pcm += self._waiting.popleft()
        out[:] = pcm[:size].ljust(size, b"\0")
        self._rest = pcm[size:]


@contextmanager
def microphone(device: Device = None) -> Iterator[Microphone]:
    """The microphone, open. Raises Problem where there is none."""
    opened = Microphone()
    with _stream("RawInputStream", "microphone", HEARD_RATE, FRAME, opened.receive, device):
        yield opened


@contextmanager
def loudspeaker(device: Device = None) -> Iterator[Loudspeaker]:
    """The loudspeaker, open. Raises Problem where there is none."""
    opened = Loudspeaker()
    with _stream("RawOutputStream", "loudspeaker", SPOKEN_RATE, 0, opened.fill, device):
        yield opened


@contextmanager
def _stream(kind: str, name: str, rate: int, block: int, callback: Any, device: Device) -> Iterator[None]:
    library = _library()
    try:
        stream = getattr(library, kind)(
            samplerate=rate, blocksize=block, channels=1, dtype="int16", callback=callback, device=device
        )
        stream.start()
    except (library.PortAudioError, ValueError) as error:
        raise Problem(f"No usable {name} was found ({error}).", code="no_sound_card") from None
    try:
        yield
    finally:
        stream.close()


def _library() -> Any:
    try:
        import sounddevice
    except ImportError:
        raise Problem(
            "The sound card needs an extra package: pip install 'duologue[voice]'.", code="no_sound_card"
        ) from None
    except OSError:
        # On Linux the wheel does not contain PortAudio.
        raise Problem(
            "The PortAudio library is not installed. Install it (Debian, Ubuntu: apt install libportaudio2) or use the "
            "page; `duologue say --out FILE.wav` needs no sound card.",
            code="no_sound_card",
        ) from None
    return sounddevice
