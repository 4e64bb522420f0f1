"""The scripted recogniser: it hears what it was told it would hear, one text for each utterance, the same way every time.

It ships with the package and lets calls be tested without a speech model. The words of a text come one by one while sound
comes in, `word_ms` apart. After the last text it hears the default one again and again. A text may be a step:

    xnothing     there was speech, and it was not understood
    xfail        fail at the end of the utterance
    xhang        never come to an end

Owns nothing but the script. Knows no library, and listens to nothing but how long the sound is.
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
    """`texts` are heard in this order, one for each utterance, and then `default`."""

    texts: tuple[str, ...] = ()
    default: str = DEFAULT
    word_ms: float = WORD_MS
    model: str = "scripted"


class ScriptedListener:
    """Fulfils `engines.Listener`."""

    def __init__(self, text: str, word_ms: float) -> None:
        self._words = [] if text in STEPS else text.split()
        self._step = text
        self._each = max(1, round(word_ms * HEARD_RATE / 1000))
        self._heard = 0

    async def feed(self, pcm: bytes) -> str:
        await checkpoint()
        self._heard += len(pcm) // SAMPLE_BYTES
        return " ".join(self._words[: self._heard // self._each])

    async def finish(self) -> Transcript:
        await checkpoint()
        if self._step == "xhang":
            await anyio.sleep_forever()
        if self._step == "xfail":
            raise EngineFailed("The script asked for a failure.", code="scripted_failure")
        seconds = self._each / HEARD_RATE
        times = tuple(
            TimedWord(word, round(at * seconds, 3), round((at + 1) * seconds, 3))
            for at, word in enumerate(self._words)
        )
        understood = bool(self._words)
        return Transcript(" ".join(self._words), times, "en", 1.0 if understood else 0.0, understood)


class ScriptedRecogniser:
    """Fulfils `engines.RecogniserEngine`."""

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
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[ScriptedListener]:
        """The next text. Raises nothing."""
        yield ScriptedListener(self._texts.popleft() if self._texts else self._default, self._word_ms)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """The next text, however long the sound. Raises EngineFailed where the text is `xfail`."""
        async with self.stream() as listener:
            await listener.feed(pcm)
            return await listener.finish()

    async def close(self) -> None:
        """Nothing is held."""


async def load(options: dict[str, Any]) -> ScriptedRecogniser:
    """The scripted recogniser. Options: texts, default, word_ms, model (its name)."""
    wanted = read_options(ScriptedRecogniserOptions, options, "scripted")
    return ScriptedRecogniser(
        wanted.texts, default=wanted.default, word_ms=wanted.word_ms, name=wanted.model or "scripted"
    )
