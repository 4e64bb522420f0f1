"""Messages as engines take them: a role, and parts of text and media.

Values without database ids or parents: equal content compares equal. Media are decoded bytes. Used by requests, engines and the
dialects.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Role = Literal["system", "user", "assistant", "tool"]
Detail = Literal["", "low", "high"]


class TextPart(Struct, frozen=True, tag="text"):
    text: str


class ImagePart(Struct, frozen=True, tag="image"):
    """An encoded image file (PNG, JPEG, GIF or WebP). `detail`: how closely it is to be looked at, "" for as the server sees fit."""

    data: bytes
    mime: str = "image/jpeg"
    detail: Detail = ""


class AudioPart(Struct, frozen=True, tag="audio"):
    """Mono audio. `data` is little-endian float32 PCM at `rate` Hz. In a system message it is a sample of the voice to speak
    with, which is never written down."""

    data: bytes
    rate: int = 16_000


class VideoPart(Struct, frozen=True, tag="video"):
    """An encoded video file. `stack_frames` over 1: so many frames of each second are joined to a collage (omni models).
    `frame_rate`: the frames a second that the model sees, None for the model's own."""

    data: bytes
    mime: str = "video/mp4"
    stack_frames: int = 1
    frame_rate: float | None = None


Part = TextPart | ImagePart | AudioPart | VideoPart


class ToolCall(Struct, frozen=True):
    """A tool call of the model. `arguments` is the JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


class Message(Struct, frozen=True):
    """One message. `reasoning` and `tool_calls` belong to the assistant, `tool_call_id` to a tool's result."""

    role: Role
    parts: tuple[Part, ...] = ()
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """The text parts, joined; other parts are skipped."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def modalities(self) -> frozenset[str]:
        """Which kinds of parts occur: of {"text", "image", "audio", "video"}."""
        return frozenset(MODALITY[type(part)] for part in self.parts)


MODALITY: dict[type, str] = {TextPart: "text", ImagePart: "image", AudioPart: "audio", VideoPart: "video"}


class Tool(Struct, frozen=True):
    """A function the model may call. `parameters` is a JSON Schema object, as the client sent it."""

    name: str
    description: str = ""
    parameters: dict[str, object] = {}
    strict: bool = False
    """Arguments that the schema does not admit must not be written."""


def user(text: str) -> Message:
    """A user's message of plain text."""
    return Message("user", (TextPart(text),))


def assistant(text: str) -> Message:
    """An assistant's message of plain text."""
    return Message("assistant", (TextPart(text),))


def system(text: str) -> Message:
    """A system message of plain text."""
    return Message("system", (TextPart(text),))
