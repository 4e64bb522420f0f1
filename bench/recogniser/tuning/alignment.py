"""Forced alignment with pocketsphinx: the cepstra, state and phone of every frame of a known sentence.

pocketsphinx has to align twice (words, then states), and writes the cepstra only into a log folder.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

COEFFICIENTS = 13
WIDE: dict[str, Any] = {"beam": 1e-60, "pbeam": 1e-60, "wbeam": 1e-50, "topn": 8}
AGREE = 2
"""Frames by which log and alignment may differ in length."""


@dataclass(frozen=True)
class AlignedSentence:
    """One sentence, frame by frame: cepstra, state, phone."""

    cepstra: NDArray[np.float64]
    states: NDArray[np.int64]
    phones: list[str]


def align(sentences: list[tuple[str, bytes]], settings: dict[str, Any]) -> list[AlignedSentence]:
    """Aligns pairs of text and sound (16 kHz, 16-bit); sentences in which not every word is found are dropped."""
    from pocketsphinx import Decoder

    results: list[tuple[Path, Any, Any]] = []
    with TemporaryDirectory() as folder:
        decoder = Decoder(**settings, **WIDE, mfclogdir=folder, logfn=os.devnull)
        for text, pcm in sentences:
            try:
                if (steps := _align_one(decoder, text, pcm)) is not None:
                    results.append((max(Path(folder).glob("*.mfc")), *steps))
            except RuntimeError:
                continue
        # pocketsphinx flushes the cepstra log only when the decoder is freed.
        del decoder
        return [made for log, phones, states in results if (made := _by_frame(log, phones, states))]


def _align_one(decoder: Any, text: str, pcm: bytes) -> tuple[Any, Any] | None:
    decoder.set_align_text(text)
    _process(decoder, pcm)
    words = [segment.word for segment in decoder.seg() or () if segment.word[0] not in "<[(+"]
    if len(words) != len(text.split()):
        return None
    decoder.set_alignment()
    _process(decoder, pcm)
    steps = decoder.get_alignment()
    phones = [(each.name, each.start, each.duration) for each in steps.phones()]
    states = [(int(each.name), each.start, each.duration) for each in steps.states()]
    return phones, states


def _process(decoder: Any, pcm: bytes) -> None:
    decoder.start_utt()
    decoder.process_raw(pcm, full_utt=True)
    decoder.end_utt()


def _by_frame(log: Path, phones: Any, states: Any) -> AlignedSentence | None:
    data = log.read_bytes()[4:]
    width = 4 * COEFFICIENTS
    cepstra = np.frombuffer(data[: len(data) // width * width], ">f4").reshape(-1, COEFFICIENTS)
    end = states[-1][1] + states[-1][2]
    if abs(len(cepstra) - end) > AGREE:
        return None
    count = min(len(cepstra), end)
    by_frame, names = np.zeros(count, np.int64), [""] * count
    for state, start, duration in states:
        by_frame[start : start + duration] = state
    for name, start, duration in phones:
        for frame in range(start, min(count, start + duration)):
            names[frame] = name
    return AlignedSentence(cepstra[:count].astype(np.float64), by_frame, names)
