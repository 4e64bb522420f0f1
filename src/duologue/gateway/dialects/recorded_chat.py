"""The recording of one spoken chat: the sound that was asked with, and the reply as it was spoken. Used by `chat_socket`."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from duologue.errors import Busy
from duologue.gateway.calls.observer import CallObserver
from duologue.threads import encoding
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, from_float32
from duologue.values.events import AudioDelta, Done, Event, Fitted, TextDelta
from duologue.values.messages import AudioPart, Message

log = logging.getLogger(__name__)


class RecordedChat:
    """Tells `observer` of one request as if it were a call of one turn. Nobody reports what was played: all of it counts as heard."""

    def __init__(self, observer: CallObserver) -> None:
        self.id = observer.id
        self._observer = observer
        self._text, self._sounds, self._done = "", False, False

    async def ask(self, message: Message) -> None:
        """What the user says: its sound, and its text."""
        try:
            if pcm := await encoding(_sound, message):
                self._observer.client_sent(call_events.MicrophoneAudio(pcm))
        except Busy:
            log.warning("recording %s lacks what was asked: the server is busy", self.id)
        if message.text:
            self._said(message.text, typed=True)

    def take(self, events: Iterable[Event]) -> None:
        """The reply's events, in order."""
        for event in events:
            match event:
                case Fitted() if event.transcripts:
                    self._said(event.transcripts[-1].text, typed=False)
                case TextDelta():
                    self._text += event.text
                    self._tell(call_events.ReplyText(0, 1, event.text))
                case AudioDelta():
                    if not self._sounds:
                        self._sounds = True
                        self._tell(call_events.ReplyAudioStarted(0, 1))
                    self._tell(call_events.ReplyAudio(0, 1, event.pcm, event.words))
                case Done():
                    self._done = event.finish != "cancelled"

    def close(self) -> None:
        """The request is over."""
        ending: call_events.Ending = "spoken" if self._done else "interrupted"
        self._tell(call_events.AssistantSaid(0, 1, self._text, ending=ending))
        self._observer.close()

    def _said(self, text: str, *, typed: bool) -> None:
        self._tell(call_events.UserSaid(0, 1, text, typed))
        self._tell(call_events.ReplyRequested(0, 1, 1, 1, text))

    def _tell(self, event: call_events.CallEvent) -> None:
        self._observer.server_sent([event])


def _sound(message: Message) -> bytes:
    """The message's sound, 16-bit mono at 16 kHz; what has another rate is left out."""
    return b"".join(
        from_float32(part.data)
        for part in message.parts
        if isinstance(part, AudioPart) and part.rate == HEARD_RATE
    )
