"""This machine's microphone and loudspeaker, where it has them, for the commands that speak and listen in a terminal.

Owns the one library that knows sound cards (PortAudio, by `sounddevice`) and the sentences for whatever may be missing.
Sound is 16-bit mono, 16 kHz from the microphone, 24 kHz to the loudspeaker. The library calls back in a thread of its own;
what crosses is a bounded queue each way. Knows no call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio

from duologue.errors import Problem
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples

FRAME = HEARD_RATE // 50
"""Samples of a frame of the microphone: 20 ms."""
KEPT = 50
"""Frames that wait to be read, the oldest forgotten first: a second."""
LATENCY = 0.2
"""Seconds a card may still hold of what it took."""
Device = int | str | None


class Microphone:
    """What is heard, frame by frame."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque(maxlen=KEPT)
        self._arrived = anyio.Event()
        self._loop = asyncio.get_running_loop()

    async def frames(self) -> AsyncIterator[bytes]:
        """For as long as it is open."""
        while True:
            while self._frames:
                yield self._frames.popleft()
            self._arrived = anyio.Event()
            if not self._frames:
                await self._arrived.wait()

    def heard(self, data: Any, count: int, time: Any, status: Any) -> None:
        """Called by the library, in its thread."""
        self._frames.append(bytes(data))
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._arrived.set()


class Loudspeaker:
    """What is to sound, in order."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._rest = b""

    @property
    def waiting(self) -> int:
        """Samples that have not sounded yet."""
        return samples(self._rest) + sum(samples(piece) for piece in list(self._waiting))

    def play(self, pcm: bytes) -> None:
        self._waiting.append(pcm)

    async def drained(self) -> None:
        """Returns when everything has sounded."""
        await anyio.sleep(self.waiting / SPOKEN_RATE + LATENCY)

    def wanted(self, out: Any, count: int, time: Any, status: Any) -> None:
        """Called by the library, in its thread."""
        size = count * SAMPLE_BYTES
        pcm = self._rest
        while len(pcm) < size and self._waiting:
            pcm += self._waiting.popleft()
        out[:] = pcm[:size].ljust(size, b"\0")
        self._rest = pcm[size:]


@contextmanager
def microphone(device: Device = None) -> Iterator[Microphone]:
    """The microphone, open. Raises Problem where there is none."""
    heard = Microphone()
    with _stream("RawInputStream", "microphone", HEARD_RATE, FRAME, heard.heard, device):
        yield heard


@contextmanager
def loudspeaker(device: Device = None) -> Iterator[Loudspeaker]:
    """The loudspeaker, open. Raises Problem where there is none."""
    sounding = Loudspeaker()
    with _stream("RawOutputStream", "loudspeaker", SPOKEN_RATE, 0, sounding.wanted, device):
        yield sounding


@contextmanager
def _stream(kind: str, name: str, rate: int, block: int, callback: Any, device: Device) -> Iterator[None]:
    library = _library()
    try:
        stream = getattr(library, kind)(
            samplerate=rate, blocksize=block, channels=1, dtype="int16", callback=callback, device=device
        )
        stream.start()
    except (library.PortAudioError, ValueError) as error:
        raise Problem(f"There is no {name} here that can be used ({error}).", code="no_sound_card") from None
    try:
        yield
    finally:
        stream.close()


def _library() -> Any:
    try:
        import sounddevice
    except ImportError:
        raise Problem(
            "The sound card needs one more package: pip install 'duologue[voice]'.", code="no_sound_card"
        ) from None
    except OSError:
        # On Linux the package brings no library of its own.
        raise Problem(
            "The library PortAudio is not on this machine. Install it (Debian, Ubuntu: apt install libportaudio2), or use "
            "the page; `duologue say --out FILE.wav` needs no sound card.",
            code="no_sound_card",
        ) from None
    return sounddevice
