"""The header of a projector (mmproj): a second GGUF file through which a language model sees or hears.

Read before a model is loaded, listed or downloaded, without any library and without its weights. Called by `models/projectors`.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from duologue.errors import StartFailed
from duologue.models.gguf.header import read_checked

ARCHITECTURE = "clip"
"""That of every projector, whatever it is for."""
LARGEST_VIEW = 512 * 1024 * 1024
"""Bytes of memory for reading one picture, at most and about."""


class Projector(Struct, frozen=True):
    """A projector's file. `size` in bytes; `name` is what the file calls its model, "" where it does not say."""

    path: Path
    size: int
    sees: bool
    hears: bool
    name: str = ""
    stated: tuple[int, ...] = ()
    """The widths that the file says it projects to."""
    widths: frozenset[int] = frozenset()
    """Every width of a tensor that may be the last one."""

    @property
    def modalities(self) -> tuple[str, ...]:
        """What a model takes through it besides text."""
        return (*(("image",) if self.sees else ()), *(("audio",) if self.hears else ()))

    @property
    def memory(self) -> int:
        """Bytes of memory it takes, about."""
        return projector_memory(self.size)

    def fits(self, embedding: int) -> bool:
        """Whether it may belong to a model of this width. Old files state a width of their own, so the tensors count too."""
        return not embedding or embedding in self.stated or embedding in self.widths


def projector_memory(size: int) -> int:
    """Bytes of memory for a projector whose file has `size` bytes: its weights, and within bounds as much again while it reads a
    picture."""
    return size + min(size, LARGEST_VIEW)


def read_projector(path: Path) -> Projector:
    """The projector in this file. Raises StartFailed: missing, damaged, or no projector."""
    if not path.is_file():
        raise StartFailed(f"There is no projector at {path}. Check the path.", param="mmproj")
    metadata, tensors, size = read_checked(path)
    sees = metadata.boolean("clip.has_vision_encoder") is True
    hears = metadata.boolean("clip.has_audio_encoder") is True
    if metadata.text("general.architecture") != ARCHITECTURE or not (sees or hears):
        raise StartFailed(
            f"{path} is not a projector (mmproj) for pictures or sound. Its repository has one beside the model.",
            param="mmproj",
        )
    stated = {metadata.integer(f"clip.{tower}.projection_dim") for tower in ("vision", "audio")} - {0}
    widths = {
        side
        for tensor in tensors
        if tensor.name.startswith("mm.") or tensor.name.startswith("resampler.")
        for side in tensor.shape
    }
    return Projector(
        path, size, sees, hears, metadata.text("general.name"), tuple(sorted(stated)), frozenset(widths)
    )
