"""The voice that the model speaks with: a recording, which its vocoder must be given before it makes any sound.

`engine` and `unit_session` choose the voice. What the vocoder computes of a recording takes a noticeable part of a second, so it is kept
for the voices used last.
"""

from __future__ import annotations

import hashlib
import wave
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.audio.pcm import to_floats
from duologue.engines.audio.wav_recording import read_wav_recording
from duologue.errors import BadRequest, NotFound, StartFailed
from duologue.resampler import Resampler
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, from_float32, samples
from duologue.values.messages import AudioPart, Message
from duologue.values.speech import VoiceSample

LONGEST = 30
"""Seconds of a recording that are used."""
KEPT = 8
"""Voices of which what was computed is kept."""


class ReferenceVoice(Struct, frozen=True):
    """A recording: 16-bit mono at 16 kHz."""

    pcm: bytes

    @property
    def key(self) -> str:
        return hashlib.sha256(self.pcm).hexdigest()

    @property
    def sound(self) -> Any:
        """[samples] float32, -1 to 1."""
        return to_floats(self.pcm)

    def write(self, folder: Path) -> str:
        """The path of a WAV file with it: some methods take nothing else."""
        path = folder / f"voice-{self.key[:16]}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(SAMPLE_BYTES)
            file.setframerate(HEARD_RATE)
            file.writeframes(self.pcm)
        return str(path)


def read_voice(path: Path) -> ReferenceVoice:
    """The voice in a 16-bit WAV file. Raises StartFailed."""
    recording = read_wav_recording(path, LONGEST) if path.is_file() else None
    if recording is None:
        raise StartFailed(
            f"There is no voice in {path}: it must be a 16-bit WAV file, such as ten seconds of clear speech.",
            param="voice",
        )
    pcm, rate = recording
    if rate != HEARD_RATE:
        resampler = Resampler(rate, HEARD_RATE)
        pcm = resampler.feed(pcm) + resampler.finish()
    return ReferenceVoice(pcm)


def choose_voice(
    name: str | None,
    sample: VoiceSample | None,
    messages: Sequence[Message],
    voices: dict[str, ReferenceVoice],
) -> ReferenceVoice:
    """The voice of a reply or call: like `sample`, else that in the system's message, else one of `voices` by name ("": the first).
    Raises BadRequest where there is none, or for a recording without a second of sound; NotFound for an unknown name."""
    if sample is not None:
        return _checked(ReferenceVoice(sample.pcm[: LONGEST * HEARD_RATE * SAMPLE_BYTES]))
    for message in messages:
        for part in message.parts if message.role == "system" else ():
            if isinstance(part, AudioPart):
                return _checked(
                    ReferenceVoice(from_float32(part.data)[: LONGEST * HEARD_RATE * SAMPLE_BYTES])
                )
    if name and name not in voices:
        known = ", ".join(voices) or "none"
        raise NotFound(
            f"The model has no voice {name[:80]!r}. It has: {known}.", code="voice_not_found", param="voice"
        )
    if not voices:
        raise BadRequest(
            "The model has no voice of its own here. Send a recording of the voice to speak with, or set one in the worker's "
            "option voice.",
            param="voice",
        )
    return voices[name] if name else next(iter(voices.values()))


class VocoderVoices:
    """Which voice the vocoder of `model` has, and what it computed of others. Called in the model's thread."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._current = ""
        self._computed: OrderedDict[str, Any] = OrderedDict()

    def take(self, voice: ReferenceVoice) -> None:
        """Have the vocoder speak with this voice."""
        key = voice.key
        if key == self._current:
            return
        if key in self._computed:
            self._computed.move_to_end(key)
            self._model.token2wav_cache = self._computed[key]
        else:
            self._model.init_token2wav_cache(prompt_speech_16k=voice.sound)
            computed = getattr(self._model, "token2wav_cache", None)
            if computed is not None:
                self._computed[key] = computed
                while len(self._computed) > KEPT:
                    self._computed.popitem(last=False)
        self._current = key

    def forget_current(self) -> None:
        """The model's own code has changed or dropped the vocoder's voice."""
        self._current = ""


def _checked(voice: ReferenceVoice) -> ReferenceVoice:
    if samples(voice.pcm) < HEARD_RATE:
        raise BadRequest(
            "The recording of the voice is shorter than a second. Record about ten seconds of clear speech.",
            code="voice_sample_short",
        )
    if not any(voice.pcm):
        raise BadRequest(
            "Nothing can be heard in the recording of the voice. Record about ten seconds of clear speech.",
            code="voice_sample_silent",
        )
    return voice
