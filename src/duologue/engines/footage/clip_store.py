"""Base clips on the disk: their frames as npz, what is known of them as JSON, and which clip avatars of a picture have.

`wan` keeps the clips that it renders here, under the hash of everything that they depend on; `musetalk` finds that of an avatar's picture. Files
appear whole or not at all. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec
from msgspec import Struct

FRAMES = "frames.npz"
DETAILS = "clip.json"
PICTURES = "pictures"
_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")

Area = tuple[float, float, float, float]
"""Left, top, right and bottom, as fractions of the picture."""


class ClipDetails(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a clip. `rate`: frames a second; `loops`: its last frame is its first one; `faces`: the box of the face in each
    frame (None: no face in that frame); empty: the box in the avatar's picture counts for all."""

    rate: int
    loops: bool
    faces: tuple[Area | None, ...] = ()


class BaseClip(Struct, frozen=True):
    """`frames`: an array of bytes of the shape (frames, height, width, 3), RGB. `key` changes with its content."""

    key: str
    frames: Any
    details: ClipDetails


class ClipStore:
    """The clips below one folder. Its calls block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, key: str) -> BaseClip | None:
        """The clip of this key; None where there is none, or it is damaged: then it is rendered again."""
        import numpy

        place = self._folder / _checked(key)
        try:
            details = msgspec.json.decode((place / DETAILS).read_bytes(), type=ClipDetails)
            with numpy.load(place / FRAMES, allow_pickle=False) as arrays:
                frames = arrays["frames"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, msgspec.MsgspecError):
            return None
        if frames.dtype != numpy.uint8 or frames.ndim != 4 or frames.shape[-1] != 3 or not len(frames):
            return None
        if details.rate < 1 or (details.faces and len(details.faces) != len(frames)):
            return None
        return BaseClip(key, frames, details)

    def keep(self, clip: BaseClip) -> None:
        """Store the clip; one of the same key is replaced."""
        import numpy

        place = self._folder / _checked(clip.key)
        self._folder.mkdir(parents=True, exist_ok=True)
        made = Path(mkdtemp(prefix=".making-", dir=self._folder))
        numpy.savez_compressed(made / FRAMES, frames=clip.frames)
        (made / DETAILS).write_bytes(msgspec.json.encode(clip.details))
        _replace(made, place)

    def use(self, picture: str, key: str) -> None:
        """From now on avatars with the picture of this `picture_key` have the clip of this key."""
        folder = self._folder / PICTURES
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f".{_checked(picture)}"
        made.write_text(_checked(key), encoding="ascii")
        made.replace(folder / picture)

    def of_picture(self, picture: str) -> BaseClip | None:
        """The clip of avatars with the picture of this `picture_key`, if they have one."""
        try:
            key = (self._folder / PICTURES / _checked(picture)).read_text(encoding="ascii")
        except (OSError, UnicodeError):
            return None
        return self.find(key) if _KEY.fullmatch(key) else None


def picture_key(picture: bytes) -> str:
    """What the picture of an avatar is known by, wherever the points on it are set."""
    return hashlib.sha256(picture).hexdigest()


def _checked(name: str) -> str:
    """Names become names of files. Raises ValueError for one that could lead elsewhere."""
    if not _KEY.fullmatch(name):
        raise ValueError(f"no digest: {name!r}")
    return name


def _replace(made: Path, place: Path) -> None:
    """Put a folder where another one may be. A rename does not replace a folder that has files."""
    if place.exists():
        for file in place.iterdir():
            file.unlink()
        place.rmdir()
    os.replace(made, place)
