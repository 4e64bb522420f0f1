"""LoRA adapters: the header of an adapter's file, and whether it belongs to a model.

The gateway asks before a model is loaded with adapters: the library refuses the whole model for one that does not fit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from duologue.errors import BadRequest, NotFound, StartFailed
from duologue.models.gguf.header import GgufHeader, model_tensors
from duologue.models.gguf.reader import TensorInfo, Unreadable, read_part

SUFFIX = ".gguf"
HALVES = (".lora_a", ".lora_b")
EMBEDDING = "token_embd.weight"
MOST = 8
"""Adapters of one model: each is computed beside it."""
MOST_LISTED = 1000


class AdapterFile(Struct, frozen=True):
    """An adapter by its header. `architecture`: that of the model it was made for."""

    path: Path
    name: str
    architecture: str
    tensors: tuple[TensorInfo, ...]


def list_adapters(folder: Path) -> list[str]:
    """The names of the adapters in a folder. Blocks."""
    if not folder.is_dir():
        return []
    found = sorted(path.stem for path in folder.glob(f"*{SUFFIX}") if path.is_file())
    return found[:MOST_LISTED]


def find_adapter(folder: Path, name: str) -> Path:
    """The file of an adapter by its name, which is compared with known ones and never used as a path. Raises NotFound. Blocks."""
    names = list_adapters(folder)
    wanted = name.removesuffix(SUFFIX)
    if wanted not in names:
        known = f"There are: {', '.join(names[:20])}." if names else "The folder loras is empty."
        raise NotFound(
            f"There is no LoRA adapter {name[:80]!r}. {known}", code="lora_not_found", param="loras"
        )
    return folder / f"{wanted}{SUFFIX}"


def read_adapter(path: Path) -> AdapterFile:
    """The header of an adapter. Raises BadRequest (`lora_unusable`). Blocks."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            metadata, tensors, data = read_part(file, size)
    except OSError as error:
        raise _unusable(path, f"it cannot be read: {error.strerror}") from error
    except Unreadable as error:
        raise _unusable(
            path, "it is truncated" if error.truncated else f"it {str(error).rstrip('.')}"
        ) from error
    if metadata.text("general.type") != "adapter" or metadata.text("adapter.type") != "lora":
        raise _unusable(path, "it is no LoRA adapter")
    if any(data + tensor.offset + (tensor.size or 0) > size for tensor in tensors):
        raise _unusable(path, "it is truncated")
    return AdapterFile(path, path.stem, metadata.text("general.architecture"), tuple(tensors))


def check_adapters(header: GgufHeader, adapters: Iterable[AdapterFile]) -> None:
    """Raises BadRequest (`lora_unusable`) for an adapter that was made for another model. Blocks."""
    adapters = list(adapters)
    if len(adapters) > MOST:
        raise BadRequest(
            f"loras: {len(adapters)} adapters; a model is loaded with at most {MOST}.",
            code="lora_unusable",
            param="loras",
        )
    if not adapters:
        return
    try:
        tensors = {tensor.name: tensor for tensor in model_tensors(header.path)}
    except StartFailed as broken:
        raise BadRequest(broken.message, code="model_unusable") from None
    for adapter in adapters:
        if adapter.architecture != header.architecture:
            raise _unusable(
                adapter.path,
                f"it is made for {adapter.architecture or 'an unknown architecture'}, and the model is {header.architecture}",
            )
        _check_shapes(adapter, tensors)


def _check_shapes(adapter: AdapterFile, model: Mapping[str, TensorInfo]) -> None:
    halves = {tensor.name: tensor for tensor in adapter.tensors}
    for name, tensor in halves.items():
        base, half = (
            (name[: -len(HALVES[0])], name[-len(HALVES[0]) :]) if name.endswith(HALVES) else (name, "")
        )
        if not half:
            continue  # other tensors are for other kinds of adapters; the library says so
        other = halves.get(base + HALVES[half == HALVES[0]])
        own = model.get(base)
        if other is None or own is None:
            raise _unusable(adapter.path, f"the model has nothing that its {name} belongs to")
        # The embedding is looked up and not multiplied, so its halves lie the other way.
        fits = base == EMBEDDING or (
            tensor.shape[:1] == own.shape[:1] if half == HALVES[0] else tensor.shape[1:2] == own.shape[1:2]
        )
        if not fits:
            raise _unusable(adapter.path, f"its {name} has another shape than the model needs")


def _unusable(path: Path, why: str) -> BadRequest:
    return BadRequest(
        f"{path.name} cannot be used as an adapter of this model: {why}.", code="lora_unusable", param="loras"
    )
