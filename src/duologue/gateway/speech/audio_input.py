"""Transcribes the audio in a request for a model that takes none: the text replaces the sound.

Owns which requests need that, how the text is put in place, and a cache of recent transcripts, because clients send their whole
history with every request. Called by `gateway.dialects.reply`.
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
from duologue.values.speech import TranscribedPart, Transcript

CACHE_SIZE = 512
"""Transcripts that are remembered."""
NOT_UNDERSTOOD = "(a voice message that could not be understood)"


class AudioTranscriber:
    """Replaces audio in requests by its transcript, where a recogniser is available."""

    def __init__(self, speech: SpeechService) -> None:
        self._speech = speech
        self._cache: OrderedDict[bytes, Transcript] = OrderedDict()

    def is_needed(self, card: ModelCard, request: ChatRequest) -> bool:
        """Whether the request has audio, the model takes none, and there is a recogniser. Raises Unavailable when that has
        failed to load."""
        if "audio" in card.modalities or self._speech.status[0] == "absent":
            return False
        if not any(isinstance(part, AudioPart) for message in request.messages for part in message.parts):
            return False
        self._speech.require_recogniser()
        return True

    async def transcribe(
        self, request: ChatRequest, request_id: str = ""
    ) -> tuple[ChatRequest, tuple[TranscribedPart, ...]]:
        """The request with text in place of its audio, and the transcripts. Waits for a seat. Raises Problem."""
        transcribed: list[TranscribedPart] = []
        messages: list[Message] = []
        for number, message in enumerate(request.messages):
            texts: dict[int, str] = {}
            for index, part in enumerate(message.parts):
                if isinstance(part, AudioPart):
                    transcript = await self._transcript(part, request_id)
                    understood = transcript.understood and bool(transcript.text)
                    transcribed.append(TranscribedPart(number, index, transcript.text, understood))
                    texts[index] = transcript.text or NOT_UNDERSTOOD
            messages.append(replace_parts(message, texts))
        return msgspec.structs.replace(request, messages=tuple(messages)), tuple(transcribed)

    async def _transcript(self, part: AudioPart, request_id: str) -> Transcript:
        key = hashlib.sha256(part.data + part.rate.to_bytes(4, "little")).digest()
        if (cached := self._cache.get(key)) is not None:
            self._cache.move_to_end(key)
            return cached
        transcript = await self._speech.transcribe(await decode(_samples, part), request_id)
        self._cache[key] = transcript
        if len(self._cache) > CACHE_SIZE:
            self._cache.popitem(last=False)
        return transcript


def without_audio(request: ChatRequest) -> ChatRequest:
    """The request with empty text in place of its audio: what the model will have to take, before anything is transcribed."""
    messages = (
        replace_parts(
            message, {index: "" for index, part in enumerate(message.parts) if isinstance(part, AudioPart)}
        )
        for message in request.messages
    )
    return msgspec.structs.replace(request, messages=tuple(messages))


def replace_parts(message: Message, texts: dict[int, str]) -> Message:
    """The message with these texts in place of the parts at these indexes, each on a line of its own."""
    if not texts:
        return message
    parts: list[Part] = []
    for index, part in enumerate(message.parts):
        new = TextPart(texts[index]) if index in texts else part
        previous = parts[-1] if parts else None
        # Engines join text parts without a separator: a line break keeps a transcript apart from its neighbours.
        if isinstance(new, TextPart) and isinstance(previous, TextPart) and {index, index - 1} & texts.keys():
            new = TextPart(f"\n{new.text}") if previous.text and not previous.text[-1].isspace() else new
        parts.append(new)
    return msgspec.structs.replace(message, parts=tuple(parts))


def _samples(part: AudioPart) -> bytes:
    """16-bit mono at 16 kHz."""
    return from_float32(at_rate(part.data, part.rate))
