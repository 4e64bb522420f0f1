"""The embedded recogniser: English, on one core and without a download.

Loaded by `registry`. Owns how much of the sound is decoded when, and how words become a transcript. The decoders run in
processes of their own (`decoder_pool`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from msgspec import Struct
from msgspec.structs import replace

from duologue.engines.audio.silence import peak
from duologue.engines.options import read_options
from duologue.engines.sphinx.confidence import DecodedWord
from duologue.engines.sphinx.decoder import PARAMETERS, PIECE, sentence
from duologue.engines.sphinx.decoder_pool import DecoderHandle, DecoderPool
from duologue.engines.sphinx.ipc import FinalWords
from duologue.engines.sphinx.recent_words import recent_words
from duologue.engines.sphinx.segmentation import utterances
from duologue.engines.vad.energy import EnergyDetector
from duologue.errors import StartFailed, Unsupported
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.speech import TimedWord, Transcript
from duologue.values.transcripts import joined

DATA = Path(__file__).parent / "data"
LIMITED = (
    "The built-in recogniser understands clearly spoken English, with mistakes; names and rare words it often misses. For a"
    " better one: pip install 'duologue[whisper]', and set voice.recogniser.engine to whisper."
)
FIRST = HEARD_RATE * 2 // 5 * SAMPLE_BYTES
"""Bytes that are collected before decoding begins, to measure how loud the speaker is."""
FRAME_S = 0.01
"""Seconds of a frame of the decoder."""
CONFIDENT = 0.5
"""The least confidence of a transcript that counts as understood."""


class PocketsphinxOptions(Struct, frozen=True):
    """`decoders`: how many utterances are decoded at the same time, others wait; each takes about 22 MB. `adaptation`: a folder
    with models for synthetic voices, as `bench/recogniser/tuning` makes them; tests speak with such voices."""

    decoders: int = 32
    adaptation: str = ""


class PocketsphinxStream:
    """Implements `contracts.StreamingTranscriber`, `contracts.ExpectsWords` and `contracts.SpotsStopWords`."""

    def __init__(self, decoder: DecoderHandle, prompt: str = "") -> None:
        self._decoder = decoder
        self._expected = prompt
        self._waiting = bytearray()
        self._begun = False
        self._spot = False
        self._text = ""

    def listen_for_stop(self) -> None:
        self._spot = True

    def expect(self, text: str) -> None:
        self._expected = f"{self._expected} {text}"

    async def feed(self, pcm: bytes) -> str:
        self._waiting += pcm
        if self._begun or len(self._waiting) >= FIRST:
            await self._decode()
        return self._text

    async def finish(self) -> Transcript:
        final = await self.words()
        return replace(transcript(final.words, final.confidence), stop_word=final.stop_word)

    async def words(self) -> FinalWords:
        """The words of the utterance and their confidence: what `finish` makes a transcript of. Used by the benchmark."""
        await self._decode()
        if not self._begun:
            return FinalWords((), 0.0)
        return await self._decoder.end()

    async def _decode(self) -> None:
        while len(self._waiting) >= SAMPLE_BYTES:
            if not self._begun:
                self._begun = True
                level, words = peak(bytes(self._waiting)), recent_words(self._expected)
                await self._decoder.begin(level, words, spot=self._spot)
            piece = bytes(self._waiting[:PIECE])
            piece = piece[: len(piece) // SAMPLE_BYTES * SAMPLE_BYTES]
            del self._waiting[: len(piece)]
            self._text = await self._decoder.decode(piece)


class PocketsphinxRecogniser:
    """Implements `contracts.RecogniserEngine`."""

    name = "pocketsphinx"
    languages = ("en",)
    partial_results = True
    word_timestamps = True
    spots_stop_words = True
    limitation = LIMITED

    def __init__(self, pool: DecoderPool, decoders: int) -> None:
        self.pool = pool
        self._lane = ThreadLane(1)
        self._turns = anyio.Semaphore(decoders)

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[PocketsphinxStream]:
        """A transcriber for one utterance; waits while all decoders are in use. Raises Unsupported for any language but
        English."""
        _check(language)
        async with self._turns, self.pool.acquire() as decoder:
            yield PocketsphinxStream(decoder, prompt)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Transcribe a recording, utterance by utterance; those it did not understand are left out. Raises as `stream`."""
        _check(language)
        ranges = await self._lane.run(lambda: list(utterances(pcm, EnergyDetector())))
        parts: list[Transcript] = []
        for start, end in ranges:
            async with self._turns, self.pool.acquire(background=True) as decoder:
                stream = PocketsphinxStream(decoder, prompt)
                for at in range(start * SAMPLE_BYTES, end * SAMPLE_BYTES, FIRST):
                    await stream.feed(pcm[at : min(at + FIRST, end * SAMPLE_BYTES)])
                final = await stream.words()
                parts.append(transcript(final.words, final.confidence, since=start / HEARD_RATE))
        return joined(parts) if parts else Transcript("", language="en", understood=False)

    async def close(self) -> None:
        await self.pool.close()


def _check(language: str) -> None:
    if language and language.lower().replace("_", "-").partition("-")[0] != "en":
        raise Unsupported(
            "The built-in recogniser understands English only. For other languages: pip install 'duologue[whisper]'",
            param="language",
        )


def transcript(words: Sequence[DecodedWord], confidence: float, *, since: float = 0.0) -> Transcript:
    """The transcript of these words, empty below CONFIDENT. `since` is when the sound began, in seconds."""
    if confidence < CONFIDENT:
        return Transcript("", language="en", confidence=confidence, understood=False)
    times = tuple(
        TimedWord(
            word.text, round(since + word.start * FRAME_S, 2), round(since + (word.end + 1) * FRAME_S, 2)
        )
        for word in words
    )
    return Transcript(sentence([word.text for word in words]), times, "en", confidence)


async def load(options: dict[str, Any]) -> PocketsphinxRecogniser:
    """The recogniser. Options: decoders, adaptation. Raises StartFailed where pocketsphinx is not installed or cannot start."""
    settings = read_options(PocketsphinxOptions, options, "pocketsphinx")
    if settings.decoders < 1:
        raise StartFailed("pocketsphinx needs at least one decoder.", param="decoders")
    if settings.adaptation and not await anyio.Path(settings.adaptation, PARAMETERS).is_file():
        raise StartFailed(
            f"pocketsphinx has no adaptation in {settings.adaptation}: {PARAMETERS} is missing.",
            param="adaptation",
        )
    pool = DecoderPool(Path(settings.adaptation) if settings.adaptation else DATA)
    await pool.start()
    return PocketsphinxRecogniser(pool, settings.decoders)
