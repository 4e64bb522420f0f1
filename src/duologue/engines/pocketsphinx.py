"""The embedded recogniser: English, a few thousand words, on one core and without a download.

pocketsphinx with its own acoustic model taught more voices (`acoustic_model.py`), a language model and a dictionary of what
is said to duologue-mini (`hearing/`, made by `training/hearing`). Owns its decoders, of which there are few, and the sound
they are given. Knows no call. The library holds the interpreter's lock while it decodes: sound is fed in short pieces.
"""

from __future__ import annotations

import gzip
import logging
import math
import os
import sys
import tempfile
from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from operator import add
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec
from msgspec import Struct

from duologue.engines import acoustic_model
from duologue.engines.energy import EnergyDetector
from duologue.engines.lane import Lane
from duologue.engines.options import read
from duologue.engines.plausibility import HeardWord, Judgement
from duologue.engines.quiet import peak
from duologue.engines.utterances import utterances
from duologue.errors import EngineFailed, StartFailed, Unsupported
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.speech import TimedWord, Transcript

HEARING = Path(__file__).parent / "hearing"
LIMITED = (
    "The built-in recogniser understands English, and only what people usually say to the built-in model: greetings, small"
    " talk, sums, times, names, spelling, stories, help about Duologue. For everything else install a better one:"
    " pip install 'duologue[whisper]', and set voice.recogniser.engine to whisper."
)
PIECE = HEARD_RATE // 10 * SAMPLE_BYTES
"""Bytes decoded in one go: about 5 ms of work."""
FIRST = HEARD_RATE * 2 // 5 * SAMPLE_BYTES
"""Bytes that are waited for before the first are decoded, to learn how loud the speaker is."""
NOISE = 15.0
"""Root mean square of the noise put under all sound, about -67 dBFS: digital silence is nothing the model ever heard."""
TOLERATED = 6.0
"""dB by which a speaker may be louder or softer than expected and nothing is done."""
PER_DECIBEL = 1.25
"""How much the first cepstral coefficient grows with a decibel."""
FRAME_S = 0.01
"""Seconds of a frame of the decoder."""
STANDS = 0.5
"""The confidence from which on words are given."""
FILLERS = ("<", "[", "+", "(")
"""How what is no word begins."""
SEARCH: dict[str, Any] = {"lw": 7.0, "topn": 4, "fwdflat": False, "bestpath": True, "cmn": "live"}
"""A second pass over the whole (fwdflat) would make nobody more right and everybody wait at the end."""

log = logging.getLogger("duologue.engines")


class PocketsphinxOptions(Struct, frozen=True):
    """`decoders`: how many speak at the same time before one waits for another; each takes about 20 MB."""

    decoders: int = 4


class Sound(Struct, frozen=True):
    """What the acoustic model expects before it has heard a speaker: mean cepstra, and the loudness they are of, in dBFS."""

    cepstra: tuple[float, ...]
    level: float


class Knowledge(Struct, frozen=True):
    """`hearing/hearing.json`."""

    sound: Sound
    judgement: Judgement


