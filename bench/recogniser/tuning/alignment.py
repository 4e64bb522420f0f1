"""Which state of which phone every frame of a known sentence belongs to, and the frame's cepstra.

Owns the way to get both out of pocketsphinx: it aligns twice, and logs cepstra into a folder. Knows nothing of Gaussians.
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
"""Frames by which log and alignment may differ at the end."""


@dataclass(frozen=True)
class Aligned:
    """Of one sentence, frame by frame: cepstra, state, phone."""

    cepstra: NDArray[np.float64]
    states: NDArray[np.int64]
    phones: list[str]


def aligned(sentences: list[tuple[str, bytes]], settings: dict[str, Any]) -> list[Aligned]:
    """Of sentences and their sound (16 kHz), those in which every word was found."""
    from pocketsphinx import Decoder

    found: list[tuple[Path, Any, Any]] = []
    with TemporaryDirectory() as folder:
        decoder = Decoder(**settings, **WIDE, mfclogdir=folder, logfn=os.devnull)
        for text, pcm in sentences:
            try:
                if (steps := _steps(decoder, text, pcm)) is not None:
                    found.append((max(Path(folder).glob("*.mfc")), *steps))
            except RuntimeError:
                continue
        # The log is written to the end only when its decoder is gone.
        del decoder
        return [made for log, phones, states in found if (made := _put_together(log, phones, states))]


def _steps(decoder: Any, text: str, pcm: bytes) -> tuple[Any, Any] | None:
    decoder.set_align_text(text)
    _hear(decoder, pcm)
    words = [segment.word for segment in decoder.seg() or () if segment.word[0] not in "<[(+"]
    if len(words) != len(text.split()):
        return None
    decoder.set_alignment()
    _hear(decoder, pcm)
    steps = decoder.get_alignment()
    phones = [(each.name, each.start, each.duration) for each in steps.phones()]
    states = [(int(each.name), each.start, each.duration) for each in steps.states()]
    return phones, states


def _hear(decoder: Any, pcm: bytes) -> None:
    decoder.start_utt()
    decoder.process_raw(pcm, full_utt=True)
    decoder.end_utt()


def _put_together(log: Path, phones: Any, states: Any) -> Aligned | None:
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
    return Aligned(cepstra[:count].astype(np.float64), by_frame, names)
