"""A decoder of pocketsphinx, with the confidence of its words.

Called by `decoder_process`, in a process of its own: it blocks with the interpreter's lock held. It loads the library's own
acoustic model, language model and dictionary, or for tests an adaptation to synthetic voices (`acoustic_model`). Owns the
assumptions about a speaker before the first sound.
"""

from __future__ import annotations

import gzip
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
from duologue.engines.sphinx.cepstral_mean import INTERVAL, CepstralMean
from duologue.engines.sphinx.confidence import ConfidenceModel, DecodedWord
from duologue.engines.sphinx.stop_words import StopWordSpotter, load_spotter
from duologue.errors import EngineFailed, StartFailed
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES

PIECE = HEARD_RATE // 10 * SAMPLE_BYTES
"""Bytes decoded in one go."""
NOISE = 15.0
"""Root mean square of the noise mixed into all sound, about -67 dBFS: the model was never trained on digital silence."""
TOLERATED = 6.0
"""dB by which a speaker may be louder or softer than expected without a correction."""
PER_DECIBEL = 1.25
"""Growth of the first cepstral coefficient with a decibel."""
FILLERS = ("<", "[", "+", "(")
"""First characters of entries that are not words."""
MARK = "_"
"""Ends a word that was added beside one of the language model, to make it likelier."""
RARE = math.log(3e-4) / math.log(1.0001)
"""Words more frequent than this, as the library counts it, need not be made likelier."""
FRAME = HEARD_RATE // 100 * SAMPLE_BYTES
"""Bytes of a frame of the decoder."""
SEARCH: dict[str, Any] = {"fwdflat": False, "bestpath": True, "cmn": "live"}
"""A second pass over the utterance (fwdflat) improved nothing and delayed every result."""
ADAPTED_SEARCH: dict[str, Any] = {"lw": 7.0, "topn": 4}
"""The search of an adaptation, whose language model is small."""
PARAMETERS = "hearing.json"
VOICES = "voices.gz"


class CepstralPrior(Struct, frozen=True):
    """The mean cepstra that the acoustic model assumes at the beginning of an utterance. They count as much as `frames` frames of
    the utterance itself; 0: they are kept to its end. `level` is their loudness in dBFS, None where the loudness of the
    first sound tells nothing."""

    cepstra: tuple[float, ...]
    level: float | None = None
    frames: int = 0


class DecoderParameters(Struct, frozen=True):
    """The contents of `hearing.json`."""

    sound: CepstralPrior
    judgement: ConfidenceModel
    boost: float = 0.0
    """How many times as likely as the average word of the language model an expected word becomes; 0: none does."""


