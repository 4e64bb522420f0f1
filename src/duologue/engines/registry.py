"""Engines by name: the module that loads each, imported only when it is chosen.

Used by a worker when it loads the engines of its load spec.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from duologue.engines.contracts import DetectorEngine, RecogniserEngine, SpeakerEngine, TurnEndEstimator
from duologue.engines.embedding_contracts import ModelEngine
from duologue.engines.video_contracts import VideoEngine

# name -> (module, function); `await function(options)` returns the loaded engine.
LANGUAGE_ENGINES: dict[str, tuple[str, str]] = {
    "scripted": ("duologue.engines.scripted.language", "load"),
    "llama": ("duologue.engines.llama.engine", "load_model"),
    "remote": ("duologue.engines.openai_remote.engine", "load"),
    "minicpmo": ("duologue.engines.minicpmo.engine", "load"),
    "qwen_omni": ("duologue.engines.qwen_omni.engine", "load"),
    "transformers": ("duologue.engines.huggingface.engine", "load"),
}


async def load_language_engine(name: str, options: dict[str, Any]) -> ModelEngine:
    """Load the engine called `name`. Raises KeyError for an unknown name, StartFailed when it cannot load."""
    module, function = LANGUAGE_ENGINES[name]
    engine: ModelEngine = await getattr(import_module(module), function)(options)
    return engine


# kind -> name -> (module, function); `await function(options)` returns the loaded engine.
DETECTOR_ENGINES: dict[str, tuple[str, str]] = {
    "silero": ("duologue.engines.vad.silero", "load"),
    "energy": ("duologue.engines.vad.energy", "load"),
}
TURN_END_ENGINES: dict[str, tuple[str, str]] = {
    "smart_turn": ("duologue.engines.turn_end.smart_turn", "load"),
}
RECOGNISER_ENGINES: dict[str, tuple[str, str]] = {
    "pocketsphinx": ("duologue.engines.sphinx.engine", "load"),
    "scripted": ("duologue.engines.scripted.recogniser", "load"),
    "whisper": ("duologue.engines.asr.whisper", "load"),
    "sherpa": ("duologue.engines.asr.sherpa", "load"),
    "qwen": ("duologue.engines.asr.qwen", "load"),
    "llama": ("duologue.engines.llama.sound_recogniser", "load"),
    "remote": ("duologue.engines.openai_remote.speech", "load_recogniser"),
}
SPEAKER_ENGINES: dict[str, tuple[str, str]] = {
    "espeak": ("duologue.engines.tts.espeak", "load"),
    "scripted": ("duologue.engines.scripted.speaker", "load_speaker"),
    "kokoro": ("duologue.engines.tts.kokoro", "load"),
    "kokoro_onnx": ("duologue.engines.tts.kokoro_onnx", "load"),
    "sherpa": ("duologue.engines.tts.sherpa_speaker", "load"),
    "pocket": ("duologue.engines.tts.pocket", "load"),
    "remote": ("duologue.engines.openai_remote.speech", "load_speaker"),
}
VIDEO_ENGINES: dict[str, tuple[str, str]] = {
    "portrait": ("duologue.engines.portrait.engine", "load"),
    "musetalk": ("duologue.engines.musetalk.engine", "load"),
    "scripted": ("duologue.engines.scripted.video", "load_video"),
}


def weights_of(
    kind: Literal["recogniser", "speaker", "turn_end", "video"], engine: str, options: dict[str, Any]
) -> Path | None:
    """The folder or file of the weights of an engine of this kind, without loading anything; None: it needs none. Raises
    StartFailed with the command that fetches them."""
    tables = {
        "recogniser": RECOGNISER_ENGINES,
        "speaker": SPEAKER_ENGINES,
        "turn_end": TURN_END_ENGINES,
        "video": VIDEO_ENGINES,
    }
    module, _ = tables[kind][engine]
    find = getattr(import_module(module), "weights", None)
    return None if find is None else Path(find(options))


async def _load(table: dict[str, tuple[str, str]], name: str, options: dict[str, Any]) -> Any:
    module, function = table[name]
    return await getattr(import_module(module), function)(options)


async def load_detector(name: str, options: dict[str, Any]) -> DetectorEngine:
    """Load the detector called `name`. Raises KeyError for an unknown name, StartFailed when it cannot load."""
    engine: DetectorEngine = await _load(DETECTOR_ENGINES, name, options)
    return engine


async def load_turn_end(name: str, options: dict[str, Any]) -> TurnEndEstimator:
    """Load the estimator of the ends of turns called `name`. Raises as `load_detector`."""
    engine: TurnEndEstimator = await _load(TURN_END_ENGINES, name, options)
    return engine


async def load_recogniser(name: str, options: dict[str, Any]) -> RecogniserEngine:
    """Load the recogniser called `name`. Raises as `load_detector`."""
    engine: RecogniserEngine = await _load(RECOGNISER_ENGINES, name, options)
    return engine


async def load_speaker(name: str, options: dict[str, Any]) -> SpeakerEngine:
    """Load the speaker called `name`. Raises as `load_detector`."""
    engine: SpeakerEngine = await _load(SPEAKER_ENGINES, name, options)
    return engine


async def load_video(name: str, options: dict[str, Any]) -> VideoEngine:
    """Load the video engine called `name`. Raises as `load_detector`."""
    engine: VideoEngine = await _load(VIDEO_ENGINES, name, options)
    return engine
