"""The embedded recogniser: English, a few thousand words, on one core and without a download.

Owns what becomes of the sound it is given: how much is decoded when, and the transcript of what was understood. Knows no call,
and no decoder: those are in processes of their own (`ears.py`, `ear.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from msgspec import Struct

from duologue.engines.audio.silence import peak
from duologue.engines.options import read_options
from duologue.engines.sphinx.confidence import HeardWord
from duologue.engines.sphinx.decoder import PIECE, sentence
from duologue.engines.sphinx.decoder_pool import DecoderHandle, DecoderPool
from duologue.engines.sphinx.segmentation import utterances
from duologue.engines.vad.energy import EnergyDetector
from duologue.errors import StartFailed, Unsupported
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.speech import TimedWord, Transcript
from duologue.values.transcripts import joined

HEARING = Path(__file__).parent / "data"
LIMITED = (
    "The built-in recogniser understands English, and only what people usually say to the built-in model: greetings, small"
    " talk, sums, times, names, spelling, stories, help about Duologue. For everything else install a better one:"
    " pip install 'duologue[whisper]', and set voice.recogniser.engine to whisper."
)
FIRST = HEARD_RATE * 2 // 5 * SAMPLE_BYTES
"""Bytes that are waited for before the first are decoded, to learn how loud the speaker is."""
FRAME_S = 0.01
"""Seconds of a frame of the decoder."""
STANDS = 0.5
"""The confidence from which on words are given."""


class PocketsphinxOptions(Struct, frozen=True):
    """`decoders`: how many speak at the same time before one waits for another; each takes about 5 MB while it listens."""

    decoders: int = 32


class PocketsphinxListener:
    """Fulfils `engines.Listener`."""

    def __init__(self, ear: DecoderHandle) -> None:
        self._ear = ear
        self._waiting = bytearray()
        self._begun = False
        self._text = ""

    async def feed(self, pcm: bytes) -> str:
        self._waiting += pcm
        if self._begun or len(self._waiting) >= FIRST:
            await self._hear()
        return self._text

    async def finish(self) -> Transcript:
        words, sure = await self.words()
        return transcript(words, sure)

    async def words(self) -> tuple[tuple[HeardWord, ...], float]:
        """What `finish` makes a transcript of."""
        await self._hear()
        if not self._begun:
            return (), 0.0
        return await self._ear.end()

    async def _hear(self) -> None:
        while len(self._waiting) >= SAMPLE_BYTES:
            if not self._begun:
                self._begun = True
                await self._ear.begin(peak(bytes(self._waiting)))
            piece = bytes(self._waiting[:PIECE])
            piece = piece[: len(piece) // SAMPLE_BYTES * SAMPLE_BYTES]
            del self._waiting[: len(piece)]
            self._text = await self._ear.hear(piece)


class PocketsphinxRecogniser:
    """Fulfils `engines.RecogniserEngine`."""

    name = "pocketsphinx"
    languages = ("en",)
    partial_results = True
    word_timestamps = True
    limitation = LIMITED

    def __init__(self, ears: DecoderPool, decoders: int) -> None:
        self.ears = ears
        self._lane = ThreadLane(1)
        self._turns = anyio.Semaphore(decoders)

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[PocketsphinxListener]:
        """A listener for one utterance; who comes when all decoders listen waits in line. Raises Unsupported for any
        language but English."""
        _check(language)
        async with self._turns, self.ears.lent() as ear:
            yield PocketsphinxListener(ear)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Write down a recording, utterance by utterance; what it did not understand is left out. Raises as `listen`."""
        _check(language)
        places = await self._lane.run(lambda: list(utterances(pcm, EnergyDetector())))
        parts: list[Transcript] = []
        for start, end in places:
            async with self._turns, self.ears.lent(patient=True) as ear:
                listener = PocketsphinxListener(ear)
                for at in range(start * SAMPLE_BYTES, end * SAMPLE_BYTES, FIRST):
                    await listener.feed(pcm[at : min(at + FIRST, end * SAMPLE_BYTES)])
                parts.append(transcript(*await listener.words(), since=start / HEARD_RATE))
        return joined(parts) if parts else Transcript("", language="en", understood=False)

    async def close(self) -> None:
        await self.ears.close()


def _check(language: str) -> None:
    if language and language.lower().replace("_", "-").partition("-")[0] != "en":
        raise Unsupported(
            "The built-in recogniser hears English only. Others come with: pip install 'duologue[whisper]'",
            param="language",
        )


def transcript(words: Sequence[HeardWord], sure: float, *, since: float = 0.0) -> Transcript:
    """What stands of these words. `since` is when the sound began, in seconds."""
    if sure < STANDS:
        return Transcript("", language="en", confidence=sure, understood=False)
    times = tuple(
        TimedWord(
            word.text, round(since + word.start * FRAME_S, 2), round(since + (word.end + 1) * FRAME_S, 2)
        )
        for word in words
    )
    return Transcript(sentence([word.text for word in words]), times, "en", sure)


async def load(options: dict[str, Any]) -> PocketsphinxRecogniser:
    """The recogniser. Options: decoders. Raises StartFailed where pocketsphinx is not installed or cannot start."""
    wanted = read_options(PocketsphinxOptions, options, "pocketsphinx")
    if wanted.decoders < 1:
        raise StartFailed("pocketsphinx needs at least one decoder.", param="decoders")
    ears = DecoderPool(HEARING)
    await ears.start()
    return PocketsphinxRecogniser(ears, wanted.decoders)
