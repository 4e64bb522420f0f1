"""Avatars as values: whose face speaks, what a video engine needs to draw it, and requests for video of it.

The gateway keeps avatars (`gateway/avatars`) and passes what is needed to a voice worker, which opens no connection of its own.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.speech import SpeechRequest

AvatarKind = Literal["drawn", "picture", "figure"]
"""A face of ours, drawn from data (`faces`); one picture, whose mouth and eyes are moved; a VRM figure, which only a browser draws."""
VideoMode = Literal["off", "clip", "stream"]
"""How a call's replies are sent: as sound; each as one clip once it is spoken; as sound with video in segments beside it."""


BROUGHT = "avatar_"
"""What the id of a brought avatar begins with. The id of a drawn one is the name of its look."""


class Point(Struct, frozen=True, array_like=True):
    """A place in a picture, in fractions of its width and height from the upper left corner."""

    x: float
    y: float


class Eye(Struct, frozen=True):
    """The corners of one eye, and the middle of its lids."""

    outer: Point
    inner: Point
    upper: Point
    lower: Point


class Landmarks(Struct, frozen=True):
    """Where the parts of the face in a picture are, set by a person. `left` and `right` as seen in the picture; `lips` is the line where the
    lips meet, in its middle."""

    left_eye: Eye
    right_eye: Eye
    mouth_left: Point
    mouth_right: Point
    mouth_top: Point
    mouth_bottom: Point
    lips: Point
    chin: Point


class AvatarSource(Struct, frozen=True):
    """Everything a video engine needs to draw an avatar. `digest` changes with any of it: what is prepared is kept under it. `look`: of a
    drawn one, its name in `faces/catalogue.py`; `data`: of a picture, its bytes (PNG, JPEG or WebP)."""

    id: str
    kind: AvatarKind
    digest: str
    look: str = ""
    data: bytes = b""
    landmarks: Landmarks | None = None


class ClipRequest(Struct, frozen=True, tag="clip"):
    """Make a clip of an avatar: that says the text of `speech`, or, if that is empty, moves its lips to `pcm` (16-bit mono, 24 kHz).
    Answered with `ClipProgress`, `ClipData` in pieces, and `CallSessionEnded`."""

    avatar: AvatarSource
    speech: SpeechRequest = SpeechRequest()
    pcm: bytes = b""


class StoredAvatar(Struct, frozen=True):
    """An avatar that somebody brought, without its bytes (`store/faces/avatar_rows.py`). `width` and `height` in pixels, of a picture;
    `size` in bytes; `digest`: the SHA-256 of the bytes as hexadecimal text. `statement` is what was agreed to at `agreed`; times in
    milliseconds since 1970 (UTC)."""

    id: str
    user: str
    name: str
    kind: AvatarKind
    mime: str
    size: int
    digest: str
    width: int = 0
    height: int = 0
    landmarks: Landmarks | None = None
    shared: bool = False
    has_preview: bool = False
    statement: str = ""
    agreed: int = 0
    created: int = 0
