"""Where pictures and sounds are in a prompt: their places in the messages before a template renders them, and the rendered text
cut at those places.

A template is given text alone. Each picture and sound stands in it as one word that nobody can know before (`mark` is random,
new for each prompt), so that a text cannot imitate one, and so that what a template leaves out or repeats is noticed. What a model's own
template writes for a picture is not used: the engine puts the tokens of the model around what it reads in that place. Used by
`sessions/chat`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from duologue.errors import BadRequest
from duologue.text.templates.prompt_request import TEMPLATE_ERROR
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart

Medium = ImagePart | AudioPart


def with_places(messages: Sequence[Message], mark: str) -> tuple[tuple[Message, ...], tuple[Medium, ...]]:
    """The messages as text, with a place for each picture and sound, and these in order. A sound in a system message is a voice
    to speak with and no part of the prompt."""
    media: list[Medium] = []
    texts: list[Message] = []
    for message in messages:
        parts: list[str] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                parts.append(part.text)
            elif isinstance(part, ImagePart) or (isinstance(part, AudioPart) and message.role != "system"):
                parts.append(_place(mark, len(media)))
                media.append(part)
        texts.append(structs.replace(message, parts=(TextPart("".join(parts)),) if message.parts else ()))
    return tuple(texts), tuple(media)


def cut_at_places(text: str, mark: str, media: Sequence[Medium]) -> tuple[str | Medium, ...]:
    """A rendered text as texts and media, in the order of the prompt; no empty text. Raises BadRequest (`template_error`) where
    a picture or sound does not occur exactly once."""
    pieces = re.split(rf"{re.escape(mark)}n(\d{{1,6}})n", text)
    numbers = [int(number) for number in pieces[1::2]]
    if sorted(numbers) != list(range(len(media))):
        raise BadRequest(
            "The model's chat template leaves out a picture or sound of these messages, or repeats one. Put pictures and sound "
            "into messages of the user.",
            code=TEMPLATE_ERROR,
            param="messages",
        )
    prompt: list[str | Medium] = []
    for at, piece in enumerate(pieces):
        if at % 2:
            prompt.append(media[int(piece)])
        elif piece:
            prompt.append(piece)
    return tuple(prompt)


def _place(mark: str, number: int) -> str:
    return f"{mark}n{number}n"