class Ear:
    """One decoder. Every method blocks and is called in a lane. Raises EngineFailed when the library does not go on; it is
    `broken` then, and of no more use."""

    def __init__(self, decoder: Any, knowledge: Knowledge) -> None:
        self._decoder = decoder
        self._knowledge = knowledge
        self._noise = _noise()
        self._at = 0
        self._open = False
        self.broken = False

    def begin(self, level: float) -> None:
        """A new utterance of somebody who is `level` dBFS loud."""
        expected = self._knowledge.sound
        beyond = math.copysign(max(0.0, abs(level - expected.level) - TOLERATED), level - expected.level)
        first, *rest = expected.cepstra
        cepstra = (first + beyond * PER_DECIBEL, *rest)
        self._at = 0
        with self._told():
            self._decoder.set_cmn(",".join(f"{value:.2f}" for value in cepstra))
            self._decoder.start_utt()
            self._open = True

    def hear(self, pcm: bytes) -> str:
        """The words so far."""
        with self._told():
            self._decoder.process_raw(self._roughened(pcm))
            best = self._decoder.hyp()
        return sentence(best.hypstr.split()) if best else ""

    def end(self) -> tuple[tuple[HeardWord, ...], float]:
        """What was said, and how surely, from 0 to 1."""
        with self._told():
            self._open = False
            self._decoder.end_utt()
            best = self._decoder.hyp()
            heard = [_word(segment) for segment in self._decoder.seg() or ()]
        words = tuple(word for word in heard if word.text[:1] not in FILLERS)
        ending = next((word.follows for word in heard if word.text == "</s>"), 0.0)
        return words, self._knowledge.judgement.confidence(words, ending, best.prob if best else 0.0)

    def stop(self) -> None:
        """Leave an utterance that is not over."""
        if self._open and not self.broken:
            with self._told():
                self._open = False
                self._decoder.end_utt()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            self.broken = True
            raise EngineFailed(f"The recogniser failed: {error}.") from error

    def _roughened(self, pcm: bytes) -> bytes:
        values = array("h", pcm)
        if sys.byteorder == "big":
            values.byteswap()
        begin = self._at % HEARD_RATE
        self._at += len(values)
        noise = self._noise[begin : begin + len(values)]
        try:
            rough = array("h", map(add, values, noise))
        except OverflowError:
            rough = array(
                "h",
                (max(-32768, min(32767, value + more)) for value, more in zip(values, noise, strict=True)),
            )
        return rough.tobytes()


class PocketsphinxListener:
    """Fulfils `engines.Listener`."""

    def __init__(self, ear: Ear, lane: Lane) -> None:
        self._ear = ear
        self._lane = lane
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
        return await self._lane.run(self._ear.end)

    async def _hear(self) -> None:
        while len(self._waiting) >= SAMPLE_BYTES:
            if not self._begun:
                self._begun = True
                await self._lane.run(partial(self._ear.begin, peak(bytes(self._waiting))))
            piece = bytes(self._waiting[:PIECE])
            piece = piece[: len(piece) // SAMPLE_BYTES * SAMPLE_BYTES]
            del self._waiting[: len(piece)]
            self._text = await self._lane.run(partial(self._ear.hear, piece))


class PocketsphinxRecogniser:
    """Fulfils `engines.RecogniserEngine`. Decoders are made when they are needed, and kept."""

    name = "pocketsphinx"
    hears = ("en",)
    partials = True
    word_times = True
    limited = LIMITED

    def __init__(self, make: Callable[[], Ear], lane: Lane, decoders: int, folder: Any) -> None:
        self._make = make
        self._lane = lane
        self._turns = anyio.Semaphore(decoders)
        self._ears: list[Ear] = []
        self._folder = folder

    @asynccontextmanager
    async def listen(self, *, language: str = "", hint: str = "") -> AsyncIterator[PocketsphinxListener]:
        """A listener for one utterance; who comes when all decoders listen waits in line. Raises Unsupported for any
        language but English."""
        if language and language.lower().replace("_", "-").partition("-")[0] != "en":
            raise Unsupported(
                "The built-in recogniser hears English only. Others come with: pip install 'duologue[whisper]'",
                param="language",
            )
        async with self._turns:
            ear = self._ears.pop() if self._ears else await self._lane.run(self._make)
            try:
                yield PocketsphinxListener(ear, self._lane)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._lane.run(ear.stop)
                if not ear.broken:
                    self._ears.append(ear)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", hint: str = "", words: bool = False
    ) -> Transcript:
        """Write down a recording, utterance by utterance; what it did not understand is left out. Raises as `listen`."""
        places = await self._lane.run(lambda: list(utterances(pcm, EnergyDetector())))
        parts: list[Transcript] = []
        for start, end in places:
            async with self.listen(language=language) as listener:
                for at in range(start * SAMPLE_BYTES, end * SAMPLE_BYTES, FIRST):
                    await listener.feed(pcm[at : min(at + FIRST, end * SAMPLE_BYTES)])
                parts.append(transcript(*await listener.words(), since=start / HEARD_RATE))
        return joined(parts)

    async def close(self) -> None:
        self._ears.clear()
        await self._lane.run(self._folder.cleanup)


