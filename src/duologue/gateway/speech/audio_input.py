"""Sound in a request for a model that has no ears: it is written down, and its text takes its place.

Owns which requests that concerns, what stands where sound was, and what was written down lately, since clients send their
whole history every time. Knows no dialect.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import msgspec

from duologue.gateway.speech.service import SpeechService
from duologue.media.decoding import decode
from duologue.media.wav import at_rate
from duologue.values.audio import from_float32
from duologue.values.messages import AudioPart, Message, Part, TextPart
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import HeardPart, Transcript

KEPT = 512
"""Transcripts that are remembered."""
NOT_UNDERSTOOD = "(a voice message that could not be understood)"


class AudioTranscriber:
    """Writes down the sound in requests, where there is somebody to do it."""

    def __init__(self, speech: SpeechService) -> None:
        self._speech = speech
        self._known: OrderedDict[bytes, Transcript] = OrderedDict()

    def needed(self, card: ModelCard, request: ChatRequest) -> bool:
        """Whether the model cannot hear what the request holds, and a recogniser can. Raises Unavailable when that one has
        failed."""
        if "audio" in card.modalities or self._speech.standing[0] == "absent":
            return False
        if not any(isinstance(part, AudioPart) for message in request.messages for part in message.parts):
            return False
        self._speech.check_hears()
        return True

    async def hear(
        self, request: ChatRequest, request_id: str = ""
    ) -> tuple[ChatRequest, tuple[HeardPart, ...]]:
        """The request with text where sound was, and what was written down. Waits for a seat. Raises Problems."""
        heard: list[HeardPart] = []
        messages: list[Message] = []
        for number, message in enumerate(request.messages):
            texts: dict[int, str] = {}
            for index, part in enumerate(message.parts):
                if isinstance(part, AudioPart):
                    found = await self._transcript(part, request_id)
                    heard.append(HeardPart(number, index, found.text, found.understood and bool(found.text)))
                    texts[index] = found.text or NOT_UNDERSTOOD
            messages.append(with_texts(message, texts))
        return msgspec.structs.replace(request, messages=tuple(messages)), tuple(heard)

    async def _transcript(self, part: AudioPart, request_id: str) -> Transcript:
        key = hashlib.sha256(part.data + part.rate.to_bytes(4, "little")).digest()
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known
        found = await self._speech.transcript(await decode(_samples, part), request_id)
        self._known[key] = found
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        return found


def without_sound(request: ChatRequest) -> ChatRequest:
    """The request as it will be once its sound is written down, as far as its kinds of parts go."""
    messages = (
        with_texts(
            message, {index: "" for index, part in enumerate(message.parts) if isinstance(part, AudioPart)}
        )
        for message in request.messages
    )
    return msgspec.structs.replace(request, messages=tuple(messages))


def with_texts(message: Message, texts: dict[int, str]) -> Message:
    """The message with these texts in the place of its parts of these numbers, each on a line of its own."""
    if not texts:
        return message
    parts: list[Part] = []
    for index, part in enumerate(message.parts):
        said = TextPart(texts[index]) if index in texts else part
        before = parts[-1] if parts else None
        if isinstance(said, TextPart) and isinstance(before, TextPart) and {index, index - 1} & texts.keys():
            said = TextPart(f"\n{said.text}") if before.text and not before.text[-1].isspace() else said
        parts.append(said)
    return msgspec.structs.replace(message, parts=tuple(parts))


def _samples(part: AudioPart) -> bytes:
    """16-bit mono at 16 kHz."""
    return from_float32(at_rate(part.data, part.rate))
