"""Speaking a text: one request, its sound as it is made.

Owns the order text, sound, end, and how the text of an open request comes in. Knows no turn and no pace: whoever reads
the events sets it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from duologue.errors import BadRequest, Problem, TooLarge
from duologue.sessions.speech.controls import Controls
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.synthesis import LONGEST, SpokenReply, voice_style
from duologue.values.audio import SPOKEN_RATE
from duologue.values.call_events import CallEvent, ReplyAudio, ReplyAudioEnded, Text
from duologue.values.speech import SpeechRequest

Tell = Callable[[CallEvent], Awaitable[None]]

PIECE = SPOKEN_RATE // 5
"""Samples of one Sound: a fifth of a second."""


async def speak(engines: SpeechEngines, request: SpeechRequest, controls: Controls, tell: Tell) -> None:
    """Tell the sound of a text with its words, and how many samples it was. Raises Problems: of a voice that is not there,
    and of the first clause that cannot be spoken."""
    if len(request.text) > LONGEST:
        raise TooLarge(f"This text is longer than the {LONGEST} characters that are spoken at a time.")
    if not request.open and not request.text.strip():
        raise BadRequest("There is no text to speak.", param="input")
    failure: list[Problem] = []
    more = anyio.Event()

    def changed(reply: SpokenReply, words: object) -> None:
        more.set()

    def failed(reply: SpokenReply, problem: Problem) -> None:
        failure.append(problem)

    speaker = engines.speaks()
    voicing = voice_style(speaker, request.voice, request.speed, request.language)
    reply = SpokenReply(0, speaker, voicing, changed=changed, failed=failed)

    async def read() -> None:
        try:
            await _read(reply, request.text, controls)
        except Problem as problem:
            failure.append(problem)
            more.set()

    async with anyio.create_task_group() as tasks:
        if request.open:
            tasks.start_soon(read)
        else:
            reply.write(request.text, last=True)
        tasks.start_soon(reply.make)
        while not failure:
            if reply.waiting:
                taken = reply.take(PIECE)
                await tell(ReplyAudio(0, 0, taken.pcm, taken.words))
            elif reply.complete:
                break
            else:
                more = anyio.Event()
                await more.wait()
        tasks.cancel_scope.cancel()
    if failure:
        raise failure[0]
    await tell(ReplyAudioEnded(0, 0, reply.sent))


async def _read(reply: SpokenReply, text: str, controls: Controls) -> None:
    """The text of an open request, as it comes."""
    reply.write(text)
    last = False
    while not last:
        for control in await controls.take():
            if isinstance(control, Text):
                reply.write(control.text, last=control.last)
                last = last or control.last