def sentence(words: Sequence[str]) -> str:
    """The words as a line of text."""
    text = " ".join(word for word in words if word[:1] not in FILLERS)
    return text[:1].upper() + text[1:]


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


def joined(parts: Sequence[Transcript]) -> Transcript:
    """The transcripts of utterances that followed each other, as one."""
    told = [part for part in parts if part.understood]
    if not told:
        least = max((part.confidence or 0.0 for part in parts), default=0.0)
        return Transcript("", language="en", confidence=least, understood=False)
    count = sum(len(part.words) for part in told)
    return Transcript(
        " ".join(part.text for part in told),
        tuple(word for part in told for word in part.words),
        "en",
        sum((part.confidence or 0.0) * len(part.words) for part in told) / count,
    )


def _word(segment: Any) -> HeardWord:
    return HeardWord(
        segment.word.partition("(")[0] or segment.word,
        segment.start_frame,
        segment.end_frame,
        segment.prob,
        math.log(max(segment.ascore, sys.float_info.min)),
        math.log(max(segment.lscore, sys.float_info.min)),
    )


def _noise() -> array[int]:
    """A second of noise, and as much again as a piece may reach beyond it; the same every time."""
    random = Random(1)
    second = [round(random.gauss(0.0, NOISE)) for _ in range(HEARD_RATE)]
    return array("h", second + second[: PIECE // SAMPLE_BYTES])


async def load(options: dict[str, Any]) -> PocketsphinxRecogniser:
    """The recogniser. Options: decoders. Raises StartFailed where pocketsphinx is not installed or cannot start."""
    wanted = read(PocketsphinxOptions, options, "pocketsphinx")
    if wanted.decoders < 1:
        raise StartFailed("pocketsphinx needs at least one decoder.", param="decoders")
    lane = Lane(1)
    folder = tempfile.TemporaryDirectory(prefix="duologue-hearing-", ignore_cleanup_errors=True)
    try:
        make = await lane.run(partial(prepared, Path(folder.name), HEARING))
        engine = PocketsphinxRecogniser(make, lane, wanted.decoders, folder)
        async with engine.listen():
            """The first decoder is made now, and whatever is wrong with it told."""
    except BaseException:
        folder.cleanup()
        raise
    return engine


def prepared(folder: Path, hearing: Path) -> Callable[[], Ear]:
    """What makes decoders that know what is in `hearing`; their files are written into `folder`. Blocks for about half a
    second."""
    try:
        from pocketsphinx import Decoder, get_model_path
    except ImportError:
        raise StartFailed(
            "The recogniser pocketsphinx is not installed. Add it with: pip install 'duologue[voice]'",
            code="engine_missing",
        ) from None
    model = Path(get_model_path("en-us")) / "en-us"
    try:
        settings = acoustic_model.teach(model, hearing / "voices.gz", folder)
    except acoustic_model.OtherModel as error:
        log.warning("the recogniser hears synthetic voices badly: %s; install pocketsphinx 5.1", error)
        settings = {}
    for name, kind in (("language.lm", "lm"), ("words.dict", "dict")):
        (folder / name).write_bytes(gzip.decompress((hearing / f"{name}.gz").read_bytes()))
        settings[kind] = str(folder / name)
    knowledge = msgspec.json.decode((hearing / "hearing.json").read_bytes(), type=Knowledge)

    def make() -> Ear:
        try:
            return Ear(Decoder(hmm=str(model), logfn=os.devnull, **settings, **SEARCH), knowledge)
        except (RuntimeError, ValueError) as error:
            raise StartFailed(f"The recogniser pocketsphinx did not start: {error}.") from error

    return make
