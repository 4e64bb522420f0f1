"""A WAV file that lies beside a model: the recording of a voice. Called by the speakers that clone."""

from __future__ import annotations

import wave
from pathlib import Path

from duologue.values.audio import SAMPLE_BYTES


def read_wav_recording(path: Path, seconds: int) -> tuple[bytes, int] | None:
    """The first channel of the file as 16-bit PCM, at most `seconds` of it, and its rate in Hz. None: the file is no 16-bit WAV,
    or is empty."""
    try:
        with wave.open(str(path)) as file:
            if file.getsampwidth() != SAMPLE_BYTES:
                return None
            rate, channels = file.getframerate(), file.getnchannels()
            pcm = file.readframes(seconds * rate)
    except (wave.Error, EOFError):
        return None
    return (_first_channel(pcm, channels), rate) if pcm else None


def _first_channel(pcm: bytes, channels: int) -> bytes:
    if channels == 1:
        return pcm
    width = SAMPLE_BYTES * channels
    return b"".join(pcm[at : at + SAMPLE_BYTES] for at in range(0, len(pcm), width))
