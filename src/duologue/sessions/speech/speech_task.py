"""Text to speech for one request: the sound is sent as it is synthesised.

worker/voice.py runs it. The text of an open request arrives in pieces while the first of it is already being spoken.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio

from duologue.errors import BadRequest, Problem, TooLarge
from duologue.notifier import Notifier
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.synthesis import LONGEST, SpokenReply, voice_style
from duologue.values.audio import SPOKEN_RATE
from duologue.values.call_events import CallControl, CallEvent, ReplyAudio, ReplyAudioEnded, Text
from duologue.values.speech import SpeechRequest

SendEvent = Callable[[CallEvent], Awaitable[None]]
"""Sends one event to the gateway, waiting until it accepts more."""

PIECE = SPOKEN_RATE // 5
"""Samples of one `ReplyAudio`: a fifth of a second."""


class ControlSource(Protocol):
    """The messages for one call or speech request, in order. The worker bounds them."""

    async def take(self) -> list[CallControl]:
        """Everything that has arrived, waiting for at least one. Raises Problems."""
        ...


async def speak(
    engines: SpeechEngines, request: SpeechRequest, controls: ControlSource, send: SendEvent
) -> None:
    """Send the sound of a text with its words, then the number of samples. Raises Problems: when there is no voice, and when
    a clause cannot be spoken."""
    if len(request.text) > LONGEST:
        raise TooLarge(f"The text is too long to speak: the limit is {LONGEST} characters.")
    if not request.open and not request.text.strip():
        raise BadRequest("There is no text to speak.", param="input")
    failures: list[Problem] = []
    changed = Notifier()

    def fail(problem: Problem) -> None:
        failures.append(problem)
        changed.notify()

    speaker = engines.require_speaker()
    style = voice_style(speaker, request.voice, request.speed, request.language, request.sample)
    reply = SpokenReply(
        0,
        speaker,
        style,
        mouth=request.mouth,
        on_change=lambda reply, words: changed.notify(),
        on_failure=lambda reply, problem: fail(problem),
    )

    async def read() -> None:
        try:
            await _read(reply, request.text, controls)
        except Problem as problem:
            # Raised here it would reach the caller inside an exception group.
            fail(problem)

    async with anyio.create_task_group() as tasks:
        if request.open:
            tasks.start_soon(read)
        else:
            reply.write(request.text, last=True)
        tasks.start_soon(reply.synthesise)
        while not failures:
            if reply.waiting:
                piece = reply.take(PIECE)
                await send(ReplyAudio(0, 0, piece.pcm, piece.words, piece.mouth))
            elif reply.complete:
                if keys := reply.keys():
                    await send(ReplyAudio(0, 0, b"", (), keys))
                break
            else:
                await changed.wait()
        tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]
    await send(ReplyAudioEnded(0, 0, reply.sent))


async def _read(reply: SpokenReply, text: str, controls: ControlSource) -> None:
    """Write the text of an open request as it arrives."""
    reply.write(text)
    last = False
    while not last:
        for control in await controls.take():
            if isinstance(control, Text):
                reply.write(control.text, last=control.last)
                last = last or control.last
