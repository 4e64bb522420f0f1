"""From the operator's settings to what each worker is told to load, checked before anything starts.

Owns the finding of model files and the early, plain refusal of broken ones. Knows no engine: a file's header is read,
not loaded.
"""

from __future__ import annotations

from duologue.config import Settings, WorkerEntry
from duologue.errors import StartFailed
from duologue.models import catalogue, gguf
from duologue.wire.internal import Loadout


def loadouts(settings: Settings) -> list[Loadout]:
    """One loadout a worker. Raises StartFailed for a model file that is missing or broken, naming what to do."""
    return [_loadout(entry, settings) for entry in settings.worker_entries]


def _loadout(entry: WorkerEntry, settings: Settings) -> Loadout:
    options = dict(entry.engine_options())
    name = str(options.pop("name", "") or "")
    if entry.engine == "llama":
        bundled = not entry.model
        path = (
            catalogue.bundled_model()
            if bundled
            else catalogue.find_model(entry.model, settings.data / "models")
        )
        gguf.read(path)
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
    return Loadout(entry.name, entry.engine, name, options, entry.device)