class Decoder:
    """Decodes one utterance after another. Every method raises EngineFailed when the library fails; the decoder cannot be
    used after that."""

    def __init__(
        self, decoder: Any, parameters: DecoderParameters, spotter: StopWordSpotter | None = None
    ) -> None:
        self._decoder = decoder
        self._parameters = parameters
        self._spotter = spotter
        self._spots = False
        self._noise = _noise()
        self._at = 0
        self._mean = CepstralMean((), 0)
        self._fresh = 0
        """Bytes decoded since the mean was estimated."""

    def begin(self, level: float, words: Sequence[str] = (), *, spot: bool = False) -> None:
        """Begin an utterance of a speaker who is `level` dBFS loud and may well say these words. A decoder takes words once:
        there is one for each utterance. `spot`: listen for words that ask to stop too."""
        expected = self._parameters.sound
        first, *rest = expected.cepstra
        if expected.level is not None:
            excess = level - expected.level
            first += math.copysign(max(0.0, abs(excess) - TOLERATED), excess) * PER_DECIBEL
        self._mean = CepstralMean((first, *rest), expected.frames)
        self._at = self._fresh = 0
        with _library_errors():
            if words and self._parameters.boost:
                self._expect(words)
            self._set_mean()
            self._decoder.start_utt()
            self._spots = spot and self._spotter is not None
            if self._spotter is not None and self._spots:
                self._spotter.begin(self._mean_text())

    def decode(self, pcm: bytes) -> str:
        """The words so far. `pcm` is no longer than PIECE."""
        with _library_errors():
            noisy = self._add_noise(pcm)
            if self._spotter is not None and self._spots:
                self._spotter.feed(noisy)
            self._decoder.process_raw(noisy)
            best = self._decoder.hyp()
            self._estimate_mean(len(pcm))
        return sentence(best.hypstr.split()) if best else ""

    def end(self) -> tuple[tuple[DecodedWord, ...], float, str]:
        """The words of the utterance, the confidence, from 0 to 1, and the word spotted that asks to stop, or ""."""
        stop_word = ""
        with _library_errors():
            if self._spotter is not None and self._spots:
                stop_word = self._spotter.end()
            self._decoder.end_utt()
            best = self._decoder.hyp()
            entries = [_word(segment) for segment in self._decoder.seg() or ()]
        words = tuple(word for word in entries if word.text[:1] not in FILLERS)
        ending = next((word.language for word in entries if word.text == "</s>"), 0.0)
        confidence = self._parameters.judgement.confidence(words, ending, best.prob if best else 0.0)
        return words, confidence, stop_word

    def _expect(self, words: Sequence[str]) -> None:
        """Add these words to the language model once more, without a context, as far as the dictionary has them. The search is
        rebuilt with the last one."""
        model = self._decoder.get_lm()
        found = [(word, self._decoder.lookup_word(word)) for word in words if model.prob([word]) < RARE]
        known = [(word + MARK, phones) for word, phones in found if phones]
        for number, (word, phones) in enumerate(known, 1):
            model.add_word(word, self._parameters.boost)
            self._decoder.add_word(word, phones, number == len(known))

    def _estimate_mean(self, more: int) -> None:
        """Correct the mean for the sound to come, now and then; `more` bytes have been decoded."""
        self._fresh += more
        frames = self._fresh // FRAME
        if self._parameters.sound.frames and frames >= INTERVAL:
            self._fresh -= frames * FRAME
            self._mean.update([float(value) for value in self._decoder.get_cmn(True).split(",")], frames)
            self._set_mean()

    def _set_mean(self) -> None:
        self._decoder.set_cmn(self._mean_text())

    def _mean_text(self) -> str:
        return ",".join(f"{value:.2f}" for value in self._mean.values)

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
    text = " ".join(word.removesuffix(MARK) for word in words if word[:1] not in FILLERS)
    return text[:1].upper() + text[1:]


@contextmanager
def _library_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise EngineFailed(f"The recogniser failed: {error}.") from error


def _word(segment: Any) -> DecodedWord:
    return DecodedWord(
        (segment.word.partition("(")[0] or segment.word).removesuffix(MARK),
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
    """A decoder with the parameters in `data`. Where the models of an adaptation lie beside them, they are unpacked into
    `folder` and take the place of the library's own. Blocks for a second. Raises StartFailed."""
    try:
        from pocketsphinx import Decoder as PocketsphinxDecoder
        from pocketsphinx import get_model_path
    except ImportError:
        raise StartFailed(
            "The recogniser pocketsphinx is not installed. Add it with: pip install 'duologue[voice]'",
            code="engine_missing",
        ) from None
    library = Path(get_model_path("en-us"))
    settings = {
        "hmm": str(library / "en-us"),
        "lm": str(library / "en-us.lm.bin"),
        "dict": str(library / "cmudict-en-us.dict"),
        **SEARCH,
    }
    if (data / VOICES).exists():
        settings |= _adaptation(library / "en-us", data, folder) | ADAPTED_SEARCH
    parameters = msgspec.json.decode((data / PARAMETERS).read_bytes(), type=DecoderParameters)
    try:
        decoder = PocketsphinxDecoder(logfn=os.devnull, **settings)
        return Decoder(decoder, parameters, load_spotter(PocketsphinxDecoder, library, folder))
    except (RuntimeError, ValueError) as error:
        raise StartFailed(f"The recogniser pocketsphinx did not start: {error}.") from error


def _adaptation(model: Path, data: Path, folder: Path) -> dict[str, str]:
    """The settings that name the unpacked files of the adaptation in `data`."""
    try:
        settings = acoustic_model.extend(model, data / VOICES, folder)
    except acoustic_model.IncompatibleModel as error:
        raise StartFailed(
            f"The adaptation in {data} does not fit the installed pocketsphinx: {error}."
        ) from error
    for name, kind in (("language.lm", "lm"), ("words.dict", "dict")):
        (folder / name).write_bytes(gzip.decompress((data / f"{name}.gz").read_bytes()))
        settings[kind] = str(folder / name)
    return settings
