"""A decoder of pocketsphinx, with the confidence of its words.

Called by `decoder_process`, in a process of its own: it blocks with the interpreter's lock held. It loads the library's
acoustic model, extended by more voices (`acoustic_model`), and a language model and a dictionary of what people say to
duologue-mini (`data/`, made by `bench/recogniser/tuning`). Owns the assumptions about a speaker before the first sound.
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
from duologue.engines.sphinx.confidence import ConfidenceModel, DecodedWord
from duologue.errors import EngineFailed, StartFailed
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES

PIECE = HEARD_RATE // 10 * SAMPLE_BYTES
"""Bytes decoded in one go: about 5 ms of work."""
NOISE = 15.0
"""Root mean square of the noise mixed into all sound, about -67 dBFS: the model was never trained on digital silence."""
TOLERATED = 6.0
"""dB by which a speaker may be louder or softer than expected without a correction."""
PER_DECIBEL = 1.25
"""Growth of the first cepstral coefficient with a decibel."""
FILLERS = ("<", "[", "+", "(")
"""First characters of entries that are not words."""
SEARCH: dict[str, Any] = {"lw": 7.0, "topn": 4, "fwdflat": False, "bestpath": True, "cmn": "live"}
"""A second pass over the utterance (fwdflat) improved nothing and delayed every result."""

log = logging.getLogger(__name__)


class CepstralPrior(Struct, frozen=True):
    """The mean cepstra that the acoustic model assumes at the beginning of an utterance, and their loudness in dBFS."""

    cepstra: tuple[float, ...]
    level: float


class DecoderParameters(Struct, frozen=True):
    """The contents of `data/hearing.json`."""

    sound: CepstralPrior
    judgement: ConfidenceModel


class Decoder:
    """Decodes one utterance after another. Every method raises EngineFailed when the library fails; the decoder cannot be
    used after that."""

    def __init__(self, decoder: Any, parameters: DecoderParameters) -> None:
        self._decoder = decoder
        self._parameters = parameters
        self._noise = _noise()
        self._at = 0

    def begin(self, level: float) -> None:
        """Begin an utterance of a speaker who is `level` dBFS loud."""
        expected = self._parameters.sound
        excess = math.copysign(max(0.0, abs(level - expected.level) - TOLERATED), level - expected.level)
        first, *rest = expected.cepstra
        cepstra = (first + excess * PER_DECIBEL, *rest)
        self._at = 0
        with _library_errors():
            self._decoder.set_cmn(",".join(f"{value:.2f}" for value in cepstra))
            self._decoder.start_utt()

    def decode(self, pcm: bytes) -> str:
        """The words so far. `pcm` is no longer than PIECE."""
        with _library_errors():
            self._decoder.process_raw(self._add_noise(pcm))
            best = self._decoder.hyp()
        return sentence(best.hypstr.split()) if best else ""

    def end(self) -> tuple[tuple[DecodedWord, ...], float]:
        """The words of the utterance, and the confidence, from 0 to 1."""
        with _library_errors():
            self._decoder.end_utt()
            best = self._decoder.hyp()
            entries = [_word(segment) for segment in self._decoder.seg() or ()]
        words = tuple(word for word in entries if word.text[:1] not in FILLERS)
        ending = next((word.language for word in entries if word.text == "</s>"), 0.0)
        return words, self._parameters.judgement.confidence(words, ending, best.prob if best else 0.0)

    def _add_noise(self, pcm: bytes) -> bytes:
        values = array("h", pcm)
        if sys.byteorder == "big":
            values.byteswap()
        begin = self._at % HEARD_RATE
        self._at += len(values)
        noise = self._noise[begin : begin + len(values)]
        try:
            noisy = array("h", map(add, values, noise))
        except OverflowError:
            noisy = array(
                "h",
                (max(-32768, min(32767, value + extra)) for value, extra in zip(values, noise, strict=True)),
            )
        return noisy.tobytes()


def sentence(words: Sequence[str]) -> str:
    """The words as a line of text."""
    text = " ".join(word for word in words if word[:1] not in FILLERS)
    return text[:1].upper() + text[1:]


@contextmanager
def _library_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise EngineFailed(f"The recogniser failed: {error}.") from error


def _word(segment: Any) -> DecodedWord:
    return DecodedWord(
        segment.word.partition("(")[0] or segment.word,
        segment.start_frame,
        segment.end_frame,
        segment.prob,
        math.log(max(segment.ascore, sys.float_info.min)),
        math.log(max(segment.lscore, sys.float_info.min)),
    )


def _noise() -> array[int]:
    """A second of noise, and as much again as a piece may reach beyond it; the same in every process, so that results are
    reproducible."""
    random = Random(1)
    second = [round(random.gauss(0.0, NOISE)) for _ in range(HEARD_RATE)]
    return array("h", second + second[: PIECE // SAMPLE_BYTES])


def load_decoder(folder: Path, data: Path) -> Decoder:
    """A decoder with the models in `data`; their unpacked files are written into `folder`. Blocks for a quarter of a second.
    Raises StartFailed."""
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
        settings = acoustic_model.extend(model, data / "voices.gz", folder)
    except acoustic_model.IncompatibleModel as error:
        log.warning("the recogniser understands synthetic voices badly: %s; install pocketsphinx 5.1", error)
        settings = {}
    for name, kind in (("language.lm", "lm"), ("words.dict", "dict")):
        (folder / name).write_bytes(gzip.decompress((data / f"{name}.gz").read_bytes()))
        settings[kind] = str(folder / name)
    parameters = msgspec.json.decode((data / "hearing.json").read_bytes(), type=DecoderParameters)
    try:
        return Decoder(
            PocketsphinxDecoder(hmm=str(model), logfn=os.devnull, **settings, **SEARCH), parameters
        )
    except (RuntimeError, ValueError) as error:
        raise StartFailed(f"The recogniser pocketsphinx did not start: {error}.") from error
