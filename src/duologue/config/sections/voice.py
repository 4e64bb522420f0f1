"""The voice settings: the engines for speech detection, recognition and synthesis, and the limits of a call.

Pure data: engines are named here, never imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from duologue.config.device import Device
from duologue.config.section import Section
from duologue.values.custom_voice import is_custom

DetectorName = Literal["silero", "energy"]
RecogniserName = Literal["pocketsphinx", "scripted", "whisper", "sherpa", "qwen", "llama", "remote"]
SpeakerName = Literal["espeak", "scripted", "kokoro", "kokoro_onnx", "sherpa", "pocket", "remote"]
WEIGHTED = ("whisper", "sherpa", "qwen", "llama", "kokoro", "kokoro_onnx", "pocket")
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


class TurnEnd(Section):
    enabled: bool | None = Field(
        default=None,
        description="Whether the sound of a caller's turn may change how long a pause ends it; empty: if `model` names a file; true: a voice pack brings the file.",
    )
    model: str = Field(
        default="",
        description="The ONNX file of Smart Turn v3, a path or a name in the folder of models, which judges by sound whether a caller has finished; empty: smart-turn-v3.2-cpu.onnx there.",
    )

    @property
    def brought_by_packs(self) -> bool:
        """Whether a voice pack downloads its file."""
        return bool(self.enabled) and not self.model


class VoiceSettings(Section):
    enabled: bool | None = Field(
        default=None,
        description="Whether voice is enabled; empty: yes if its libraries are installed or other engines are set.",
    )
    voice: str = Field(
        default="",
        description="The default voice, one of the synthesiser or the id of a recorded one that is shared; empty: the first one of the synthesiser. If it is gone, that one speaks and a note says so.",
    )
    language: str = Field(
        default="", description="The language callers are assumed to speak; empty: the engine's default."
    )
    detector: DetectorSettings = DetectorSettings()
    recogniser: Recogniser = Recogniser()
    speaker: Speaker = Speaker()
    turn_end: TurnEnd = TurnEnd()
    device: Device = Field(
        default="auto", description="The device these engines run on: `auto`, `cpu`, `cuda:0` ..."
    )
    packs_url: str = Field(
        default="https://github.com/k2-fsa/sherpa-onnx/releases/download",
        description="The address that voice packs are downloaded from; a mirror has the same files below it.",
    )
    seats: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=32, description="Simultaneous calls, speech requests and transcriptions; further ones wait."
    )
    idle_s: Seconds = Field(default=600, description="Seconds without speech until a call ends.")
    message_mb: Annotated[int, Field(ge=1)] = Field(
        default=16,
        description="Largest message of a client on a call's socket, in megabytes: a picture, or instructions and tools.",
    )
    session_s: Seconds = Field(default=7200, description="Maximum length of a call, in seconds.")

    @property
    def uses_device(self) -> bool:
        """Whether one of its engines runs on `device`."""
        return self.enabled is not False and not {self.recogniser.engine, self.speaker.engine}.isdisjoint(
            WEIGHTED
        )

    @property
    def loaded_voice(self) -> str:
        """The default voice, if it is one of the synthesiser."""
        return "" if is_custom(self.voice) else self.voice

    def engine_options(self, models: Path | None = None) -> dict[str, object]:
        """The options passed to a voice worker, as plain values. `models` is the folder in which weights are looked up by name."""
        place = {"models": str(models) if models else "", "device": self.device.replace("auto", "")}
        return {
            "detector": {"engine": self.detector.engine, **self.detector.options},
            "recogniser": _options(self.recogniser, place),
            "speaker": _options(self.speaker, place)
            | ({"voice": self.loaded_voice} if self.loaded_voice else {}),
            "turn_end": _turn_end_options(self.turn_end, place["models"]),
            "seats": self.seats,
            "device": self.device,
        }


def _turn_end_options(turn_end: TurnEnd, models: str) -> dict[str, object]:
    if turn_end.enabled is False or not (turn_end.enabled or turn_end.model):
        return {}
    options: dict[str, object] = {"engine": "smart_turn", "models": models}
    return options | {"model": turn_end.model} if turn_end.model else options


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
