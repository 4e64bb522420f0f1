"""One ear of the embedded recogniser: a decoder of pocketsphinx, and how surely what it wrote down was said.

The library's own acoustic model, taught more voices (`acoustic_model.py`), with a language model and a dictionary of what is
said to duologue-mini (`hearing/`, made by `bench/recogniser/tuning`). Owns what is known of a speaker before they are heard.
Blocks, with the interpreter's lock held: it runs in a process of its own (`ear_process.py`). Knows no listener.
"""

from __future__ import annotations

import gzip
import logging
import math
import os
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import add
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from duologue.engines.sphinx import acoustic_model
from duologue.engines.sphinx.confidence import HeardWord, Judgement
from duologue.errors import EngineFailed, StartFailed
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES

PIECE = HEARD_RATE // 10 * SAMPLE_BYTES
"""Bytes decoded in one go: about 5 ms of work."""
NOISE = 15.0
"""Root mean square of the noise put under all sound, about -67 dBFS: digital silence is nothing the model ever heard."""
TOLERATED = 6.0
"""dB by which a speaker may be louder or softer than expected and nothing is done."""
PER_DECIBEL = 1.25
"""How much the first cepstral coefficient grows with a decibel."""
FILLERS = ("<", "[", "+", "(")
"""How what is no word begins."""
SEARCH: dict[str, Any] = {"lw": 7.0, "topn": 4, "fwdflat": False, "bestpath": True, "cmn": "live"}
"""A second pass over the whole (fwdflat) would make nobody more right and everybody wait at the end."""

log = logging.getLogger("duologue.engines")


class CepstralPrior(Struct, frozen=True):
    """What the acoustic model expects before it has heard a speaker: mean cepstra, and the loudness they are of, in dBFS."""

    cepstra: tuple[float, ...]
    level: float


class Knowledge(Struct, frozen=True):
    """`hearing/hearing.json`."""

    sound: CepstralPrior
    judgement: Judgement


class Decoder:
    """One decoder, for one utterance after another. Every method raises EngineFailed when the library does not go on; it is of
    no more use then."""

    def __init__(self, decoder: Any, knowledge: Knowledge) -> None:
        self._decoder = decoder
        self._knowledge = knowledge
        self._noise = _noise()
        self._at = 0

    def begin(self, level: float) -> None:
        """A new utterance of somebody who is `level` dBFS loud."""
        expected = self._knowledge.sound
        beyond = math.copysign(max(0.0, abs(level - expected.level) - TOLERATED), level - expected.level)
        first, *rest = expected.cepstra
        cepstra = (first + beyond * PER_DECIBEL, *rest)
        self._at = 0
        with _told():
            self._decoder.set_cmn(",".join(f"{value:.2f}" for value in cepstra))
            self._decoder.start_utt()

    def hear(self, pcm: bytes) -> str:
        """The words so far. `pcm` is no longer than PIECE."""
        with _told():
            self._decoder.process_raw(self._roughened(pcm))
            best = self._decoder.hyp()
        return sentence(best.hypstr.split()) if best else ""

    def end(self) -> tuple[tuple[HeardWord, ...], float]:
        """What was said, and how surely, from 0 to 1."""
        with _told():
            self._decoder.end_utt()
            best = self._decoder.hyp()
            heard = [_word(segment) for segment in self._decoder.seg() or ()]
        words = tuple(word for word in heard if word.text[:1] not in FILLERS)
        ending = next((word.follows for word in heard if word.text == "</s>"), 0.0)
        return words, self._knowledge.judgement.confidence(words, ending, best.prob if best else 0.0)

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


def sentence(words: Sequence[str]) -> str:
    """The words as a line of text."""
    text = " ".join(word for word in words if word[:1] not in FILLERS)
    return text[:1].upper() + text[1:]


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise EngineFailed(f"The recogniser failed: {error}.") from error


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


def opened(folder: Path, hearing: Path) -> Decoder:
    """An ear that knows what is in `hearing`; its files are written into `folder`. Blocks for a quarter of a second. Raises
    StartFailed."""
    try:
        from pocketsphinx import Decoder as PocketsphinxDecoder
        from pocketsphinx import get_model_path
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
    try:
        return Decoder(PocketsphinxDecoder(hmm=str(model), logfn=os.devnull, **settings, **SEARCH), knowledge)
    except (RuntimeError, ValueError) as error:
        raise StartFailed(f"The recogniser pocketsphinx did not start: {error}.") from error
