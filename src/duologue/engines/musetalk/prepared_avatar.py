"""An avatar prepared for MuseTalk: its frames, where the face is in each, and what the network computed of them once.

Made by `engine` of a picture or a base clip. It is kept below the server's data folder, as npz and JSON, because preparing a
clip takes a while; what cannot be read there is prepared again. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from duologue.engines.footage.clip_cycle import cycle, resampled_frames
from duologue.engines.footage.clip_store import BaseClip
from duologue.engines.footage.picture_file import read_picture
from duologue.engines.musetalk.face_box import Box, area_box, face_box
from duologue.engines.musetalk.face_picture import cut_face, jaw_mask
from duologue.errors import BadRequest
from duologue.values.avatars import AvatarSource

ARRAYS = "arrays.npz"
DETAILS = "avatar.json"
VERSION = 1
"""Raised when what is stored changes."""
KEPT = 16
"""Prepared avatars on the disk."""


class Abandoned(Exception):
    """No caller is left waiting for this avatar."""


class FaceEncoder(Protocol):
    """The part of the network that reads faces once."""

    @property
    def face_side(self) -> int:
        """Pixels of the square that it reads."""
        ...

    def encode(self, face: Any) -> Any:
        """The latents of one face, an array of bytes (side, side, 3), as an array of floats."""
        ...


class PreparedAvatar(Struct, frozen=True):
    """`frames`: bytes of the shape (frames, height, width, 3), RGB; `order`: how they are shown again and again; `boxes`: the face in each
    frame, None where there is none: that frame is shown as it is, and the others keep their places; `latents`: of each frame."""

    frames: Any
    order: tuple[int, ...]
    boxes: tuple[Box | None, ...]
    latents: Any

    def masks(self) -> dict[Box, Any]:
        """The masks of its boxes."""
        return {box: jaw_mask(box) for box in set(self.boxes) if box is not None}


class StoredDetails(Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    order: tuple[int, ...]
    boxes: tuple[Box | None, ...]


def prepare(
    avatar: AvatarSource,
    clip: BaseClip | None,
    encoder: FaceEncoder,
    *,
    longest: int,
    rate: int,
    go_on: Callable[[], bool] = lambda: True,
) -> PreparedAvatar:
    """Cut and encode the faces of an avatar: of its base clip if it has one. `go_on` is asked before each face: Abandoned is
    raised once it says no. Raises BadRequest for a picture that cannot be used."""
    import numpy

    areas: tuple[Any, ...] = ()
    order: tuple[int, ...] = (0,)
    if clip is None:
        frames = read_picture(avatar.data, longest)[None]
    else:
        chosen = resampled_frames(len(clip.frames), clip.details.rate, rate)
        frames = clip.frames[list(chosen)]
        areas = tuple(clip.details.faces[number] for number in chosen) if clip.details.faces else ()
        order = cycle(len(frames), loops=clip.details.loops)
    boxes = _boxes(avatar, areas, frames.shape)
    latents: list[Any] = []
    for frame, box in zip(frames, boxes, strict=True):
        if not go_on():
            raise Abandoned
        latents.append(None if box is None else encoder.encode(cut_face(frame, box, encoder.face_side)))
    known = next(one for one in latents if one is not None)
    empty = numpy.zeros_like(known)
    return PreparedAvatar(
        frames, order, boxes, numpy.stack([empty if one is None else one for one in latents])
    )


def _boxes(avatar: AvatarSource, areas: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Box | None, ...]:
    count, height, width = shape[:3]
    if any(areas):
        return tuple(None if area is None else area_box(area, width, height) for area in areas)
    if avatar.landmarks is None:
        raise BadRequest(
            "The face in this avatar's picture is not marked yet. Open the avatar in the page and set the points of its eyes, mouth and chin.",
            param="landmarks",
        )
    return (face_box(avatar.landmarks, width, height),) * count


def stored_key(*parts: object) -> str:
    """The name under which an avatar is stored, of everything that what is computed depends on."""
    return hashlib.sha256(repr((VERSION, *parts)).encode()).hexdigest()[:32]


def find(folder: Path, key: str) -> PreparedAvatar | None:
    """What is stored as `key`; None where there is nothing, or it is damaged or of another version. Blocks."""
    import numpy

    place = folder / key
    try:
        details = msgspec.json.decode((place / DETAILS).read_bytes(), type=StoredDetails)
        with numpy.load(place / ARRAYS, allow_pickle=False) as arrays:
            frames, latents = arrays["frames"], arrays["latents"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, msgspec.MsgspecError):
        return None
    if details.version != VERSION or not len(frames) == len(latents) == len(details.boxes):
        return None
    if not details.order or not set(details.order) <= set(range(len(frames))):
        return None
    return PreparedAvatar(frames, details.order, details.boxes, latents)


def keep(folder: Path, key: str, prepared: PreparedAvatar) -> None:
    """Store it as `key`, whole or not at all; of more than KEPT the oldest ones go. Blocks."""
    import numpy

    folder.mkdir(parents=True, exist_ok=True)
    made = Path(mkdtemp(prefix=".making-", dir=folder))
    numpy.savez_compressed(made / ARRAYS, frames=prepared.frames, latents=prepared.latents)
    details = StoredDetails(VERSION, prepared.order, prepared.boxes)
    (made / DETAILS).write_bytes(msgspec.json.encode(details))
    shutil.rmtree(folder / key, ignore_errors=True)
    os.replace(made, folder / key)
    places = sorted(
        (place for place in folder.iterdir() if place.is_dir()), key=lambda place: place.stat().st_mtime
    )
    for place in places[:-KEPT]:
        shutil.rmtree(place, ignore_errors=True)
