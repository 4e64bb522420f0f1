"""The voice settings: the engines for speech detection, recognition and synthesis, and the limits of a call.

Pure data: engines are named here, never imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from duologue.config.section import Section

DetectorName = Literal["silero", "energy"]
RecogniserName = Literal["pocketsphinx", "scripted", "whisper", "sherpa", "qwen", "remote"]
SpeakerName = Literal["espeak", "scripted", "kokoro", "kokoro_onnx", "remote"]
WEIGHTED = ("whisper", "sherpa", "qwen", "kokoro", "kokoro_onnx")
"""Engines with their own weights. They receive the folder of the weights and the device as options."""
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class DetectorSettings(Section):
    engine: DetectorName = Field(default="silero", description="The voice activity detector.")
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )


class Recogniser(Section):
    engine: RecogniserName = Field(default="pocketsphinx", description="The speech recogniser.")
    model: str = Field(default="", description="The model: a name or a folder; empty: the engine's default.")
    url: str = Field(
        default="",
        description="For `remote`: a server with the OpenAI endpoint /v1/audio/transcriptions, such as http://host/v1.",
    )
    key: SecretStr | None = Field(default=None, description="The API key for that server.")
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )


class Speaker(Section):
    engine: SpeakerName = Field(default="espeak", description="The speech synthesiser.")
    model: str = Field(default="", description="The model: a name or a folder; empty: the engine's default.")
    url: str = Field(
        default="",
        description="For `remote`: a server with the OpenAI endpoint /v1/audio/speech, such as http://host/v1.",
    )
    key: SecretStr | None = Field(default=None, description="The API key for that server.")
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )


class VoiceSettings(Section):
    enabled: bool | None = Field(
        default=None,
        description="Whether voice is enabled; empty: yes if its libraries are installed or other engines are set.",
    )
    voice: str = Field(default="", description="The default voice; empty: the first one of the synthesiser.")
    language: str = Field(
        default="", description="The language callers are assumed to speak; empty: the engine's default."
    )
    detector: DetectorSettings = DetectorSettings()
    recogniser: Recogniser = Recogniser()
    speaker: Speaker = Speaker()
    device: str = Field(
        default="auto", description="The device these engines run on: `auto`, `cpu`, `cuda:0` ..."
    )
    seats: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=32, description="Simultaneous calls, speech requests and transcriptions; further ones wait."
    )
    idle_s: Seconds = Field(default=600, description="Seconds without speech until a call ends.")
    session_s: Seconds = Field(default=7200, description="Maximum length of a call, in seconds.")

    def engine_options(self, models: Path | None = None) -> dict[str, object]:
        """The options passed to a voice worker, as plain values. `models` is the folder in which weights are looked up by name."""
        place = {"models": str(models) if models else "", "device": self.device.replace("auto", "")}
        return {
            "detector": {"engine": self.detector.engine, **self.detector.options},
            "recogniser": _options(self.recogniser, place),
            "speaker": _options(self.speaker, place) | ({"voice": self.voice} if self.voice else {}),
            "seats": self.seats,
            "device": self.device,
        }


def _options(engine: Recogniser | Speaker, place: dict[str, str]) -> dict[str, object]:
    options = {
        "engine": engine.engine,
        "model": engine.model,
        "url": engine.url,
        "key": engine.key.get_secret_value() if engine.key else "",
    }
    if engine.engine in WEIGHTED:
        options |= place
    return {name: value for name, value in options.items() if value} | engine.options
