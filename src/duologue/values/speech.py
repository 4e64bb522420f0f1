"""Speech as values: voices, transcripts with timed words, synthesis and transcription requests, and a voice worker's card.

Audio is 16-bit mono, from callers at 16 kHz and of replies at 24 kHz (`values.audio`).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Standing = Literal["absent", "loading", "ready", "failed"]


class Voice(Struct, frozen=True):
    """A loaded voice. `name` is its name in requests; `language` is a BCP 47 tag."""

    name: str
    language: str = "en"
    description: str = ""


class TimedWord(Struct, frozen=True):
    """A transcribed word; times in seconds from the beginning of the audio."""

    text: str
    start: float
    end: float


class Transcript(Struct, frozen=True):
    """A transcript. `confidence` is 0 to 1, None where the engine has none; `understood` False: there was speech, but the engine
    rejected its own transcript. `stop_word`: a word that asks to stop, which was spotted in it whatever its text is."""

    text: str
    words: tuple[TimedWord, ...] = ()
    language: str = ""
    confidence: float | None = None
    understood: bool = True
    stop_word: str = ""


class TranscribedPart(Struct, frozen=True):
    """An audio part of a request that was transcribed for a model that takes no audio; its text replaced it. `message` and
    `part` count from 0."""

    message: int
    part: int
    text: str
    understood: bool = True


class VoiceSample(Struct, frozen=True):
    """A recording of the voice to speak with: 16-bit mono PCM at 16 kHz, at most 30 s. `text`: what is said in it, where that is
    known; some speakers need it."""

    pcm: bytes
    text: str = ""


class SpeechRequest(Struct, frozen=True, tag="speech"):
    """Synthesise this text. `voice` empty: the default; `speed` 1.0 is the voice's own. `sample`: speak like this recording,
    where the speaker can (`SpeechCard.clones`). `open`: more text follows in `call_events.Text`, until `last`."""

    text: str = ""
    voice: str = ""
    speed: float = 1.0
    language: str = ""
    open: bool = False
    sample: VoiceSample | None = None
    mouth: bool = False
    """Send the mouth's keys with the audio."""


class TranscriptionRequest(Struct, frozen=True, tag="transcription"):
    """Transcribe this audio (16-bit mono, 16 kHz). `hint`: words the speaker is likely to use."""

    pcm: bytes
    language: str = ""
    hint: str = ""
    words: bool = False


class SpeechEngineStatus(Struct, frozen=True):
    """One engine of a voice worker: `name` is its model, `detail` a sentence why it is not ready."""

    standing: Standing = "absent"
    engine: str = ""
    name: str = ""
    detail: str = ""


class SpeechCard(Struct, frozen=True):
    """What a voice worker can do, as it reports it. `partials`: it transcribes while the caller speaks; `limited`: a sentence about a
    limitation, such as frequent mistakes, or ""."""

    detector: SpeechEngineStatus = SpeechEngineStatus()
    recogniser: SpeechEngineStatus = SpeechEngineStatus()
    speaker: SpeechEngineStatus = SpeechEngineStatus()
    turn_end: SpeechEngineStatus = SpeechEngineStatus()
    voices: tuple[Voice, ...] = ()
    default_voice: str = ""
    hears: tuple[str, ...] = ()
    """Languages (BCP 47) it transcribes; empty: it detects the language."""
    partials: bool = False
    word_times: bool = False
    limited: str = ""
    clones: bool = False
    """Whether the speaker can speak like a recording."""
    clones_by_text: bool = False
    """Whether it must be told what is said in the recording."""
    video: SpeechEngineStatus = SpeechEngineStatus()
    draws: tuple[str, ...] = ()
    """The kinds of avatars (`values/avatars.py`) that its video engine draws."""
    seats: int = 32

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each engine that could not be loaded; the others work."""
        engines = (self.detector, self.recogniser, self.speaker, self.turn_end, self.video)
        return tuple(engine.detail for engine in engines if engine.standing == "failed")
