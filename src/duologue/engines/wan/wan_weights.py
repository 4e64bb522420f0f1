"""Where Wan's weights are: a folder of diffusers with one expert or two, single files in GGUF, LoRAs. Nothing is loaded here.

Called by `renderer`. Owns which models can be used, and the sentences for those that cannot.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from duologue.engines.weights import find_folder, hub_command, missing_weights, target_folder
from duologue.errors import StartFailed

MODEL = "Wan2.2-TI2V-5B-Diffusers"
REPOSITORIES = ("Wan-AI/Wan2.2-TI2V-5B-Diffusers", "Wan-AI/Wan2.2-I2V-A14B-Diffusers")
PIPELINES = ("WanPipeline", "WanImageToVideoPipeline")
INDEX = "model_index.json"
SMALL_LATENTS = 48
"""Channels of the latents of the 5B model: with them its clips have 24 frames a second, those of the others 16."""


class LoraFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A LoRA (safetensors). `weight`: how strongly it changes the model; `second`: the file for the second expert of a model with two, ""
    uses `path` for both."""

    path: str
    weight: float = 1.0
    name: str = ""
    second: str = ""

    @property
    def title(self) -> str:
        return self.name or Path(self.path).name


class WanFiles(Struct, frozen=True):
    """`folder` of diffusers; `gguf`: files in place of its transformers, one for each expert, or none; `loras`: with their paths."""

    folder: Path
    name: str
    experts: int
    gguf: tuple[Path, ...]
    loras: tuple[LoraFile, ...]

    @property
    def mark(self) -> list[tuple[str, int, int]]:
        """By which these weights are told from others. A model trained further has files of the same names and sizes."""
        own = () if self.gguf else sorted(self.folder.rglob("*.safetensors"))
        return [(self.name, 0, 0), *(_mark(path) for path in (*own, *self.gguf))]

    @property
    def lora_mark(self) -> list[tuple[str, int, int, float]]:
        """The same for the LoRAs, with their weights."""
        files = [
            (Path(path), lora.weight) for lora in self.loras for path in (lora.path, lora.second) if path
        ]
        return [(*_mark(path), weight) for path, weight in files]


def find_wan(model: str, models: str, gguf: tuple[str, ...], loras: tuple[LoraFile, ...]) -> WanFiles:
    """The files of the weights. Raises StartFailed with the command that fetches them, or a sentence for a model that cannot be used."""
    if "s2v" in model.lower():
        raise StartFailed(
            f"{model} makes video from speech, and diffusers has no class for it. Render base clips with {REPOSITORIES[0]} or "
            f"{REPOSITORIES[1]}; the engine musetalk moves their lips.",
            param="model",
        )
    repository = next((name for name in REPOSITORIES if name.endswith(f"/{Path(model).name}")), "")
    folder = find_folder(model, models)
    if folder is None:
        target = target_folder(model, models)
        raise missing_weights("wan", model, [hub_command(repository, target)] if repository else [], target)
    experts = read_index(folder)
    files = tuple(_file(path, models, "gguf") for path in gguf)
    if files and len(files) != experts:
        raise StartFailed(
            f"The model in {folder} has {experts} transformers, and {len(files)} GGUF files are named. Name one for each: that for high noise first.",
            param="gguf",
        )
    found = tuple(
        msgspec.structs.replace(
            lora,
            path=str(_file(lora.path, models, "loras")),
            second=str(_file(lora.second, models, "loras")) if lora.second else "",
        )
        for lora in loras
    )
    return WanFiles(folder, folder.name, experts, files, found)


def read_index(folder: Path) -> int:
    """How many transformers the model in this folder has. Raises StartFailed for one that makes no clips of pictures."""
    try:
        index = msgspec.json.decode((folder / INDEX).read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        raise StartFailed(
            f"{folder} has no {INDEX}: it is not a model of diffusers. The original files of Wan are not read; fetch a repository whose name ends in "
            f"-Diffusers, such as {REPOSITORIES[0]}.",
            code="weights_missing",
            param="model",
        ) from None
    kind = index.get("_class_name")
    if kind not in PIPELINES:
        raise StartFailed(
            f"The model in {folder} is a {kind}; base clips need Wan's image-to-video models: {REPOSITORIES[0]} or {REPOSITORIES[1]}.",
            param="model",
        )
    second = index.get("transformer_2") or [None, None]
    return 2 if second[1] else 1


def _file(path: str, models: str, param: str) -> Path:
    places = [Path(path).expanduser(), *([Path(models).expanduser() / path] if models else [])]
    for place in places:
        if place.is_file() and place.stat().st_size:
            return place
    raise StartFailed(
        f"There is no file {path}, neither as a path nor in the folder of models, or it is empty.",
        code="weights_missing",
        param=param,
    )


def _mark(path: Path) -> tuple[str, int, int]:
    state = path.stat()
    return path.name, state.st_size, state.st_mtime_ns
