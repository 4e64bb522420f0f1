"""Messages as the model's methods take them: a role, and a list of texts, pictures (PIL) and sounds (float32 arrays at 16 kHz).

`engine` makes them of a request. The methods write special tokens around messages themselves, except where `reply_methods` says so.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from duologue.engines.minicpmo.reference_voice import ReferenceVoice
from duologue.errors import BadRequest, Unsupported
from duologue.values.audio import HEARD_RATE
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, VideoPart

CLONE = "Clone the voice in the provided audio prompt."
SPEAK = "As an assistant, you will speak using this voice style."
"""What the model was trained to read around the recording of its voice."""
PICTURE_TOKENS = 64
SOUND_TOKENS = 10
"""Tokens of a second of sound."""
CHARACTERS_A_TOKEN = 3.6


class ModelMessage(Struct, frozen=True):
    """`content`: texts, pictures and sounds, in order."""

    role: str
    content: tuple[Any, ...]

    @property
    def plain(self) -> dict[str, Any]:
        """As the methods take it."""
        return {"role": self.role, "content": list(self.content)}


def model_messages(messages: Sequence[Message], voice: ReferenceVoice | None = None) -> list[ModelMessage]:
    """The messages for the model; with `voice`, which the reply is spoken with, in the system's message. Blocks for each picture.
    Raises BadRequest for a picture or sound that cannot be read."""
    made = [
        ModelMessage(_role(message), tuple(_content(message, number)))
        for number, message in enumerate(messages)
        if message.parts
    ]
    return made if voice is None else _with_voice(made, voice)


def is_interleaved(messages: Sequence[Message]) -> bool:
    """Whether a message has pictures that alternate with the sound of their time, as those of a video do."""
    return any(
        isinstance(picture, ImagePart) and isinstance(sound, AudioPart)
        for message in messages
        for picture, sound in zip(message.parts, message.parts[1:], strict=False)
    )


def estimated_tokens(messages: Sequence[ModelMessage]) -> int:
    """A rough number of tokens, for methods that do not count them."""
    return math.ceil(sum(_tokens(item) for message in messages for item in message.content)) + 4 * len(
        messages
    )


def text_tokens(text: str) -> int:
    """A rough number of tokens of a text."""
    return math.ceil(len(text.encode(errors="replace")) / CHARACTERS_A_TOKEN)


def picture(part: ImagePart, where: str = "") -> Any:
    """The picture in RGB. Raises BadRequest."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(part.data)) as opened:
            return opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadRequest(
            f"{where or 'A frame'} is no picture that can be read.",
            code="image_unreadable",
            param=where or None,
        ) from error


def sound(part: AudioPart, where: str = "") -> Any:
    """[samples] float32 at 16 kHz. Raises BadRequest for another rate."""
    import numpy

    if part.rate != HEARD_RATE:
        raise BadRequest(
            f"{where or 'A sound'} has {part.rate} samples a second; the model takes {HEARD_RATE}.",
            code="sound_unreadable",
            param=where or None,
        )
    # A copy: the bytes of a message cannot be written to, and the model's code pads sounds in place.
    return numpy.frombuffer(part.data[: len(part.data) // 4 * 4], "<f4").astype(numpy.float32)


def _role(message: Message) -> str:
    return "user" if message.role == "tool" else message.role


def _content(message: Message, number: int) -> list[Any]:
    content: list[Any] = []
    for index, part in enumerate(message.parts):
        where = f"messages[{number}].content[{index}]"
        match part:
            case TextPart(text):
                if text:
                    content.append(text)
            case ImagePart():
                content.append(picture(part, where))
            case AudioPart():
                content.append(sound(part, where))
            case VideoPart():
                raise Unsupported(
                    f"{where}: the model takes a video as its frames and sound.", code="modality_unsupported"
                )
    return content


def _with_voice(messages: list[ModelMessage], voice: ReferenceVoice) -> list[ModelMessage]:
    """With the recording in the system's message, between the sentences that the model knows, unless there is one in it already."""
    if not messages or messages[0].role != "system":
        return [ModelMessage("system", (CLONE, voice.sound, SPEAK)), *messages]
    first = messages[0]
    if any(not isinstance(item, str) for item in first.content):
        return messages
    text = "\n".join(first.content)
    return [ModelMessage("system", (CLONE, voice.sound, f"{SPEAK} {text}")), *messages[1:]]


def _tokens(item: Any) -> float:
    if isinstance(item, str):
        return text_tokens(item)
    if hasattr(item, "size") and isinstance(item.size, tuple):
        return PICTURE_TOKENS
    return len(item) / HEARD_RATE * SOUND_TOKENS
