"""The scripted recogniser: it returns the texts of its options, one for each utterance, whatever the sound.

It ships with the package so that calls can be tested without a speech model. The words of a text come one by one while
sound arrives, `word_ms` apart. After the last text the default one is returned. A text may be a step:

    xnothing     there was speech, and it was not understood
    xfail        fail at the end of the utterance
    xhang        never finish
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from msgspec import Struct

from duologue.engines.options import read_options
from duologue.errors import EngineFailed
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.speech import TimedWord, Transcript

WORD_MS = 250
DEFAULT = "Hello there"
STEPS = ("xnothing", "xfail", "xhang")


class ScriptedRecogniserOptions(Struct, frozen=True):
    """`texts` are returned in this order, one for each utterance, and then `default`."""

    texts: tuple[str, ...] = ()
    default: str = DEFAULT
    word_ms: float = WORD_MS
    model: str = "scripted"


class ScriptedStream:
    """Implements `contracts.StreamingTranscriber`."""

    def __init__(self, text: str, word_ms: float) -> None:
        self._words = [] if text in STEPS else text.split()
        self._step = text
        self._word_samples = max(1, round(word_ms * HEARD_RATE / 1000))
        self._samples = 0

    async def feed(self, pcm: bytes) -> str:
        await checkpoint()
        self._samples += len(pcm) // SAMPLE_BYTES
        return " ".join(self._words[: self._samples // self._word_samples])

    async def finish(self) -> Transcript:
        await checkpoint()
        if self._step == "xhang":
            await anyio.sleep_forever()
        if self._step == "xfail":
            raise EngineFailed("The script asked for a failure.", code="scripted_failure")
        seconds = self._word_samples / HEARD_RATE
        times = tuple(
            TimedWord(word, round(at * seconds, 3), round((at + 1) * seconds, 3))
            for at, word in enumerate(self._words)
        )
        understood = bool(self._words)
        return Transcript(" ".join(self._words), times, "en", 1.0 if understood else 0.0, understood)


class ScriptedRecogniser:
    """Implements `contracts.RecogniserEngine`."""

    languages = ("en",)
    partial_results = True
    word_timestamps = True
    limitation = ""

    def __init__(
        self,
        texts: Iterable[str] = (),
        *,
        default: str = DEFAULT,
        word_ms: float = WORD_MS,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self._texts = deque(texts)
        self._default = default
        self._word_ms = word_ms

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[ScriptedStream]:
        """A transcriber that returns the next text."""
        yield ScriptedStream(self._texts.popleft() if self._texts else self._default, self._word_ms)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """The next text, however long the sound. Raises EngineFailed where the text is `xfail`."""
        async with self.stream() as transcriber:
            await transcriber.feed(pcm)
            return await transcriber.finish()

    async def close(self) -> None:
        """Nothing to free."""


async def load(options: dict[str, Any]) -> ScriptedRecogniser:
    """The scripted recogniser. Options: texts, default, word_ms, model (its name)."""
    settings = read_options(ScriptedRecogniserOptions, options, "scripted")
    return ScriptedRecogniser(
        settings.texts, default=settings.default, word_ms=settings.word_ms, name=settings.model or "scripted"
    )
