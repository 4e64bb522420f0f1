"""Replies that are gathered and sent as one body, for every dialect.

Owns when the body is written, the sound of a spoken one, and that a long one is written in a thread. A client that leaves ends the reply
(`http/whole_answer.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import Protocol

from duologue.http.whole_answer import WholeAnswer
from duologue.media.encoder import encode_file
from duologue.threads import encoding, in_thread
from duologue.values.audio import SPOKEN_RATE
from duologue.values.generate import Batch
from duologue.wire.completion import AudioId, Completion

MANY_EVENTS = 500
"""Events of a reply, about one a token, up to which its body is written at once: with twenty log probabilities each that takes some
milliseconds."""
ENCODER_FORMATS = {"pcm16": "pcm"}
"""This API's name of an audio format -> the encoder's, where they differ."""


async def written(events: int, body: Callable[[], bytes]) -> bytes:
    """The body of a reply of so many events: that of a long one, whose log probabilities may have megabytes, is written in a thread, which
    is never refused: the slots bound how many replies end at a time. Raises what `body` raises."""
    return body() if events < MANY_EVENTS else await in_thread(body)


class WholeBody(Protocol):
    """A reply that is gathered and sent as one body."""

    def add(self, batch: Batch) -> None: ...

    def body(self) -> bytes: ...


class WholeReply(WholeAnswer):
    """Answers when every choice has ended; a client that disconnects earlier cancels the generation. With an `audio_id` the
    answer has sound, in the format `audio_format`."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[Batch]],
        completion: WholeBody,
        audio_id: AudioId | None = None,
        audio_format: str = "",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(self._gather, headers)
        self._source, self._completion = source, completion
        self._audio_id, self._audio_format = audio_id, audio_format

    async def _gather(self) -> bytes:
        count = 0
        async with self._source as batches:
            async for batch in batches:
                count += len(batch)
                self._completion.add(batch)
        spoken = self._completion
        if self._audio_id is not None and isinstance(spoken, Completion) and (pcm := spoken.sound):
            format = ENCODER_FORMATS.get(self._audio_format, self._audio_format)
            file = await encoding(encode_file, format, pcm, SPOKEN_RATE)
            spoken.set_audio(self._audio_id, file)
        return await written(count, self._completion.body)
