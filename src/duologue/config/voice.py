"""The settings of voice: which engines hear and speak, and how long a call may last.

Owns names, limits and defaults. Knows no engine beyond its name.
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
"""Engines with weights of their own, which are told where those are and which device to use."""
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class DetectorSettings(Section):
    engine: DetectorName = Field(default="silero", description="The voice activity detector.")
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )


class Recogniser(Section):
    engine: RecogniserName = Field(default="pocketsphinx", description="The speech recogniser.")
    model: str = Field(default="", description="Its model: a name or a folder; empty: its own default.")
    url: str = Field(
        default="",
        description="For `remote`: a server with OpenAI's /v1/audio/transcriptions, such as http://host/v1.",
    )
    key: SecretStr | None = Field(default=None, description="The key for that server.")
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )


class Speaker(Section):
    engine: SpeakerName = Field(default="espeak", description="The speech synthesiser.")
    model: str = Field(default="", description="Its model: a name or a folder; empty: its own default.")
    url: str = Field(
        default="",
        description="For `remote`: a server with OpenAI's /v1/audio/speech, such as http://host/v1.",
    )
    key: SecretStr | None = Field(default=None, description="The key for that server.")
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )


class VoiceSettings(Section):
    enabled: bool | None = Field(
        default=None,
        description="Whether the voice is enabled; empty: if its libraries are installed or other engines are set.",
    )
    voice: str = Field(default="", description="The default voice; empty: the speaker's first.")
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
        default=32, description="Calls, speeches and transcriptions at the same time; further ones wait."
    )
    idle_s: Seconds = Field(default=600, description="Seconds without speech until a call ends.")
    session_s: Seconds = Field(default=7200, description="Longest call, in seconds.")

    def engine_options(self, models: Path | None = None) -> dict[str, object]:
        """What a voice worker loads with, plain values only. `models`: the folder where weights are looked for by name."""
        place = {"models": str(models) if models else "", "device": self.device.replace("auto", "")}
        return {
            "detector": {"engine": self.detector.engine, **self.detector.options},
            "recogniser": _options(self.recogniser, place),
            "speaker": _options(self.speaker, place) | ({"voice": self.voice} if self.voice else {}),
            "seats": self.seats,
            "device": self.device,
        }


def _options(engine: Recogniser | Speaker, place: dict[str, str]) -> dict[str, object]:
    given = {
        "engine": engine.engine,
        "model": engine.model,
        "url": engine.url,
        "key": engine.key.get_secret_value() if engine.key else "",
    }
    if engine.engine in WEIGHTED:
        given |= place
    return {name: value for name, value in given.items() if value} | engine.options
